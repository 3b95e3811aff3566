"""The latest turns of a session that a hook names: from the archive, and from the unarchived end of its transcript.

A turn is archived when it has ended. If that did not happen (a person interrupted it), the end of the transcript is
read, provided that it is short. Nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.features.hooks.hook_capture import transcript_of
from palazzo.injection.recent_turns import NOTHING, Recent, recent_of
from palazzo.model import Part
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.sources import file_changes
from palazzo.sources.formats import Message, ResumePoint, rows_from
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.store import source_rows, transcripts
from palazzo.store.last_messages import last_messages

if TYPE_CHECKING:
    from pathlib import Path

    from palazzo.features.hooks.hook_answers import HookCall
    from palazzo.store.source_rows import FileState

_MESSAGES, _CHARACTERS = 40, 120_000
"""The most messages and characters that are read from the end of a session."""
_TAIL = 128 * 1024
"""The most bytes of a transcript that are read beyond the archived part. A longer tail is left until the turn ends."""


def recent(call: HookCall) -> Recent:
    """Return the end of the session; empty if the session is not known yet."""
    hook_event = call.hook_event
    path = _transcript(call)
    uri = "" if path is None else path.as_uri()
    with call.context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, uri, hook_event.session)
        rows = [] if source is None else last_messages(connection, source, _MESSAGES, _CHARACTERS)
        state = source_rows.read_file_state(connection, uri) if uri else None
    since = call.session.epoch_at if call.session is not None and call.session.epoch > 0 else 0
    recent_rows = [
        row for row in rows if row.trust != "external" and row.at >= since
    ]  # the agent has lost what was before
    messages = [
        SessionMessage(row.item, row.role, row.text, _drop_external_parts(row.parts, row.text)) for row in recent_rows
    ]
    if path is not None:
        messages += _read_tail(path, state)
    return recent_of(messages[-_MESSAGES:]) if messages else NOTHING


def _transcript(call: HookCall) -> Path | None:
    raw_path = call.hook_event.transcript
    return transcript_of(call.context, raw_path) if raw_path else None


def _drop_external_parts(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    return tuple(part for part in parts or (Part("text", 0, len(text)),) if part.trust != "external")


def _read_tail(path: Path, state: FileState | None) -> Iterator[SessionMessage]:
    """Yield what the transcript has that is not archived, if its format only grows at the end and the rest is short."""
    if state is None:
        return
    feeder = next((entry for entry in TRANSCRIPTS if entry.kind == state.feeder), None)
    if feeder is None or not feeder.appends or feeder.version != state.version:
        return
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if not 0 < size - state.consumed <= _TAIL:
            return
        start = file_changes.resume_at(state, stream, file_changes.status_of_stream(stream), feeder.version)
        if start != state.consumed:
            return
        stream.seek(start)
        point = ResumePoint(file_changes.mark_at(state, start, feeder.kind))
        for n, row in enumerate(rows_from(feeder, stream, start, point), 1):
            entry = row.content
            if isinstance(entry, Message) and (entry.kind, entry.standing, entry.thread) == ("message", "said", ""):
                yield SessionMessage(-n, entry.role, entry.text, _drop_external_parts(entry.parts, entry.text))
