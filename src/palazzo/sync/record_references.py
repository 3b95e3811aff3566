"""References of a record: the kinds and ids without which it means nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.sync.record_types import (
    Act,
    Arrangement,
    Conflict,
    EntityLink,
    Fact,
    FactVersion,
    Member,
    Project,
    Record,
    Repetition,
    Revision,
    Room,
    State,
    Task,
    Tunnel,
)

Name = tuple[str, str]
"""A kind of record, and a record's id; the ids of predicates are their names."""


def parts_of(record: Record) -> Iterator[Name]:
    """Yield the records that a record is a part of, or refers to.

    Groups are not included, since an act outlives them, nor the containers of items and links: the filter requests
    those itself. What a fact cites, or an act concerns, may be elsewhere.
    """
    match record:
        case Room() | Project():
            yield "wing", record.wing
        case Repetition() | Revision():
            yield from (("source", record.source), ("item", record.item))
        case Act():
            yield from drop_missing(("room", record.room))
        case Task():
            yield "item", record.item
        case State():
            yield "task", record.task
        case EntityLink():
            yield from drop_missing(("entity", record.entity), ("entity", record.other))
        case Fact():
            yield from drop_missing(("entity", record.subject), ("entity", record.object), ("wing", record.wing))
        case FactVersion():
            yield from drop_missing(("fact", record.fact), ("fact", record.superseded_by))
        case Conflict():
            yield from drop_missing(("fact", record.earlier.fact), ("fact", record.later.fact))
        case Arrangement():
            target_kind = "wing" if record.room is None or record.type != "merge" else "room"
            yield from drop_missing(("wing", record.wing), ("room", record.room), (target_kind, record.target))
        case Tunnel():
            yield from (("room", record.source), ("room", record.target))
        case Member():
            yield "group", record.group


def drop_missing(*found: tuple[str, str | None]) -> Iterator[Name]:
    """Yield the names that exist."""
    return ((kind, uid) for kind, uid in found if uid is not None)
