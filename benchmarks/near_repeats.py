"""What could be saved if tool output that nearly repeats got the vector of what it repeats, and what that would cost.

    python benchmarks/near_repeats.py [TRANSCRIPTS] [--sessions 60] [--json]

Mines a directory of transcripts, or made sessions, and embeds each text that waits for a vector, newest first, as the
product does: texts that are equal once. The first table says how many texts and how much of the model's processor time
belong to each kind of passage, and of that to texts that nearly repeat an earlier one: equal but for numbers, hashes,
times and white space (`shape`), or nine tenths alike in their runs of three words. The second says how near the vector
that such a text would get is to its own: of tool output, and for comparison of tool calls.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.corpus import write_sessions
from benchmarks.ingest import run_mine
from benchmarks.measuring import Row, percentile, report

from palazzo.index.embedder import Embedder
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.model import Part
from palazzo.palace import Palace
from palazzo.store import items, vector_rows
from palazzo.text.similarity import copies, signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

THREADS = 2
ALIKE = 0.9
"""The share of runs of three words from which search folds near-copies (`index/presentation`)."""
LONG = 200
"""Characters from which a text is long enough that its numbers are a small part of it."""
OUTPUT, CALL, OTHER = "tool output", "tool calls", "everything else"
_KINDS = {"tool_result": OUTPUT, "tool_call": CALL}
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_CHANGING = re.compile(rf"{_DATE}|\b(?:0x)?(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{{7,}}\b|\d+(?:[.,:]\d+)*|\s+")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Measure what near-repeats of tool output cost.")
    parser.add_argument("transcripts", nargs="?", type=Path, help="default: made sessions")
    parser.add_argument("--sessions", type=int, default=60, help="how many are made; default: 60")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="near-repeats-") as scratch:
        directory = given.transcripts
        if directory is None:
            directory = Path(scratch) / "projects"
            write_sessions(directory, given.sessions)
        palace = Path(scratch) / "palace" / "palace.db"
        run_mine(palace, directory)
        passages = waiting_passages(palace)
    embedder = open_embedder(EmbedderSpec(threads=THREADS))
    texts = embed(distinct(passages), embedder)
    near = {
        "equal but for numbers": near_by_shape(texts),
        f"{ALIKE:.0%} alike": near_by_words(texts),
    }
    report("Texts that wait for a vector", _cost_rows(passages, texts, near), given.json)
    report("Cosine of the vector of an earlier text and the own one", _cosine_rows(texts, near), given.json)
    return 0


@dataclass(frozen=True)
class Passage:
    """A text that waits for a vector, and whether a tool printed it."""

    kind: str
    text: str


@dataclass(frozen=True)
class EmbeddedText:
    """A passage with its own vector, and the processor seconds that the model took."""

    kind: str
    text: str
    vector: NDArray[np.float32]
    seconds: float


Originals = Mapping[int, int]
"""The earlier text whose vector a text would get; both are positions in the list of texts."""


def waiting_passages(palace: Path) -> list[Passage]:
    """Return all passages that wait for a vector, newest first."""
    with Palace.open(palace) as opened, opened.database.snapshot() as connection:
        rows = vector_rows.pending_passages(connection, vector_rows.count_pending(connection))
        item_rows = sorted({item for _, _, item, _, _ in rows})
        parts = {item: items.read_item(connection, item).parts for item in item_rows}
        whole = items.read_texts(connection, item_rows)
    return [Passage(kind_of(parts[item], start, end), whole[item][start:end]) for _, _, item, start, end in rows]


def kind_of(parts: Sequence[Part], start: int, end: int) -> str:
    """Return the kind of a passage: a tool's only if it lies within one output or one call."""
    return next((_KINDS.get(part.kind, OTHER) for part in parts if part.start <= start and end <= part.end), OTHER)


def distinct(passages: Sequence[Passage]) -> list[Passage]:
    """Return each text once, in the order in which they are embedded."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.text, passage)
    return list(first.values())


def embed(passages: Sequence[Passage], embedder: Embedder) -> list[EmbeddedText]:
    """Return the texts with their vectors."""
    texts = []
    for passage in passages:
        began = time.process_time()
        vector = embedder.embed([passage.text])[0]
        texts.append(EmbeddedText(passage.kind, passage.text, vector, time.process_time() - began))
    return texts


def shape(text: str) -> str:
    """Return a text without what changes from one run of a program to the next: numbers, hashes, times, white space.

    Hexadecimal digits count as a hash from seven on, if there is a digit among them.
    """
    return _CHANGING.sub(lambda match: " " if match[0].isspace() else "0", text.strip())


def near_by_shape(texts: Sequence[EmbeddedText]) -> Originals:
    """Return the texts that have the shape of an earlier one of the same kind."""
    first: dict[tuple[str, str], int] = {}
    originals: dict[int, int] = {}
    for n, text in enumerate(texts):
        original = first.setdefault((text.kind, shape(text.text)), n)
        if original != n:
            originals[n] = original
    return originals


def near_by_words(texts: Sequence[EmbeddedText]) -> Originals:
    """Return the tool output whose shape is `ALIKE` an earlier one: what a less exact comparison could save at most."""
    signatures = {n: signature(shape(text.text)) for n, text in enumerate(texts) if text.kind == OUTPUT}
    return {n: original for original, near in copies(signatures, ALIKE).items() for n in near}


def _cost_rows(passages: Sequence[Passage], texts: Sequence[EmbeddedText], near: Mapping[str, Originals]) -> list[Row]:
    rows: list[Row] = []
    for kind in (OUTPUT, CALL, OTHER):
        own = [n for n, text in enumerate(texts) if text.kind == kind]
        row: Row = {
            "kind": kind,
            "passages": sum(passage.kind == kind for passage in passages),
            "texts": len(own),
            "CPU s of the model": round(sum(texts[n].seconds for n in own), 2),
        }
        for name, originals in near.items():
            repeats = [n for n in own if n in originals]
            row[name] = len(repeats)
            row[f"CPU s, {name}"] = round(sum(texts[n].seconds for n in repeats), 2)
        rows.append(row)
    return rows


def _cosine_rows(texts: Sequence[EmbeddedText], near: Mapping[str, Originals]) -> list[Row]:
    cosines: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for name, originals in near.items():
        for n, original in originals.items():
            cosine = float(texts[n].vector @ texts[original].vector)
            cosines[texts[n].kind, name, "all"].append(cosine)
            if len(texts[n].text) >= LONG:
                cosines[texts[n].kind, name, f"from {LONG} characters on"].append(cosine)
    return [
        {
            "kind": kind,
            "texts": name,
            "length": length,
            "count": len(values),
            "least": round(min(values), 3),
            "1 %": round(percentile(values, 0.01), 3),
            "10 %": round(percentile(values, 0.1), 3),
            "median": round(percentile(values, 0.5), 3),
        }
        for (kind, name, length), values in sorted(cosines.items())
        if kind != OTHER
    ]


if __name__ == "__main__":
    sys.exit(main())
