"""Items, the location of their raw bytes, and the device's chain. Only `archive/` writes here."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Item, ItemId, Micros, Part, Place
from palazzo.store import source_rows
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at
from palazzo.store.packs import PackReader

PLAIN, DEFLATE = 0, 1
"""Codecs of `item.text`: UTF-8 (with surrogates), or the same compressed by zlib, which the standard library reads."""
_DEFLATE_FROM = 800
"""The size in bytes from which compression pays: below it, it saves less than a page's slack."""


@frozen
class ItemRow:
    """One item as stored in the table; `raw_start` and `raw_size` are in bytes within the pack."""

    uid: bytes
    source: int
    kind: str
    role: str
    standing: str
    author: str
    thread: str
    ordinal: int
    created_at: int
    recorded_at: int
    trust: str
    branch: str
    commit: str
    room: int
    parts: str
    meta: str
    decoder: int
    pack: int | None
    raw_start: int
    raw_size: int
    salt: bytes
    text: bytes
    text_codec: int


class StoredValues(NamedTuple):
    """The columns of an item that are made from its text, its parts and its other metadata."""

    text: bytes
    text_codec: int
    parts: str
    meta: str


_COLUMN_VALUES = attrgetter(*(field.name for field in fields(ItemRow)))
"""Converts a row to a tuple; `dataclasses.astuple` copies each value deeply, which took a fifth of the ingest time."""


class Link(NamedTuple):
    """One link of a device's chain."""

    seq: int
    item_uid: bytes
    digest: bytes
    hash: bytes
    absent: str | None


def insert_items(connection: Connection, rows: Sequence[ItemRow]) -> list[int]:
    """Append items; return their row ids in order. The caller ensures that none exists yet."""
    (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
    first = int(last) + 1
    connection.executemany(
        f"INSERT INTO item(id, uid, source, kind, role, standing, author, thread, ordinal, created_at, recorded_at,"
        f" trust, branch, commit_id, room, parts, meta, decoder, pack, raw_start, raw_size, salt, text, text_codec)"
        f" VALUES({','.join('?' * 24)})",
        ((first + n, *_COLUMN_VALUES(row)) for n, row in enumerate(rows)),
    )
    return list(range(first, first + len(rows)))


def encode_text(text: str) -> tuple[bytes, int]:
    """Return (stored bytes, codec) of an item's text; lone surrogates and NUL survive."""
    plain = text.encode("utf-8", "surrogatepass")
    if len(plain) < _DEFLATE_FROM:
        return plain, PLAIN
    zlib_bytes = zlib.compress(plain, 4)
    return (zlib_bytes, DEFLATE) if len(zlib_bytes) < len(plain) else (plain, PLAIN)


def decode_text(blob: bytes, codec: int) -> str:
    """Return the text that `encode_text` stored."""
    return (zlib.decompress(blob) if codec == DEFLATE else blob).decode("utf-8", "surrogatepass")


def known_items(connection: Connection, uids: Iterable[bytes]) -> dict[bytes, int]:
    """Return the row ids of the items that are archived."""
    item_uids = list(uids)
    rows_by_uid: dict[bytes, int] = {}
    for start in range(0, len(item_uids), 500):
        part = item_uids[start : start + 500]
        marks = ",".join("?" * len(part))
        for uid, row in connection.execute(f"SELECT uid, id FROM item WHERE uid IN ({marks})", part):
            rows_by_uid[bytes(uid)] = int(row)
    return rows_by_uid


def whereabouts(connection: Connection, rows: Sequence[int]) -> Iterator[tuple[int, str, int, str, int]]:
    """Yield (row id, kind, source, thread, ordinal) of those items that are not noise."""
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        records = connection.execute(
            "SELECT id, kind, source, thread, ordinal FROM item WHERE kind <> 'noise' AND id IN"
            f" ({','.join('?' * len(part))})",
            part,
        )
        for row, kind, source, thread, ordinal in records:
            yield int(row), str(kind), int(source), str(thread), int(ordinal)


def read_texts(connection: Connection, rows: Iterable[int]) -> dict[int, str]:
    """Return the texts of items by row id."""
    records = connection.execute(
        "SELECT id, text, text_codec FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*rows]),)
    )
    return {int(row): decode_text(blob, codec) for row, blob, codec in records}


def item_ids(connection: Connection, rows: Iterable[int]) -> dict[int, ItemId]:
    """Return the ids of items by row id."""
    records = connection.execute(
        "SELECT id, uid FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*rows]),)
    )
    return {int(row): ItemId(bytes(uid).hex()) for row, uid in records}


def read_raw(connection: Connection, row: int) -> bytes | None:
    """Return an item's own bytes as its source wrote them, or None if it has none."""
    rows = connection.execute("SELECT pack, raw_start, raw_size FROM item WHERE id = ?", (row,))
    for pack, start, size in rows:
        return None if pack is None else PackReader(connection).read(pack, start, size)
    return None


def insert_repetitions(connection: Connection, rows: Iterable[tuple[int, int, int]]) -> None:
    """Record (source, ordinal, item) of rows that repeat an archived item byte for byte."""
    connection.executemany("INSERT OR IGNORE INTO repetition(source, ordinal, item) VALUES(?,?,?)", rows)


class LaidRow(NamedTuple):
    """A row of a source at byte (or position) `ordinal`, and the place where its bytes are stored."""

    ordinal: int
    item: int
    pack: int
    start: int
    size: int


def laid_rows(connection: Connection, source: int) -> list[LaidRow]:
    """Return every row that was ever seen in a source, by ordinal; of rows at one ordinal, the newest first."""
    rows = connection.execute(
        "SELECT ordinal, id, pack, raw_start, raw_size FROM item WHERE source = ?1 AND pack IS NOT NULL"
        " UNION SELECT r.ordinal, i.id, i.pack, i.raw_start, i.raw_size FROM repetition r"
        " JOIN item i ON i.id = r.item WHERE r.source = ?1 AND i.pack IS NOT NULL ORDER BY 1, 2 DESC",
        (source,),
    )
    return [LaidRow(*(int(value) for value in row)) for row in rows]


def source_bytes(connection: Connection, source: int) -> Iterator[bytes]:
    """Yield the exact bytes of every row that was ever seen in a source, by ordinal."""
    packs = PackReader(connection)
    for row in sorted(laid_rows(connection, source), key=lambda row: (row.ordinal, row.item)):
        yield packs.read(row.pack, row.start, row.size)


def message_times(connection: Connection, rows: Sequence[int]) -> tuple[Micros, Micros]:
    """Return the earliest and latest time of the messages among those items, zeros if there are none."""
    times: list[int] = []
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        bounds = connection.execute(
            "SELECT min(created_at), max(created_at) FROM item WHERE kind = 'message' AND created_at > 0 AND id IN"
            f" ({','.join('?' * len(part))})",
            part,
        )
        times += [int(at) for pair in bounds for at in pair if at is not None]
    return Micros(min(times, default=0)), Micros(max(times, default=0))


def directory_of_source(connection: Connection, source: int) -> str:
    """Return the directory in the first row of a source that names one, '' if none does.

    Each thread is read up to its first such row: a session of weeks has thousands of rows.
    """
    rows = connection.execute(
        "WITH RECURSIVE name(thread) AS (SELECT min(thread) FROM item WHERE source = ?1 UNION ALL"
        " SELECT (SELECT min(thread) FROM item WHERE source = ?1 AND thread > name.thread) FROM name"
        " WHERE name.thread IS NOT NULL)"
        f" SELECT {string_at('meta', '$.cwd')} FROM item WHERE id IN (SELECT (SELECT id FROM item WHERE source = ?1"
        " AND thread = name.thread AND json_extract(meta, '$.cwd') <> '' ORDER BY ordinal LIMIT 1) FROM name)"
        " ORDER BY ordinal, thread LIMIT 1",
        (source,),
    )
    for (directory,) in rows:
        return decode_string(directory)
    return ""


_ITEM_COLUMNS = (
    "item.uid, item.kind, item.role, item.standing, item.author, item.text, item.text_codec, item.parts, item.thread,"
    " item.ordinal, item.created_at, item.recorded_at, item.trust, item.branch, item.commit_id, item.meta,"
    " item.source, wing.name, room.name FROM item JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing"
)


def read_item(connection: Connection, row: int) -> Item:
    """Return the item with that row id."""
    columns = next(connection.execute(f"SELECT {_ITEM_COLUMNS} WHERE item.id = ?", (row,)))
    (
        uid,
        kind,
        role,
        status,
        author,
        text,
        codec,
        parts,
        thread,
        ordinal,
        created,
        recorded_at,
        trust,
        branch,
    ) = columns[:14]
    commit, meta, source, wing, room = columns[14:]
    return Item(
        id=ItemId(bytes(uid).hex()),
        kind=kind,
        role=role,
        standing=status,
        author=author,
        text=decode_text(text, codec),
        parts=load_parts(parts),
        thread=thread,
        ordinal=ordinal,
        created_at=Micros(created),
        recorded_at=Micros(recorded_at),
        trust=trust,
        branch=branch,
        commit=commit,
        place=Place(wing, room),
        source=source_rows.read_source(connection, source),
        meta=json.loads(meta),
    )


_PARTS_ENCODER = json.JSONEncoder(separators=(",", ":"))


def dump_parts(parts: Sequence[Part]) -> str:
    """Return parts as compact JSON, '' if there are none."""
    if not parts:
        return ""
    return _PARTS_ENCODER.encode([[p.kind, p.start, p.end, p.name, p.call, p.failed, p.trust] for p in parts])


def load_parts(parts_json: str) -> tuple[Part, ...]:
    """Return the parts that `dump_parts` stored."""
    return tuple(Part(*fields) for fields in json.loads(parts_json)) if parts_json else ()


def raw_by_pack(connection: Connection) -> dict[int, list[tuple[int, int, int]]]:
    """Return, by pack, the (item row id, start, end) of the rows whose raw bytes it contains, in order."""
    rows_by_pack: dict[int, list[tuple[int, int, int]]] = {}
    rows = connection.execute(
        "SELECT pack, id, raw_start, raw_size FROM item WHERE pack IS NOT NULL ORDER BY pack, raw_start, id"
    )
    for pack, row, start, size in rows:
        rows_by_pack.setdefault(int(pack), []).append((int(row), int(start), int(start) + int(size)))
    return rows_by_pack


def uids_of(connection: Connection, rows: Iterable[int]) -> list[tuple[int, bytes]]:
    """Return (row id, id) of items, in the requested order."""
    return [
        (row, bytes(uid)) for row in rows for (uid,) in connection.execute("SELECT uid FROM item WHERE id = ?", (row,))
    ]


def kind_of(connection: Connection, row: int) -> str:
    """Return the kind of that item."""
    return str(next(connection.execute("SELECT kind FROM item WHERE id = ?", (row,)))[0])


def items_of_sources(connection: Connection, sources: Iterable[int]) -> list[int]:
    """Return all items from the sources, including items that they repeat from others, ascending."""
    item_rows: set[int] = set()
    for source in sources:
        rows = connection.execute(
            "SELECT id FROM item WHERE source = ?1 UNION SELECT item FROM repetition WHERE source = ?1", (source,)
        )
        item_rows.update(int(row) for (row,) in rows)
    return sorted(item_rows)


def has_items(connection: Connection) -> bool:
    """Whether any item is archived."""
    return any(True for _ in connection.execute("SELECT 1 FROM item LIMIT 1"))


def characters(connection: Connection) -> int:
    """Return the total number of code points in all texts."""
    rows = connection.execute("SELECT text, text_codec FROM item")
    return sum(len(decode_text(text, codec)) for text, codec in rows)


def is_erased(connection: Connection, row: int) -> bool:
    """Whether words or bytes of an item were erased, which also removed its salt."""
    return any(True for _ in connection.execute("SELECT 1 FROM item WHERE id = ? AND salt = x''", (row,)))


def is_bare(connection: Connection, row: int) -> bool:
    """Whether an item has no salt, like every item from which something was erased."""
    return not next(connection.execute("SELECT salt FROM item WHERE id = ?", (row,)))[0]


def erase_bodies(connection: Connection, rows: Iterable[int], absent: str) -> list[bytes]:
    """Remove raw bytes and salt of items and record this in their links; return their ids. Packs are not changed."""
    uids = []
    for row in rows:
        (uid,) = next(
            connection.execute(
                "UPDATE item SET pack = NULL, raw_start = 0, raw_size = 0, salt = x'' WHERE id = ? RETURNING uid",
                (row,),
            )
        )
        connection.execute("UPDATE link SET absent = ? WHERE item_uid = ?", (absent, uid))
        uids.append(bytes(uid))
    return uids


def forget_bytes(connection: Connection, rows: Iterable[int]) -> None:
    """Keep only the items' text: the source bytes cannot be read."""
    connection.executemany(
        "UPDATE item SET pack = NULL, raw_start = 0, raw_size = 0 WHERE id = ?", ((row,) for row in rows)
    )


def replace_item(connection: Connection, row: int, new: ItemRow, *, with_bytes: bool) -> None:
    """Replace an item by another row with the same id. Without `with_bytes`, its own bytes are not changed."""
    columns = (
        "source = ?, kind = ?, role = ?, standing = ?, author = ?, thread = ?, ordinal = ?, created_at = ?,"
        " recorded_at = ?, trust = ?, branch = ?, commit_id = ?, room = ?, parts = ?, meta = ?, decoder = ?"
    )
    values = [*_COLUMN_VALUES(new)]
    connection.execute(
        f"UPDATE item SET {columns}, salt = ?, text = ?, text_codec = ? WHERE id = ?",
        [*values[1:17], *values[20:], row],
    )
    if with_bytes:
        connection.execute("UPDATE item SET pack = ?, raw_start = ?, raw_size = ? WHERE id = ?", [*values[17:20], row])


def forget_repetition(connection: Connection, source: int, ordinal: int, item: int) -> None:
    """Delete the record that a source repeats an item at a place: the item itself is there."""
    connection.execute("DELETE FROM repetition WHERE source = ? AND ordinal = ? AND item = ?", (source, ordinal, item))


def set_text(connection: Connection, row: int, text: str) -> None:
    """Replace an item's text by what an erase leaves of it."""
    blob, codec = encode_text(text)
    connection.execute("UPDATE item SET text = ?, text_codec = ? WHERE id = ?", (blob, codec, row))


def set_meta(connection: Connection, row: int, meta: str) -> None:
    """Replace an item's metadata."""
    connection.execute("UPDATE item SET meta = ? WHERE id = ?", (meta, row))


def forget_parts(connection: Connection, row: int, trust: str) -> None:
    """Remove an item's parts, which tell who said which words."""
    connection.execute("UPDATE item SET parts = '', trust = ? WHERE id = ?", (trust, row))


def resolve_item_prefix(connection: Connection, low: bytes, high: bytes, limit: int) -> list[bytes]:
    """Return item ids within [low, high], at most `limit`."""
    rows = connection.execute("SELECT uid FROM item WHERE uid BETWEEN ? AND ? LIMIT ?", (low, high, limit))
    return [bytes(uid) for (uid,) in rows]


def last_link(connection: Connection, device: int) -> tuple[int, bytes]:
    """Return (seq, hash) of the newest link of a device's chain, or (0, zeros) if the chain is empty."""
    rows = connection.execute("SELECT seq, hash FROM link WHERE device = ? ORDER BY seq DESC LIMIT 1", (device,))
    for seq, digest in rows:
        return int(seq), bytes(digest)
    return 0, bytes(32)


def insert_links(connection: Connection, device: int, links: Iterable[Link]) -> None:
    """Append links to a device's chain."""
    connection.executemany(
        "INSERT INTO link(device, seq, item_uid, digest, hash, absent) VALUES(?,?,?,?,?,?)",
        ((device, *link) for link in links),
    )


def links(connection: Connection, device: int) -> Iterator[Link]:
    """Yield a device's links in order."""
    rows = connection.execute(
        "SELECT seq, item_uid, digest, hash, absent FROM link WHERE device = ? ORDER BY seq", (device,)
    )
    for seq, uid, digest, link_hash, absent in rows:
        yield Link(int(seq), bytes(uid), bytes(digest), bytes(link_hash), absent)


def unlinked_items(connection: Connection) -> Iterator[bytes]:
    """Yield the ids of items that no link describes in their present state: with their digest, or as erased."""
    rows = connection.execute(
        "SELECT uid FROM item WHERE NOT EXISTS (SELECT 1 FROM link WHERE item_uid = item.uid"
        " AND (absent IS NULL OR absent IN ('erased', 'damaged')))"
    )
    for (uid,) in rows:
        yield bytes(uid)


def hand_over_links(
    connection: Connection, device: int, target_device: int, last_seq: int
) -> list[tuple[bytes, bytes, str | None]]:
    """Assign a device's links up to number `last_seq` to another device; remove and return the later links.

    Each is (item, digest, absent), in order, to be linked again.
    """
    rows = connection.execute(
        "SELECT item_uid, digest, absent FROM link WHERE device = ? AND seq > ? ORDER BY seq", (device, last_seq)
    )
    tail_links = [(bytes(item), bytes(digest), absent) for item, digest, absent in rows]
    connection.execute("DELETE FROM link WHERE device = ? AND seq > ?", (device, last_seq))
    connection.execute("UPDATE link SET device = ? WHERE device = ?", (target_device, device))
    return tail_links
