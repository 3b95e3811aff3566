"""Facts and their versions. A change to a fact retires its version and records a new one.

A version has two times: when it held (`valid_from`, `valid_to`: half-open, None if unknown or not yet reached) and when
it was believed (`recorded_at`, `retired_at`). A reader states the moment for which it asks what was believed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Anchor, Micros, Trust
from palazzo.settings.setting_keys import TRUSTS
from palazzo.store import anchors, change_log, uids
from palazzo.store.database import Connection, Value
from palazzo.text.names import fold

Side = Literal["subject", "object", "both"]

_COLUMNS = (
    "SELECT v.id, f.id, f.uid, f.subject, p.id, p.name, f.object, w.name, v.valid_from, v.valid_to, v.confidence,"
    " v.superseded_by, v.recorded_at, v.retired_at FROM fact_version v JOIN fact f ON f.id = v.fact"
    " JOIN predicate p ON p.id = f.predicate LEFT JOIN wing w ON w.id = f.wing"
)
_LIVE = "v.recorded_at <= ?1 AND (v.retired_at IS NULL OR v.retired_at > ?1)"


class Provenance(NamedTuple):
    """Who stated a fact, and where it is written, if anywhere: an item, and a span of it unless all of it is meant.

    `trust` is the trust level of that statement; `tainted_by` are the untrusted items that its author had read.
    `branch` and `commit` are the checkout where it was stated: '' outside any repository, and '' if an item states it,
    unless files are cited too. `anchors` are those files.
    """

    stated_by: str
    item: str | None = None
    start: int | None = None
    end: int | None = None
    trust: Trust = "user"
    tainted_by: tuple[str, ...] = ()
    branch: str = ""
    commit: str = ""
    anchors: tuple[Anchor, ...] = ()

    def says(self, provenance: Provenance) -> bool:
        """Whether this source states everything that another states, with at least its trust.

        A statement on no branch holds on every branch. If a statement is repeated on a branch, the first commit counts.
        """
        is_believed = TRUSTS.index(self.trust) <= TRUSTS.index(provenance.trust)
        is_there = not self.branch or (self.branch == provenance.branch and bool(self.commit or not provenance.commit))
        return self[:4] == provenance[:4] and is_believed and is_there and {*provenance.anchors} <= {*self.anchors}

    def instead_of(self, former: Provenance) -> Provenance:
        """Return what is stored when the same source states it again: its current citations, and its former others."""
        anchors_by_place = {
            (anchor.path, anchor.first, anchor.last): anchor for anchor in (*former.anchors, *self.anchors)
        }
        return self._replace(anchors=tuple(anchors_by_place.values()), commit=former.commit or self.commit)

    @property
    def is_of_no_place(self) -> bool:
        """Whether no item, branch or commit ties the source to a project."""
        return self.item is None and not self.branch and not self.commit

    @property
    def key(self) -> tuple[object, ...]:
        """Return what makes two sources equal, regardless of their citations and of the commit on a branch."""
        return self[:7]


@frozen
class Version:
    """A version of a fact. `subject`, `object` and `fact` are row ids, `superseded_by` is the id of a fact."""

    row: int
    fact: int
    uid: str
    subject: int
    predicate: int
    predicate_name: str
    object: int
    wing: str | None
    valid_from: Micros | None
    valid_to: Micros | None
    confidence: float
    superseded_by: int | None
    recorded_at: Micros
    retired_at: Micros | None

    def holds_at(self, moment: Micros) -> bool:
        """Whether the version held at that moment."""
        began = self.valid_from is None or self.valid_from <= moment
        return began and (self.valid_to is None or moment < self.valid_to)

    def overlaps(self, version: Version) -> bool:
        """Whether there is a moment at which both versions hold."""
        return _is_before(self.valid_from, version.valid_to) and _is_before(version.valid_from, self.valid_to)


def _is_before(start: Micros | None, end: Micros | None) -> bool:
    return start is None or end is None or start < end


def create_fact(
    connection: Connection, uid: bytes, ends: tuple[int, int, int], wing: int | None, valid_to: Micros | None
) -> int:
    """Add a fact without a version; return its row id. `ends` are its subject, its predicate and its object.

    Its id is derived from its statement and the end it is stated with; if that id is taken, it is `uid`.
    """
    own = _uid_of(connection, ends, wing, valid_to)
    if any(True for _ in connection.execute("SELECT 1 FROM fact WHERE uid = ?", (own,))):
        own = uid
    rows = connection.execute(
        "INSERT INTO fact(uid, subject, predicate, object, wing) VALUES(?, ?, ?, ?, ?) RETURNING id",
        (own, *ends, wing),
    )
    return int(next(rows)[0])


def _uid_of(connection: Connection, ends: tuple[int, int, int], wing: int | None, valid_to: Micros | None) -> bytes:
    ((subject, predicate, thing, place),) = connection.execute(
        "SELECT s.uid, p.name, o.uid, (SELECT uid FROM wing WHERE id = ?4) FROM entity s, predicate p, entity o"
        " WHERE s.id = ?1 AND p.id = ?2 AND o.id = ?3",
        (*ends, wing),
    )
    return uids.of_fact(bytes(subject), predicate, bytes(thing), place, valid_to)


def record(
    connection: Connection,
    fact: int,
    at: Micros,
    valid_from: Micros | None,
    valid_to: Micros | None,
    confidence: float,
    superseded_by: int | None,
    sources: Iterable[Provenance],
) -> int:
    """Record a version of a fact that has no active one; return its row id."""
    provenances = [*sources]
    ((own, by),) = connection.execute(
        "SELECT uid, (SELECT uid FROM fact WHERE id = ?2) FROM fact WHERE id = ?1", (fact, superseded_by)
    )
    source_values = [
        (*_to_columns(provenance), *(value for anchor in provenance.anchors for value in anchors.values_of(anchor)))
        for provenance in provenances
    ]
    known_by = partial(uids.of_version, bytes(own), (valid_from, valid_to), float(confidence), by, at, source_values)
    uid = uids.free(known_by, partial(_is_version, connection))
    rows = connection.execute(
        "INSERT INTO fact_version(uid, fact, valid_from, valid_to, confidence, superseded_by, recorded_at, nth)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7,"
        " (SELECT count(*) FROM fact_version WHERE fact = ?2 AND recorded_at = ?7)) RETURNING id",
        (uid, fact, valid_from, valid_to, confidence, superseded_by, at),
    )
    row = int(next(rows)[0])
    connection.executemany(
        "INSERT INTO fact_source(version, n, stated_by, item_uid, start, end, trust, tainted_by, branch,"
        " commit_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((row, n, *_to_columns(provenance)) for n, provenance in enumerate(provenances)),
    )
    for n, provenance in enumerate(provenances):
        anchors.insert_of_fact(connection, row, n, provenance.anchors)
    change_log.append(connection, "fact", [fact])
    return row


def _is_version(connection: Connection, uid: bytes) -> bool:
    return any(True for _ in connection.execute("SELECT 1 FROM fact_version WHERE uid = ?", (uid,)))


def _to_columns(provenance: Provenance) -> tuple[Value, ...]:
    item = None if provenance.item is None else bytes.fromhex(provenance.item)
    return (
        provenance.stated_by,
        item,
        provenance.start,
        provenance.end,
        provenance.trust,
        json.dumps(provenance.tainted_by),
        provenance.branch,
        provenance.commit,
    )


def retire(connection: Connection, version: Version, at: Micros) -> None:
    """Retire a version."""
    connection.execute("UPDATE fact_version SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, version.row))
    change_log.append(connection, "fact", [version.fact])


def newest(connection: Connection, until: Micros) -> Micros:
    """Return the last time up to `until` at which any fact was recorded or retired; 0 if none was.

    This includes what another device recorded, which need not have arrived last.
    """
    (moment,) = next(
        connection.execute(
            "SELECT max(coalesce((SELECT max(recorded_at) FROM fact_version WHERE recorded_at <= ?1), 0),"
            " coalesce((SELECT max(retired_at) FROM fact_version WHERE retired_at <= ?1), 0),"
            " coalesce((SELECT max(recorded_at) FROM entity_link WHERE recorded_at <= ?1), 0),"
            " coalesce((SELECT max(retired_at) FROM entity_link WHERE retired_at <= ?1), 0))",
            (until,),
        )
    )
    return Micros(moment)


# --- reading -----------------------------------------------------------------------------------------------


def read_version(connection: Connection, row: int) -> Version:
    """Return the version with that row id."""
    return _version(next(connection.execute(f"{_COLUMNS} WHERE v.id = ?", (row,))))


def versions_of(connection: Connection, fact: int) -> list[Version]:
    """Return all versions of a fact, oldest first."""
    return [
        _version(row) for row in connection.execute(f"{_COLUMNS} WHERE f.id = ? ORDER BY v.recorded_at, v.id", (fact,))
    ]


def live_version(connection: Connection, fact: int) -> Version | None:
    """Return the active version of a fact."""
    rows = connection.execute(f"{_COLUMNS} WHERE f.id = ? AND v.retired_at IS NULL", (fact,))
    return next((_version(row) for row in rows), None)


def versions(connection: Connection, at: Micros) -> list[Version]:
    """Return every version that was believed at `at`."""
    return [_version(row) for row in connection.execute(f"{_COLUMNS} WHERE {_LIVE} ORDER BY f.id", (at,))]


def newest_versions(
    connection: Connection, at: Micros, wings: Iterable[str], ended_by: Micros, limit: int
) -> list[Version]:
    """Return the versions believed at `at`, last recorded first: of these wings, and of no wing.

    Facts that `ended_by` then are excluded.
    """
    rows = connection.execute(
        f"{_COLUMNS} WHERE {_LIVE} AND (w.name IS NULL OR w.name IN (SELECT value FROM json_each(?2)))"
        " AND (v.valid_to IS NULL OR v.valid_to > ?3) ORDER BY v.recorded_at DESC, v.id DESC LIMIT ?4",
        (at, json.dumps([*wings]), ended_by, limit),
    )
    return [_version(row) for row in rows]


def versions_about(connection: Connection, entities: Iterable[int], side: Side, at: Micros) -> list[Version]:
    """Return the versions believed at `at` with one of these entities as subject or object, oldest fact first."""
    sides = ("subject", "object") if side == "both" else (side,)
    versions_by_row: dict[int, Version] = {}
    entity_rows = sorted(set(entities))
    for column in sides:
        for start in range(0, len(entity_rows), 500):
            part: list[Value] = [*entity_rows[start : start + 500]]
            marks = ",".join("?" * len(part))
            rows = connection.execute(f"{_COLUMNS} WHERE {_LIVE} AND f.{column} IN ({marks})", [at, *part])
            versions_by_row.update((version.row, version) for version in map(_version, rows))
    return sorted(versions_by_row.values(), key=lambda version: version.fact)


def versions_with(connection: Connection, predicate: int, at: Micros) -> list[Version]:
    """Return the versions with a predicate that were believed at `at`."""
    rows = connection.execute(f"{_COLUMNS} WHERE {_LIVE} AND f.predicate = ?2 ORDER BY f.id", (at, predicate))
    return [_version(row) for row in rows]


def sources_of(connection: Connection, rows: Sequence[int]) -> dict[int, tuple[Provenance, ...]]:
    """Return the provenance of versions, by row id."""
    provenances_by_row: dict[int, list[Provenance]] = {row: [] for row in rows}
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        marks = ",".join("?" * len(part))
        anchors_by_source = anchors.of_versions(connection, part)
        for version, n, by, item, begin, end, trust, tainted_by, branch, commit in connection.execute(
            "SELECT version, n, stated_by, item_uid, start, end, trust, tainted_by, branch, commit_id"
            f" FROM fact_source WHERE version IN ({marks}) ORDER BY version, n",
            part,
        ):
            uid = None if item is None else bytes(item).hex()
            taint_uids, files = tuple(json.loads(tainted_by)), anchors_by_source.get((int(version), int(n)), ())
            provenances_by_row[int(version)].append(
                Provenance(by, uid, begin, end, trust, taint_uids, branch, commit, files)
            )
    return {row: tuple(sources) for row, sources in provenances_by_row.items()}


def trust_of(sources: Iterable[Provenance]) -> Trust:
    """Return a fact's trust: that of the most trusted of its sources."""
    return min((source.trust for source in sources), key=TRUSTS.index, default="external")


def external_versions(connection: Connection, at_most: int) -> list[Version]:
    """Return the versions believed now whose only sources are tainted by untrusted content, newest first."""
    rows = connection.execute(
        f"{_COLUMNS} WHERE v.retired_at IS NULL AND v.id IN (SELECT version FROM fact_source WHERE trust = 'external')"
        " AND NOT EXISTS (SELECT 1 FROM fact_source s WHERE s.version = v.id AND s.trust <> 'external')"
        " ORDER BY v.recorded_at DESC, v.id DESC LIMIT ?",
        (at_most,),
    )
    return [_version(row) for row in rows]


def superseded_by(connection: Connection, fact: int) -> list[Version]:
    """Return the versions believed now that ended because this fact began."""
    rows = connection.execute(f"{_COLUMNS} WHERE v.retired_at IS NULL AND v.superseded_by = ?", (fact,))
    return [_version(row) for row in rows]


def uids_of(connection: Connection, facts: Iterable[int]) -> dict[int, str]:
    """Return the ids of facts by row id."""
    fact_rows = list(set(facts))
    uids_by_row: dict[int, str] = {}
    for start in range(0, len(fact_rows), 500):
        part = fact_rows[start : start + 500]
        marks = ",".join("?" * len(part))
        for row, uid in connection.execute(f"SELECT id, uid FROM fact WHERE id IN ({marks})", part):
            uids_by_row[int(row)] = bytes(uid).hex()
    return uids_by_row


def facts_between(connection: Connection, low: bytes, high: bytes, limit: int) -> list[tuple[int, bytes]]:
    """Return (row id, id) of the facts whose id is in [low, high], at most `limit`."""
    rows = connection.execute(
        "SELECT id, uid FROM fact WHERE uid BETWEEN ? AND ? ORDER BY uid LIMIT ?", (low, high, limit)
    )
    return [(int(row), bytes(uid)) for row, uid in rows]


def count(connection: Connection, holding_at: Micros | None = None) -> int:
    """Return the number of facts believed now, whether they hold or have ended; or of those that held at a moment."""
    rows = connection.execute(
        "SELECT count(*) FROM fact_version WHERE retired_at IS NULL AND (?1 IS NULL OR"
        " (valid_from IS NULL OR valid_from <= ?1) AND (valid_to IS NULL OR valid_to > ?1))",
        (holding_at,),
    )
    return int(next(rows)[0])


def count_connections(connection: Connection, holding_at: Micros | None = None) -> int:
    """Return the number of entity pairs joined by a fact that is believed now; or that held at a moment."""
    rows = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT min(subject, object), max(subject, object) FROM fact_version v"
        " JOIN fact ON fact.id = v.fact WHERE v.retired_at IS NULL AND (?1 IS NULL OR"
        " (valid_from IS NULL OR valid_from <= ?1) AND (valid_to IS NULL OR valid_to > ?1)))",
        (holding_at,),
    )
    return int(next(rows)[0])


def _version(row: tuple[object, ...]) -> Version:
    own, fact, uid, *rest = row
    return Version(own, fact, bytes(uid).hex(), *rest)  # type: ignore[arg-type, call-overload]


# --- erasing -----------------------------------------------------------------------------------------------

_WORDS = (
    ("entity", "name", True),
    ("entity_link", "name", True),
    ("predicate", "name", True),
    ("fact_source", "stated_by", False),
    ("fact_source", "branch", False),
    ("fact_source", "commit_id", False),
)
"""Every column of facts that contains text, and whether `folded` contains it too. Erasing processes all of them."""


def words(connection: Connection) -> Iterator[str]:
    """Yield all texts in facts, so that the effect of an erase can be counted first."""
    for table, column, _ in _WORDS:
        for (text,) in connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} <> ''"):
            yield str(text)


def erase_words(connection: Connection, erase_text: Callable[[str], str]) -> int:
    """Replace texts in facts by `erase_text(words)`; return how many texts changed.

    Retired versions and unused names are included. Two names that become equal get different numbers; folded names are
    recomputed from the remaining text.
    """
    changed = 0
    for table, column, has_name_key in _WORDS:
        for text in [str(text) for (text,) in connection.execute(f"SELECT DISTINCT {column} FROM {table}")]:
            remainder = erase_text(text)
            if remainder == text:
                continue
            changed += 1
            if table in ("entity", "predicate"):
                remainder = _make_unique_name(connection, table, remainder)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (remainder, text))
            if has_name_key:
                connection.execute(f"UPDATE {table} SET folded = ? WHERE {column} = ?", (fold(remainder), remainder))
    return changed


def _make_unique_name(connection: Connection, table: str, name: str) -> str:
    candidate, number = name, 1
    while any(True for _ in connection.execute(f"SELECT 1 FROM {table} WHERE name = ?", (candidate,))):
        number += 1
        candidate = f"{name} {number}"
    return candidate
