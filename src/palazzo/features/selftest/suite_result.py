"""What the suites of a selftest report: one row of figures each, and a sentence for every failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, int, int, str], None]
"""Reports (activity, done, total, detail)."""


@dataclass
class SuiteCounts:
    """The figures of a suite while it runs.

    `acknowledged` counts comparisons of an acknowledged thing with the palace: each thing once for each look. `present`
    of them were there. `detected` and `repaired` count damage. `details` are further counts by name.
    """

    suite: str
    runs: int = 0
    acknowledged: int = 0
    present: int = 0
    lost: int = 0
    doubled: int = 0
    detected: int = 0
    repaired: int = 0
    seconds: float = 0.0
    details: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, name: str, number: int = 1) -> None:
        """Add to a detail."""
        self.details[name] = self.details.get(name, 0) + number

    def fail(self, sentence: str, *, is_doubled: bool = False) -> None:
        """Record a loss, or something that is there twice."""
        if is_doubled:
            self.doubled += 1
        else:
            self.lost += 1
        self.failures.append(sentence)
