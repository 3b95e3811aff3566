"""session_checkpoint: write a digest of an ended session into its agent's diary. The service runs it.

The entry is the session's digest, extracted by rules, in the words of the participants. Tool output stays in the digest
only: in a diary it would count as the agent's own words. If a session continues and ends again, only the new part is
entered; if it ends twice without new content, nothing is entered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from palazzo.archive import diary_entries
from palazzo.errors import NotFound
from palazzo.features.diary.checkpoint import save
from palazzo.features.diary.contract import CheckpointRequest, SessionCheckpointRequest, SessionCheckpointResult
from palazzo.features.wakeup.contract import DigestRequest
from palazzo.features.wakeup.digest import digest
from palazzo.security.note_taint import AGENT
from palazzo.text.times import parse_timestamp

if TYPE_CHECKING:
    from palazzo.features.wakeup.contract import DigestLineView, DigestResult
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
"""The most lines of a kind: the last ones, which are least likely to be outdated by later ones."""
_LONGEST = 400
_LOOKED_AT = 200
"""The most diary entries that are searched for earlier entries of a session."""


def session_checkpoint(context: Context, request: SessionCheckpointRequest) -> SessionCheckpointResult:
    """Add the new part of a session's digest to its agent's diary."""
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
    """Return when this session was last entered; 0 if never."""
    with context.reading().database.snapshot() as connection:
        agent = diary_entries.agent_called(connection, diary_entries.agent_name(request.agent))
        if agent is None:
            return 0
        rows = islice(diary_entries.entries(connection, agent, topic=TOPIC), _LOOKED_AT)
        entries = (diary_entries.read(connection, row) for row in rows)
        return next((int(entry.at) for entry in entries if entry.text.startswith(_head(request.session))), 0)
