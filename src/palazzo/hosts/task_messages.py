"""The meaning of messages of Cline and of the programs that were made from it, wherever they are stored.

Learned from the source code of Cline (version 3: `src/core/task`, `src/core/prompts/responses.ts`; version 4:
`sdk/packages/shared/src/prompt/format.ts`, `sdk/packages/core/src/session/user-run-messages.ts`) and of Roo Code 3.52
(`src/core/task/Task.ts`, `src/core/prompts/responses.ts`).

A message is `{role: user | assistant, content, ts}`, with content as Anthropic's Messages API has it. The host writes
most of what has the role user, so a person's words are only those in a place where it puts nothing else:

- in a block that begins with `<task>`, `<feedback>`, `<answer>`, `<user_message>` or `<user_input>`, up to the end of
  that tag. What follows in the block are contents of files that the person mentioned;
- in the answer to a tool that asks the person (`ask_followup_question`).

The same tags elsewhere, such as in the output of another tool, are what that tool printed. In version 4 a block with no
tag is a person's too, unless `metadata` says that the host wrote it. The state of the editor (`<environment_details>`,
up to hundreds of file names with each message) is left out of a message's text.

Until 2025, calls of tools stood in the text of an answer, as XML, and the result of a call was a block of text that
begins with `[NAME for 'ARGUMENT'] Result:`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from palazzo.hosts.tool_outcomes import read_outcomes
from palazzo.model import ContentKind, Micros, Role, Trust
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.sources.formats.row_records import drop_keys, objects_in
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

_START_TAG = make_regex(
    r"\s*(?:(?:\[The user has switched to ACT MODE[^\n]{0,200}\n\n)?(?:The user|You seem|New)\b[^\n<]{0,300}:\n)?"
    r"(?:<mode_notice>[^<]{0,400}</mode_notice>\s*)*<(?P<tag>task|feedback|answer|user_message|user_input)\b[^>]{0,100}>"
)
"""The beginning of a block with a person's words; some follow a sentence of the host's."""
_COMMAND = make_regex(r'\s*<user_command slash="(?P<slash>[^"]{1,100})">(?P<words>[^<]*)</user_command>\s*\Z')
_RESUMPTION_WORDS = make_regex(r"\n\nNew (?:instructions|message)[^\n<]{0,300}:\n(?=<user_message>)")
"""Where the person's words begin after the host's text on a task that was interrupted."""
_RESULT = make_regex(
    r"\[(?P<name>[A-Za-z_]\w{0,60})"
    r"(?: for '(?P<argument>.{0,4000}?)'[^\n\]']{0,200})?\] Result:(?:\n|\Z)",
    re.DOTALL,
)
_ORPHAN = "Tool result:\n"
"""How Roo Code begins the result of a call that a summary has replaced."""
_RESUMPTION = "[TASK RESUMPTION]"
_SURROUNDINGS = ("<environment_details>", "<hook_context")
"""How blocks begin that are no part of the conversation: they repeat the state of the editor, or what a hook said."""
_HOSTS_OWN = (
    _RESUMPTION,
    "<explicit_instructions",
    "<system-reminder>",
    "The user approved switching to act mode.",
    "Warning: this is a legacy conversation",
)
"""How texts begin that version 4 puts where a person's words may stand without a tag."""
_SYNTHETIC = frozenset(
    {
        *("auto_compaction", "compaction_budget_emergency", "completion_reminder", "loop_detection_notice"),
        *("manual_compaction", "mistake_stop_notice", "recovery_notice"),
    }
)
_SUMMARIES = frozenset({"compaction", "compaction_summary"})
_ASKING_TOOLS = frozenset(
    {"ask_followup_question", "attempt_completion", "plan_mode_respond", "condense", "new_task", "report_bug"}
)
"""Tools whose result is what the person answered."""
_SPOKEN = {
    "attempt_completion": "result",
    "plan_mode_respond": "response",
    "act_mode_respond": "response",
    "ask_followup_question": "question",
    "ask_question": "question",
}
"""Tools with which the model speaks to the person, and the argument that holds its words."""
_XML_TOOLS = (
    *("execute_command", "read_file", "write_to_file", "replace_in_file", "search_files", "list_files"),
    *("list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question"),
    *("attempt_completion", "plan_mode_respond", "new_task", "condense", "web_fetch", "load_mcp_documentation"),
    *("apply_diff", "insert_content", "search_and_replace", "switch_mode", "fetch_instructions", "codebase_search"),
    *("update_todo_list", "edit_file", "run_slash_command", "generate_image", "thinking"),
)
"""Names of tools in the time of calls as XML; `thinking` encloses thoughts in the same way."""
_XML_START = make_regex(rf"(?m)^[ \t]{{0,8}}<(?P<name>{'|'.join(_XML_TOOLS)})>")
_PARAMETER = make_regex(r"<(?P<key>[a-z_]{1,40})>")
_XML_CALL = "xml:"
_EXIT_CODE = make_regex(r"^Exit code: -?[1-9]\d*\s*$", re.MULTILINE)
_FAILED = ("The tool execution failed with the following error:", "The user denied this operation")
_SHELLS = frozenset({"execute_command", "run_commands"})


def read_message(record: JsonObject, calls: Calls, cwd: str, said_at: Micros | None, *, is_plain_said: bool) -> Content:
    """Return the meaning of a message; `is_plain_said` says that words without a tag may be a person's.

    `said_at` is its time if it does not state one itself.
    """
    role = string(record, "role")
    if record.get("isTruncationMarker") is True:
        return Noise("truncation marker")
    if role not in ("user", "assistant"):
        return Unreadable(f"a message with the unknown role {role!r}")
    composer = Composer()
    try:
        if string(record, "type") == "reasoning":
            composer.add("thinking", string(record, "text"))
        elif role == "assistant":
            composer.add("thinking", string(record, "reasoning_content"))
            _add_answer(composer, record.get("content"), calls)
        else:
            _add_request(composer, record.get("content"), calls, is_plain_said or _is_summary(record))
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"{role}, without words of the conversation")
    model = record.get("modelInfo")
    stated_at = moment(record.get("ts"))
    return Message(
        composer.text,
        _role(role, composer),
        standing=_classify(record, composer),
        author=(string(model, "id") or string(model, "modelId")) if isinstance(model, dict) and role != "user" else "",
        parts=composer.parts,
        uuid=string(record, "id"),
        created_at=stated_at if stated_at is not None else said_at,
        cwd=cwd,
    )


def _is_summary(record: JsonObject) -> bool:
    return record.get("isSummary") is True or string(_metadata(record), "kind") in _SUMMARIES


def _metadata(record: JsonObject) -> JsonObject:
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _role(role: str, composer: Composer) -> Role:
    kinds = {part.kind for part in composer.parts}
    if role == "assistant":
        return "assistant"
    return "tool" if "tool_result" in kinds and "text" not in kinds else "user"


def _classify(record: JsonObject, composer: Composer) -> ContentKind:
    if _is_summary(record):
        return "summary"
    metadata = _metadata(record)
    by_host = string(metadata, "kind") in _SYNTHETIC or string(metadata, "displayRole") in ("system", "status", "error")
    if string(record, "role") == "user":
        by_host = by_host or not {part.kind for part in composer.parts} & {"text", "tool_result", "image"}
    return "meta" if by_host else "said"


# --- what the model says -----------------------------------------------------------------------------------


def _add_answer(composer: Composer, content: object, calls: Calls) -> None:
    if isinstance(content, str):
        _add_spoken_text(composer, content, calls)
    for block in objects_in(content):
        kind = string(block, "type")
        if kind == "text":
            _add_spoken_text(composer, string(block, "text"), calls)
        elif kind in ("thinking", "reasoning"):
            composer.add("thinking", string(block, "thinking") or string(block, "text"))
        elif kind == "tool_use":
            _add_call(composer, string(block, "name"), string(block, "id"), block.get("input"), calls)
        elif kind in ("image", "media"):
            composer.add("image", _picture(block))
        elif kind not in ("redacted_thinking", "thoughtSignature"):
            composer.add("attachment", block_text(block))


def _add_call(composer: Composer, name: str, call: str, arguments: object, calls: Calls) -> None:
    """Add a call. One that was XML has no id, so its result finds it by the tool's name."""
    key = call or _XML_CALL + name
    name, arguments = _as_others_write_it(name, arguments)
    calls.record_call(key, name, trust_of_call(name, arguments))
    spoken_key = _SPOKEN.get(name, "")
    if isinstance(arguments, dict) and string(arguments, spoken_key):
        composer.add("text", string(arguments, spoken_key))
        arguments = {key: value for key, value in arguments.items() if key != spoken_key}
    composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)


def _as_others_write_it(name: str, arguments: object) -> tuple[str, object]:
    """Return a call with the usual name of an MCP server's tool, one command line, and a list of paths."""
    if name.startswith("mcp--"):
        return name.replace("--", "__"), arguments
    if not isinstance(arguments, dict):
        return name, arguments
    if name == "use_mcp_tool" and string(arguments, "server_name"):
        name = f"mcp__{string(arguments, 'server_name')}__{string(arguments, 'tool_name')}"
        return name, _parse_arguments(arguments.get("arguments"))
    commands, files = arguments.get("commands"), objects_in(arguments.get("files"))
    if isinstance(commands, list) and commands and all(isinstance(command, str) for command in commands):
        return name, {**drop_keys(arguments, "commands"), "command": "\n".join(commands)}
    if files and all(string(file, "path") for file in files):
        return name, {**drop_keys(arguments, "files"), "paths": [string(file, "path") for file in files]}
    return name, arguments


def _parse_arguments(text: object) -> object:
    try:
        return json.loads(text, strict=False) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def _add_spoken_text(composer: Composer, text: str, calls: Calls) -> None:
    """Add the text of an answer, with the calls that it contains as XML."""
    position = 0
    for start, end, name, body in _xml_calls(text):
        composer.add("text", text[position:start].strip("\n"))
        if name == "thinking":
            composer.add("thinking", body.strip("\n"))
        else:
            _add_call(composer, name, "", _parameters(body), calls)
        position = end
    composer.add("text", text[position:].strip("\n") if position else text)


def _xml_calls(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield the range, the name and the body of each complete call; one within another is part of it."""
    position = 0
    names_without_end: set[str] = set()
    for match in _XML_START.finditer(text):
        name = match["name"]
        if match.start() < position or name in names_without_end:
            continue
        end_tag = f"</{name}>"
        end = text.find(end_tag, match.end())
        if end < 0:
            names_without_end.add(name)  # looking again from every opening tag would take quadratic time
            continue
        position = end + len(end_tag)
        yield match.start(), position, name, text[match.end() : end]


def _parameters(body: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    position = 0
    while match := _PARAMETER.search(body, position):
        end = body.find(f"</{match['key']}>", match.end())
        if end < 0:
            return parameters
        parameters[match["key"]] = body[match.end() : end].strip("\n")
        position = end
    return parameters


# --- what a person says, and what tools answer -------------------------------------------------------------


def _add_request(composer: Composer, content: object, calls: Calls, is_plain_said: bool) -> None:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects_in(content)
    result_of: tuple[str, Trust] | None = None
    """The tool whose result the next block of text is, where its heading is a block of its own."""
    for block in blocks:
        kind = string(block, "type")
        if kind == "text" and result_of is not None:
            _add_result(composer, string(block, "text"), "", result_of)
            result_of = None
        elif kind == "text":
            result_of = _add_text(composer, string(block, "text"), calls, is_plain_said)
        elif kind in ("tool_result", "tool-result"):
            _add_result_block(composer, block, calls)
        elif kind in ("image", "media"):
            composer.add("image", _picture(block))
        elif kind == "file":
            words = "\n".join(filter(None, (string(block, "path"), string(block, "content"))))
            composer.add("attachment", words, name=string(block, "path"), trust="repo")
        elif kind not in ("redacted_thinking",):
            composer.add("attachment", block_text(block), trust="tool")


def _add_text(composer: Composer, text: str, calls: Calls, is_plain_said: bool) -> tuple[str, Trust] | None:
    """Add a block of text; return the tool if it is only the heading of that tool's result."""
    heading = _RESULT.match(text)
    if text.lstrip().startswith(_SURROUNDINGS):
        return None
    if heading is not None:
        tool = _tool_of(heading, calls)
        if heading.end() == len(text) and not text.endswith("\n"):
            return tool
        _add_result(composer, text[heading.end() :], "", tool)
    elif text.startswith(_ORPHAN):
        _add_result(composer, text[len(_ORPHAN) :], "", ("", trust_of_call("", None)))
    elif not _add_words(composer, text):
        is_hosts = not is_plain_said or text.lstrip().startswith(_HOSTS_OWN)
        composer.add("attachment" if is_hosts else "text", text, trust="tool" if is_hosts else None)
    return None


def _add_words(composer: Composer, text: str) -> bool:
    """Add a person's words and what follows them in a block; return whether it is such a block."""
    command = _COMMAND.match(text)
    if command is not None:
        composer.add("text", f"/{command['slash']} {command['words'].strip()}".rstrip())
        return True
    start = 0
    if text.startswith(_RESUMPTION):
        sentence = _RESUMPTION_WORDS.search(text)
        if sentence is None:
            return False
        start = sentence.end()
        composer.add("attachment", text[:start], trust="tool")
    start_tag = _START_TAG.match(text, start)
    if start_tag is None:
        return False
    end_tag = f"</{start_tag['tag']}>"
    end = text.find(end_tag, start_tag.end())
    words = text[start_tag.end() : end if end >= 0 else len(text)]
    if start_tag["tag"] != "user_input":  # the other tags stand on lines of their own
        words = words.removeprefix("\n").removesuffix("\n")
    composer.add("text", words)
    rest = text[end + len(end_tag) :].strip("\n") if end >= 0 else ""
    composer.add("attachment", rest, trust="external" if "<url_content" in rest else "repo")
    return True


def _tool_of(heading: re.Match[str], calls: Calls) -> tuple[str, Trust]:
    """Return the tool that the heading of a result names, and the trust of its output."""
    name, trust = calls.tool_of(_XML_CALL + heading["name"])
    if name:
        return name, trust
    key = "command" if heading["name"] in _SHELLS else "path"
    return heading["name"], trust_of_call(heading["name"], {key: heading["argument"] or ""})


def _add_result_block(composer: Composer, block: JsonObject, calls: Calls) -> None:
    call, content = string(block, "tool_use_id"), block.get("content")
    name, trust = calls.tool_of(call)
    tool = (name or string(block, "name"), trust)
    is_error = block.get("is_error") is True
    outcome = read_outcomes(content)
    if outcome is not None:
        _add_result(composer, outcome.text, call, tool, is_error or outcome.has_failed)
        return
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else objects_in(content)
    for piece in pieces:
        kind = string(piece, "type")
        if kind in ("image", "media"):
            composer.add("tool_result", _picture(piece), name=tool[0], call=call, trust=tool[1])
            continue
        text = string(piece, "text") if kind == "text" else block_text(piece)
        heading = _RESULT.match(text)
        body = text[heading.end() :] if heading is not None and heading["name"] == tool[0] else text
        _add_result(composer, body, call, tool, is_error)


def _add_result(composer: Composer, text: str, call: str, tool: tuple[str, Trust], is_error: bool = False) -> None:
    name, trust = tool
    if name in _ASKING_TOOLS and _add_words(composer, text):
        return
    failed = is_error or text.startswith(_FAILED) or _is_refusal(text)
    failed = failed or (name in _SHELLS and _EXIT_CODE.search(text) is not None)
    composer.add("tool_result", text, name=name, call=call, failed=failed, trust=trust)


def _is_refusal(text: str) -> bool:
    """Return whether a result is the JSON in which Roo Code says that a call failed or was denied."""
    if not text.startswith('{"status":"') or len(text) > 100_000:
        return False
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("status") in ("error", "denied")


def _picture(block: JsonObject) -> str:
    media = block.get("media")
    if isinstance(media, dict):
        return media_text({**media, "media_type": string(media, "mediaType")}, "media")
    return media_text({**block, "media_type": string(block, "mediaType")} if "mediaType" in block else block, "image")
