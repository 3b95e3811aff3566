"""Each store, taken over into a palace: counted, found by search, and not a second time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.importers.store_import import Migration, MigrationOptions, migrate
from palazzo.importers.store_readers import detect_reader
from palazzo.model import Micros
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.text.times import parse_when

from .samples import WRITERS

NOW = parse_when("2026-06-15T12:00:00Z", Micros(0))

CAME = {
    "mcp-memory": ({"notes": 2, "facts": 2}, "who prefers morning reviews", "Kim_Park: Prefers morning reviews"),
    "wt-memory": ({"notes": 2, "to-dos": 1}, "rocksdb two processes", "RocksDB crashes when two processes write."),
    "shodh": (
        {"notes": 2, "to-dos": 1, "reminders": 2, "facts": 1},
        "how do we deploy blue-green",
        "We deploy blue-green, never in place.",
    ),
    "mnemograph": ({"notes": 2, "facts": 1}, "row locks Postgres", "Use Postgres: Because of row locks"),
    "claude-mem": ({"notes": 3}, "leak in the pool", "The pool kept each connection that had failed."),
    "claude-memory": ({"notes": 4}, "no summaries at the end", "No summaries at the end."),
}


@pytest.fixture
def context(palace: Palace, palace_path: Path) -> Iterator[Context]:
    environment = {"HOME": str(palace_path.parent), "PALAZZO_SERVICE": "off"}
    with Context(palace_path, palace_path.parent, environment, clock=lambda: NOW) as opened:
        yield opened


def take(palace: Palace, path: Path, dry_run: bool = False) -> Migration:
    reader = detect_reader(path)
    assert reader is not None
    return migrate(palace.database, reader, path, lambda: NOW, MigrationOptions(dry_run=dry_run))


def counts(done: Migration, how: str) -> dict[str, int]:
    return {one.kind: found for one in done.counts if (found := getattr(one, how))}


@pytest.mark.parametrize("name", CAME)
def test_a_store_comes_over_whole_is_found_and_comes_only_once(
    name: str, palace: Palace, context: Context, tmp_path: Path
) -> None:
    expected, question, words = CAME[name]
    (tmp_path / "store").mkdir()
    path = WRITERS[name](tmp_path / "store")
    assert counts(take(palace, path, dry_run=True), "new") == expected
    assert counts(take(palace, path), "new") == expected
    again = take(palace, path)
    assert (counts(again, "new"), counts(again, "existing")) == ({}, expected)
    found = search(context, SearchRequest(question))
    assert any(words in hit.text for hit in found.hits)
