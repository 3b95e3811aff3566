"""The kinds of page in a palace's file: which pages belong to which table or index, and damage to one of them."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from pathlib import Path

import apsw

from palazzo.store import page_checksums

PAGE = 4096
USED = PAGE - page_checksums.CHECKSUM_BYTES
"""Bytes of a page that hold content; its checksum is behind them."""


def pages_by_kind(palace: Path) -> dict[str, list[int]]:
    """Return the page numbers of each kind (`item leaf`, `pack overflow`, `free list`), of a palace that nobody uses.

    The first page, without which no file is a database, is left out where its kind has others.
    """
    pages: dict[str, list[int]] = defaultdict(list)
    with contextlib.closing(apsw.Connection(str(palace), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        for name, kind, page in connection.execute("SELECT name, pagetype, pageno FROM dbstat"):
            pages[f"{name} {kind}"].append(int(str(page)))
        ((count,),) = connection.execute("PRAGMA page_count").fetchall()
    used_pages = {page for numbers in pages.values() for page in numbers}
    free_pages = [page for page in range(1, int(str(count)) + 1) if page not in used_pages]
    if free_pages:
        pages["free list"] = free_pages
    return {kind: [page for page in numbers if page != 1] or numbers for kind, numbers in pages.items()}


def fold_log(palace: Path) -> None:
    """Write the whole write-ahead log into the palace's file."""
    with contextlib.closing(apsw.Connection(str(palace))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
