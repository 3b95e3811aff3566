"""Mention consumer: what drawers mention, updated in the background by the rules of `text/text_mentions`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from palazzo.derived import async_consumer
from palazzo.index.failure_isolation import drawer_label
from palazzo.model import Part
from palazzo.store import change_log, claim_rows, items, known_people
from palazzo.store import mention_rows as mentions
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection, Database
from palazzo.store.mention_rows import MentionRow
from palazzo.text import names
from palazzo.text.text_mentions import Voice
from palazzo.text.text_mentions import mentions as mentions_in

_LONGEST = 20_000
"""Maximum characters of a range that are read: a longer range is a dump."""
_MOST = 60
"""Maximum number of names stored for one drawer: a listing of files contains hundreds."""


class MentionConsumer:
    """The consumer that stores mentions."""

    name = "mention"
    version = 1
    kinds: tuple[ChangeKind, ...] = ("drawer+", "drawer-", "drawer~", "reset")
    at_once = 100

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the drawers that these changes concern."""
        return sorted({change.ref for change in log})

    def everything(self, connection: Connection) -> list[int]:
        """Return the live drawers, and all drawers with stored mentions."""
        rows = connection.execute(
            "SELECT id FROM drawer WHERE retired_at IS NULL UNION SELECT drawer FROM mention ORDER BY 1"
        )
        return [int(row) for (row,) in rows]

    def make(self, connection: Connection, things: Sequence[int]) -> list[MentionRow]:
        """Process these drawers again."""
        return expected(connection, things)

    def keep(self, connection: Connection, things: Sequence[int], output: list[MentionRow]) -> None:
        """Store their mentions."""
        self.drop(connection, things)
        mentions.insert(connection, output)

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove the mentions of these drawers."""
        mentions.drop(connection, things)

    def label(self, connection: Connection, thing: int) -> str:
        """Return a drawer's name for a person."""
        return drawer_label(connection, thing)


MENTION_CONSUMER = MentionConsumer()


def forget_all(database: Database) -> None:
    """Remove all mentions, because the setting `entities` is off."""
    with database.snapshot() as connection:
        if not async_consumer.is_followed(connection, MENTION_CONSUMER) and not mentions.count(connection):
            return
    with database.transaction() as connection:
        mentions.clear(connection)
        async_consumer.start_over(connection, MENTION_CONSUMER)


def know(database: Database, people: Iterable[str]) -> None:
    """Add people's full names; if some are new, all drawers are processed again in the next run."""
    people = list(people)
    with database.snapshot() as connection:
        if known_people.everybody(connection).issuperset(people):
            return
    with database.transaction() as connection:
        version, seq = change_log.cursor(connection, MENTION_CONSUMER.name)
        if known_people.add(connection, people) and version:
            change_log.advance(connection, MENTION_CONSUMER.name, 0, seq)


def expected(connection: Connection, drawers: Sequence[int]) -> list[MentionRow]:
    """Return the expected mentions of these drawers; untrusted content makes none."""
    read = claim_rows.to_read(connection, drawers)
    people = sorted(known_people.everybody(connection), key=lambda name: (-len(name), name))
    voices = _items(connection, sorted({item for entry in read for item, _, _ in entry.spans}))
    mention_rows = []
    for drawer in read:
        rows_by_key: dict[tuple[str, str], MentionRow] = {}
        for item, start, end in drawer.spans:
            for voice, text, at in _stretches(voices.get(item), start, end):
                for entry in mentions_in(text, voice, people):
                    key = entry.kind, names.fold(entry.text)
                    if key not in rows_by_key and len(rows_by_key) < _MOST:
                        rows_by_key[key] = MentionRow(drawer.drawer, *key, item, at + entry.start, at + entry.end)
        mention_rows += sorted(rows_by_key.values())
    return mention_rows


_VOICES: dict[str, Voice] = {"user": "user", "assistant": "assistant", "tool": "tool"}


def _items(connection: Connection, rows: Sequence[int]) -> dict[int, tuple[Voice, str, tuple[Part, ...]]]:
    texts = items.read_texts(connection, rows)
    item_rows = connection.execute(
        "SELECT id, role, parts FROM item WHERE id IN (SELECT value FROM json_each(?)) AND trust <> 'external'",
        (json.dumps(list(rows)),),
    )
    return {
        int(row): (_VOICES.get(role, "document"), texts[int(row)], items.load_parts(parts))
        for row, role, parts in item_rows
    }


def _stretches(
    item: tuple[Voice, str, tuple[Part, ...]] | None, start: int, end: int
) -> Iterator[tuple[Voice, str, int]]:
    """Yield the ranges of an item with one speaker each, and their starts."""
    if item is None:
        return
    voice, text, parts = item
    for part in parts or (Part("text", start, end),):
        low, high = max(start, part.start), min(end, part.end)
        if low < high and part.trust != "external":
            yield voice if part.kind == "text" else "tool", text[low : min(high, low + _LONGEST)], low


def sample(connection: Connection, size: int) -> list[int]:
    """Return some live drawers that have mentions, spread over all."""
    newest = next(connection.execute("SELECT coalesce(max(drawer), 0) FROM mention"))[0]
    rows = {row for n in range(size) for row in claim_rows.live_drawers(connection, n * newest // size, 1)}
    return sorted(row for row in rows if row <= newest)
