"""Check of an export from outside: the whole file is read and checked before any of it is merged.

    lines ──record_lines──> records ──> kinds in order, and every reference points to an earlier record

`record_lines` checks each record by itself; this module checks what depends on all lines, and the checksums of the
lines at its end. It holds the ids that later lines may refer to, and no record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from palazzo.archive import device_chain
from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.store import items
from palazzo.sync import carried_files, derived_records, record_lines
from palazzo.sync.authenticity import Proof
from palazzo.sync.derived_records import Drawer, End
from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.line_checksums import LineChecksums, keyed_hash
from palazzo.sync.records.chain_records import Link
from palazzo.sync.records.header_record import HEADER, Header
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.kind_registry import RECORD_KINDS, REFERENCED_KINDS, descriptor_of
from palazzo.sync.records.record_kind import Record

Progress = Callable[[int, int], None]
"""Called with (bytes of the file read, bytes of the file)."""
_ORDER = {kind: n for n, kind in enumerate([*RECORD_KINDS, *derived_records.KINDS])}
PURPOSE = b"export"
"""The purpose of the proof at the end of an export."""
_BEGINNING = b'{"kind":"header"'


@frozen
class VerifiedExport:
    """An export that passed the check: its header, and the number of records of each kind."""

    header: Header
    counts: Counter[str]
    stamp: tuple[int, int, int]
    is_own: bool = False
    """Whether the palace with the given key wrote it."""


@dataclass(slots=True)
class _ExportState:
    counts: Counter[str] = field(default_factory=Counter)
    ids: dict[str, set[bytes]] = field(default_factory=lambda: {kind: set() for kind in REFERENCED_KINDS})
    """The ids of each kind to which later records may refer."""
    kind: str = HEADER.name
    chains: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """The number and hash of the last link, by device."""
    end: End | None = None


def is_export(path: Path) -> bool:
    """Return whether a file begins like an export of ours; False if it cannot be read."""
    try:
        first = next(carried_files.lines(path), None)
    except SourceUnreadable:
        return False
    return first is not None and first.text.startswith(_BEGINNING)


def check(path: Path, progress: Progress | None = None, key: bytes = b"") -> VerifiedExport:
    """Read an export to its end; the palace's `key` tells whether that palace wrote it.

    Raises SourceUnreadable, which names the line, if the file is damaged, was written by a later Palazzo, or is not an
    export.
    """
    stamp = _stamp(path)
    state = _ExportState()
    header: Header | None = None
    proof, checksums = Proof(key, PURPOSE), LineChecksums()

    def add(text: bytes) -> None:
        proof.add(text)
        checksums.add(text)

    for line, record in _records(path, progress, stamp[1], add):
        if isinstance(record, Header):
            if header is not None:
                raise _bad(path, line, "is a second header: import one export at a time")
            header = record
        elif header is None:
            raise SourceUnreadable(f"{path} is not an export of Palazzo: it does not begin with a header.")
        elif state.end is not None:
            raise _bad(path, line, "comes after the end")
        elif isinstance(record, End):
            state.end = record
        else:
            _see(path, line, record, state)
    if header is None:
        raise SourceUnreadable(f"{path} is empty; it is not an export of Palazzo.")
    end = _whole_end(path, state)
    if place := checksums.find_damage(end.mac):
        raise SourceUnreadable(
            f"{path} is damaged: since it was exported, it was changed in {place}. Nothing was imported; copy it "
            "again, or export it again at its source."
        )
    is_own = bool(key) and proof.proves(keyed_hash(end.mac))
    return VerifiedExport(header, state.counts, stamp, is_own)


def records(path: Path, export: VerifiedExport, progress: Progress | None = None) -> Iterator[Record]:
    """Yield the records of a checked file, without its header; SourceUnreadable if it has changed since."""
    if _stamp(path) != export.stamp:
        raise SourceUnreadable(f"{path} changed while it was read, and nothing was imported. Import it again.")
    for _, record in _records(path, progress, export.stamp[1]):
        if isinstance(record, Drawer | End):
            return  # drawers stand last, and are cut anew
        if not isinstance(record, Header):
            yield record


def _records(
    path: Path, progress: Progress | None, size: int, add: Callable[[bytes], None] | None = None
) -> Iterator[tuple[int, Record | Drawer | End]]:
    for line in carried_files.lines(path):
        try:
            parse = derived_records.from_line if derived_records.is_derived(line.text) else record_lines.from_line
            record = parse(line.text)
        except record_lines.NewerFormat as error:
            raise SourceUnreadable(f"{path} {error}.") from error
        except BadRecord as error:
            if line.number == 1:
                raise SourceUnreadable(f"{path} is not an export of Palazzo: its first line {error}.") from error
            raise _bad(path, line.number, str(error)) from error
        if add is not None and not isinstance(record, End):
            add(line.text)
        yield line.number, record
        if progress is not None:
            progress(line.read, size)


def _see(path: Path, line: int, record: Record | Drawer, state: _ExportState) -> None:
    kind = derived_records.KIND if isinstance(record, Drawer) else record_lines.kind_of(record)
    if _ORDER[kind] < _ORDER[state.kind]:
        raise _bad(path, line, f"is a {kind} after a {state.kind}: lines were reordered")
    state.kind = kind
    state.counts[kind] += 1
    if isinstance(record, Drawer):
        return
    if isinstance(record, Item) and not _is_within(record):
        raise _bad(path, line, "describes a part outside its text")
    if isinstance(record, Link) and not _follows(record, state.chains):
        raise _bad(path, line, f"does not continue the chain of device {record.device}: something was changed")
    descriptor = descriptor_of(record)
    if kind in state.ids:
        state.ids[kind].add(bytes.fromhex(descriptor.key(record)[1]))
    for to, uid in descriptor.predecessors(record):
        if bytes.fromhex(uid) not in state.ids[to]:
            raise _bad(path, line, f"refers to a {to} ({uid}) that no earlier line defines")


def _whole_end(path: Path, state: _ExportState) -> End:
    """Return the end record; refuse a file without it, or with another number of lines than it states."""
    if state.end is None:
        raise SourceUnreadable(f"{path} is truncated: a part of it is missing. Copy or export it again.")
    lines = state.counts.total() + 1
    if state.end.lines != lines:
        raise SourceUnreadable(
            f"{path} declares {state.end.lines:,} lines before its end, but has {lines:,}. Nothing was imported; "
            "export it again at its source."
        )
    return state.end


def _follows(link: Link, chains: dict[str, tuple[int, bytes]]) -> bool:
    """Return whether a link follows from the previous one. Across the gaps of a filtered export it is unknown."""
    seq, previous = chains.get(link.device, (0, bytes(32)))
    chains[link.device] = (link.seq, link.hash)
    if link.seq != seq + 1:
        return link.seq > seq
    return device_chain.follows(
        previous, items.Link(link.seq, bytes.fromhex(link.item), link.digest, link.hash, link.absent)
    )


def _is_within(record: Item) -> bool:
    return all(0 <= part.start <= part.end <= len(record.text) for part in items.load_parts(record.parts))


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return a stamp that tells whether a file is unchanged."""
    try:
        file_stat = path.stat()
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error.strerror}). Name a readable file.") from error
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


def _bad(path: Path, line: int, why: str) -> SourceUnreadable:
    return SourceUnreadable(f"{path}: line {line:,} {why}. Nothing was imported; export it again at its source.")
