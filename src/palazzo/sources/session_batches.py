"""Batches of a conversation's rows: items with their ids, redacted, packed, ready for one transaction.

Needs no palace: a batch follows from the rows and from the redaction of the palace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from palazzo.archive import ingest
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sources.formats import Identity, Message, ResumePoint, Row, Unreadable
from palazzo.sources.message_commits import Commits
from palazzo.sources.new_items import Clockwork, filing_of

BATCH_ROWS, BATCH_BYTES = 512, 1024 * 1024
"""Rows and raw bytes that are archived in one transaction: the write lock is held for about 100 ms. A smaller batch
divides more turns, whose drawers are then made twice."""


@frozen
class Origin:
    """The reader of a conversation and its version, whose conversation it is, its directory, and the file's time."""

    kind: str
    version: int
    identity: Identity
    directory: str
    modified_at: Micros


@frozen
class SessionBatch:
    """Some rows of a conversation, prepared; `end` is the position after the last, `size` their raw bytes.

    `title` is the last one that a row gives the conversation, or "". `unreadable` has the position and the reason of
    each row that is not understood, by its index. `mark` is for a read that begins at `end` (`ResumePoint`).
    """

    ingest_batch: IngestBatch
    end: int
    size: int
    title: str
    unreadable: Mapping[int, tuple[int, str]]
    mark: bytes = b""


def make_batches(
    origin: Origin, rows: Iterable[Row], guard: Guard, point: ResumePoint | None = None
) -> Iterator[SessionBatch]:
    """Yield the rows in prepared batches. Rows are read only when their batch is requested; `point` goes with them."""
    clockwork, commits, point = Clockwork(origin.modified_at), Commits(), point or ResumePoint()
    for batch in _split(rows):
        end = batch[-1].position + len(batch[-1].raw)
        new_items = [_make_item(origin, row, clockwork, commits) for row in batch]
        yield SessionBatch(
            ingest.prepare(new_items, guard),
            end,
            sum(len(row.raw) for row in batch),
            next((row.title for row in reversed(batch) if row.title), ""),
            {
                n: (row.position, row.content.reason)
                for n, row in enumerate(batch)
                if isinstance(row.content, Unreadable)
            },
            point.mark_at(end),
        )


def _make_item(origin: Origin, row: Row, clockwork: Clockwork, commits: Commits) -> NewItem:
    new_item = filing_of(origin.kind, origin.version, origin.identity, row, clockwork)
    if not isinstance(row.content, Message):
        return new_item
    return commits.add_commit(new_item, row.content, origin.directory)


def _split(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row.raw)
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
