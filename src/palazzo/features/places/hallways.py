"""hallways: list the pairs of names that drawers of one wing mention together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.places.contract import HallwaysRequest, HallwaysResult, HallwayView
from palazzo.features.places.place_results import read_names
from palazzo.features.places.place_results import wing as resolve_wing
from palazzo.knowledge.name_pairs import NamePair, find_name_pairs
from palazzo.store import mention_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

MOST_LISTED = 500


def hallways(context: Context, request: HallwaysRequest) -> HallwaysResult:
    """List pairs of names that drawers of one wing mention together, those with most such drawers first."""
    if not 1 <= request.limit <= MOST_LISTED or request.offset < 0:
        raise UsageError(f"--limit must be between 1 and {MOST_LISTED}, and --offset 0 or more.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        wing = None if request.wing is None else resolve_wing(context, connection, request.wing).name
        pairs = find_name_pairs(connection, wing)
        page = pairs[request.offset : request.offset + request.limit]
        spellings = mention_rows.read_spellings(connection, [name for pair in page for name in pair.names])
    views = tuple(_view(pair, spellings) for pair in page)
    return HallwaysResult(views, len(pairs), request.limit, request.offset)


def _view(pair: NamePair, spellings: dict[tuple[str, str], str]) -> HallwayView:
    first, second = (spellings.get(name, name[1]) for name in pair.names)
    return HallwayView(pair.uid, pair.wing, first, second, pair.drawers, pair.rooms, pair.newest)
