"""The consumers of the log by name, and what each does, in words for a person."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.derive.anchoring import ANCHORING
from palazzo.derive.claiming import Claiming
from palazzo.derive.lagging import Lagging
from palazzo.derive.mending import MENDING
from palazzo.derive.naming import NAMING
from palazzo.derive.summing import SUMMING
from palazzo.model import Micros

ACTIVITIES = {
    "cut": "cutting into drawers",
    "taint": "telling what came from outside",
    "keyword": "indexing by keyword",
    "retired": "telling how drawers stood before",
    "claim": "reading claims",
    "claim/fact": "comparing with facts",
    "mention": "finding names",
    "digest": "digesting sessions",
    "mending": "finding what failed and what mended it",
    "anchor": "finding cited files",
    "embed": "making vectors",
}


def lagging_consumers(now: Micros) -> Iterator[Lagging]:  # type: ignore[type-arg]
    """Yield the consumers that lag; conflicts that they find are found at `now`."""
    yield from (Claiming(now), NAMING, SUMMING, MENDING, ANCHORING)
