"""Measure what reasoning of agents does to search, on the sessions of the coding suite.

    python benchmarks/reasoning.py [--distractors 0] [--split dev|second] [--weights -0.5 -1 -1.5 -2]

The sessions have no reasoning of their own, so two palaces with some are made. `beside`: before each answer the agent
thinks the question and the whole answer, which is more than real agents repeat. What was said should be found as if
nobody had thought. `instead`: the agent thinks each answer and does not say it. The reasoning should be found.
Questions are asked from their project, by the tuned halves only, and each drawer is a hit of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap import bootstrap_interval
from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import Question
from benchmarks.coding_suite import PLENTY, TUNED, Surroundings, choose_questions, palace_wing
from benchmarks.measuring import Row, machine, table

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.index import ranking, reranking

_IDS = uuid.UUID("0d2c3b0e-6d3e-4a87-9a49-7a35b5a6a5c1")
_DEPTH = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the three palaces, ask the questions, and print the figures."""
    parser = argparse.ArgumentParser(description="Measure what reasoning of agents does to search.")
    parser.add_argument("--distractors", type=int, default=0)
    parser.add_argument("--split", choices=TUNED, default="dev")
    parser.add_argument("--weights", type=float, nargs="+", default=[ranking.REASONING_WEIGHT])
    given = parser.parse_args(arguments)
    questions = [one for one in choose_questions(given.split) if one.golds]
    rows: list[Row] = []
    for name, rewrite in PALACES:
        with tempfile.TemporaryDirectory(prefix="palazzo-reasoning-") as scratch:
            embedder = remembering()
            palace = file_corpus(Path(scratch), given.distractors, embedder, rewrite=rewrite)
            with Surroundings(palace, embedder) as context:
                weights: list[float | None] = [None, *given.weights]
                for weight in weights[:1] if rewrite is None else weights:
                    labels: Row = {"reasoning": name, "weight": _name(weight)}
                    rows.append(labels | measure(context, questions, name, weight))
                    print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print("  ".join(f"{name}: {value}" for name, value in machine().items()))
    print(table(rows))
    return 0


def _name(weight: float | None) -> str:
    return "left out" if weight is None else f"{weight:g}"


def measure(context: Surroundings, questions: Sequence[Question], name: str, weight: float | None) -> Row:
    """Return how often a right drawer is first or among five, and how many of five hits are reasoning."""
    wants_reasoning = name == "instead"
    with context.reading().database.snapshot() as connection:
        right = right_drawers(connection, questions)
        kinds = {bytes(uid).hex(): kind for uid, kind in connection.execute("SELECT uid, kind FROM drawer")}
    first, among, thoughts = [], [], []
    with (
        mock.patch.object(ranking, "REASONING_WEIGHT", weight or 0.0),
        mock.patch.object(reranking, "REASONING_WEIGHT", weight or 0.0),
    ):
        for question in questions:
            wanted = {uid for uid in right[question.id] if (kinds[uid] == "reasoning") == wants_reasoning}
            if not wanted or (wants_reasoning and wanted != right[question.id]):
                continue
            context.at = palace_wing(context, wanted)
            request = SearchRequest(
                question.text, limit=_DEPTH, budget=PLENTY, drawers=True, reasoning=weight is not None
            )
            hits = search(context, request).hits
            first.append(float(any(hit.id in wanted for hit in hits[:1])))
            among.append(float(any(hit.id in wanted for hit in hits)))
            thoughts.append(sum(hit.kind == "reasoning" for hit in hits) / max(len(hits), 1))
    shares = {"any@1": first, "any@5": among, "reasoning among five": thoughts}
    return {"questions": len(first)} | {
        label: f"{100 * sum(values) / max(len(values), 1):.1f} ({bootstrap_interval(values)})"
        for label, values in shares.items()
    }


# --- transcripts with reasoning ----------------------------------------------------------------------------


def think_beside(transcript: Path) -> None:
    """Let the agent think the question and the answer before it answers."""
    _rewrite(transcript, _with_thoughts)


def think_instead(transcript: Path) -> None:
    """Let the agent think what it said, and say nothing."""
    _rewrite(transcript, _thoughts_alone)


def _rewrite(transcript: Path, change: Callable[[list[dict[str, Any]]], Iterator[dict[str, Any]]]) -> None:
    rows = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    changed = [json.dumps(row, ensure_ascii=False) for row in change(rows)]
    transcript.write_text("".join(f"{line}\n" for line in changed), "utf-8")


def _with_thoughts(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    asked = ""
    for row in rows:
        words = "\n".join(block["text"] for block in row["message"]["content"] if block["type"] == "text")
        if row["type"] == "user":
            asked = words or asked
        elif words:
            thought = {"type": "thinking", "thinking": f"{asked}\n\n{words}", "signature": ""}
            own = str(uuid.uuid5(_IDS, row["uuid"]))
            yield row | {"uuid": own, "message": row["message"] | {"content": [thought]}}
            row["parentUuid"] = own
        yield row


def _thoughts_alone(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        if row["type"] == "assistant":
            row["message"]["content"] = [
                {"type": "thinking", "thinking": block["text"], "signature": ""} if block["type"] == "text" else block
                for block in row["message"]["content"]
            ]
        yield row


PALACES: list[tuple[str, Callable[[Path], None] | None]] = [
    ("as it was said", None),
    ("beside", think_beside),
    ("instead", think_instead),
]


if __name__ == "__main__":
    sys.exit(main())
