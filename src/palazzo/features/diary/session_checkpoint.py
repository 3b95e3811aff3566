"""session_checkpoint: what a session that has ended came to, as an entry of its agent's diary. Made by the service.

It is the session's digest, found by rule, in the words of those who were there. What tools put out is left to the
digest: in a diary it would count as the agent's own words. A session that goes on and ends again has only what is new
entered; one that ends twice, nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.features.wakeup.digest import DigestLineView, DigestResult
    from palazzo.operations.context import Context

TOPIC = "checkpoint"
_HEADINGS = {
    "asked": "Asked",
    "decided": "Decided",
    "changed": "Changed",
    "fixed": "Fixed",
    "open": "Left open",
}
_MOST = 12
"""Lines of a kind; the last ones, which later ones may have overtaken least."""
_LONGEST = 400
_LOOKED_AT = 200
"""Entries of the diary among which a session's former ones are looked for."""


@dataclass(frozen=True, slots=True)
class SessionCheckpointRequest:
    """Which session has ended, and whose it was."""

    session: Annotated[str, About("The session's id.")]
    agent: Annotated[str, About("Whose diary the entry is for.")]


@dataclass(frozen=True, slots=True)
class SessionCheckpointResult:
    """The entry's id; null where there was nothing to enter."""

    id: str | None


def session_checkpoint(context: Context, request: SessionCheckpointRequest) -> SessionCheckpointResult:
    """Enter what is new of a session's digest in its agent's diary."""
    from palazzo.features.diary.checkpoint import CheckpointRequest, save
    from palazzo.features.wakeup.digest import DigestRequest, digest
    from palazzo.security.note_taint import AGENT
    from palazzo.text.times import parse_timestamp

    if not request.session or not context.has_palace:
        return SessionCheckpointResult(None)
    try:
        session_digest = digest(context, DigestRequest(request.session, tuple(_HEADINGS)))
    except NotFound:
        return SessionCheckpointResult(None)  # it was too short to be kept, or left out
    last_entry_time = _entered_at(context, request)
    spoken_lines = [
        line for line in session_digest.lines if line.by in ("user", "assistant") and line.trust != "external"
    ]
    lines = [line for line in spoken_lines if (parse_timestamp(line.said_at) or 0) > last_entry_time]
    if session_digest.session != request.session or all(line.kind == "asked" for line in lines):
        return SessionCheckpointResult(None)
    entry = {"agent": request.agent, "entry": _text(session_digest, lines), "topic": TOPIC}
    about = {} if session_digest.wing is None else {"project": session_digest.wing}
    checkpoint = save(context, CheckpointRequest(json.dumps({"diary": {**entry, **about}})), AGENT)
    return SessionCheckpointResult(next((new_entry.id for new_entry in checkpoint.added), None))


def _head(session: str) -> str:
    return f"Session {session}"


def _text(session_digest: DigestResult, lines: Sequence[DigestLineView]) -> str:
    title = " ".join(session_digest.title.split())
    return "\n".join([f"{_head(session_digest.session)}: {title or 'untitled'}", *_sections(lines)])


def _sections(lines: Sequence[DigestLineView]) -> Iterator[str]:
    for kind, heading in _HEADINGS.items():
        bullets = list(dict.fromkeys(_line(line) for line in lines if line.kind == kind))
        if bullets:
            left_out = f" (the last {_MOST} of {len(bullets)})" if len(bullets) > _MOST else ""
            yield f"\n{heading}{left_out}:"
            yield from bullets[-_MOST:]


def _line(line: DigestLineView) -> str:
    is_told = line.about is not None and line.about_trust != "external"
    about = f" (to: {_cut(line.about.text)})" if line.about is not None and is_told else ""
    return f"- {_cut(line.words.text)}{about}"


def _cut(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _entered_at(context: Context, request: SessionCheckpointRequest) -> int:
    """When this session was last entered; 0 where it never was."""
    from palazzo.archive import diary_entries

    with context.reading().database.snapshot() as connection:
        agent = diary_entries.agent_called(connection, diary_entries.agent_name(request.agent))
        if agent is None:
            return 0
        rows = islice(diary_entries.entries(connection, agent, topic=TOPIC), _LOOKED_AT)
        entries = (diary_entries.read(connection, row) for row in rows)
        return next((int(entry.at) for entry in entries if entry.text.startswith(_head(request.session))), 0)


OPERATION = Operation(
    "session_checkpoint", SessionCheckpointRequest, SessionCheckpointResult, session_checkpoint, writes=True
)
