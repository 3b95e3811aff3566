"""Where the store keeps words besides the text and the bytes of items: every such column is named here.

An erase goes through all of them. A table that is in neither list fails a test, so that none can be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from palazzo.store import facts
from palazzo.store.database import Connection

Form = Literal["name", "title", "address", "values", "parts"]
"""`values` are strings anywhere in JSON but the names of its top level's members; `parts` as in `item.parts`."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What becomes of names, of titles and of addresses."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    address: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Worded:
    """A table with words: what its rows are known by, and the form of each column that holds some."""

    table: str
    key: str
    columns: tuple[tuple[str, Form], ...]


TABLES = (
    Worded("device", "id", (("name", "name"),)),
    Worded("wing", "id", (("first_name", "name"), ("name", "name"))),
    Worded("room", "id", (("first_name", "name"), ("name", "name"))),
    Worded("arrangement", "id", (("name", "name"),)),
    Worded("tunnel", "id", (("label", "title"), ("actor", "name"))),
    Worded("known_person", "id", (("name", "name"),)),
    Worded("project", "id", (("identity", "name"), ("roots", "values"))),
    Worded(
        "source",
        "id",
        (("key", "values"), ("uri", "address"), ("session_id", "name"), ("title", "title"), ("project", "name")),
    ),
    Worded("file_state", "uri", (("uri", "address"),)),
    Worded(
        "item",
        "id",
        (
            ("author", "name"),
            ("thread", "name"),
            ("branch", "name"),
            ("commit_id", "name"),
            ("parts", "parts"),
            ("meta", "values"),
        ),
    ),
    Worded("act", "id", (("actor", "name"), ("detail", "values"))),
    Worded("change_group", "id", (("actor", "name"), ("verb", "name"), ("summary", "title"))),
    Worded(
        "drawer",
        "id",
        (
            ("thread", "name"),
            ("author", "name"),
            ("title", "title"),
            ("branch", "name"),
            ("commit_id", "name"),
            ("locator", "name"),
        ),
    ),
    Worded("tag", "id", (("name", "name"),)),
    Worded("token", "id", (("name", "name"),)),
    Worded(
        "sync_remote",
        "id",
        (("name", "name"), ("address", "address"), ("wings", "values"), ("failure", "title")),
    ),
    Worded("fact_anchor", "id", (("path", "name"),)),
    Worded("dead_letter", "id", (("label", "name"),)),
)
"""Tables that are gone through column by column."""

ELSEWHERE = {
    "item": "its text and raw bytes: archive/erasing",
    "pack": "raw bytes: archive/erasing, store/packs",
    "landmark": "hashes of raw bytes: they go with the pack (store/packs)",
    "vector": "made from words: those that no passage has go (store/vectors)",
    "passage": "hashes of words: made anew (derive/erased)",
    "keyword": "words: touched drawers are indexed anew, the index is merged (derive/erased)",
    "keyword_retired": "words: as `keyword`",
    "claim": "words: claims of touched drawers go, and are made anew (derive/erased)",
    "anchor": "paths, keyed hashes of words: those of touched sessions and notes go, made anew (derive/erased)",
    "outside": "keyed hashes of names: those of touched items are made anew with their drawers (derive/exposing)",
    "mention": "names: those of touched drawers go, and are made anew (derive/erased)",
    "wake_block": "words, cut short: all blocks go with any erase (archive/erasing)",
    "mending": "keyed hashes of words: those of touched sessions go, and are made anew (derive/erased)",
    "hook_failure": "keyed hashes of words: all rows go with any erase (archive/erasing)",
    "injection": "what agents were given: it goes where it quotes what went (store/ledger)",
    "call": "words, asked and answered: all rows lose them with any erase (archive/erasing)",
    **dict.fromkeys(("entity", "entity_link", "predicate", "fact_source"), "store/facts"),
}
"""Tables with words that something else takes care of, and what."""

WORDLESS = {
    "meta": "keys and numbers",
    "migration": "names of migrations",
    "embedder": "names of models",
    "link": "hashes with salt",
    "sync_device": "names of machines, keys",
    "sync_claim": "ids and kinds",
    "sync_refusal": "names of segments, and sentences of ours",
    "unproven_erasure": "ids",
    "repetition": "numbers",
    "revision": "numbers",
    "pack_reference": "numbers",
    "act_span": "places",
    "tunnel_drawer": "ids",
    "group_member": "numbers",
    "change": "numbers",
    "cursor": "names of consumers",
    "drawer_span": "numbers",
    "drawer_tag": "numbers",
    "pending": "numbers",
    "past": "numbers",
    "sync_seen": "ids and hashes",
    "sync_chain": "numbers",
    "sync_sent": "keyed hashes",
    "sync_withheld": "numbers and kinds",
    "private_wing": "numbers",
    "imported_row": "numbers and kinds",
    "item_variant": "ids, and hashes with salt",
    "predicate_rule": "numbers",
    "fact": "numbers",
    "fact_version": "numbers",
    "conflict": "kinds and places",
    "unwanted_fact": "keyed hashes",
    "digest_line": "kinds and places: the words are the items'",
    "mending_place": "kinds and places: the words are the items'",
    "task": "numbers and kinds: the words are the item's",
    "task_state": "states",
    "hook_session": "ids of sessions, and numbers",
    "injection_part": "ids",
    "injection_use": "numbers and kinds",
    "told_tally": "ids and numbers; those of touched items go all the same (store/ledger)",
    "used_together": "ids and numbers: as `told_tally`",
    "looked_through": "numbers",
    "human_count": "numbers",
    "erasure": "certificates, which hold no words",
    "erased_item": "ids",
    "tombstone": "keyed hashes",
    "keyword_vocabulary": "a view of `keyword`",
    "keyword_retired_vocabulary": "a view of `keyword_retired`",
}
"""Tables that hold no words, and what they hold."""


def reword(connection: Connection, wording: Wording) -> dict[str, list[int | str]]:
    """Put what `wording` makes of words in their place, everywhere; return the keys of the rows that changed."""
    changed = {one.table: _reword_table(connection, one, wording) for one in TABLES}
    changed["fact"] = [facts.erase_words(connection, wording.title)] if _any_facts(connection) else []
    return {table: rows for table, rows in changed.items() if rows and rows != [0]}


def _any_facts(connection: Connection) -> bool:
    return any(True for _ in connection.execute("SELECT 1 FROM entity UNION ALL SELECT 1 FROM predicate LIMIT 1"))


def _reword_table(connection: Connection, worded: Worded, wording: Wording) -> list[int | str]:
    names = [name for name, _ in worded.columns]
    assignments = ", ".join(f"{name} = ?" for name in names)
    changes = []
    for key, *values in connection.execute(f"SELECT {worded.key}, {', '.join(names)} FROM {worded.table}"):
        left = [
            _reworded(str(value), form, wording) if value else value
            for value, (_, form) in zip(values, worded.columns, strict=True)
        ]
        if left != values:
            changes.append((key, left))
    if changes:
        connection.executemany(
            f"UPDATE {worded.table} SET {assignments} WHERE {worded.key} = ?", ((*left, key) for key, left in changes)
        )
    return [key for key, _ in changes]


def _reworded(value: str, form: Form, wording: Wording) -> str:
    match form:
        case "name":
            return wording.name(value)
        case "title":
            return wording.title(value)
        case "address":
            return wording.address(value)
        case "values":
            return _in_json(value, wording.name)
        case "parts":
            return _in_parts(value, wording.name)


def _in_json(stored: str, name: Callable[[str], str]) -> str:
    """Change the strings of a JSON text; where none changes it stays to the letter."""
    value = json.loads(stored)
    left = {key: _walk(one, name) for key, one in value.items()} if isinstance(value, dict) else _walk(value, name)
    return stored if left == value else json.dumps(left)


def _walk(value: object, name: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return name(value)
    if isinstance(value, dict):
        return {name(key) if isinstance(key, str) else key: _walk(one, name) for key, one in value.items()}
    return [_walk(one, name) for one in value] if isinstance(value, list) else value


def _in_parts(stored: str, name: Callable[[str], str]) -> str:
    """Change what calls are named in stored parts: the fourth and fifth of each."""
    parts: list[list[object]] = json.loads(stored)
    left = [[*part[:3], *(name(str(one)) for one in part[3:5]), *part[5:]] for part in parts]
    return stored if left == parts else json.dumps(left, separators=(",", ":"))


def collecting(take: Callable[[Sequence[str]], None]) -> Wording:
    """Return a wording that changes nothing and gives all words to `take`."""

    def seen(text: str) -> str:
        take((text,))
        return text

    def address(uri: str) -> str:
        take((unquote(uri, errors="surrogateescape"),))
        return uri

    return Wording(seen, seen, address)
