"""The drawers of a hit that shows two, as fields of the hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from palazzo.features.search.contract import PartView, SupersededView
from palazzo.features.search.hit_freshness import NOTHING

if TYPE_CHECKING:
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.index.presentation import Hit


def view_parts(
    hit: Hit, supersessions: Mapping[str, SupersededView], citations: Mapping[str, CitationSummary]
) -> tuple[PartView, ...]:
    """Return the drawers of a hit that shows several, with what must be known before relying on each."""
    return tuple(
        PartView(
            part.drawer.id,
            part.start,
            part.end,
            supersessions.get(part.drawer.id),
            part.drawer.locator,
            citations.get(part.drawer.id, NOTHING).remark,
            len(part.drawer.text),
        )
        for part in hit.parts
    )
