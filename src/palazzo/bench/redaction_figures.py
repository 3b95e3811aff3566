"""Figures of redaction: which labelled secrets it finds, and which ordinary lines it marks by mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from palazzo.bench import Cell, Progress
from palazzo.bench.labelled_secrets import Case, cases
from palazzo.bench.ordinary_lines import LINES, Excerpt, excerpts
from palazzo.security.secret_scanner import find_secrets

Finder = Callable[[str], Sequence[tuple[int, int]]]
HALVES = (("tuned on", False), ("held out", True))
"""Rules are tuned on one half of the labels and files only; the other half measures their quality."""


def rows(report: Progress) -> tuple[dict[str, Cell], ...]:
    """Measure quality on all labels and 50,000 lines of this machine's own code."""
    report("reading", 0, 2)
    ordinary = list(excerpts(LINES))
    report("measuring", 1, 2)
    table_rows = tuple(quality(ordinary))
    report("measuring", 2, 2)
    return table_rows


def ours(text: str) -> list[tuple[int, int]]:
    """Return the spans that the redaction finds."""
    return [(span.start, span.end) for span in find_secrets(text)]


def quality(ordinary: Sequence[Excerpt], finder: Finder = ours) -> Iterator[dict[str, Cell]]:
    """Yield a row for each kind of label, with the figure for either half and the goal."""
    label_cases = list(cases())
    hits_by_case = {id(case): finds_secret(case, finder) for case in label_cases}
    for name, has_fixed_form, goal in (("structured found", True, 99.0), ("generic found", False, 95.0)):
        row: dict[str, Cell] = {"what": name, "goal": f"at least {goal:g}"}
        for half, held_out in HALVES:
            of = [
                case
                for case in label_cases
                if (case.kind.has_fixed_form, case.kind.held_out) == (has_fixed_form, held_out)
            ]
            row |= {half: round(100 * sum(hits_by_case[id(case)] for case in of) / len(of), 2), f"of, {half}": len(of)}
        yield row
    row = {"what": "ordinary lines marked", "goal": "at most 0.5"}
    for half, held_out in HALVES:
        half_excerpts = [excerpt for excerpt in ordinary if excerpt.held_out is held_out]
        lines = sum(excerpt.text.count("\n") + 1 for excerpt in half_excerpts)
        mark_count = sum(len(marked_lines(excerpt.text, finder)) for excerpt in half_excerpts)
        row |= {half: round(100 * mark_count / max(1, lines), 3), f"of, {half}": lines}
    yield row


def finds_secret(case: Case, finder: Finder) -> bool:
    """Return whether every part of the case's secret is inside a span."""
    return any(start <= case.start and case.end <= end for start, end in finder(case.text))


def marked_lines(text: str, finder: Finder) -> set[int]:
    """Return the numbers of the lines that hold a span."""
    spans = finder(text)
    return {n for start, end in spans for n in range(text.count("\n", 0, start), text.count("\n", 0, end) + 1)}
