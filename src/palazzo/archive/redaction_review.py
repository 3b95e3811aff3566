"""Redaction review: what today's rules find in archived text. Changes nothing, and never prints a secret."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.model import ItemId
from palazzo.security.secret_prescan import suspects
from palazzo.security.secret_scanner import RULES_VERSION, SecretSpan, find_secrets
from palazzo.store import items, place_rows, redaction_state
from palazzo.store.database import Connection, Database

_AT_ONCE = 64
"""Number of items that are read together: memory is bounded by the largest of them."""
Progress = Callable[[int, int], None]


@frozen
class Leak:
    """An archived secret: its item, its rule, and whether it is in the item's text or in its source's own bytes."""

    item: ItemId
    rule: str
    location: str


@frozen
class NameLeak:
    """A secret in the name of a wing or a room: the name with a mark in the secret's place, and the secret's rule."""

    kind: str
    redacted_name: str
    rule: str


def relook(database: Database, progress: Progress) -> Iterator[Leak]:
    """Yield what the current rules find in every item, oldest first; then record that the palace was searched."""
    with database.snapshot() as connection:
        (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
    at = 0
    while at < last:
        with database.snapshot() as connection:
            ids = [row for (row,) in connection.execute(_NEXT, (at, last, _AT_ONCE))]
            leaks = list(_leaks(connection, ids))
        yield from leaks
        at = int(ids[-1]) if ids else last
        progress(at, last)


def leaked_names(database: Database) -> list[NameLeak]:
    """Return the names of wings and rooms, also former ones, in which the current rules find a secret."""
    with database.snapshot() as connection:
        guard = Guard.at(connection, redacts=True)
        return [
            NameLeak(kind, guard.words(name), span.rule)
            for kind, name in place_rows.names_of_places(connection)
            for span in find_secrets(name)
        ]


def secrets(database: Database, progress: Progress) -> set[str]:
    """Return the secrets that current rules find in the archive: to be erased, never to be shown or stored."""
    with database.snapshot() as connection:
        (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
        names = [name for _, name in place_rows.names_of_places(connection)]
    secret_texts = {name[span.start : span.end] for name in names for span in find_secrets(name)}
    at = 0
    while at < last:
        with database.snapshot() as connection:
            ids = [row for (row,) in connection.execute(_NEXT, (at, last, _AT_ONCE))]
            for _, text, spans, _ in _looked_at(connection, ids):
                secret_texts.update(text[span.start : span.end] for span in spans)
        at = int(ids[-1]) if ids else last
        progress(at, last)
    return secret_texts


def note_whole(database: Database) -> None:
    """Record that the whole archive was searched with the current rules."""
    with database.transaction() as connection:
        (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
        redaction_state.note_look(connection, redaction_state.ArchiveScan(RULES_VERSION, int(last)))


def wants_look(connection: Connection) -> bool:
    """Return whether items were archived without redaction or under older rules, and not searched since."""
    used, look = redaction_state.rules_used(connection), redaction_state.last_look(connection)
    (last,) = next(connection.execute("SELECT coalesce(max(id), 0) FROM item"))
    last_item = look.item if look.rules >= RULES_VERSION else 0
    ends = [entry.item - 1 for entry in used[1:]] + [int(last)]
    return any(entry.rules < RULES_VERSION and end > last_item for entry, end in zip(used, ends, strict=False))


_NEXT = "SELECT id FROM item WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"


def _leaks(connection: Connection, ids: list[int]) -> Iterator[Leak]:
    leak_keys: set[tuple[int, str]] = set()
    for row, _, spans, location in _looked_at(connection, ids):
        for span in spans:
            if location == "text" or (row, span.rule) not in leak_keys:
                leak_keys.add((row, span.rule))
                yield Leak(_uid(connection, row), span.rule, f"{location}, characters {span.start:,} to {span.end:,}")


def _looked_at(connection: Connection, ids: list[int]) -> Iterator[tuple[int, str, list[SecretSpan], str]]:
    """Yield (item, text, its secrets, kind of text) for items with secrets: texts first, then source bytes."""
    texts = items.read_texts(connection, ids)
    raws = {row: items.read_raw(connection, row) or b"" for row in ids}
    bodies = [(row, texts[row].encode("utf-8", "surrogatepass"), "text") for row in ids]
    bodies += [(row, raw, "its source's bytes") for row, raw in raws.items()]
    for n in sorted(suspects([body for _, body, _ in bodies])):
        row, body, location = bodies[n]
        text = body.decode("utf-8", "surrogateescape")
        yield row, text, list(find_secrets(text)), location


def _uid(connection: Connection, row: int) -> ItemId:
    (uid,) = next(connection.execute("SELECT uid FROM item WHERE id = ?", (row,)))
    return ItemId(bytes(uid).hex())
