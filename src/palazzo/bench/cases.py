"""What a retrieval benchmark consists of, whatever its file looks like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from palazzo.feeders import Identity, Message, Row, Session
from palazzo.model import Micros, Role

KIND = "benchmark"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `id` is unique within its case."""

    id: str
    text: str
    role: Role = "user"
    author: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of a case. `id` is unique within it; `at` is None where the file does not say."""

    id: str
    at: Micros | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its type, and the ids of the turns and sessions that hold its answer; none where there is none."""

    text: str
    type: str
    turns: frozenset[str]
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """A haystack and what is asked of it."""

    id: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]


def session_id(case: Case, talk: Talk) -> str:
    """Return the id under which a session is archived."""
    return f"{case.id}/{talk.id}"


class Cases:
    """The sessions of cases as a collection, for mining to read as it reads any other."""

    kind = KIND
    version = 1

    def __init__(self, cases: tuple[Case, ...]) -> None:
        self._cases = cases

    def recognises(self, path: Path, head: bytes) -> bool:
        """Never: cases are handed over, not found."""
        return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the sessions of every case."""
        for case in self._cases:
            for talk in case.talks:
                own = session_id(case, talk)
                yield Session(Identity((KIND, own), own), "1", partial(_rows, talk), f"Session {talk.id}")


def _rows(talk: Talk) -> Iterator[Row]:
    for position, turn in enumerate(talk.turns):
        raw = turn.text.encode("utf-8", "surrogatepass")
        yield Row(position, raw, Message(turn.text, turn.role, author=turn.author, uuid=turn.id, created_at=talk.at))
