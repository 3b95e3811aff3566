"""Views that results of several features have."""

from __future__ import annotations

from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.model import Freshness, Micros, Trust, Visibility


@frozen
class CitationView:
    """A file that a text cites, as cited: lines from 1 on, or 0 if the whole file is meant or no lines are given.

    `now` is the current place of lines that have moved, `PATH:L1-L2`, or the current name of their file; else it is
    empty.
    """

    path: str
    first: int
    last: int
    freshness: Freshness
    now: str


@frozen
class ProvenanceView:
    """Who stated a fact, and the item and span that state it (null: the whole item).

    `tainted_by` lists the untrusted items that the agent had read when it stated the fact; because of them its `trust`
    is external. `branch` and `commit` tell where it was stated; they are '' if that is unknown, or if only `item`
    states it. `anchors` are the files that it cites: `PATH` or `PATH:L1-L2`.
    """

    stated_by: str
    item: str | None
    start: int | None
    end: int | None
    trust: str
    tainted_by: tuple[str, ...]
    branch: str
    commit: str
    anchors: tuple[str, ...]


@frozen
class FactView:
    """A fact. Times are ISO-8601 in UTC; null means unknown or not yet. `scope` is a wing, or null for everywhere.

    `current`: whether it holds at the requested time. `trust` is that of the most trusted author.
    """

    id: str
    subject: str
    predicate: str
    object: str
    scope: str | None
    valid_from: str | None
    valid_to: str | None
    current: bool
    confidence: float
    recorded_at: str
    retired_at: str | None
    superseded_by: str | None
    trust: str
    provenance: tuple[ProvenanceView, ...]


@frozen
class TodoView:
    """A to-do. `by` is its author, where that is shown; `closed_at` is when it was done or dropped."""

    id: str
    text: str
    state: Literal["open", "done", "dropped"]
    wing: str
    by: str
    created_at: Micros
    due_at: Micros | None
    overdue: bool
    closed_at: Micros | None
    label: str = ""
    """In lists of to-dos: the branch label, if it is not known to be part of the current checkout."""
    trust: Trust = "agent"
    """Its trust level: `external` while it is in quarantine."""


@frozen
class ReminderView:
    """A reminder. `causes` says why it is due; a `waiting` reminder is not due for any of the requested causes.

    `file` is relative to the root of its wing's project, or absolute.
    """

    id: str
    text: str
    state: Literal["due", "waiting", "done", "dropped"]
    causes: tuple[str, ...]
    wing: str
    at: Micros | None
    file: str
    topic: str
    by: str
    created_at: Micros
    closed_at: Micros | None
    trust: Trust = "agent"


@frozen
class HitSource:
    """The source of a drawer's text."""

    uri: str
    kind: str
    session_id: str
    locator: str


@frozen
class DrawerRow:
    """A drawer in a list. `text` is the beginning of its text if `truncated` is set; `length` is the full length.

    `filed_as` and `importance` are the kind and the importance of a note.
    """

    id: str
    kind: str
    filed_as: str
    wing: str
    room: str
    title: str
    created_at: Micros
    recorded_at: Micros
    role: str
    author: str
    trust: str
    tags: tuple[str, ...]
    importance: float | None
    source: HitSource
    text: str
    truncated: bool
    length: int
    visibility: Visibility = "merged"
    label: str = ""
    """The branch label, if the drawer is not known to be part of the current checkout."""
    short_id: str = ""
    """The beginning of the id, as short as it is unique; every command accepts it."""
