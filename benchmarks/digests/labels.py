"""The digests' labels: what a session's digest has to say, and the turns that say so.

Owns the labels' format and where each session's transcript comes from; knows no rule that finds anything. A turn is a
message of the transcript as its reader gives it, counted from 1: words, a tool's call and its result are one each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from benchmarks.coding import sessions as made

from palazzo.sources.formats import Message
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS

HERE = Path(__file__).parent
LABELS = HERE / "labels.yaml"
REPOSITORY = HERE.parents[1]
HEAD = 65536
Kind = Literal["asked", "decided", "changed", "failed", "fixed", "open"]
KINDS: tuple[Kind, ...] = get_args(Kind)
WRITTEN = {"digests": HERE, "coding": made.CORPUS}
"""Where hand-written sessions stand, by the first word of a `source`; any other source is a file of the repository."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Words that stand in a turn, to the letter."""

    turn: int
    words: str


@dataclass(frozen=True, slots=True)
class Label:
    """One thing to say.

    Any of `cited` proves it, the first being where it was said. `ended` is the turn at which it stopped being so: a
    decision revised or turned down, a question answered, a to-do done. Such a label is a trap. `fixes` is the turn of
    the failure that a fix mended. What is `optional` is neither asked for nor wrong.
    """

    kind: Kind
    cited: tuple[Cited, ...]
    ended: int | None = None
    fixes: int | None = None
    optional: bool = False

    @property
    def stands(self) -> bool:
        """Whether it still holds at the end of the session."""
        return self.ended is None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A session by its name, where its transcript comes from, and what is to be said of it (small talk: nothing)."""

    session: str
    source: str
    labels: tuple[Label, ...]

    @property
    def split(self) -> str:
        """The half it belongs to: `dev` may be looked at by whoever writes rules, `held-out` only measured."""
        return split(self.session)


def split(name: str) -> str:
    """Return the half of a session: held out where the first hexadecimal digit of its name's SHA-256 is odd."""
    return "held-out" if int(hashlib.sha256(name.encode()).hexdigest()[0], 16) % 2 else "dev"


def read_labels(path: Path = LABELS) -> list[Labelled]:
    """Read the labels. Raises `ValueError` for a kind or a field that is none."""
    return [
        Labelled(row["session"], row["source"], tuple(_label(row["session"], one) for one in row["labels"]))
        for row in yaml.safe_load(path.read_text("utf-8"))
    ]


def write_transcript(labelled: Labelled, directory: Path) -> Path:
    """Return the session's transcript; a hand-written one is written below `directory` first."""
    corpus = WRITTEN.get(labelled.source)
    if corpus is None:
        return REPOSITORY / labelled.source
    [session] = [one for one in _written(corpus) if one["id"] == labelled.session]
    return made.write_session(directory, session)


def turns(transcript: Path) -> list[Message]:
    """Return what a transcript says, in its own order; turn n is at n - 1."""
    with transcript.open("rb") as stream:
        head = stream.read(HEAD)
        [feeder] = [one for one in TRANSCRIPTS if one.recognises(transcript, head)]
        stream.seek(0)
        return [row.content for row in feeder.rows(stream) if isinstance(row.content, Message)]


@cache
def _written(corpus: Path) -> list[made.Row]:
    return made.read_sessions(corpus)


def _label(session: str, row: Mapping[str, Any]) -> Label:
    fields = dict(row)
    kind, cited = fields.pop("kind"), [Cited(fields.pop("turn"), fields.pop("words"))]
    cited += [Cited(**also) for also in fields.pop("also", [])]
    if kind not in KINDS or not fields.keys() <= {"ended", "fixes", "optional"}:
        raise ValueError(f"Session {session}: no such label: {dict(row)}")
    return Label(kind, tuple(cited), **fields)
