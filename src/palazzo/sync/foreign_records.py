"""Foreign records: which records of another person's export a merge accepts: new ones that change nothing existing.

Their trust is lowered to the trust that the import states (`limit_record`). A record is accepted (`judge`) if it is new
and refers only to rows that such exports added, by the rule of its kind. So an export cannot forget, move, rename,
link, end or erase anything that was here, and cannot approve anything. A wing or room whose name is in use here is
mapped to the one of that name.
"""

from __future__ import annotations

from palazzo.model import Trust
from palazzo.store import clock_drift, foreign_rows
from palazzo.sync.merge_state import Work
from palazzo.sync.records.kind_registry import descriptor_of
from palazzo.sync.records.record_kind import Record, Verdict

_TIMES = ("at", "recorded_at", "changed_at", "retired_at", "found_at", "dismissed_at", "restored_at")
"""Fields that contain the time of an action."""


def limit_record(record: Record, trust: Trust) -> Record:
    """Return a record as another person may state it: with at most `trust`, and without anything that erases."""
    limited_record: Record = descriptor_of(record).limit(record, trust)
    return limited_record


def judge(work: Work, record: Record) -> Verdict:
    """Return whether a record may be imported. Raises Missing if a row that it refers to is not here."""
    rule = descriptor_of(record).judge
    if isinstance(rule, str) and rule != "take":
        return rule
    row = _stored_row(work, record)
    if row is not None and not foreign_rows.is_marked(work.connection, *row):
        return "there"
    if _is_of_the_future(work, record):
        return "refused"  # the later of two records wins: this one would win over all that is ever recorded here
    verdict = rule if isinstance(rule, str) else rule(work, record)
    return verdict if isinstance(verdict, str) else "take" if verdict else "refused"


def _is_of_the_future(work: Work, record: Record) -> bool:
    """Return whether a record's time is in the future, by more than clocks differ."""
    times = (getattr(record, name, None) for name in _TIMES)
    return any(time is not None and time > work.now + clock_drift.FURTHEST for time in times)


def _stored_row(work: Work, record: Record) -> tuple[str, int] | None:
    """Return the table and the stored row of a record's id; None if there is none."""
    kind = descriptor_of(record)
    table = kind.uid_table
    row = None if table is None else work.find(table, kind.key(record)[1])
    return None if table is None or row is None else (table, row)


def note_added(work: Work, record: Record) -> None:
    """Record that another person's export added a record."""
    row = _stored_row(work, record)
    if row is not None:
        foreign_rows.mark(work.connection, row[0], [row[1]])


def note_change(work: Work, record: Record) -> None:
    """Record in the import's change group that a record was added, if an undo needs this."""
    member = descriptor_of(record).undo_member
    row = None if work.change is None or member is None else _stored_row(work, record)
    if work.change is not None and member is not None and row is not None:
        work.change.add(work.connection, member, [row[1]])


def note_vouched(work: Work, record: Record) -> None:
    """Record that the owner vouches for a record, which another person's export may have added before."""
    row = _stored_row(work, record)
    if row is not None:
        foreign_rows.unmark(work.connection, row[0], [row[1]])
