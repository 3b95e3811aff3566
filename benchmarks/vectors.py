"""Measure the vector scan on real vectors: recall of the sign bits against float32, and what each pass takes.

    python benchmarks/vectors.py [--texts 30000] [--json]

Embeds paragraphs of documentation (those of `make_palace.py`) with the bundled model, once: the vectors are kept
in $PALAZZO_BENCHMARKS. Questions are sentences of other paragraphs, embedded alike. Recall@50 is the share of
the fifty nearest by exact float32 cosine that `Signs`, rescoring the nearest R by int8, also finds.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import Library
from benchmarks.measuring import CACHE, Row, milliseconds, report, spread

from palazzo.index.minilm import MiniLM
from palazzo.index.passage_embedding import quantise
from palazzo.index.sign_bits import Signs

QUESTIONS = 300
NEAREST = 50
RESCORED = (400, 800, 1600)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each number rescored."""
    parser = argparse.ArgumentParser(description="Measure the vector scan on real vectors.")
    parser.add_argument("--texts", type=int, default=30_000)
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    stored, asked = _embedded(given.directory, given.texts)
    report(f"Vector scan over {len(stored):,} real vectors, {len(asked)} questions", measure(stored, asked), given.json)
    return 0


def measure(stored: NDArray[np.float32], asked: NDArray[np.float32]) -> list[Row]:
    """Return a row for the exact scan and one for each number of vectors rescored."""
    rows = quantise([b""] * len(stored), stored)
    codes = np.frombuffer(b"".join(body for _, _, body in rows), dtype=np.int8).reshape(stored.shape)
    scales = np.array([scale for _, scale, _ in rows], dtype=np.float32)
    signs = Signs(stored.shape[1], len(stored))
    signs.put(0, codes)
    allowed = np.ones(len(stored), dtype=bool)
    exact = [set(np.argsort(-(stored @ question))[:NEAREST].tolist()) for question in asked]
    taken = [milliseconds(lambda q=q: np.argpartition(-(stored @ q), NEAREST)) for q in asked]  # type: ignore[misc]
    table: list[Row] = [{"scan": "exact float32", "recall@50": 1.0, **spread(taken)}]
    for count in RESCORED:

        def scan(question: NDArray[np.float32], count: int = count) -> NDArray[np.int64]:
            slots = signs.nearest(question, allowed, count)
            scores = np.einsum("ij,j->i", codes[slots].astype(np.float32), question) * scales[slots]
            return slots[np.argsort(-scores)[:NEAREST]]

        found = [len(exact[n] & set(scan(question).tolist())) / NEAREST for n, question in enumerate(asked)]
        taken = [milliseconds(lambda q=q: scan(q)) for q in asked]  # type: ignore[misc]
        table.append(
            {"scan": f"signs, {count} rescored", "recall@50": round(float(np.mean(found)), 4), **spread(taken)}
        )
    return table


def _embedded(directory: Path, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return vectors of `count` paragraphs and of the questions, made at the first call and kept."""
    kept = directory / f"vectors-{count}.npz"
    if not kept.exists():
        passages = list(dict.fromkeys(text for texts, _ in Library.read(directory).topics for text in texts))
        random.Random(11).shuffle(passages)
        model = MiniLM(1)
        questions = [text.split(". ")[0][:120] for text in passages[:QUESTIONS]]
        texts = passages[QUESTIONS : QUESTIONS + count]
        np.savez(kept, stored=model.embed(texts), asked=model.embed(questions))
    held = np.load(kept)
    return held["stored"], held["asked"]


if __name__ == "__main__":
    sys.exit(main())
