"""What a benchmark of search tells, as plain values: light to import, for faces to know."""

from __future__ import annotations

from dataclasses import dataclass

Means = dict[str, float | None]
"""A measure's mean in percent; None where no question has gold at that level."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Means at session and at turn granularity."""

    session: Means
    turn: Means


@dataclass(frozen=True, slots=True)
class Share(Levels):
    """The same of some of the questions."""

    questions: int


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """How many questions have no answer, and in percent for how many of them search returned nothing."""

    questions: int
    nothing_returned: float | None


@dataclass(frozen=True, slots=True)
class ReturnRates:
    """How often, in percent, a question's origin came back within so many hits; `mrr` is the mean of 1 / its place."""

    questions: int
    found: dict[str, float | None]
