"""The ledger: what agents were given, when and why, byte for byte; and what they then used of it.

An injection is its rendered text, the ids of the content in the text, and its cost. An erase removes the text of every
injection that quotes erased words; the fact that it happened, and what it cited, stays.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import use_totals as sums
from palazzo.store.database import Connection

PartKind = Literal["drawer", "item", "other"]
"""`other` are facts, tasks and sessions: an erase removes the text of any injection that quotes one, since it may
contain erased words.
"""
Use = Literal["fetched", "cited", "touched"]
"""How an agent used an entry: it read it whole, wrote its id or its words, or opened a file that it names."""
ASKED_FOR = "a prompt asks for"
"""The start of the reason of a requested injection; all others are automatic."""
FALLBACK_REASON = f"{ASKED_FOR} the past, and no service ran"
"""The reason of an injection by a hook of an earlier version, which did not store its text."""


@frozen
class Part:
    """An entry whose text an injection contains, by its id. A drawer's text never changes under one id."""

    kind: PartKind
    uid: str


@frozen
class Injection:
    """One injection; `took` is in microseconds.

    `text` is None if an erase removed it, or if it was not stored (UNAIDED).
    """

    row: int
    event: str
    reason: str
    epoch: int
    at: Micros
    tokens: int
    took: int
    hash: str
    text: str | None
    parts: tuple[Part, ...]


@frozen
class Totals:
    """Totals of injection: the number of injections, tokens and entries, and how many of these were used."""

    injections: int
    tokens: int
    given: int
    used: int
    took_p50: int
    took_p95: int


def record(
    connection: Connection,
    session: int,
    epoch: int,
    event: str,
    reason: str,
    text: str,
    parts: Sequence[Part],
    tokens: int,
    took: int,
    at: Micros,
) -> int:
    """Record an injection for a session (its row); return its row id."""
    if not reason.startswith(ASKED_FOR):
        unprompted_uids = _read_unprompted(connection, session)
        sums.count_injections(connection, sorted({bytes.fromhex(part.uid) for part in parts} - unprompted_uids))
    body = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(body).digest()
    return _insert(connection, (session, epoch, event, reason, at, tokens, took, digest, body), parts)


def _insert(connection: Connection, values: Sequence[str | bytes | int | None], parts: Sequence[Part]) -> int:
    connection.execute(
        "INSERT INTO injection(session, epoch, event, reason, at, tokens, took, hash, text)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    )
    ((row,),) = connection.execute("SELECT last_insert_rowid()")
    connection.executemany(
        "INSERT INTO injection_part(injection, n, kind, uid) VALUES(?, ?, ?, ?)",
        [(row, n, part.kind, bytes.fromhex(part.uid)) for n, part in enumerate(parts)],
    )
    return int(row)


def read_epoch_uids(connection: Connection, session: int, epoch: int) -> frozenset[str]:
    """Return the ids injected into a session in an epoch."""
    rows = connection.execute(
        "SELECT p.uid FROM injection i JOIN injection_part p ON p.injection = i.id WHERE i.session = ? AND i.epoch = ?",
        (session, epoch),
    )
    return frozenset(bytes(uid).hex() for (uid,) in rows)


def read_session_uids(connection: Connection, session: int) -> frozenset[str]:
    """Return the ids of everything ever injected into a session."""
    rows = connection.execute(
        "SELECT DISTINCT p.uid FROM injection i JOIN injection_part p ON p.injection = i.id WHERE i.session = ?",
        (session,),
    )
    return frozenset(bytes(uid).hex() for (uid,) in rows)


def injections(connection: Connection, session: int) -> list[Injection]:
    """Return all injections into a session, in order."""
    parts: dict[int, list[Part]] = {}
    for row, kind, uid in connection.execute(
        "SELECT p.injection, p.kind, p.uid FROM injection_part p JOIN injection i ON i.id = p.injection"
        " WHERE i.session = ? ORDER BY p.injection, p.n",
        (session,),
    ):
        parts.setdefault(int(row), []).append(Part(kind, bytes(uid).hex()))
    rows = connection.execute(
        "SELECT id, event, reason, epoch, at, tokens, took, hash, text FROM injection WHERE session = ? ORDER BY id",
        (session,),
    )
    return [_injection(row, tuple(parts.get(int(row[0]), ()))) for row in rows]


def note_use(connection: Connection, session: int, uid: str, use: Use, at: Micros) -> bool:
    """Record that a session used an injected item; return whether it had been injected by then."""
    rows = list(
        connection.execute(
            "SELECT p.injection, p.n, p.kind FROM injection_part p JOIN injection i ON i.id = p.injection"
            " WHERE i.session = ? AND p.uid = ? AND i.at <= ?",
            (session, bytes.fromhex(uid), at),
        )
    )
    kinds_by_uid = _used(connection, session) if rows else {}
    if rows and bytes.fromhex(uid) not in kinds_by_uid:
        kind = rows[0][2]
        partners = [partner for partner, partner_kind in kinds_by_uid.items() if kind == partner_kind == "drawer"]
        sums.used(connection, bytes.fromhex(uid), partners, at)
    connection.executemany(
        "INSERT INTO injection_use(injection, n, how, at) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(injection, n, use, at) for injection, n, _ in rows],
    )
    return bool(rows)


def looked_through(connection: Connection, session: int, source: int) -> int:
    """Return the last item of a source that was searched for a session's uses; 0 if none was."""
    rows = connection.execute("SELECT item FROM looked_through WHERE session = ? AND source = ?", (session, source))
    return next((int(item) for (item,) in rows), 0)


def look_on_from(connection: Connection, session: int, source: int, item: int) -> None:
    """Record up to which item a source was searched for a session's uses."""
    connection.execute(
        "INSERT INTO looked_through(session, source, item) VALUES(?, ?, ?)"
        " ON CONFLICT(session, source) DO UPDATE SET item = max(item, excluded.item)",
        (session, source, item),
    )


def count_anew(connection: Connection) -> None:
    """Recompute the counts (`store/use_totals`) from the ledger, as if all events happened again."""
    sums.clear(connection)
    injected_pairs: set[tuple[int, bytes]] = set()
    used: dict[int, dict[bytes, str]] = {}
    for session, uid, kind, use, at in connection.execute(_EVENTS, (f"{ASKED_FOR}%",)):
        if not use and (session, uid) not in injected_pairs:
            injected_pairs.add((session, uid))
            sums.count_injections(connection, [uid])
        elif use and uid not in used.setdefault(session, {}):
            kinds_by_uid = used[session]
            partners = [
                partner for partner, partner_kind in reversed(kinds_by_uid.items()) if kind == partner_kind == "drawer"
            ]
            sums.used(connection, uid, partners, at)
            kinds_by_uid[uid] = kind


def uses(connection: Connection, session: int) -> Iterator[tuple[int, int, Use, Micros]]:
    """Yield what a session used: the injection, the number of its part, how and when."""
    return (
        (int(injection), int(n), use, Micros(at))
        for injection, n, use, at in connection.execute(
            "SELECT u.injection, u.n, u.how, u.at FROM injection_use u JOIN injection i ON i.id = u.injection"
            " WHERE i.session = ? ORDER BY u.injection, u.n, u.at",
            (session,),
        )
    )


def totals(connection: Connection) -> Totals:
    """Return the totals of the ledger."""
    ((count, tokens),) = connection.execute("SELECT count(*), coalesce(sum(tokens), 0) FROM injection")
    ((part_count,),) = connection.execute("SELECT count(*) FROM injection_part")
    ((used,),) = connection.execute("SELECT count(*) FROM (SELECT DISTINCT injection, n FROM injection_use)")
    p50, p95 = (_took(connection, int(count), share) for share in (0.5, 0.95))
    return Totals(int(count), int(tokens), int(part_count), int(used), p50, p95)


def forget_words(connection: Connection, items: Iterable[int]) -> None:
    """Delete the text of every injection that quotes one of these items (rows), or may quote one."""
    uids = {uid for item in items for uid in _uids(connection, item)}
    rows = {
        int(injection)
        for injection, kind, uid in connection.execute("SELECT injection, kind, uid FROM injection_part")
        if kind == "other" or bytes(uid) in uids
    }
    sums.drop(connection, uids)
    connection.executemany(
        "UPDATE injection SET text = NULL, hash = x'' WHERE id = ?", [(row,) for row in sorted(rows)]
    )


def forget_quotes(connection: Connection, uids: Iterable[str]) -> int:
    """Delete the text of every injection that quotes one of these drawers of others; return how many had a text."""
    rows = connection.execute(
        "UPDATE injection SET text = NULL, hash = x'' WHERE text IS NOT NULL AND id IN (SELECT injection"
        " FROM injection_part WHERE kind = 'other' AND uid IN (SELECT unhex(value) FROM json_each(?))) RETURNING id",
        (json.dumps([*uids]),),
    )
    return len(list(rows))


def _uids(connection: Connection, item: int) -> Iterator[bytes]:
    """Yield an item's id and the ids of all drawers that ever showed it."""
    return (
        bytes(uid)
        for (uid,) in connection.execute(
            "SELECT uid FROM item WHERE id = ?1"
            " UNION SELECT d.uid FROM drawer_span s JOIN drawer d ON d.id = s.drawer WHERE s.item = ?1",
            (item,),
        )
    )


def _read_unprompted(connection: Connection, session: int) -> set[bytes]:
    rows = connection.execute(
        "SELECT DISTINCT p.uid FROM injection i JOIN injection_part p ON p.injection = i.id"
        " WHERE i.session = ? AND i.reason NOT LIKE ?",
        (session, f"{ASKED_FOR}%"),
    )
    return {bytes(uid) for (uid,) in rows}


def _used(connection: Connection, session: int) -> dict[bytes, str]:
    """Return what a session has used, by id, with its kind, most recently used first."""
    rows = connection.execute(
        "SELECT p.uid, p.kind, min(u.at) FROM injection i JOIN injection_use u ON u.injection = i.id"
        " JOIN injection_part p ON p.injection = u.injection AND p.n = u.n"
        " WHERE i.session = ? GROUP BY p.uid ORDER BY 3 DESC, p.uid DESC",
        (session,),
    )
    return {bytes(uid): str(kind) for uid, kind, _ in rows}


# What was told unasked and what was used, in the order in which it was; something told at the moment of a use came
# before it.
_EVENTS = (
    "SELECT i.session, p.uid, p.kind, 0 AS is_use, i.at AS at FROM injection i"
    " JOIN injection_part p ON p.injection = i.id WHERE i.reason NOT LIKE ?1"
    " UNION ALL SELECT i.session, p.uid, p.kind, 1, u.at FROM injection_use u JOIN injection i ON i.id = u.injection"
    " JOIN injection_part p ON p.injection = u.injection AND p.n = u.n ORDER BY 5, 4, 2"
)


def _took(connection: Connection, count: int, share: float) -> int:
    """Return the duration within which that share of all injections was made."""
    nth = max(math.ceil(count * share) - 1, 0)
    rows = connection.execute("SELECT took FROM injection ORDER BY took LIMIT 1 OFFSET ?", (nth,))
    return next((int(took) for (took,) in rows), 0)


def _injection(row: Any, parts: tuple[Part, ...]) -> Injection:
    own, event, reason, epoch, at, tokens, took, digest, body = row
    text = None if body is None else bytes(body).decode("utf-8", "surrogatepass")
    return Injection(
        int(own), event, reason, int(epoch), Micros(at), int(tokens), int(took), bytes(digest).hex(), text, parts
    )
