"""Qwen Code's sessions: records in JSON Lines, one file per session, only ever appended to.

Learned from the source code of version 0.24 (`packages/core/src/services/chatRecordingService.ts`, and `Storage`,
which names the files), and from a session of version 0.24.4 (`tests/fixtures/qwen`).

`~/.qwen/projects/<folder of the directory>/chats/<session id>.jsonl`. A record is `{uuid, parentUuid, sessionId,
timestamp, type, cwd, version, gitBranch}`, like a row of Claude Code, with a `message` as Google's Gen AI API has it:
`{role, parts: [{text | thought | functionCall | functionResponse | inlineData | fileData}]}`.

- `user`: what was typed. With a `subtype` other than `mid_turn_user_message`, or a `provenance` other than `real_user`,
  the host wrote it. What a hook adds is a part of its own in `<qwen:user-prompt-submit-context>`. `systemPayload` has
  the typed text (`displayText`) if the parts hold more than that.
- `assistant`, with `model`; `tool_result`, with the call's `status` in `toolCallResult`.
- `system`: what the host notes for itself. `chat_compression` repeats the session, `custom_title` names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.model import ContentKind, Role
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.block_text import JOINT, Composer, block_text, call_text, media_text
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.resume_context import Calls, rows_before, trust_of_call
from palazzo.sources.formats.row_records import objects_in
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

KIND = "qwen"

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
_PERSON = ("", "real_user")
"""Provenances of a person's message; earlier versions wrote none."""
_TYPED = ("", "mid_turn_user_message", "realtime_message")
_HOOK_CONTEXT = "<qwen:user-prompt-submit-context>"
_EXIT_CODE = make_regex(r"^Exit Code: -?[1-9]\d*\s*$", re.MULTILINE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class QwenCode:
    """Reads Qwen Code's sessions."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the rows of `head` are records of a session."""
        objects, lines = objects_in_head(head)
        return 2 * len(objects) >= max(lines, 1) and any(map(_is_record, objects))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from the file's name if it is the host's own, else from its records."""
        objects, _ = objects_in_head(head)
        session_id = next((value for row in objects if (value := string(row, "sessionId"))), "")
        session = path.stem if _UUID.fullmatch(path.stem) else session_id or path.stem
        return Identity((KIND, session), session)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        calls = Calls()
        for earlier_row in rows_before(stream, start):
            _record_calls(earlier_row, calls)
        for position, raw, value in json_lines(stream, start):
            if isinstance(value, dict):
                _record_calls(value, calls)
                yield Row(position, raw, _content(value, calls), _title(value))
            else:
                yield Row(position, raw, value)


def _is_record(row: JsonObject) -> bool:
    """Return whether a row is a record of Qwen Code. Rows of Claude Code have the same envelope."""
    if not (string(row, "uuid") and string(row, "sessionId") and "parentUuid" in row):
        return False
    message = row.get("message")
    return (isinstance(message, dict) and isinstance(message.get("parts"), list)) or "systemPayload" in row


def _parts(row: JsonObject) -> list[JsonObject]:
    message = row.get("message")
    return objects_in(message.get("parts")) if isinstance(message, dict) else []


def _record_calls(row: JsonObject, calls: Calls) -> None:
    for part in _parts(row):
        call = part.get("functionCall")
        if isinstance(call, dict):
            name = string(call, "name")
            calls.record_call(string(call, "id"), name, trust_of_call(name, call.get("args")))


def _title(row: JsonObject) -> str:
    payload = row.get("systemPayload")
    return string(payload, "customTitle").strip() if isinstance(payload, dict) else ""


def _content(row: JsonObject, calls: Calls) -> Content:
    kind = string(row, "type")
    role = _ROLES.get(kind)
    if not kind:
        return Unreadable("row without a type")
    if role is None:
        return Noise("/".join(filter(None, (kind, string(row, "subtype")))))
    composer = Composer()
    try:
        _compose(composer, row, calls)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"{kind}/empty")
    return Message(
        composer.text,
        role,
        standing=_classify(row, composer),
        author=string(row, "model") if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(row, "uuid"),
        parent=string(row, "parentUuid"),
        created_at=moment(row.get("timestamp")),
        cwd=string(row, "cwd"),
        branch=string(row, "gitBranch"),
    )


def _classify(row: JsonObject, composer: Composer) -> ContentKind:
    if string(row, "type") != "user":
        return "said"
    by_person = string(row, "provenance") in _PERSON and string(row, "subtype") in _TYPED
    return "said" if by_person and any(part.trust != "tool" for part in composer.parts) else "meta"


def _compose(composer: Composer, row: JsonObject, calls: Calls) -> None:
    payload = row.get("systemPayload")
    typed_text = string(payload, "displayText") if isinstance(payload, dict) and string(row, "type") == "user" else ""
    parts = _parts(row)
    if typed_text and typed_text not in [string(part, "text") for part in parts]:
        composer.add("text", typed_text)
    for part in parts:
        _add_part(composer, part, row, calls, typed_text)


def _add_part(composer: Composer, part: JsonObject, row: JsonObject, calls: Calls, typed_text: str) -> None:
    text, call, response = string(part, "text"), part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, dict):
        name = string(call, "name")
        composer.add("tool_call", call_text(name or "tool", call.get("args")), name=name, call=string(call, "id"))
    elif isinstance(response, dict):
        _add_result(composer, response, row, calls)
    elif isinstance(part.get("inlineData"), dict):
        composer.add("image", media_text(part["inlineData"], "file"))
    elif isinstance(part.get("fileData"), dict):
        file = part["fileData"]
        composer.add("attachment", media_text({**file, "uri": string(file, "fileUri")}, "file"))
    elif part.get("thought") is True:
        composer.add("thinking", text)
    elif string(row, "type") == "user" and text.lstrip().startswith(_HOOK_CONTEXT):
        composer.add("attachment", text, trust="tool")
    elif "text" in part:
        is_added = bool(typed_text) and text != typed_text
        composer.add("attachment" if is_added else "text", text, trust="repo" if is_added else None)
    elif part:
        composer.add("attachment", block_text({"type": "part", **part}))


def _add_result(composer: Composer, response: JsonObject, row: JsonObject, calls: Calls) -> None:
    call = string(response, "id")
    name, trust = calls.tool_of(call)
    outcome, payload = row.get("toolCallResult"), response.get("response")
    payload = payload if isinstance(payload, dict) else {"output": payload} if isinstance(payload, str) else {}
    if payload.keys() <= {"output", "error"} and all(isinstance(value, str) for value in payload.values()):
        body = JOINT.join(value for value in payload.values() if value)
    else:
        body = call_text("response", payload)
    status = string(outcome, "status") if isinstance(outcome, dict) else ""
    failed = status in ("error", "cancelled") or "error" in payload
    failed = failed or (string(response, "name") == "run_shell_command" and _EXIT_CODE.search(body) is not None)
    composer.add("tool_result", body, name=name or string(response, "name"), call=call, failed=failed, trust=trust)


FEEDERS: tuple[Feeder, ...] = (QwenCode(),)
