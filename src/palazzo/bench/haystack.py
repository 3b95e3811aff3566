"""A haystack: the sessions that are filed into one palace, and the identity of each.

Sessions and turns are identified by their text, not by their ids: several questions of a data set may have one session
in their haystacks. A shared palace holds such a session once, and search would fold its copies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from palazzo.archive import identity
from palazzo.bench.cases import KIND, Case, Question, Talk, Talks, Turn
from palazzo.frozen_class import frozen
from palazzo.model import ItemId, Micros, Source
from palazzo.palace import Palace
from palazzo.sources.collection_reader import Reading, conversations, take_conversation
from palazzo.sources.conversation_filter import ALL_SESSIONS
from palazzo.sources.mining_report import Failed
from palazzo.sources.session_mining import count_drawers
from palazzo.sources.source_places import Placer


@frozen
class HaystackSession:
    """A session of the haystack: its token, the id under which it is archived, and its case."""

    token: str
    archived_as: str
    case: str
    talk: Talk


@frozen
class IngestTotals:
    """Result of filing a haystack."""

    drawers: int
    bytes: int


class Haystack:
    """The distinct sessions of some cases."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.held: list[HaystackSession] = []
        self._tokens: dict[tuple[str, str], str] = {}
        tokens: set[str] = set()
        for case in cases:
            for talk in case.talks:
                token = self._tokens[case.id, talk.id] = _token(talk)
                if token not in tokens:
                    tokens.add(token)
                    self.held.append(HaystackSession(token, f"{case.id}/{talk.id}", case.id, talk))
        self._positions = {
            (case.id, turn.id): (self._tokens[case.id, talk.id], n)
            for case in cases
            for talk in case.talks
            for n, turn in enumerate(talk.turns)
        }
        self._sessions = {session.archived_as: session.token for session in self.held}
        self._turns = {
            identity.message_id(KIND, session.archived_as, turn.id): turn_token(session.token, n)
            for session in self.held
            for n, turn in enumerate(session.talk.turns)
        }

    def wanted_sessions(self, case: Case, question: Question) -> frozenset[str]:
        """Return the keys of the sessions that hold a question's answer."""
        return frozenset(self._tokens[case.id, talk] for talk in question.sessions)

    def wanted_turns(self, case: Case, question: Question) -> frozenset[str]:
        """Return the keys of the turns that hold a question's answer."""
        return frozenset(turn_token(*self._positions[case.id, turn]) for turn in question.turns)

    def session(self, archived_as: str) -> str:
        """Return the key of an archived session; for a foreign one, its id."""
        return self._sessions.get(archived_as, f"foreign {archived_as}")

    def turn(self, item: ItemId) -> str:
        """Return the key of an archived message; for a foreign one, its id."""
        return self._turns.get(item, f"foreign {item}")

    def file(self, palace: Palace, near: Path, report: Callable[[int, int], None]) -> IngestTotals:
        """Mine the sessions into a palace, each into its case's wing; `near` is a path of the collection."""
        size = 0
        sources_by_key: dict[tuple[str, ...], tuple[Source, Micros]] = {}
        placements = {entry.case: Placer(palace.database, entry.case) for entry in self.held}
        for n, entry in enumerate(self.held):
            talks = Talks([(entry.archived_as, entry.talk)])
            reading = Reading(palace.database, talks, near, placements[entry.case], palace.clock, ALL_SESSIONS)
            for conversation in conversations(talks, near, {}, ALL_SESSIONS):
                outcome = take_conversation(reading, conversation, lambda items: None)
                if isinstance(outcome, Failed):  # nothing is read from a file: what fails here is the palace
                    raise RuntimeError(f"{outcome.uri}: {outcome.error}")
                size += outcome.bytes
                if outcome.source_start is not None:
                    sources_by_key.setdefault(outcome.source_start[0].key, outcome.source_start)
            report(n + 1, len(self.held))
        return IngestTotals(sum(count_drawers(palace.database, *entry) for entry in sources_by_key.values()), size)


def turn_token(session: str, position: int) -> str:
    """Return the key of a turn: its session and its place there."""
    return f"{session}#{position}"


def line(turn: Turn) -> str:
    """Return a turn as one text, with its speaker in front if the data set names one."""
    return f"{turn.author}: {turn.text}" if turn.author else turn.text


def _token(talk: Talk) -> str:
    content = "\0".join(f"{turn.role}\0{turn.author}\0{turn.text}" for turn in talk.turns)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
