"""A chat session's file in VS Code, as the object that it stands for.

Learned from VS Code's source: `objectMutationLog.ts`, `chatSessionOperationLog.ts` and `chatSessionStore.ts` in
`src/vs/workbench/contrib/chat/common/model`.

Older versions write the object itself, into `<session id>.json`. Newer ones write `<session id>.jsonl`, a log of its
changes: `{kind: 0, v}` is the whole object, `{kind: 1, k, v}` sets the value at the path `k`, `{kind: 2, k, v, i}` cuts
the list at that path to `i` members and adds those of `v`, `{kind: 3, k}` deletes. After 1,024 changes VS Code replaces
the log by a new whole object. A change that leads nowhere is passed over, and the others are made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Noise, Unreadable
from palazzo.sources.formats.jsonl_rows import JsonObject, parse_line
from palazzo.sources.formats.row_records import decode_json_text, parse

_INITIAL, _SET, _PUSH, _DELETE = range(4)


@dataclass(slots=True)
class ChatLog:
    """The session's object, and the lines of its log that could not be applied, each with its reason."""

    record: JsonObject = field(default_factory=dict)
    unread: list[tuple[str, str]] = field(default_factory=list)


def parse_session(data: bytes, name: str) -> ChatLog:
    """Return the object of a whole file of JSON; raises SourceUnreadable if it is not JSON."""
    value = parse(data, name)
    if not isinstance(value, dict):
        raise SourceUnreadable(f"{name} is not a chat session of VS Code.")
    return ChatLog(value)


def replay(data: bytes) -> ChatLog:
    """Return the object after all changes. The last line counts only if it is complete."""
    log = ChatLog()
    has_start = False
    lines = data.split(b"\n")
    for n, line in enumerate(lines):
        entry = parse_line(line)
        if isinstance(entry, Noise):
            continue
        if isinstance(entry, Unreadable):
            if n < len(lines) - 1:
                log.unread.append((decode_json_text(line), entry.reason))
            continue
        reason = _apply_change(log, entry, has_start)
        has_start = has_start or (entry.get("kind") == _INITIAL and not reason)
        if reason:
            log.unread.append((decode_json_text(line), reason))
    return log


def _apply_change(log: ChatLog, entry: JsonObject, has_start: bool) -> str:
    """Make a change; return why it could not be made."""
    kind, value = entry.get("kind"), entry.get("v")
    if kind == _INITIAL:
        if not isinstance(value, dict):
            return "a session that is not an object"
        log.record = value
        return ""
    if kind not in (_SET, _PUSH, _DELETE):
        return f"a change of the unknown kind {kind!r}"
    if not has_start:
        return "a change before the session's first state"
    place = _find(log.record, entry.get("k"))
    if place is None:
        return "a change whose path leads nowhere"
    parent, key = place
    if kind == _PUSH:
        return _push(parent, key, value, entry.get("i"))
    return _set(parent, key, value if kind == _SET else None)


def _find(record: JsonObject, path: object) -> tuple[JsonObject | list[object], str | int] | None:
    """Return the object or list that holds the end of a path, and the path's last key."""
    if not isinstance(path, list) or not path:
        return None
    parent: object = record
    for key in path[:-1]:
        parent = _member(parent, key)
    last = path[-1]
    if isinstance(parent, dict) and isinstance(last, str):
        return parent, last
    if isinstance(parent, list) and isinstance(last, int) and not isinstance(last, bool):
        return parent, last
    return None


def _member(parent: object, key: object) -> object:
    if isinstance(parent, dict) and isinstance(key, str):
        return parent.get(key)
    if isinstance(parent, list) and isinstance(key, int) and 0 <= key < len(parent):
        return parent[key]
    return None


def _set(parent: JsonObject | list[object], key: str | int, value: object) -> str:
    if isinstance(parent, dict):
        parent[str(key)] = value
        return ""
    index = int(key)
    if not 0 <= index <= len(parent):
        return "a change beyond the end of a list"
    parent[index : index + 1] = [value]
    return ""


def _push(parent: JsonObject | list[object], key: str | int, values: object, length: object) -> str:
    current = _member(parent, key)
    members = current if isinstance(current, list) else []
    if length is not None and not (isinstance(length, int) and 0 <= length <= len(members)):
        return "a change beyond the end of a list"
    kept = members if length is None else members[: int(length)]
    return _set(parent, key, [*kept, *values] if isinstance(values, list) else kept)
