"""Items of OpenAI's Responses API, as Codex keeps them in a rollout, as text with parts.

The kinds are those of Codex's public sources and OpenAI's API reference; captured files show `message`, `reasoning`,
`function_call` and `function_call_output`. `content_item_kinds` beside a `user` message (0.169) says which of its text
is the person's; in older versions, only the typical beginnings of the host's own text show this.

A tool's output is a string or a list of blocks. Old versions wrap the string in JSON (`{"output": …, "metadata":
{"exit_code": …}}`, or a list of text blocks): the wrapping is removed here and stays in the row's bytes. JSON of any
other shape is the tool's own output, and is left as it is.
"""

from __future__ import annotations

import json
import re

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, Role, Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Noise
from palazzo.sources.formats.block_text import Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls, trust_of_call
from palazzo.text.lazy_patterns import make_regex

_SUMMARY = "Another language model started to solve this problem and produced a summary"
_SHELL = "<user_shell_command>"
_HOST_WORDS = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>"),
    *("<permissions instructions>", "<collaboration_mode>", "<personality_spec>", "<skills_instructions>", "<skill>"),
    *("<subagent_notification>", "<user_action>", "<hook_prompt", "<model_switch>", "<goal_context>", _SUMMARY),
    *("Warning: apply_patch was requested via", "Warning: The maximum number of unified exec processes"),
)
"""The beginnings of texts of `user` messages that the host wrote."""

_COMMAND = ("<command>\n", "\n</command>")
_EXIT_CODE = make_regex(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_RUNNING = make_regex(r"^Process running with session ID (\d+)$", re.MULTILINE)
_DATA_URL = make_regex(r"data:([\w.+-]+/[\w.+-]+);base64,")
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
    "image_generation_call": "revised_prompt",
}
"""Kinds of calls, and the field that contains the tool's input."""


@frozen
class Utterance:
    """The content and the speaker of an item; `author` is set only if the item itself names one."""

    role: Role
    composer: Composer
    standing: ContentKind = "said"
    author: str = ""


def inner(value: JsonObject, key: str) -> JsonObject:
    """Return the object at `key`, or an empty one."""
    member = value.get(key)
    return member if isinstance(member, dict) else {}


def call_in(item: JsonObject) -> tuple[str, str, Trust] | None:
    """Return ID, tool and trust of an item that is a call; None for any other item."""
    if string(item, "type") not in _CALLS:
        return None
    name = _tool(item)
    return string(item, "call_id") or string(item, "id"), name, _trust(name, _read_arguments(item))


def running_process(item: JsonObject) -> str:
    """Return the id of the process that an output says is still running, or ""."""
    output = item.get("output")
    match = _RUNNING.search(output[:400]) if isinstance(output, str) else None
    return match[1] if match else ""


def written_to(item: JsonObject) -> str:
    """Return the ID of the process that a call of `write_stdin` continues, or ""."""
    arguments = _read_arguments(item) if string(item, "name") == "write_stdin" else None
    return str(arguments.get("session_id", "")) if isinstance(arguments, dict) else ""


def failed_call(event: JsonObject) -> str:
    """Return the id of the call that an event says failed, or ""."""
    item = inner(event, "item")
    if string(event, "type") == "item_completed":
        return string(item, "id") if string(item, "status") in ("failed", "declined") else ""
    result = event.get("result")
    broke = isinstance(result, dict) and ("Err" in result or inner(result, "Ok").get("isError") is True)
    exit_code = event.get("exit_code")
    if broke or event.get("success") is False or (isinstance(exit_code, int) and exit_code != 0):
        return string(event, "call_id")
    return ""


def read_item(item: JsonObject, row: JsonObject, calls: Calls) -> Utterance | Noise:
    """Render an item. An empty one gives an empty composer; a kind without content to show is noise."""
    kind = string(item, "type")
    composer = Composer()
    if kind == "message":
        summary = inner(row, "metadata").get("compaction_output") is True
        return _message(item, composer, summary)
    if kind == "agent_message":
        for block in _blocks(item.get("content")):
            _add_block(composer, block)
        return Utterance("assistant", composer, author=string(item, "author"))
    if kind == "reasoning":
        for block in (*_blocks(item.get("summary")), *_blocks(item.get("content"))):
            composer.add("thinking", string(block, "text"))
        return Utterance("assistant", composer)
    if kind in _CALLS:
        name, call = _tool(item), string(item, "call_id") or string(item, "id")
        composer.add("tool_call", call_text(name, _read_arguments(item)), name=name, call=call)
        return Utterance("assistant", composer)
    if kind != "tool_search_output" and kind.endswith("_output"):
        _add_output(composer, item, calls)
        return Utterance("tool", composer)
    return Noise(f"response_item/{kind}" if kind else "response_item")


def _message(item: JsonObject, composer: Composer, summary: bool) -> Utterance:
    role = string(item, "role")
    blocks = _blocks(item.get("content"))
    if role == "assistant":
        for block in blocks:
            _add_block(composer, block)
        return Utterance("assistant", composer, "summary" if summary else "said")
    if role != "user":
        for block in blocks:
            _add_block(composer, block)
        return Utterance("system", composer, "meta")
    if len(blocks) == 1 and string(blocks[0], "text").lstrip().startswith(_SHELL):
        return _own_command(string(blocks[0], "text"), composer)
    kinds = inner(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    kinds = kinds if isinstance(kinds, list) and len(kinds) == len(blocks) else [None] * len(blocks)
    by_host = [_is_hosts(block, kind) for block, kind in zip(blocks, kinds, strict=True)]
    has_user_blocks = not all(by_host)
    for block, hosts in zip(blocks, by_host, strict=True):
        _add_block(composer, block, aside=has_user_blocks and hosts)
    if has_user_blocks or not blocks:
        return Utterance("user", composer)
    first = string(blocks[0], "text")
    return Utterance("user", composer, "summary" if first.startswith(_SUMMARY) else "meta")


def _own_command(text: str, composer: Composer) -> Utterance:
    """Render a command that the person ran (`!ls`), and its output."""
    begin, end = _COMMAND
    command, end_tag, _ = text.partition(begin)[2].partition(end)
    code = _EXIT_CODE.search(text)
    trust = trust_of_tool("shell", {"command": command}) if end_tag else trust_of_tool("")
    composer.add("tool_result", text, name="shell", failed=code is not None and code[1] != "0", trust=trust)
    return Utterance("tool", composer)


def _is_hosts(block: JsonObject, kind: object) -> bool:
    if isinstance(kind, str) and kind != "unknown":
        return not kind.startswith("user.")
    return string(block, "text").lstrip().startswith(_HOST_WORDS)


def _blocks(content: object) -> list[JsonObject]:
    blocks = content if isinstance(content, list) else [content]
    return [block if isinstance(block, dict) else {"type": "text", "text": block} for block in blocks if block]


def _add_block(composer: Composer, block: JsonObject, aside: bool = False) -> None:
    kind = string(block, "type")
    text = block.get("text", block.get("refusal"))
    if kind in ("input_image", "image"):
        composer.add("image", _image(block))
    elif isinstance(text, str):
        composer.add("attachment" if aside else "text", text)
    elif kind == "text":
        composer.add("text", call_text("value", text))
    elif kind != "encrypted_content":
        composer.add("attachment", block_text(block))


def _image(block: JsonObject) -> str:
    address = block.get("image_url")
    address = address if isinstance(address, str) else string(inner(block, "image_url"), "url")
    data = _DATA_URL.match(address)
    if data:
        return media_text({"media_type": data[1], "data": address[data.end() :]}, "image")
    return media_text({"url": address} if address else block, "image")


def _tool(item: JsonObject) -> str:
    kind, name, namespace = string(item, "type"), string(item, "name"), string(item, "namespace")
    if name and namespace:
        return f"{namespace}{'__' if namespace.startswith('mcp__') else '.'}{name}"
    return name or kind.removesuffix("_call")


def _read_arguments(item: JsonObject) -> object:
    """Return a tool's arguments: an object if it is one, else the string unchanged."""
    arguments = item.get(_CALLS[string(item, "type")])
    if string(item, "type") == "function_call" and isinstance(arguments, str):
        call_object = _parse_json(arguments)
        return call_object if isinstance(call_object, dict) else arguments
    if string(item, "type") == "local_shell_call" and isinstance(arguments, dict):
        return {key: value for key, value in arguments.items() if key != "type" and value is not None}
    return arguments


def _trust(name: str, arguments: object) -> Trust:
    """Return a call's trust. Before 0.80 MCP tools are named `server__tool`; no tool of the host's own is."""
    prefix = "mcp__" if "__" in name and not name.startswith("mcp__") else ""
    return trust_of_call(prefix + name, arguments)


def _add_output(composer: Composer, item: JsonObject, calls: Calls) -> None:
    call = string(item, "call_id") or string(item, "id")
    name, trust = calls.tool_of(call)
    output = item.get("output", item.get("content"))
    body, failed = _unwrap_output(output) if isinstance(output, str) else (_body(output), False)
    header = body[:400].partition("\nOutput:")[0]
    code = _EXIT_CODE.search(header)
    broke = failed or calls.failed(call) or item.get("success") is False or (code is not None and code[1] != "0")
    composer.add("tool_result", body, name=name, call=call, failed=broke, trust=trust)


def _unwrap_output(output: str) -> tuple[str, bool]:
    """Return a tool's output, unwrapped from the JSON of old versions, and whether that reports a failure."""
    value = _parse_json(output) if output[:1] in ("{", "[") else None
    if isinstance(value, dict) and isinstance(value.get("output"), str) and value.keys() <= {"output", "metadata"}:
        code = inner(value, "metadata").get("exit_code")
        return string(value, "output"), isinstance(code, int) and code != 0
    if isinstance(value, dict) and isinstance(value.get("content"), list) and "isError" in value:
        return _body(value["content"]), value["isError"] is True
    if isinstance(value, list) and value and all(map(_is_text_block, value)):
        return _body(value), False
    return output, False


def _is_text_block(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("text"), str) and value.get("type") in ("text", "input_text")


def _body(output: object) -> str:
    """Join blocks with a blank line; old versions put them, or a string, into an object's `content`."""
    if isinstance(output, dict) and "content" in output:
        output = output["content"]
    composer = Composer()
    for block in _blocks(output):
        _add_block(composer, block)
    return composer.text


def _parse_json(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
