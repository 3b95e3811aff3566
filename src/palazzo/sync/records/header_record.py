"""The header: the first line of an export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import palazzo
from palazzo.frozen_class import frozen
from palazzo.sync.field_codecs import Detail, Name, Whole
from palazzo.sync.records.palace_snapshot import PalaceSnapshot
from palazzo.sync.records.record_kind import Record, RecordKind

FORMAT: Literal["palazzo"] = "palazzo"
VERSION = 1


@frozen
class Header(Record):
    """The first line. `filter` is the restriction of the export, by option; empty if it contains everything."""

    format: Literal["palazzo"]
    version: Whole
    written_by: Name = ""
    filter: Detail | None = None


def _read(snapshot: PalaceSnapshot) -> Iterator[Header]:
    options = {} if snapshot.selection is None else dict(snapshot.selection.options)
    yield Header(FORMAT, VERSION, f"palazzo {palazzo.__version__}", options or None)


HEADER = RecordKind("header", Header, identity=(), read=_read)
