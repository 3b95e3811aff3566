"""Cases of a retrieval benchmark, whatever the format of its file, and how they are passed to mining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Role
from palazzo.sources.formats import Identity, Message, Row, Session

KIND = "benchmark"


@frozen
class Turn:
    """One message. `id` is unique within its case."""

    id: str
    text: str
    role: Role = "user"
    author: str = ""


@frozen
class Talk:
    """One session of a case. `id` is unique within it; `at` is None if the file does not state the time."""

    id: str
    at: Micros | None
    turns: tuple[Turn, ...]


@frozen
class Question:
    """A question, its type, and the ids of the turns and sessions that contain its answer.

    An `unanswerable` question asks for something that was never said: its turns and sessions are those from which it
    was made, if the file names them. `is_scored` says whether the data set's own evaluation counts it.
    """

    text: str
    type: str
    turns: frozenset[str]
    sessions: frozenset[str]
    unanswerable: bool = False
    is_scored: bool = True


@frozen
class Case:
    """A haystack and its questions. `id` is unique in its file."""

    id: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]


class Talks:
    """Sessions as a collection that mining can read like any other.

    Each comes with the id under which it is archived.
    """

    kind = KIND
    version = 1

    def __init__(self, talks: Sequence[tuple[str, Talk]]) -> None:
        self._talks = talks

    def recognises(self, path: Path, head: bytes) -> bool:
        """Raise: sessions are passed in, not discovered."""
        return False

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield every session."""
        for own, talk in self._talks:
            yield Session(Identity((KIND, own), own), "1", partial(_rows, talk), f"Session {talk.id}")


def _rows(talk: Talk) -> Iterator[Row]:
    for position, turn in enumerate(talk.turns):
        raw = turn.text.encode("utf-8", "surrogatepass")
        yield Row(position, raw, Message(turn.text, turn.role, author=turn.author, uuid=turn.id, created_at=talk.at))
