"""The scope of a search: its filters for the keyword index and for the vectors, and what each drawer must be."""

from __future__ import annotations

from dataclasses import replace

from palazzo.index.query import ParsedQuery, Query
from palazzo.index.vector_index import Filter
from palazzo.store import keyword_table, place_rows, tag_rows
from palazzo.store.database import Connection

REASONING = "reasoning"
"""The kind of drawer that has lists of its own (`reasoning_candidates`)."""


class SearchScope:
    """The scope of a search: filters for both lists, and conditions to check for each drawer."""

    def __init__(self, connection: Connection, request: Query, parsed_query: ParsedQuery, has_reasoning: bool) -> None:
        self.wing, rooms, self.places = place_rows.scope(connection, request.wing, request.room)
        self.empty = rooms is not None and not rooms
        anywhere: list[str] = []
        if request.kind is not None:
            anywhere.append(keyword_table.kind_filter(request.kind))
        allowed_drawers = None
        if request.tags:
            stored_tags = tag_rows.known_tags(connection, request.tags)
            self.empty = self.empty or len(stored_tags) < len(request.tags)
            by_tag = [keyword_table.tag_filter(tag) for tag in stored_tags.values()]
            anywhere.extend(by_tag)
            allowed_drawers = frozenset(keyword_table.drawers_in_scope(connection, by_tag) if by_tag else ())
        if request.among is not None:
            allowed_drawers = request.among if allowed_drawers is None else allowed_drawers & request.among
            self.empty = self.empty or not allowed_drawers
        self.keyword_filters = list(anywhere)
        if rooms and request.room is not None:
            self.keyword_filters.insert(0, keyword_table.room_filter(rooms))
        elif rooms and self.wing is not None:
            self.keyword_filters.insert(0, keyword_table.wing_filter(place_rows.stretches(connection, self.wing)))
        inside = None if rooms is None else frozenset(rooms)
        other_than = REASONING if has_reasoning and request.kind is None else None
        self.vector_filter = Filter(inside, request.kind, request.since, request.until, allowed_drawers, other_than)
        self.reasoning_vectors = (
            replace(self.vector_filter, kind=REASONING, other_than=None) if other_than and request.reasoning else None
        )
        self.near_filters: list[str] = []
        self.near_vectors: Filter | None = None
        near = _near(connection, request, parsed_query) if rooms is None else []
        if near:
            stretches = [stretch for wing in near for stretch in place_rows.stretches(connection, wing)]
            self.near_filters = [keyword_table.wing_filter(stretches), *anywhere]
            near_rooms = frozenset(
                room for wing in near for room in place_rows.scope(connection, wing, None).rooms or ()
            )
            self.near_vectors = replace(self.vector_filter, rooms=near_rooms)
        later = (request.since, request.until, request.branch, request.among)
        self.filtered_later = any(criterion is not None for criterion in later)


def _near(connection: Connection, request: Query, parsed_query: ParsedQuery) -> list[str]:
    """Return the wings that the question names, else the wing that it is asked from."""
    mentioned_wings = [name for name in place_rows.wing_names(connection) if parsed_query.names_wing(name)]
    return mentioned_wings or [
        wing for wing in (request.home,) if wing is not None and place_rows.stretches(connection, wing)
    ]
