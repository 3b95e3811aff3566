"""The order of trust levels, in one table. Pure.

`user` is the person, `agent` an agent, `repo` the project's files, `tool` a local tool, `external` any other source.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from palazzo.model import Trust

TRUST_ORDER: tuple[Trust, ...] = ("user", "agent", "repo", "tool", "external")
"""Trust levels, most trusted first."""


def least_trust(labels: Iterable[Trust]) -> Trust:
    """Return the least trusted of the labels; `external` if there are none."""
    return max(labels, key=TRUST_ORDER.index, default="external")


def trusted_down_to(least: str) -> tuple[Trust, ...]:
    """Return all levels that are trusted at least as much as `least`."""
    return TRUST_ORDER[: [*TRUST_ORDER].index(least) + 1]  # type: ignore[arg-type]
