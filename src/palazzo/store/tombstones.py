"""Tombstones: erased words, recognised by keyed hashes alone, so that they are not taken in again.

    erasure       one `palazzo erase`: when, its certificate, and whether the last traces in the file are gone
    erased_item   items that lost their bytes: why a link of the chain has no body
    tombstone     hashes of erased words under the palace's key, in the order in which they came

Nothing here reveals the words. Names that the store itself writes (places, addresses, titles) are checked against
tombstones at every write; words are checked by the archive's ingest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from palazzo.model import Micros
from palazzo.store import redaction_state
from palazzo.store.database import Connection
from palazzo.text.hashed_words import Finder, HashedWords

ERASED_BODY = "erased"
"""In `link.absent`: the body was erased."""
_SAFE = "/:#=&?;,@+!$'()*~"
_COLUMNS = "size, standing, head, tail, hash"


class Erasure(NamedTuple):
    """One erasure. `finished_at` is None until no page of the file contains the erased words."""

    row: int
    uid: bytes
    at: Micros
    finished_at: Micros | None
    certificate: str


def finder(connection: Connection) -> Finder:
    """Return a finder of everything that was ever erased here; an empty one if nothing was."""
    newest = version(connection)
    return _finder(_key(connection), newest, connection) if newest else NOTHING


def fresh_finder(connection: Connection) -> Finder:
    """Return an empty finder under the palace's key, for computing hashes."""
    return Finder(_key(connection))


def version(connection: Connection) -> bytes:
    """Return an identifier of the current set of tombstones; nothing if there are none.

    Devices of one palace share a key, and may have received the same erasure last, having received others before or
    not.
    """
    rows = connection.execute(
        "SELECT hash, (SELECT uid FROM device WHERE id = 1) FROM tombstone ORDER BY id DESC LIMIT 1"
    )
    for newest, device in rows:
        return bytes(newest) + bytes(device)
    return b""


NOTHING = Finder(b"-")
"""Finds nothing."""


def name(connection: Connection, text: str) -> str:
    """Return a name without erased words: each is replaced by a mark, the same mark for the same words."""
    return mask_text(finder(connection), text)


def title(connection: Connection, text: str) -> str:
    """Return a title with █ for erased words."""
    return finder(connection).cover_text(text)


def address(connection: Connection, uri: str) -> str:
    """Return an address without erased words, including words spelled with escapes."""
    return marked_address(finder(connection), uri)


def mask_text(word_finder: Finder, text: str) -> str:
    """Return `text` with a mark for each known range. Different names stay different."""
    if not word_finder or not text:
        return text
    pieces: list[str] = []
    at = 0
    for start, end in word_finder.find(text):
        pieces += (text[at:start], f"[erased:{word_finder.hash_words(text[start:end]).hash[:4].hex()}]")
        at = end
    return "".join([*pieces, text[at:]])


def marked_address(word_finder: Finder, uri: str) -> str:
    """Return an address with a mark for each known range, escaped or not."""
    if not word_finder or not uri:
        return uri
    plain = unquote(uri, errors="surrogateescape")
    masked_text = mask_text(word_finder, plain)
    if masked_text != plain:
        return quote(masked_text, safe=_SAFE, errors="surrogateescape")
    return mask_text(word_finder, uri)


# --- writing -----------------------------------------------------------------------------------------------


def file_erasure(connection: Connection, uid: bytes, at: Micros) -> int:
    """Record an unfinished erasure; return its row id."""
    (row,) = next(
        connection.execute(
            "INSERT INTO erasure(uid, at, certificate, sought) VALUES(?, ?, '', 1) RETURNING id", (uid, at)
        )
    )
    return int(row)


def certify(connection: Connection, erasure: int, certificate: str) -> None:
    """Store the certificate of an erasure."""
    connection.execute("UPDATE erasure SET certificate = ? WHERE id = ?", (certificate, erasure))


def finish(connection: Connection, at: Micros, rows: Iterable[int]) -> None:
    """Record that no page of the file holds anything of these erasures any more."""
    connection.executemany("UPDATE erasure SET finished_at = ? WHERE id = ?", ((at, row) for row in rows))


def count_erasures(connection: Connection) -> int:
    """Return the number of erasures."""
    return int(next(connection.execute("SELECT count(*) FROM erasure"))[0])


def erasures(connection: Connection) -> list[Erasure]:
    """Return all erasures, in the order in which they were recorded."""
    rows = connection.execute("SELECT id, uid, at, finished_at, certificate FROM erasure ORDER BY id")
    return [Erasure(int(row), bytes(uid), Micros(at), finished_at, text) for row, uid, at, finished_at, text in rows]


def items_of_erasure(connection: Connection, erasure: int) -> list[bytes]:
    """Return the items that lost their bytes through an erasure."""
    rows = connection.execute("SELECT item_uid FROM erased_item WHERE erasure = ? ORDER BY item_uid", (erasure,))
    return [bytes(uid) for (uid,) in rows]


def find_pending_erasures(connection: Connection) -> list[Erasure]:
    """Return the erasures of which pages of the file may still hold something, oldest first."""
    rows = connection.execute(
        "SELECT id, uid, at, finished_at, certificate FROM erasure WHERE finished_at IS NULL ORDER BY id"
    )
    return [Erasure(int(row), bytes(uid), Micros(at), finished_at, text) for row, uid, at, finished_at, text in rows]


def unsought(connection: Connection) -> list[Erasure]:
    """Return the erasures of other devices whose words have not been searched for here yet, oldest first."""
    rows = connection.execute(
        "SELECT id, uid, at, finished_at, certificate FROM erasure WHERE sought = 0 ORDER BY at, uid"
    )
    return [Erasure(int(row), bytes(uid), Micros(at), finished_at, text) for row, uid, at, finished_at, text in rows]


def note_sought(connection: Connection, erasure: int) -> None:
    """Record that the words of an erasure were searched for here."""
    connection.execute("UPDATE erasure SET sought = 1 WHERE id = ?", (erasure,))


def of_erasure(connection: Connection, erasure: int) -> list[HashedWords]:
    """Return the hashed words of an erasure, in the order in which they were recorded."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM tombstone WHERE erasure = ? ORDER BY id", (erasure,))
    return [HashedWords(int(a), b, int(c), int(d), bytes(e)) for a, b, c, d, e in rows]


def newest_erasure(connection: Connection) -> int:
    """Return the row id of the newest erasure, 0 if there is none."""
    return int(next(connection.execute("SELECT coalesce(max(id), 0) FROM erasure"))[0])


def insert(connection: Connection, erasure: int, words: Iterable[HashedWords]) -> None:
    """Add tombstones; existing ones are not added again."""
    connection.executemany(
        f"INSERT OR IGNORE INTO tombstone(erasure, {_COLUMNS}) VALUES(?,?,?,?,?,?)",
        ((erasure, *entry) for entry in words),
    )


def insert_items(connection: Connection, erasure: int, uids: Iterable[bytes]) -> None:
    """Record that these items lost their bytes."""
    connection.executemany(
        "INSERT OR IGNORE INTO erased_item(item_uid, erasure) VALUES(?,?)", ((uid, erasure) for uid in uids)
    )


def file_foreign(connection: Connection, uid: bytes, at: Micros) -> int:
    """Record an erasure of another device, whose words were not searched for here; return its row id."""
    (row,) = next(
        connection.execute("INSERT INTO erasure(uid, at, certificate) VALUES(?, ?, '') RETURNING id", (uid, at))
    )
    return int(row)


def claim_item(connection: Connection, erasure: int, uid: bytes) -> bool:
    """Record that an item lost bytes through an erasure, unless an earlier one did; return whether that is new."""
    rows = connection.execute("SELECT erasure FROM erased_item WHERE item_uid = ?", (uid,))
    earlier_erasure = next((int(row) for (row,) in rows), None)
    if earlier_erasure is None:
        connection.execute("INSERT INTO erased_item(item_uid, erasure) VALUES(?,?)", (uid, erasure))
    elif _is_earlier(connection, erasure, earlier_erasure):
        connection.execute("UPDATE erased_item SET erasure = ? WHERE item_uid = ?", (erasure, uid))
    else:
        return False
    return True


def claim_words(connection: Connection, erasure: int, words: HashedWords) -> bool:
    """Record that an erasure erased these words, unless an earlier one did; return whether that is new."""
    rows = connection.execute(
        "SELECT erasure FROM tombstone WHERE hash = ? AND standing = ?", (words.hash, words.standing)
    )
    earlier_erasure = next((int(row) for (row,) in rows), None)
    if earlier_erasure is None:
        insert(connection, erasure, [words])
    elif _is_earlier(connection, erasure, earlier_erasure):
        connection.execute(
            "UPDATE tombstone SET erasure = ? WHERE hash = ? AND standing = ?", (erasure, words.hash, words.standing)
        )
    else:
        return False
    return True


def _is_earlier(connection: Connection, first: int, second: int) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM erasure a, erasure b WHERE a.id = ? AND b.id = ? AND (a.at, a.uid) < (b.at, b.uid)",
        (first, second),
    )
    return any(True for _ in rows)


def find_unproven_items(connection: Connection) -> list[bytes]:
    """Return the items whose links say `erased` without a known erasure, unless `repair` recorded them."""
    rows = connection.execute(
        "SELECT item_uid FROM link WHERE absent = ? EXCEPT SELECT item_uid FROM erased_item"
        " EXCEPT SELECT item_uid FROM unproven_erasure",
        (ERASED_BODY,),
    )
    return [bytes(uid) for (uid,) in rows]


# --- parts -------------------------------------------------------------------------------------------------


def _key(connection: Connection) -> bytes:
    return _derive_key(redaction_state.fingerprint_key(connection))


@lru_cache(maxsize=16)
def _derive_key(key: bytes) -> bytes:
    """Return a separate key, so that no redaction mark can be compared with a tombstone."""
    return hashlib.blake2b(b"tombstones", key=key, digest_size=32).digest()


_finder_cache: dict[bytes, tuple[bytes, Finder]] = {}


def _finder(key: bytes, newest: bytes, connection: Connection) -> Finder:
    """Return a palace's finder (by its key), cached until its tombstones change."""
    cache_entry = _finder_cache.get(key)
    if cache_entry is None or cache_entry[0] != newest:
        rows = connection.execute(f"SELECT {_COLUMNS} FROM tombstone ORDER BY id")
        words = (HashedWords(int(a), b, int(c), int(d), bytes(e)) for a, b, c, d, e in rows)
        cache_entry = _finder_cache[key] = (newest, Finder(key, words))
    return cache_entry[1]
