"""The coding suite's questions: what is asked, where the answer stands, and how much of it the question gives away.

Owns the labels' format and the words-in-common check; knows the corpus as texts by source, and no palace.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import apsw
import yaml

from palazzo.text.stopwords import STOP_WORDS

QUESTIONS = Path(__file__).with_name("questions.yaml")
SECOND = Path(__file__).with_name("questions-second.yaml")
UNSEEN = Path(__file__).with_name("questions-unseen.yaml")
"""The third of the second set that no fitting program reads: a file of its own, so that reading it takes intent."""
PROMPTS = Path(__file__).with_name("prompts.txt")
TYPES = (
    "decision",
    "reason",
    "error-fix",
    "identifier",
    "path",
    "command",
    "what-changed",
    "value",
    "who-when",
    "unanswerable",
)
PROJECTS = frozenset({"tally", "kestrel", "harbor", "palazzo"})
Overlap = Literal["none", "some"]
_WORD = re.compile(r"[^\s,;:?!()\[\]'\"`]+")
_IDENTIFIER = re.compile(r"[_/.@#%\d-]|\w[A-Z]")


@dataclass(frozen=True, slots=True)
class Gold:
    """Exact words that answer, and the source they stand in: a session's name or a file of `corpus/`."""

    source: str
    words: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question; any of its golds answers it, and none means that nobody said."""

    id: str
    type: str
    text: str
    golds: tuple[Gold, ...]
    overlap: Overlap | None
    file: str = QUESTIONS.name
    """The file of labels that it stands in."""

    @property
    def split(self) -> str:
        """The part it belongs to: `dev` and `second` may be tuned on, `held-out` and `unseen` never."""
        if self.file == QUESTIONS.name:
            return split(self.id)
        return part_of_second(self.golds[0].source if self.golds else self.text)


def split(name: str) -> str:
    """Return the half of a question's id, or of a prompt."""
    return "held-out" if hashlib.sha256(name.encode()).digest()[0] % 2 else "dev"


def part_of_second(name: str) -> str:
    """Return the part of the second set by the name of a session, or by the text of a question without an answer.

    All questions about one session are in one part, so that nothing of an unseen session was tuned on.
    """
    return "unseen" if hashlib.sha256(name.encode()).digest()[0] % 3 == 0 else "second"


def read_questions(path: Path = QUESTIONS) -> list[Question]:
    """Read the questions. Raises `ValueError` where one has no known type, or its golds do not fit the type."""
    return [_question(row, path.name) for row in yaml.safe_load(path.read_text("utf-8"))]


def read_dev_questions() -> list[Question]:
    """Read the questions that may be tuned on: the dev half of the first set, and two thirds of the second."""
    return [one for one in read_questions() if one.split == "dev"] + read_questions(SECOND)


def read_prompts(path: Path = PROMPTS) -> list[str]:
    """Read the ordinary prompts, one a line."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def _question(row: Mapping[str, Any], file: str) -> Question:
    sources = {row["in"]: row["gold"], **row.get("also", {})} if "gold" in row else {}
    golds = tuple(Gold(source, words) for source, quoted in sources.items() for words in quoted)
    if row["type"] not in TYPES or bool(golds) == (row["type"] == "unanswerable"):
        raise ValueError(f"Question {row['id']}: type '{row['type']}' with {len(golds)} golds")
    return Question(row["id"], row["type"], row["q"], golds, row.get("overlap"), file)


def overlap(question: Question, stems: Stems) -> Overlap:
    """Say whether a question shares a stem with any of its golds, identifiers apart."""
    return "some" if any(shared(question.text, gold.words, stems) for gold in question.golds) else "none"


def shared(question: str, answer: str, stems: Stems) -> set[str]:
    """Return the stems that both have, without stop words and the question's identifiers."""
    found = [word for word in _WORD.findall(question) if not is_identifier(word, question)]
    return stems.of(found) & stems.of([answer])


def is_identifier(word: str, question: str) -> bool:
    """Whether a word names one thing: by its form, as a project's name, or as a proper name inside a sentence."""
    named = word[:1].isupper() and not question.startswith(word)
    return bool(_IDENTIFIER.search(word.rstrip("."))) or word.lower() in PROJECTS or named


class Stems:
    """What FTS5's porter tokenizer makes of words."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE f USING fts5(x, tokenize='porter unicode61')")
        self._connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'row')")
        self._stopped = self._tokens(sorted(STOP_WORDS))

    def of(self, texts: Sequence[str]) -> set[str]:
        """Return the stems in the texts; those of stop words are none."""
        return self._tokens(texts) - self._stopped

    def _tokens(self, texts: Sequence[str]) -> set[str]:
        self._connection.execute("DELETE FROM f")
        self._connection.executemany("INSERT INTO f(x) VALUES(?)", ((text,) for text in texts))
        return {str(term) for (term,) in self._connection.execute("SELECT term FROM v")}

    def close(self) -> None:
        """Let go of the table."""
        self._connection.close()
