"""An export that somebody brings: read through and checked whole before anything of it is merged.

    lines ──wire──> records ──> kinds in order, and whatever is referred to came before

What a record says of its own is checked by `wire`; here is what only who has seen all lines can say. It holds the ids
that later lines may refer to, and no record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from palazzo.archive import device_chain
from palazzo.errors import SourceUnreadable
from palazzo.store import items
from palazzo.sync import carried_files, derived_records, record_lines
from palazzo.sync.authenticity import Proof
from palazzo.sync.derived_records import Drawer, End
from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.record_references import Name, drop_missing, parts_of
from palazzo.sync.record_types import Act, Header, Item, Link, Record, Task

Progress = Callable[[int, int], None]
"""Told how many bytes of the file were read, of how many."""
_ORDER = {kind: n for n, kind in enumerate([*record_lines.KINDS, *derived_records.KINDS])}
_ID_KINDS = frozenset(["device", "wing", "room", "source", "item", "group", "task", "entity", "fact"])
"""Kinds whose ids are kept while a file is checked: what something later is a part of."""
PURPOSE = b"export"
"""The purpose of the proof at the end of an export."""
_BEGINNING = b'{"kind":"header"'


@dataclass(frozen=True, slots=True)
class VerifiedExport:
    """An export that was found whole: its header, and how many records of each kind it has."""

    header: Header
    counts: Counter[str]
    stamp: tuple[int, int, int]
    is_own: bool = False
    """Whether the palace of the given key wrote it."""


@dataclass(slots=True)
class _ExportState:
    counts: Counter[str] = field(default_factory=Counter)
    ids: dict[str, set[bytes]] = field(default_factory=lambda: {kind: set() for kind in _ID_KINDS})
    kind: str = "header"
    chains: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """By device the last link's number and hash."""
    end: End | None = None


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of ours does; False for what cannot be read."""
    try:
        first = next(carried_files.lines(path), None)
    except SourceUnreadable:
        return False
    return first is not None and first.text.startswith(_BEGINNING)


def check(path: Path, progress: Progress | None = None, key: bytes = b"") -> VerifiedExport:
    """Read an export to its end; the palace's `key` tells whether that palace wrote it.

    Raises SourceUnreadable, which names the line, for one that is damaged, was written by a later Palazzo, or is none.
    """
    stamp = _stamp(path)
    state = _ExportState()
    header: Header | None = None
    proof = Proof(key, PURPOSE)
    for line, record in _records(path, progress, stamp[1], proof):
        if isinstance(record, Header):
            if header is not None:
                raise _bad(path, line, "is a second header: import one export after another")
            header = record
        elif header is None:
            raise SourceUnreadable(f"{path} is no export of Palazzo: it begins with no header.")
        elif state.end is not None:
            raise _bad(path, line, "stands behind the end")
        elif isinstance(record, End):
            state.end = record
        else:
            _see(path, line, record, state)
    if header is None:
        raise SourceUnreadable(f"{path} is empty, and no export of Palazzo.")
    _refuse_parted(path, state)
    is_own = bool(key) and state.end is not None and proof.proves(state.end.mac)
    return VerifiedExport(header, state.counts, stamp, is_own)


def records(path: Path, export: VerifiedExport, progress: Progress | None = None) -> Iterator[Record]:
    """Yield the records of a file that was checked, without its header; SourceUnreadable where it changed since."""
    if _stamp(path) != export.stamp:
        raise SourceUnreadable(f"{path} was changed while it was read; nothing of it was taken. Import it again.")
    for _, record in _records(path, progress, export.stamp[1]):
        if isinstance(record, Drawer | End):
            return  # drawers stand last, and are cut anew
        if not isinstance(record, Header):
            yield record


def _records(
    path: Path, progress: Progress | None, size: int, proof: Proof | None = None
) -> Iterator[tuple[int, Record | Drawer | End]]:
    for line in carried_files.lines(path):
        try:
            parse = derived_records.from_line if derived_records.is_derived(line.text) else record_lines.from_line
            record = parse(line.text)
        except record_lines.NewerFormat as error:
            raise SourceUnreadable(f"{path} {error}.") from error
        except BadRecord as error:
            if line.number == 1:
                raise SourceUnreadable(f"{path} is no export of Palazzo: its first line {error}.") from error
            raise _bad(path, line.number, str(error)) from error
        if proof is not None and not isinstance(record, End):
            proof.add(line.text)
        yield line.number, record
        if progress is not None:
            progress(line.read, size)


def _see(path: Path, line: int, record: Record | Drawer, state: _ExportState) -> None:
    kind = derived_records.KIND if isinstance(record, Drawer) else record_lines.kind_of(record)
    if _ORDER[kind] < _ORDER[state.kind]:
        raise _bad(path, line, f"is a {kind} behind a {state.kind}: lines were put into another order")
    state.kind = kind
    state.counts[kind] += 1
    if isinstance(record, Drawer):
        return
    if isinstance(record, Item) and not _is_within(record):
        raise _bad(path, line, "tells of a part that lies outside its text")
    if isinstance(record, Link) and not _follows(record, state.chains):
        raise _bad(path, line, f"does not follow in the chain of device {record.device}: something was changed")
    if kind in _ID_KINDS:
        state.ids[kind].add(bytes.fromhex(record.item if isinstance(record, Task) else _id(record)))
    for to, uid in _references(record):
        if bytes.fromhex(uid) not in state.ids[to]:
            raise _bad(path, line, f"is of a {to} ({uid}) that no line before it is about")


def _refuse_parted(path: Path, state: _ExportState) -> None:
    """Refuse a file without its end, or without all that it says stands before that."""
    if state.end is None:
        raise SourceUnreadable(f"{path} ends in the middle: a part of it is missing. Copy or export it anew.")
    lines = state.counts.total() + 1
    if state.end.lines != lines:
        raise SourceUnreadable(
            f"{path} says that {state.end.lines:,} lines stand before its end, and has {lines:,}. Nothing of it was "
            "taken; export it anew where it is from."
        )


def _follows(link: Link, chains: dict[str, tuple[int, bytes]]) -> bool:
    """Whether a link follows from the one before it. A filtered export has gaps, over which nothing can be said."""
    seq, previous = chains.get(link.device, (0, bytes(32)))
    chains[link.device] = (link.seq, link.hash)
    if link.seq != seq + 1:
        return link.seq > seq
    return device_chain.follows(
        previous, items.Link(link.seq, bytes.fromhex(link.item), link.digest, link.hash, link.absent)
    )


def _is_within(record: Item) -> bool:
    return all(0 <= part.start <= part.end <= len(record.text) for part in items.load_parts(record.parts))


def _id(record: Record) -> str:
    uid: str = getattr(record, "id")  # noqa: B009 - all kinds that are referred to have one but tasks
    return uid


def _references(record: Record) -> Iterator[Name]:
    """What has to stand before a record."""
    match record:
        case Item():
            yield from (("source", record.source), ("room", record.room))
        case Link():
            yield "device", record.device
        case Act():
            yield from drop_missing(("group", record.group))
    yield from parts_of(record)


def _stamp(path: Path) -> tuple[int, int, int]:
    """What tells whether a file is still the same."""
    try:
        file_stat = path.stat()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error.strerror}). Name a file that you may read.") from error
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


def _bad(path: Path, line: int, why: str) -> SourceUnreadable:
    return SourceUnreadable(f"{path}: line {line:,} {why}. Nothing of it was taken; export it anew where it is from.")
