"""Looking for words in every file below a directory: as bytes in any spelling, and through what is compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import zstandard

from palazzo.palace import Palace
from palazzo.store import packs
from palazzo.text.escapes import spellings


def leftovers(palace: Palace, *words: str) -> list[str]:
    """Where any of the words still stands: in which file, or in which row of which table."""
    return [*in_files(palace.database.path.parent, *words), *in_tables(palace, *words)]


def in_files(directory: Path, *words: str) -> list[str]:
    """Files that hold the words raw: write-ahead logs and free pages are bytes like any other."""
    found = []
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            found += [f"{path.name}: {word!r}" for word in words if any(form in raw for form in _forms(word))]
            found += [f"the name {path.name}: {word!r}" for word in words if word in path.name]
    return found


def in_tables(palace: Palace, *words: str) -> list[str]:
    """Values of the palace that hold the words, compressed or escaped; and terms of its indexes."""
    found = []
    with palace.database.snapshot() as connection:
        for table, column, value in _values(connection.raw):
            for text in _readings(value):
                found += [f"{table}.{column}: {word!r}" for word in words if word in text]
        for pack in packs.pack_rows(connection):
            for text in spellings(packs.whole(connection, pack).decode("utf-8", "surrogateescape")):
                found += [f"pack {pack}: {word!r}" for word in words if word in text]
        for index in ("keyword", "keyword_retired"):
            terms = {term for (term,) in connection.execute(f"SELECT term FROM {index}_vocabulary")}
            found += [f"{index}: {stem!r}" for word in words for stem in connection.stems(word) if stem in terms]
    return sorted(set(found))


def _forms(word: str) -> set[bytes]:
    escaped = json.dumps(word)[1:-1]
    plain = json.dumps(word, ensure_ascii=False)[1:-1]
    texts = {word, escaped, plain, json.dumps(escaped)[1:-1], escaped.replace("\\u", "\\U")}
    return {text.encode(encoding) for text in texts for encoding in ("utf-8", "utf-16-le", "utf-16-be")}


def _values(raw: apsw.Connection) -> Iterator[tuple[str, str, object]]:
    tables = [str(name) for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        if table.endswith("_vocabulary") or table in ("keyword", "keyword_retired"):
            continue  # they have no content of their own
        cursor = raw.execute(f'SELECT * FROM "{table}"')
        names: list[str] = []
        for row in cursor:
            names = names or [column[0] for column in cursor.getdescription()]
            yield from ((table, name, value) for name, value in zip(names, row, strict=True))


def _readings(value: object) -> Iterator[str]:
    """A value as text: as it is, decompressed, with escapes undone."""
    if isinstance(value, str):
        yield from spellings(value)
    elif isinstance(value, bytes):
        for raw in (value, *_decompressed(value)):
            yield from spellings(raw.decode("utf-8", "surrogateescape"))


def _decompressed(value: bytes) -> Iterator[bytes]:
    for attempt in (zlib.decompress, lambda raw: zstandard.ZstdDecompressor().decompress(raw, 1 << 26)):
        try:
            yield attempt(value)
        except (zlib.error, zstandard.ZstdError):
            continue
