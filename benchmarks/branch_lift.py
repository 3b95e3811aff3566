"""Measure what it costs and gains that what belongs to the branch that is checked out comes first.

    python benchmarks/branch_lift.py [--distractors 5000]

The questions of the coding suite, asked from the answer's project and from another, with nothing checked out, with a
main line, with the branch on which the answer was said (most were said on main), and with one on which it was not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import DEPTH, file_corpus, right_drawers
from benchmarks.coding.questions import Question, read_questions
from benchmarks.coding_suite import PLENTY, PROJECTS, SHOWN, Surroundings, palace_wing
from benchmarks.measuring import Row, table

from palazzo.bench.measures import mean, measure
from palazzo.features.branches.branch_labels import Checkout
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search


class OnBranch(Surroundings):
    """A caller in whose project `branch` is checked out; None for nothing."""

    branch: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all questions in each way and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distractors", type=int, default=5_000)
    given = parser.parse_args(arguments)
    # There is no repository to check anything out in: what a search asks the checkout for is said here instead.
    setattr(Checkout, "boosted_branch", property(_lifted))  # noqa: B010 - the checker knows that it is not assigned to
    with tempfile.TemporaryDirectory(prefix="palazzo-lift-") as scratch:
        embedder = remembering()
        palace = file_corpus(Path(scratch), given.distractors, embedder)
        with OnBranch(palace, embedder) as context:
            print(table(list(_rows(context, read_questions()))))
    return 0


def _lifted(checkout: Checkout) -> str | None:
    context = checkout._context
    return context.branch if isinstance(context, OnBranch) else None


def _rows(context: OnBranch, questions: Sequence[Question]) -> Iterator[Row]:
    with context.reading().database.snapshot() as connection:
        right = right_drawers(connection, questions)
    found: dict[tuple[str, str, str], list[dict[str, float]]] = {}
    for question in questions:
        if not right[question.id]:
            continue
        home = palace_wing(context, right[question.id])
        own = context.reading().drawer(min(right[question.id])).branch
        checked_out = {
            "nothing": None,
            "main": "main",
            "the answer's": own,
            "another": "feat/avif" if own == "main" else "main",
        }
        for place in ("its project", "another project"):
            context.at = home if place == "its project" else next(wing for wing in PROJECTS if wing != home)
            for name, branch in checked_out.items():
                context.branch = branch
                measured = _asked(context, question, frozenset(right[question.id]))
                found.setdefault((question.split, place, name), []).append(measured)
    for (half, place, name), measures in sorted(found.items()):
        means = mean(measures)
        figures = {figure: round(means.get(figure) or 0.0, 1) for figure in SHOWN}
        yield {"half": half, "asked from": place, "checked out": name, "questions": len(measures), **figures}


def _asked(context: OnBranch, question: Question, right: frozenset[str]) -> dict[str, float]:
    hits = search(context, SearchRequest(question.text, limit=DEPTH, budget=PLENTY, drawers=True)).hits
    shown = frozenset(hit.id for hit in hits if any(gold.words in hit.text for gold in question.golds))
    return measure([hit.id for hit in hits], right | shown)


if __name__ == "__main__":
    sys.exit(main())
