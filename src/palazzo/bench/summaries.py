"""Results of a search benchmark as plain values: light to import, for use by faces."""

from __future__ import annotations

from palazzo.frozen_class import frozen

Means = dict[str, float | None]
"""The mean of a measure in percent; None if no question has gold labels at that level."""


@frozen
class Levels:
    """Means at session and at turn granularity."""

    session: Means
    turn: Means


@frozen
class Share(Levels):
    """The same means for a subset of the questions."""

    questions: int


@frozen
class Unanswerable:
    """The number of questions without an answer, and the percentage for which search returned nothing."""

    questions: int
    nothing_returned: float | None


@frozen
class ReturnRates:
    """Percentage of questions whose origin is in the first N hits, for each N; `mrr` is the mean of 1 / rank."""

    questions: int
    found: dict[str, float | None]
