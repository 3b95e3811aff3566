"""The corpora that all memories of `peer_suite.py` get: files as hosts and authors write them, and labelled questions.

Owns the files and the labels; knows no memory. A corpus has `projects/` (transcripts of Claude Code) and `docs/`
(pages), either of which may be absent. A question names the sources that answer it: a transcript by its session, a
page by its path below `docs/`. If it also names words, a hit answers only where it shows them.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.coding.distractors import PER_DOCUMENT, PER_SESSION, SEED
from benchmarks.coding.questions import Gold, read_dev_questions
from benchmarks.coding.sessions import CORPUS, DIGESTS, session_id, write_session, write_sessions
from benchmarks.corpus import write_corpus
from benchmarks.docs_search import NOWHERE, QUESTIONS, pages, read_questions
from benchmarks.docs_search import write_corpus as write_documentation

from palazzo.bench import locomo
from palazzo.bench.cases import Case, Talk, Turn
from palazzo.bench.haystack import line
from palazzo.bench.json_dataset import load
from palazzo.model import Micros

BEGINNING = 60
"""Characters of a turn of LoCoMo by which it is recognised in a hit: a memory may cut a long turn."""
_CAPTURED, _PAGES = "corpus/captured/", "corpus/palazzo/"


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit as an agent sees it: the session or page that it is from, and its text."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, the sources that answer it, and words of which a hit must show some; none if any text will do."""

    text: str
    sources: frozenset[str]
    words: tuple[str, ...] = ()

    def is_from(self, hit: ShownHit) -> bool:
        """Return whether a hit is from a source that answers."""
        return hit.source in self.sources

    def is_shown(self, hit: ShownHit) -> bool:
        """Return whether a hit from such a source shows words that answer, however it wraps its lines."""
        shown = _plain_words(hit.text)
        return self.is_from(hit) and any(_plain_words(words) in shown for words in self.words)


@dataclass(frozen=True, slots=True)
class LabelledCorpus:
    """Files in a directory, and questions about them."""

    name: str
    directory: Path
    questions: tuple[LabelledQuestion, ...]

    @property
    def transcripts(self) -> Path | None:
        """The directory of transcripts, if there are any."""
        return _existing(self.directory / "projects")

    @property
    def documents(self) -> Path | None:
        """The directory of pages, if there are any."""
        return _existing(self.directory / "docs")


def write_coding(directory: Path, distractors: int, limit: int | None, seed: int) -> LabelledCorpus:
    """Write the sessions and pages of the coding suite, among some `distractors` drawers of unrelated ones.

    Only the questions that may be tuned on are asked, and of these only the ones that have an answer.
    """
    if distractors:
        write_corpus(directory, max(1, distractors // PER_SESSION), max(1, distractors // PER_DOCUMENT), SEED)
    for corpus in (CORPUS, DIGESTS):
        write_sessions(directory / "projects", corpus)
    shutil.copytree(CORPUS / "captured", directory / "projects" / "-home-dev-captured")
    shutil.copytree(CORPUS / "palazzo", directory / "docs" / "palazzo")
    questions = [
        LabelledQuestion(
            question.text,
            frozenset(_source_of(gold) for gold in question.golds),
            tuple(gold.words for gold in question.golds),
        )
        for question in read_dev_questions()
        if question.golds
    ]
    return LabelledCorpus("coding sessions", directory, _sample(questions, limit, seed))


def _source_of(gold: Gold) -> str:
    if gold.source.startswith(_CAPTURED):
        return Path(gold.source).stem
    if gold.source.startswith(_PAGES):
        return "palazzo/" + gold.source.removeprefix(_PAGES)
    return session_id(gold.source)


def write_locomo(directory: Path, file: Path, limit: int | None, seed: int) -> LabelledCorpus:
    """Write LoCoMo's conversations as transcripts: the first speaker as the user, the second as the assistant.

    Each turn begins with its speaker's name. Questions without evidence are left out.
    """
    cases = locomo.read(load(file))
    questions = []
    for case in cases:
        names = {talk.id: _write_talk(directory / "projects", case, talk).stem for talk in case.talks}
        turns = {turn.id: line(turn) for talk in case.talks for turn in talk.turns}
        questions += [
            LabelledQuestion(
                question.text,
                frozenset(names[talk] for talk in question.sessions),
                tuple(turns[turn][:BEGINNING] for turn in sorted(question.turns)),
            )
            for question in case.questions
            if question.turns
        ]
    return LabelledCorpus("LoCoMo", directory, _sample(questions, limit, seed))


def _write_talk(directory: Path, case: Case, talk: Talk) -> Path:
    first = talk.turns[0].author if talk.turns else ""
    session = {
        "id": f"locomo {case.id} {talk.id}",
        "cwd": f"/home/dev/{case.id}",
        "branch": "main",
        "begin": _moment(talk.at),
        "steps": [_step(turn, first) for turn in talk.turns if turn.text.strip()],
    }
    return write_session(directory, session)


def _moment(at: Micros | None) -> datetime:
    return datetime.fromtimestamp((at or 0) / 1_000_000, UTC)


def _step(turn: Turn, first: str) -> dict[str, str]:
    return {"u" if turn.author == first else "a": line(turn)}


def write_pages(directory: Path, names: Sequence[str], limit: int | None, seed: int) -> LabelledCorpus:
    """Write sets of documentation, each below its name, with the half of the questions that may be tuned on."""
    sets = json.loads(QUESTIONS.read_text("utf-8"))
    corpus = write_documentation({name: sets[name] for name in names})
    for name in names:
        for page in pages(corpus / name):
            copy = directory / "docs" / page.relative_to(corpus)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, copy)
    questions = [
        LabelledQuestion(question.text, question.files)
        for question in read_questions(sets)
        if question.name in names and question.name != NOWHERE and question.half == "dev"
    ]
    return LabelledCorpus(f"documentation ({', '.join(names)})", directory, _sample(questions, limit, seed))


def messages(transcript: Path) -> list[tuple[str, str]]:
    """Return the speakers and texts of a transcript's rows, with the input and output of tools, in order."""
    found = []
    for row in transcript.read_text("utf-8").splitlines():
        message = json.loads(row).get("message")
        if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
            text = "\n".join(_block_texts(message.get("content", "")))
            if text.strip():
                found.append((str(message["role"]), text))
    return found


def _block_texts(content: object) -> Iterable[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            yield "\n".join([str(block.get("name")), *(f"{key}: {value}" for key, value in block["input"].items())])
        elif block.get("type") == "tool_result":
            yield from _block_texts(block.get("content", ""))
        else:
            yield str(block.get("text") or block.get("thinking") or "")


def _plain_words(text: str) -> str:
    """Return a text in one line, without the `>` that MemPalace puts before lines of a person."""
    return " ".join(text.replace("\n> ", "\n").removeprefix("> ").split())


def _sample(questions: Sequence[LabelledQuestion], limit: int | None, seed: int) -> tuple[LabelledQuestion, ...]:
    if limit is None or limit >= len(questions):
        return tuple(questions)
    chosen = sorted(random.Random(seed).sample(range(len(questions)), limit))
    return tuple(questions[n] for n in chosen)


def _existing(directory: Path) -> Path | None:
    return directory if directory.is_dir() else None
