"""What a retrieval benchmark consists of, whatever its file looks like, and how it is handed to mining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from palazzo.model import Micros, Role
from palazzo.sources.formats import Identity, Message, Row, Session

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
    """A question, its type, and the ids of the turns and sessions that hold its answer.

    An `unanswerable` one asks for what nobody said: its turns and sessions are those it was made from, if the file
    names them. `counted` says whether the data set's own evaluation counts it.
    """

    text: str
    type: str
    turns: frozenset[str]
    sessions: frozenset[str]
    unanswerable: bool = False
    is_scored: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """A haystack and what is asked of it. `id` is unique in its file."""

    id: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]


class Talks:
    """Sessions as a collection, for mining to read as any other. Each comes with the id that it is archived under."""

    kind = KIND
    version = 1

    def __init__(self, talks: Sequence[tuple[str, Talk]]) -> None:
        self._talks = talks

    def recognises(self, path: Path, head: bytes) -> bool:
        """Never: sessions are handed over, not found."""
        return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield every session."""
        for own, talk in self._talks:
            yield Session(Identity((KIND, own), own), "1", partial(_rows, talk), f"Session {talk.id}")


def _rows(talk: Talk) -> Iterator[Row]:
    for position, turn in enumerate(talk.turns):
        raw = turn.text.encode("utf-8", "surrogatepass")
        yield Row(position, raw, Message(turn.text, turn.role, author=turn.author, uuid=turn.id, created_at=talk.at))
