"""The columns that store words besides the text and the bytes of items: every such column is listed here.

An erase goes through all of them. A table that is in neither list fails a test, so that none can be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Literal
from urllib.parse import unquote

from palazzo.frozen_class import frozen
from palazzo.store import fact_rows
from palazzo.store.database import Connection

Form = Literal["name", "title", "address", "values", "parts"]
"""`values` are strings anywhere in JSON except the member names of its top level; `parts` as in `item.parts`."""


@frozen
class WordRewriter:
    """How names, titles and addresses are changed."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    address: Callable[[str], str]


@frozen
class WordTable:
    """A table with text: the key of its rows, and the form of each text column."""

    table: str
    key: str
    columns: tuple[tuple[str, Form], ...]


TABLES = (
    WordTable("device", "id", (("name", "name"),)),
    WordTable("wing", "id", (("first_name", "name"), ("name", "name"))),
    WordTable("room", "id", (("first_name", "name"), ("name", "name"))),
    WordTable("arrangement", "id", (("name", "name"),)),
    WordTable("tunnel", "id", (("label", "title"), ("actor", "name"))),
    WordTable("known_person", "id", (("name", "name"),)),
    WordTable("project", "id", (("identity", "name"), ("roots", "values"))),
    WordTable(
        "source",
        "id",
        (("key", "values"), ("uri", "address"), ("session_id", "name"), ("title", "title"), ("project", "name")),
    ),
    WordTable("file_state", "uri", (("uri", "address"),)),
    WordTable(
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
    WordTable("act", "id", (("actor", "name"), ("detail", "values"))),
    WordTable("change_group", "id", (("actor", "name"), ("verb", "name"), ("summary", "title"))),
    WordTable(
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
    WordTable("tag", "id", (("name", "name"),)),
    WordTable("token", "id", (("name", "name"),)),
    WordTable(
        "sync_remote",
        "id",
        (("name", "name"), ("address", "address"), ("wings", "values"), ("failure", "title")),
    ),
    WordTable("fact_anchor", "id", (("path", "name"),)),
    WordTable("dead_letter", "id", (("label", "name"),)),
)
"""Tables that are processed column by column."""

DELEGATED_TABLES = {
    "item": "its text and raw bytes: archive/erasure",
    "pack": "raw bytes: archive/erasure, store/packs",
    "landmark": "hashes of raw bytes: deleted with the pack (store/packs)",
    "vector": "computed from text: those without a passage are deleted (store/vector_rows)",
    **dict.fromkeys(("passage", "source_heading"), "hashes of text: computed again (index/erasure_rebuild)"),
    "keyword": "text: touched drawers are indexed again, the index is merged (index/erasure_rebuild)",
    "keyword_retired": "text: as `keyword`",
    "claim": "text: claims of touched drawers are deleted, and extracted again (index/erasure_rebuild)",
    "anchor": "paths, keyed hashes of text: those of touched sessions and notes are deleted, and made again "
    "(index/erasure_rebuild)",
    "outside": "keyed hashes of names: those of touched items are made again with their drawers (index/taint_consumer)",
    "mention": "names: those of touched drawers are deleted, and made again (index/erasure_rebuild)",
    "wake_block": "text, cut short: all blocks are deleted with any erase (archive/erasure)",
    "mending": "keyed hashes of text: those of touched sessions are deleted, and made again (index/erasure_rebuild)",
    "hook_failure": "keyed hashes of text: all rows are deleted with any erase (archive/erasure)",
    "injection": "what agents were given: deleted where it quotes erased text (store/ledger)",
    "call": "text, asked and answered: all rows lose it with any erase (archive/erasure)",
    **dict.fromkeys(("entity", "entity_link", "predicate", "fact_source"), "store/facts"),
}
"""Tables whose text other code processes, and which code."""

WORDLESS = {
    "meta": "keys and numbers",
    "migration": "names of migrations",
    "embedder": "names of models",
    "link": "hashes with salt",
    "sync_device": "names of machines, keys",
    "sync_claim": "ids and kinds",
    "sync_refusal": "names of segments, and our own sentences",
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
    "digest_line": "kinds and places: the text is the items'",
    "mending_place": "kinds and places: the text is the items'",
    "task": "numbers and kinds: the text is the item's",
    "task_state": "states",
    "hook_session": "ids of sessions, and numbers",
    "injection_part": "ids",
    "injection_use": "numbers and kinds",
    "told_tally": "ids and numbers; those of touched items are deleted all the same (store/ledger)",
    "used_together": "ids and numbers: as `told_tally`",
    "looked_through": "numbers",
    "human_count": "numbers",
    "erasure": "certificates, which contain no text",
    "erased_item": "ids",
    "tombstone": "keyed hashes",
    "keyword_vocabulary": "a view of `keyword`",
    "keyword_retired_vocabulary": "a view of `keyword_retired`",
}
"""Tables without text, and what they contain."""


def reword(connection: Connection, rewriter: WordRewriter) -> dict[str, list[int | str]]:
    """Replace words everywhere by what `rewriter` makes of them; return the keys of the changed rows."""
    changed = {word_table.table: _reword_table(connection, word_table, rewriter) for word_table in TABLES}
    changed["fact"] = [fact_rows.erase_words(connection, rewriter.title)] if _any_facts(connection) else []
    return {table: rows for table, rows in changed.items() if rows and rows != [0]}


def _any_facts(connection: Connection) -> bool:
    return any(True for _ in connection.execute("SELECT 1 FROM entity UNION ALL SELECT 1 FROM predicate LIMIT 1"))


def _reword_table(connection: Connection, word_table: WordTable, rewriter: WordRewriter) -> list[int | str]:
    names = [name for name, _ in word_table.columns]
    assignments = ", ".join(f"{name} = ?" for name in names)
    changes = []
    for key, *values in connection.execute(f"SELECT {word_table.key}, {', '.join(names)} FROM {word_table.table}"):
        new_values = [
            _rewrite_value(str(value), form, rewriter) if value else value
            for value, (_, form) in zip(values, word_table.columns, strict=True)
        ]
        if new_values != values:
            changes.append((key, new_values))
    if changes:
        connection.executemany(
            f"UPDATE {word_table.table} SET {assignments} WHERE {word_table.key} = ?",
            ((*new_values, key) for key, new_values in changes),
        )
    return [key for key, _ in changes]


def _rewrite_value(value: str, form: Form, rewriter: WordRewriter) -> str:
    match form:
        case "name":
            return rewriter.name(value)
        case "title":
            return rewriter.title(value)
        case "address":
            return rewriter.address(value)
        case "values":
            return _in_json(value, rewriter.name)
        case "parts":
            return _in_parts(value, rewriter.name)


def _in_json(json_text: str, name: Callable[[str], str]) -> str:
    """Change the strings in a JSON text; if none changes, the text stays identical."""
    value = json.loads(json_text)
    new_value = (
        {key: _walk(child, name) for key, child in value.items()} if isinstance(value, dict) else _walk(value, name)
    )
    return json_text if new_value == value else json.dumps(new_value)


def _walk(value: object, name: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return name(value)
    if isinstance(value, dict):
        return {name(key) if isinstance(key, str) else key: _walk(child, name) for key, child in value.items()}
    return [_walk(child, name) for child in value] if isinstance(value, list) else value


def _in_parts(parts_json: str, name: Callable[[str], str]) -> str:
    """Change the names of calls in stored parts: the fourth and fifth element of each."""
    parts: list[list[object]] = json.loads(parts_json)
    new_parts = [[*part[:3], *(name(str(label)) for label in part[3:5]), *part[5:]] for part in parts]
    return parts_json if new_parts == parts else json.dumps(new_parts, separators=(",", ":"))


def make_collector(take: Callable[[Sequence[str]], None]) -> WordRewriter:
    """Return a wording that changes nothing and passes all words to `take`."""

    def collect_text(text: str) -> str:
        take((text,))
        return text

    def address(uri: str) -> str:
        take((unquote(uri, errors="surrogateescape"),))
        return uri

    return WordRewriter(collect_text, collect_text, address)
