"""What was said and done last in a session that a hook tells of: from the archive, and from what lies behind it.

A turn is taken in when it has ended. Where that did not happen (somebody interrupted it), the end of the transcript is
read, as far as it is short; nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.attention.recent import NOTHING, Recent, recent_of
from palazzo.derive.digest_turns import Said
from palazzo.model import Part

if TYPE_CHECKING:
    from pathlib import Path

    from palazzo.operations.hook_answers import Asked
    from palazzo.store.sources import FileState

_MESSAGES, _CHARACTERS = 40, 120_000
"""Of the end of a session: what is read of it."""
_TAIL = 128 * 1024
"""Bytes of a transcript that are read beyond what the archive has. A longer tail is left for the turn's end."""


def recent(asked: Asked) -> Recent:
    """Return the end of the session; nothing where it is not known yet."""
    from palazzo.store import sources, transcripts
    from palazzo.store.last_messages import last_messages

    happening = asked.happening
    path = _transcript(asked)
    uri = "" if path is None else path.as_uri()
    with asked.context.reading().database.snapshot() as connection:
        source = transcripts.session_source(connection, uri, happening.session)
        rows = [] if source is None else last_messages(connection, source, _MESSAGES, _CHARACTERS)
        state = sources.read_file_state(connection, uri) if uri else None
    since = asked.session.epoch_at if asked.session is not None and asked.session.epoch > 0 else 0
    kept = [one for one in rows if one.trust != "external" and one.at >= since]  # the agent has lost what was before
    said = [Said(one.item, one.role, one.text, _believed(one.parts, one.text)) for one in kept]
    if path is not None:
        said += _behind(path, state)
    return recent_of(said[-_MESSAGES:]) if said else NOTHING


def _transcript(asked: Asked) -> Path | None:
    from palazzo.operations.hook_capture import transcript_of

    named = asked.happening.transcript
    return transcript_of(asked.context, named) if named else None


def _believed(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    return tuple(one for one in parts or (Part("text", 0, len(text)),) if one.trust != "external")


def _behind(path: Path, state: FileState | None) -> Iterator[Said]:
    """Yield what the transcript has that is not archived, if its format grows at the end and it is not long."""
    from palazzo.feeders import Message
    from palazzo.feeders.registry import TRANSCRIPTS

    if state is None:
        return
    feeder = next((one for one in TRANSCRIPTS if one.kind == state.feeder), None)
    if feeder is None or not feeder.appends or feeder.version != state.version:
        return
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if not 0 < size - state.consumed <= _TAIL:
            return
        stream.seek(state.consumed)
        for n, row in enumerate(feeder.rows(stream, state.consumed), 1):
            one = row.content
            if isinstance(one, Message) and (one.kind, one.standing, one.thread) == ("message", "said", ""):
                yield Said(-n, one.role, one.text, _believed(one.parts, one.text))
