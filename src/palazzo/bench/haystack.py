"""A haystack: the sessions that are filed into one palace, and what each of them is known by.

Sessions and turns are known by what was said, not by their ids: several questions of a data set may have one session
in their haystacks, which a shared palace holds once, and whose copies search would fold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from palazzo.archive import identity
from palazzo.bench.cases import KIND, Case, Question, Talk, Talks, Turn
from palazzo.mining.collected import Reading, conversations, take_conversation
from palazzo.mining.placing import Placing
from palazzo.mining.report import Failed
from palazzo.mining.sessions import count_drawers
from palazzo.mining.wanted import ANY
from palazzo.model import ItemId, Micros, Source
from palazzo.palace import Palace


@dataclass(frozen=True, slots=True)
class Held:
    """A session of the haystack: what it is known by, the id it is archived under, and its case."""

    token: str
    archived_as: str
    case: str
    talk: Talk


@dataclass(frozen=True, slots=True)
class Filed:
    """What filing a haystack brought."""

    drawers: int
    bytes: int


class Haystack:
    """The distinct sessions of some cases."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.held: list[Held] = []
        self._tokens: dict[tuple[str, str], str] = {}
        seen: set[str] = set()
        for case in cases:
            for talk in case.talks:
                token = self._tokens[case.id, talk.id] = _token(talk)
                if token not in seen:
                    seen.add(token)
                    self.held.append(Held(token, f"{case.id}/{talk.id}", case.id, talk))
        self._positions = {
            (case.id, turn.id): (self._tokens[case.id, talk.id], n)
            for case in cases
            for talk in case.talks
            for n, turn in enumerate(talk.turns)
        }
        self._sessions = {one.archived_as: one.token for one in self.held}
        self._turns = {
            identity.message_id(KIND, one.archived_as, turn.id): turn_token(one.token, n)
            for one in self.held
            for n, turn in enumerate(one.talk.turns)
        }

    def wanted_sessions(self, case: Case, question: Question) -> frozenset[str]:
        """Return what the sessions are known by that hold a question's answer."""
        return frozenset(self._tokens[case.id, talk] for talk in question.sessions)

    def wanted_turns(self, case: Case, question: Question) -> frozenset[str]:
        """Return what the turns are known by that hold a question's answer."""
        return frozenset(turn_token(*self._positions[case.id, turn]) for turn in question.turns)

    def session(self, archived_as: str) -> str:
        """Return what a session of the archive is known by; a foreign one by its id."""
        return self._sessions.get(archived_as, f"foreign {archived_as}")

    def turn(self, item: ItemId) -> str:
        """Return what an archived message is known by; a foreign one by its id."""
        return self._turns.get(item, f"foreign {item}")

    def file(self, palace: Palace, near: Path, report: Callable[[int, int], None]) -> Filed:
        """Mine the sessions into a palace, each into the wing of its case; `near` is a path of the collection."""
        size = 0
        filed: dict[tuple[str, ...], tuple[Source, Micros]] = {}
        placing = {one.case: Placing(palace.database, one.case) for one in self.held}
        for n, one in enumerate(self.held):
            talks = Talks([(one.archived_as, one.talk)])
            reading = Reading(palace.database, talks, near, placing[one.case], palace.clock, ANY)
            for met in conversations(talks, near, {}, ANY):
                taken = take_conversation(reading, met, lambda items: None)
                if isinstance(taken, Failed):  # nothing is read from a file: what fails here is the palace
                    raise RuntimeError(f"{taken.uri}: {taken.error}")
                size += taken.bytes
                if taken.filed is not None:
                    filed.setdefault(taken.filed[0].key, taken.filed)
            report(n + 1, len(self.held))
        return Filed(sum(count_drawers(palace.database, *one) for one in filed.values()), size)


def turn_token(session: str, position: int) -> str:
    """Return what a turn is known by: its session and its place there."""
    return f"{session}#{position}"


def line(turn: Turn) -> str:
    """Return a turn as one text, its speaker in front where the data set names one."""
    return f"{turn.author}: {turn.text}" if turn.author else turn.text


def _token(talk: Talk) -> str:
    said = "\0".join(f"{turn.role}\0{turn.author}\0{turn.text}" for turn in talk.turns)
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
