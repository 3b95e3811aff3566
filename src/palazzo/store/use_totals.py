"""Usage totals: how often each thing was injected automatically and used, and which drawers were used together.

The totals are updated when the ledger is written, and can be rebuilt from it (`make_anew`). They contain only ids and
numbers; an erase removes the rows of erased content. Several uses in one session count once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from palazzo.store.database import Connection

HALF_LIFE = 60 * 86_400_000_000
"""Microseconds after which joint use counts half: the same half-life that a decision has in a wake-up. Age is measured
up to the latest use of anything, not up to the current time, so the same palace gives the same answer.
"""
_MOST_TOGETHER = 20
"""The most drawers of one session that are paired with the next one it uses: the most recently used."""


class UsageCounts(NamedTuple):
    """Sessions that got an entry automatically, sessions that used it, and how often it was injected since."""

    told: int = 0
    used: int = 0
    unused: int = 0


NEVER = UsageCounts()


def merge_counts(count_list: Iterable[UsageCounts]) -> UsageCounts:
    """Return the combined tally of one thing with several ids; a use of one of them is a use of it."""
    nonzero_counts = [counts for counts in count_list if counts != NEVER]
    if not nonzero_counts:
        return NEVER
    return UsageCounts(
        sum(counts.told for counts in nonzero_counts),
        sum(counts.used for counts in nonzero_counts),
        min(counts.unused for counts in nonzero_counts),
    )


def tallies(connection: Connection, uids: Iterable[str]) -> dict[str, UsageCounts]:
    """Return the tallies of these ids; ids never injected are absent."""
    id_list = json.dumps(sorted(uid for uid in set(uids) if _is_id(uid)))
    rows = connection.execute(
        "SELECT lower(hex(t.uid)), t.told, t.used, t.unused FROM json_each(?) AS asked"
        " JOIN told_tally t ON t.uid = unhex(asked.value)",
        (id_list,),
    )
    return {uid: UsageCounts(injected_count, used, idle_count) for uid, injected_count, used, idle_count in rows}


def partners(
    connection: Connection, rows: Mapping[bytes, int], extra_rows: Collection[int] = ()
) -> dict[int, dict[int, float]]:
    """Return, per drawer (row), its partners in past uses, and how much each counts, from 0 to 1.

    Both drawers are in `rows`, by id, which are live; or the partner is a live one of `extra_rows`. Most palaces have
    no pairs, which costs one query. A pair used once has half the weight of one used in every session.
    """
    newest = next((last for (last,) in connection.execute("SELECT max(last) FROM used_together")), None)
    if newest is None:
        return {}
    rows_by_uid = {**_live(connection, extra_rows), **rows}
    scores: dict[int, dict[int, float]] = {}
    for uid, partner_uid, sessions, last in connection.execute(
        f"SELECT one, other, sessions, last FROM used_together WHERE one IN ({','.join('?' * len(rows))})", [*rows]
    ):
        partner = rows_by_uid.get(partner_uid)
        if partner is not None:
            counts = sessions / (sessions + 1) * 0.5 ** ((newest - last) / HALF_LIFE)
            scores.setdefault(rows[uid], {})[partner] = counts
    return scores


def _live(connection: Connection, rows: Collection[int]) -> dict[bytes, int]:
    records = connection.execute(
        "SELECT uid, id FROM drawer WHERE id IN (SELECT value FROM json_each(?)) AND retired_at IS NULL",
        (json.dumps([*rows]),),
    )
    return {uid: int(row) for uid, row in records} if rows else {}


def rows_used(connection: Connection, session: str) -> frozenset[int]:
    """Return the drawers (rows) used so far by a session (by its host's id); none if no pairs are recorded."""
    if not session or not any(True for _ in connection.execute("SELECT 1 FROM used_together LIMIT 1")):
        return frozenset()
    rows = connection.execute(
        "SELECT DISTINCT d.id FROM hook_session h CROSS JOIN injection i ON i.session = h.id"
        " CROSS JOIN injection_use u ON u.injection = i.id"
        " CROSS JOIN injection_part p ON p.injection = u.injection AND p.n = u.n"
        " CROSS JOIN drawer d ON d.uid = p.uid WHERE h.session = ? AND p.kind = 'drawer'",
        (session,),
    )
    return frozenset(int(row) for (row,) in rows)


# --- counting ----------------------------------------------------------------------------------------------


def count_injections(connection: Connection, uids: Iterable[bytes]) -> None:
    """Count things that were injected automatically into a session for the first time."""
    connection.executemany(
        "INSERT INTO told_tally(uid, told, used, unused) VALUES(?, 1, 0, 1)"
        " ON CONFLICT(uid) DO UPDATE SET told = told + 1, unused = unused + 1",
        [(uid,) for uid in uids],
    )


def used(connection: Connection, uid: bytes, earlier_uids: Sequence[bytes], at: int) -> None:
    """Count the first use of something by a session; `earlier_uids` are drawers used before, last first, if it is
    one.
    """
    connection.execute(
        "INSERT INTO told_tally(uid, told, used, unused) VALUES(?, 0, 1, 0)"
        " ON CONFLICT(uid) DO UPDATE SET used = used + 1, unused = 0",
        (uid,),
    )
    connection.executemany(
        "INSERT INTO used_together(one, other, sessions, last) VALUES(?, ?, 1, ?)"
        " ON CONFLICT(one, other) DO UPDATE SET sessions = sessions + 1, last = max(last, excluded.last)",
        [
            pair
            for earlier_uid in earlier_uids[:_MOST_TOGETHER]
            if earlier_uid != uid
            for pair in ((uid, earlier_uid, at), (earlier_uid, uid, at))
        ],
    )


def drop(connection: Connection, uids: Collection[bytes]) -> None:
    """Delete the counts of these ids."""
    connection.executemany("DELETE FROM told_tally WHERE uid = ?", [(uid,) for uid in uids])
    connection.executemany("DELETE FROM used_together WHERE one = ?1 OR other = ?1", [(uid,) for uid in uids])


def clear(connection: Connection) -> None:
    """Delete all counts."""
    connection.execute("DELETE FROM told_tally")
    connection.execute("DELETE FROM used_together")


def everything(connection: Connection) -> tuple[Mapping[str, UsageCounts], Mapping[tuple[str, str], tuple[int, int]]]:
    """Return all counts: tallies by id, and per pair the number of sessions and the last time."""
    counts_by_id = {
        bytes(uid).hex(): UsageCounts(*rest) for uid, *rest in connection.execute("SELECT * FROM told_tally")
    }
    pairs = {
        (bytes(first).hex(), bytes(second).hex()): (int(sessions), int(last))
        for first, second, sessions, last in connection.execute("SELECT * FROM used_together")
    }
    return counts_by_id, pairs


def _is_id(uid: str) -> bool:
    return len(uid) % 2 == 0 and not set(uid) - set("0123456789abcdef")
