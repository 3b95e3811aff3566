"""Meaning of opencode's messages and parts, independent of where they are stored.

Learned from stores that opencode 1.1.65, 1.2.27 and 1.18.33 wrote (`tests/fixtures/opencode`), and for the part types
that these lack from public descriptions of opencode's `message-v2.ts`.

A message says who speaks (`role`), when, with which model and where (`path.cwd`); its text is in its parts, in order:

    text                       words; `synthetic` and `ignored` ones were put there by a program
    reasoning                  the model's thoughts
    tool                       a call and its result: `state` has `status`, `input`, and `output` or `error`
    file                       an attachment; `url` may hold it whole
    subtask                    the request of a command to a sub-agent
    step-start, step-finish, snapshot, patch, compaction, retry, agent
                               bookkeeping

`opencode run "a b"` stores the prompt in double quotes, quotes within it escaped; one pair is removed from the text. A
message with `summary: true` replaces the messages that were compacted.
"""

from __future__ import annotations

import re

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, Micros, Role
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats import Content, Message, Noise, Unreadable
from palazzo.sources.formats.block_text import Composer, call_text
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment

KIND = "opencode"
"""Both of opencode's stores have the same kind: they contain the same sessions under the same ids."""

_INTERNAL_TYPES = frozenset({"step-start", "step-finish", "snapshot", "patch", "compaction", "retry", "agent"})
_QUOTE_PATTERN = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*', re.DOTALL)
_MAKER = re.compile(r"[a-z]+_([0-9a-f]{12})")
_WRAP = 1 << 48


@frozen
class Speech:
    """The common properties of the parts of one message."""

    id: str
    role: Role
    standing: ContentKind
    model: str
    agent: str
    cwd: str
    parent: str
    created_at: Micros | None


def speech_of(message: str, data: JsonObject) -> Speech | None:
    """Read a message; None if its role is unknown."""
    role = string(data, "role")
    if role not in ("user", "assistant"):
        return None
    path = data.get("path")
    model = data.get("model")
    return Speech(
        message,
        "user" if role == "user" else "assistant",
        "summary" if role == "assistant" and data.get("summary") is True else "said",
        string(data, "modelID") or (string(model, "modelID") if isinstance(model, dict) else ""),
        string(data, "agent") or string(data, "mode"),
        string(path, "cwd") if isinstance(path, dict) else "",
        string(data, "parentID"),
        _time(data, "created"),
    )


def is_unfinished(data: JsonObject) -> bool:
    """Return whether the model is still at this message: neither completed nor ended by an error."""
    return string(data, "role") == "assistant" and _time(data, "completed") is None and not data.get("error")


def message_content(message: str, data: object) -> Content:
    """Return the content of a message's own row: empty, except for the error that ended it."""
    speech = speech_of(message, data) if isinstance(data, dict) else None
    if speech is None or not isinstance(data, dict):
        return Unreadable("a message with an unknown role")
    error = data.get("error")
    if not isinstance(error, dict):
        return Noise(f"message/{speech.role}")
    detail = error.get("data")
    words = [string(error, "name"), string(detail, "message") if isinstance(detail, dict) else ""]
    text = ": ".join(filter(None, words))
    if not text:
        return Noise(f"message/{speech.role}")
    composer = Composer()
    composer.add("text", text)
    return _message(speech, message, composer, "meta", speech.created_at)


def part_content(part: str, data: object, speech: Speech | None) -> Content:
    """Return the content of a part."""
    if not isinstance(data, dict):
        return Unreadable("a part that is not an object")
    kind = string(data, "type")
    if kind in _INTERNAL_TYPES:
        return Noise(f"part/{kind}")
    if speech is None:
        return Unreadable("a part of a missing message")
    composer = Composer()
    status = speech.standing
    try:
        if kind == "text":
            is_put_in = data.get("synthetic") is True or data.get("ignored") is True
            status = "meta" if is_put_in and status == "said" else status
            words = string(data, "text")
            composer.add("text", strip_quotes(words) if speech.role == "user" and not is_put_in else words)
        elif kind == "reasoning":
            composer.add("thinking", string(data, "text"))
        elif kind == "tool":
            _add_tool(composer, data)
        elif kind == "file":
            _add_file(composer, data)
        elif kind == "subtask":
            arguments = {key: data[key] for key in ("agent", "description", "prompt") if data.get(key)}
            composer.add("tool_call", call_text("subtask", arguments), name="subtask")
        else:
            return Unreadable(f"a part of the unknown type {kind!r}")
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"part/{kind}, without words")
    return _message(speech, part, composer, status, _part_time(data))


def strip_quotes(text: str) -> str:
    """Remove one pair of double quotes from a prompt of `opencode run`, which quotes arguments with spaces."""
    match = _QUOTE_PATTERN.fullmatch(text)
    if not match or not match.group(1).strip():
        return text
    return match.group(1).replace('\\"', '"')


def rank_id(own: str, near: str) -> int:
    """Return the position of an ID relative to its message `near`, in the order of creation.

    IDs count 2^48 ticks of 1/4096 ms and then start over, last on 2026-08-14, so only distances order them.
    """
    mine, theirs = _MAKER.match(own), _MAKER.match(near)
    if not mine or not theirs:
        return 0
    distance = (int(mine.group(1), 16) - int(theirs.group(1), 16)) % _WRAP
    return distance if distance < _WRAP // 2 else distance - _WRAP


def _add_tool(composer: Composer, data: JsonObject) -> None:
    state = data.get("state")
    state = state if isinstance(state, dict) else {}
    name, call, arguments = string(data, "tool"), string(data, "callID"), state.get("input")
    trust = trust_of_tool(_known_server(name), arguments)
    composer.add("tool_call", call_text(name or "tool", arguments), name=name, call=call)
    output = string(state, "output") or (string(state, "error") if string(state, "status") == "error" else "")
    failed = string(state, "status") == "error"
    composer.add("tool_result", output, name=name, call=call, failed=failed, trust=trust)
    for file in objects_in(state.get("attachments")):
        _add_file(composer, file)


def _known_server(tool: str) -> str:
    """Map a tool's name: MCP tools are named `server_tool`; opencode's own have no server, or are listed here."""
    server, _, name = tool.partition("_")
    return f"mcp__{server}__{name}" if name and tool not in ("apply_patch", "plan_enter", "plan_exit") else tool


def _add_file(composer: Composer, data: JsonObject) -> None:
    url, media = string(data, "url"), string(data, "mime")
    file_name = string(data, "filename") or ("" if url.startswith("data:") else url)
    label = f"[{', '.join(filter(None, (media, file_name))) or 'file'}]"
    composer.add("image" if media.startswith("image/") else "attachment", label, name=string(data, "filename"))


def _message(speech: Speech, uuid: str, composer: Composer, status: ContentKind, said_at: Micros | None) -> Message:
    fields = {"message_id": speech.id, "model": speech.model, "agent": speech.agent}
    return Message(
        composer.text,
        speech.role,
        standing=status,
        author=speech.model if speech.role == "assistant" else "",
        parts=composer.parts,
        uuid=uuid,
        parent=speech.parent,
        created_at=said_at if said_at is not None else speech.created_at,
        cwd=speech.cwd,
        meta={key: value for key, value in fields.items() if value},
    )


def _part_time(data: JsonObject) -> Micros | None:
    """Return when a part began, if it says so. The time of its row may be that of a migration."""
    start_time = _time(data, "start")
    state = data.get("state")
    return start_time if start_time is not None or not isinstance(state, dict) else _time(state, "start")


def _time(data: JsonObject, key: str) -> Micros | None:
    times = data.get("time")
    return moment(times.get(key)) if isinstance(times, dict) else None
