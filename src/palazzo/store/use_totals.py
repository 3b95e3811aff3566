"""What was used, in sum: how often each thing was told unasked and used, and which drawers were used together.

Counted as the ledger is written, and made anew from it (`make_anew`). Ids and numbers alone; an erase takes the rows of
what went. What was used in one session counts once for it, however often.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from palazzo.store.database import Connection

HALF_LIFE = 60 * 86_400_000_000
"""Microseconds after which having been used together counts half: as long as a decision has half its worth in a
wake-up. Age is counted up to the last time that anything was used, not to a clock: the same palace answers the same."""
_MOST_TOGETHER = 20
"""Drawers of one session that are paired with the next one that it uses: those it used last."""


class UsageCounts(NamedTuple):
    """In how many sessions something was told unasked, in how many it was used, and how often it was told since."""

    told: int = 0
    used: int = 0
    unused: int = 0


NEVER = UsageCounts()


def merge_counts(count_list: Iterable[UsageCounts]) -> UsageCounts:
    """Return the tally of one thing that is told by several ids; a use by one of them is a use of it."""
    nonzero_counts = [counts for counts in count_list if counts != NEVER]
    if not nonzero_counts:
        return NEVER
    return UsageCounts(
        sum(counts.told for counts in nonzero_counts),
        sum(counts.used for counts in nonzero_counts),
        min(counts.unused for counts in nonzero_counts),
    )


def tallies(connection: Connection, uids: Iterable[str]) -> dict[str, UsageCounts]:
    """Return the tallies of these ids; what was never told is absent."""
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
    """Return by drawer (row) those it was used together with, and how much that counts, from 0 to 1.

    Both are of `rows`, by id, which are live; or the partner is one of `besides` that is. Most palaces have none: that
    costs one look. A pair that came up once has half of what one has that came up in every session.
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
    """Return the drawers (rows) that a session, by its host's id, has used so far; none where nothing is paired."""
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
    """Count things that a session was told unasked, and was not told before."""
    connection.executemany(
        "INSERT INTO told_tally(uid, told, used, unused) VALUES(?, 1, 0, 1)"
        " ON CONFLICT(uid) DO UPDATE SET told = told + 1, unused = unused + 1",
        [(uid,) for uid in uids],
    )


def used(connection: Connection, uid: bytes, earlier_uids: Sequence[bytes], at: int) -> None:
    """Count something that a session uses for the first time; `others` are the drawers that it used before, if it is
    one itself, the last one first."""
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
    """Drop what is counted of these ids."""
    connection.executemany("DELETE FROM told_tally WHERE uid = ?", [(uid,) for uid in uids])
    connection.executemany("DELETE FROM used_together WHERE one = ?1 OR other = ?1", [(uid,) for uid in uids])


def clear(connection: Connection) -> None:
    """Drop all that is counted."""
    connection.execute("DELETE FROM told_tally")
    connection.execute("DELETE FROM used_together")


def everything(connection: Connection) -> tuple[Mapping[str, UsageCounts], Mapping[tuple[str, str], tuple[int, int]]]:
    """Return all that is counted: tallies by id, and by pair in how many sessions and when last."""
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
