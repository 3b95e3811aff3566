"""Messages of Gemini CLI's recordings: parts of Google's Gen AI API, tool calls, thoughts, and repeated text.

A `content` is a string, a part or a list of parts: `text`, `inlineData`, `fileData`, `functionCall`,
`functionResponse`, and code run on the server. `displayContent` is the person's input if `content` holds more (the
files behind an `@path`); the rest is set aside as an attachment. `toolCalls` hold arguments and result of each call;
`resultDisplay` is for the screen and stays in the row's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, PartKind, Role, Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Message, Noise
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import trust_of_call
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

_CONTEXT = ("<session_context>", "This is the Gemini CLI. We are setting up the context", "<hook_context>")
_FILLER = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
"""The host's filler answers of the model to the host's own context."""
_SNAPSHOT = "<state_snapshot>"

_DIRECTORY = make_regex(r"\*\*Workspace Directories:\*\*[ \t]*\n[ \t]*- (.+)")
_HOOK_CONTEXT = make_regex(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""In a hook's output the host writes `&lt;` and `&gt;`, so the first closing tag is the host's own."""
_EXIT_CODE = make_regex(r"^Exit Code: -?[1-9]\d*\s*$", re.MULTILINE)
_OWN_SERVER = "mcp_palazzo_"


@frozen
class _Block:
    kind: PartKind
    text: str
    name: str = ""
    call: str = ""
    failed: bool = False
    trust: Trust | None = None


class ConversationHistory:
    """The messages of the rows so far, and the tools to which their calls belong.

    What it tells of a message that is no copy follows from the earlier rows with one of the same ids (`ids_in`) alone.
    """

    def __init__(self) -> None:
        self._blocks: set[int] = set()
        self._times: dict[str, int] = {}
        self.trusts: dict[str, Trust] = {}
        self._new_ids: set[str] = set()

    def note_ids(self, ids: set[str]) -> None:
        """Remember ids until `take_ids`."""
        self._new_ids |= ids

    def take_ids(self) -> frozenset[str]:
        """Return the ids that were noted since the last call."""
        ids, self._new_ids = self._new_ids, set()
        return frozenset(ids)

    def fresh(self, message: str, speaker: str, blocks: list[_Block], *, is_copy: bool) -> list[_Block]:
        """Return the blocks that have not occurred before, and record them."""
        fresh = []
        for block in blocks:
            anywhere = hash(("said by", speaker, block.kind, block.text))
            if block.call:
                lookup_hash = local_hash = hash(("of call", block.call, block.kind, block.text))
            else:
                local_hash = hash(("of message", message, block.kind, block.text))
                lookup_hash = anywhere if is_copy else local_hash
            if not self._blocks & {lookup_hash, local_hash}:
                fresh.append(block)
            self._blocks |= {local_hash, anywhere}
        return fresh

    def times(self, message: str) -> int:
        """Return how often a message of this ID has already had content, before this time."""
        times = self._times.get(message, 0)
        self._times[message] = times + 1
        return times


def ids_in(row: JsonObject) -> set[str]:
    """Return the ids of a message and of its calls and answers: all by which it can refer to other rows."""
    ids = {string(row, "id")}
    for part in _parts(row.get("content")):
        ids |= {
            string(part[key], "id") for key in ("functionCall", "functionResponse") if isinstance(part.get(key), dict)
        }
    for call in _tool_calls(row):
        identity = string(call, "id")
        responses = [part.get("functionResponse") for part in _parts(call.get("result"))]
        ids |= {identity, *(string({"id": identity, **each}, "id") for each in responses if isinstance(each, dict))}
    return ids


def read_message(row: JsonObject, history: ConversationHistory, *, is_copy: bool) -> Message | Noise:
    """Return the new content of a message. `is_copy` marks a copy of what the model sees."""
    identity, speaker = string(row, "id"), string(row, "type")
    for call in _tool_calls(row):
        history.trusts[string(call, "id")] = _trust(string(call, "name"), call.get("args"))
    blocks = list(_blocks(row, history))
    fresh = history.fresh(identity, speaker, blocks, is_copy=is_copy)
    if not fresh:
        return Noise(f"{speaker}/repeated" if blocks else f"{speaker}/empty")
    role, status = _role(speaker, fresh), _classify_message(speaker, fresh)
    composer = Composer()
    for block in fresh:
        kind: PartKind = "text" if status == "meta" and block.kind == "attachment" else block.kind
        composer.add(kind, block.text, name=block.name, call=block.call, failed=block.failed, trust=block.trust)
    times = history.times(identity)
    directory = _DIRECTORY.search(composer.text) if status == "meta" else None
    return Message(
        composer.text,
        role,
        standing=status,
        author=string(row, "model") if role == "assistant" else "",
        parts=composer.parts,
        uuid=f"{identity}#{times}" if times else identity,
        created_at=moment(row.get("timestamp")),
        cwd=directory[1].strip() if directory else "",
        meta={"continues": identity} if times else {},
    )


def _role(speaker: str, blocks: list[_Block]) -> Role:
    if all(block.kind == "tool_result" for block in blocks):
        return "tool"
    return "user" if speaker == "user" else "assistant" if speaker == "gemini" else "system"


def _classify_message(speaker: str, blocks: list[_Block]) -> ContentKind:
    if speaker not in ("user", "gemini"):
        return "meta"
    words = [block.text.lstrip() for block in blocks if block.kind in ("text", "attachment")]
    if speaker == "gemini":
        return "meta" if len(blocks) == 1 and words and words[0].strip() in _FILLER else "said"
    if words and words[0].startswith(_SNAPSHOT):
        return "summary"
    return "meta" if len(words) == len(blocks) and all(word.startswith(_CONTEXT) for word in words) else "said"


def _blocks(row: JsonObject, history: ConversationHistory) -> Iterator[_Block]:
    for entry in _ensure_list(row.get("thoughts")):
        words = [string(entry, key) for key in ("subject", "description")] if isinstance(entry, dict) else []
        yield from _present(_Block("thinking", "\n".join(filter(None, words))))
    display_texts = {string(part, "text") for part in _parts(row.get("displayContent"))} - {""}
    is_user = string(row, "type") == "user"
    parts = [
        split for part in _parts(row.get("content")) for split in (_split_hook_context(part) if is_user else [part])
    ]
    if display_texts and not display_texts & {string(part, "text") for part in parts}:
        yield from (_Block("text", text) for text in sorted(display_texts))
    for part in parts:
        yield from _present(*_part(part, history, display_texts, is_user=is_user))
    for call in _tool_calls(row):
        yield from _present(*_call(call, history))


def _split_hook_context(part: JsonObject) -> list[JsonObject]:
    """Return the output of hooks and the prompt as two parts: at a session's start, the host writes them as one."""
    text = string(part, "text")
    context = _HOOK_CONTEXT.match(text)
    if context is None or context.end() == len(text):
        return [part]
    return [{"text": context[0].rstrip()}, {**part, "text": text[context.end() :]}]


def _present(*blocks: _Block) -> Iterator[_Block]:
    return (block for block in blocks if block.text)


def _part(
    part: JsonObject, history: ConversationHistory, display_texts: set[str], *, is_user: bool
) -> Iterator[_Block]:
    text = string(part, "text")
    if isinstance(part.get("functionCall"), dict):
        function_call = part["functionCall"]
        history.trusts.setdefault(
            string(function_call, "id"), _trust(string(function_call, "name"), function_call.get("args"))
        )
        yield _build_call(string(function_call, "id"), string(function_call, "name"), function_call.get("args"))
    elif isinstance(part.get("functionResponse"), dict):
        yield _answer(part["functionResponse"], history)
    elif isinstance(part.get("inlineData"), dict):
        yield _Block("image", media_text(part["inlineData"], "file"))
    elif isinstance(part.get("fileData"), dict):
        file = part["fileData"]
        yield _Block("attachment", media_text({**file, "uri": string(file, "fileUri")}, "file"))
    elif part.get("thought") is True:
        yield _Block("thinking", text)
    elif isinstance(part.get("text"), str):
        if is_user and (text.lstrip().startswith("<hook_context>") or (display_texts and text not in display_texts)):
            yield _Block("attachment", text, trust="tool" if "<hook_context>" in text else "repo")
        else:
            yield _Block("text", text)
    elif part:
        yield _Block("attachment", block_text({"type": "part", **part}))


def _call(call: JsonObject, history: ConversationHistory) -> Iterator[_Block]:
    identity, name = string(call, "id"), string(call, "name")
    yield _build_call(identity, name, call.get("args"))
    broke = string(call, "status") in ("error", "cancelled")
    for part in _parts(call.get("result")):
        response = part.get("functionResponse")
        if isinstance(response, dict):
            yield _answer({"id": identity, "name": name, **response}, history, broke)
        else:
            body = string(part, "text") or block_text({"type": "part", **part})
            yield _Block("tool_result", body, name, identity, broke, history.trusts.get(identity))


def _build_call(identity: str, name: str, arguments: object) -> _Block:
    return _Block("tool_call", call_text(name or "tool", arguments), name, identity)


def _answer(response: JsonObject, history: ConversationHistory, broke: bool = False) -> _Block:
    payload = response.get("response")
    payload = payload if isinstance(payload, dict) else {"output": payload} if isinstance(payload, str) else {}
    name, call = string(response, "name"), string(response, "id")
    failed = broke or "error" in payload
    if payload.keys() <= {"output", "error"} and all(isinstance(value, str) for value in payload.values()):
        body = JOINT.join(value for value in payload.values() if value)
    else:
        body = call_text("response", payload)
    failed = failed or (name == "run_shell_command" and _EXIT_CODE.search(body) is not None)
    return _Block("tool_result", body, name, call, failed, history.trusts.get(call) or trust_of_tool(""))


def _trust(name: str, arguments: object) -> Trust:
    """Map a tool's name: tools of an MCP server are named `mcp_<server>_<tool>` here."""
    own = name.startswith(_OWN_SERVER)
    return trust_of_call("mcp__palazzo__" + name.removeprefix(_OWN_SERVER) if own else name, arguments)


def _tool_calls(row: JsonObject) -> list[JsonObject]:
    return [call for call in _ensure_list(row.get("toolCalls")) if isinstance(call, dict)]


def _parts(content: object) -> list[JsonObject]:
    return [{"text": part} if isinstance(part, str) else part for part in _either(content)]


def _either(content: object) -> list[str | JsonObject]:
    parts = content if isinstance(content, list) else [content]
    return [part for part in parts if isinstance(part, str | dict)]


def _ensure_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
