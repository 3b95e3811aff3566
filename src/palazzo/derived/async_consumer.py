"""Asynchronous consumers of the log: no write waits for them, and they process changes in short transactions.

A rebuild proceeds in the order of row ids. Its position is committed together with its results, so a run that was
stopped or killed continues from there, and processes that run at the same time share the work.

A thing that cannot be processed is set aside (`store/dead_letters`), and processing continues. It is processed again
when it has changed, in a complete rebuild, by another release of Palazzo, and by `retry`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from palazzo.derived.specimen_palace import specimen
from palazzo.errors import ConsumerStopped
from palazzo.index import failure_isolation
from palazzo.index.failure_isolation import OtherThingFailed, process_text
from palazzo.store import change_log, dead_letters
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection, Database

CHANGES_AT_ONCE = 2000
Progress = Callable[[int, int], None]
"""Called with (things done, all things known)."""
Output = TypeVar("Output")


class BackgroundConsumer(Protocol[Output]):
    """An asynchronous consumer: it derives data from things (drawers, sessions), each separately.

    `Output` is the result for some of them. `version` increases when the same source data gives another result; then
    everything is derived again.
    """

    @property
    def name(self) -> str:
        """Return the name of its cursor."""
        ...

    @property
    def version(self) -> int:
        """Return the version of its rules."""
        ...

    @property
    def kinds(self) -> tuple[ChangeKind, ...]:
        """Return the kinds of changes that it processes."""
        ...

    @property
    def at_once(self) -> int:
        """Return how many things are redone in one transaction: some 30 ms of work under the lock."""
        ...

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the things that these changes concern."""
        ...

    def everything(self, connection: Connection) -> list[int]:
        """Return all things that have, or should have, derived data, in ascending order."""
        ...

    def make(self, connection: Connection, things: Sequence[int]) -> Output | None:
        """Compute the derived data of these; None if the stored data is already up to date."""
        ...

    def keep(self, connection: Connection, things: Sequence[int], output: Output) -> None:
        """Replace the stored derived data of these with the new data."""
        ...

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove all derived data of these."""
        ...

    def label(self, connection: Connection, thing: int) -> str:
        """Return a thing's name for a person."""
        ...


def count_pending(connection: Connection, consumer: BackgroundConsumer[Output]) -> int:
    """Return how many changes it has not processed yet; at most a few thousand are counted."""
    version, seq = change_log.cursor(connection, consumer.name)
    if _read_rebuild_position(connection, consumer) is not None:
        return CHANGES_AT_ONCE
    return len(change_log.since(connection, seq if version == consumer.version else 0, consumer.kinds, CHANGES_AT_ONCE))


def is_followed(connection: Connection, consumer: BackgroundConsumer[Output]) -> bool:
    """Return whether it has ever processed anything."""
    return change_log.cursor(connection, consumer.name) != (0, 0)


def follow(
    database: Database,
    consumer: BackgroundConsumer[Output],
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Let a consumer process the changes since the last call; write nothing if there are none.

    Raises ConsumerStopped if the consumer fails on harmless words, too.
    """
    count = 0
    run = _Run(database, consumer)
    _retry_of_other_releases(run)
    while not (stop and stop()):
        with database.snapshot() as connection:
            cursor = change_log.cursor(connection, consumer.name)
            log = change_log.since(connection, cursor[1], consumer.kinds, CHANGES_AT_ONCE)
            rebuild_position = _read_rebuild_position(connection, consumer)
            if begins := cursor[0] != consumer.version or any(change.kind == "reset" for change in log):
                things = []
            elif rebuild_position is not None:
                things = [row for row in consumer.everything(connection) if row > rebuild_position]
            else:
                things = consumer.find_affected_things(connection, log)
        if begins:
            _begin_anew(database, consumer, cursor)
            continue
        if rebuild_position is None and not log:
            return
        for start in range(0, len(things), consumer.at_once):
            if stop and stop():
                if rebuild_position is None:
                    _advance_partly(database, consumer, cursor, log, things[:start])
                return
            run.redo(things[start : start + consumer.at_once], None if rebuild_position is None else cursor)
            count += min(consumer.at_once, len(things) - start)
            if progress:
                progress(count, max(count, len(things)))
        with database.transaction() as connection:
            if change_log.cursor(connection, consumer.name) != cursor:
                continue  # another process was faster
            if rebuild_position is not None:
                change_log.drop_cursor(connection, _rebuild_cursor_name(consumer))
            else:
                change_log.advance(connection, consumer.name, consumer.version, log[-1].seq)


def _advance_partly(
    database: Database,
    consumer: BackgroundConsumer[Output],
    cursor: tuple[int, int],
    log: Sequence[Change],
    redone: Sequence[int],
) -> None:
    """Advance to the last change before those whose things were not redone: a short run must not begin at the same
    change again and again.
    """
    if not redone:
        return
    with database.transaction() as connection:
        if change_log.cursor(connection, consumer.name) != cursor:
            return
        count = bisect_left(
            range(1, len(log) + 1),
            True,
            key=lambda length: not set(redone).issuperset(consumer.find_affected_things(connection, log[:length])),
        )
        if count:
            change_log.advance(connection, consumer.name, consumer.version, log[count - 1].seq)


def retry(database: Database, consumer: BackgroundConsumer[Output]) -> None:
    """Retry the things that a consumer has set aside."""
    with database.snapshot() as connection:
        things = sorted(dead_letters.things(connection, consumer.name))
    _retry(_Run(database, consumer), things)


def _retry_of_other_releases(run: _Run[Output]) -> None:
    with run.database.snapshot() as connection:
        things = dead_letters.of_other_releases(connection, run.consumer.name)
    _retry(run, things)


def _retry(run: _Run[Output], things: Sequence[int]) -> None:
    for start in range(0, len(things), run.consumer.at_once):
        run.redo(things[start : start + run.consumer.at_once], None)


def make_anew(database: Database, consumer: BackgroundConsumer[Output]) -> None:
    """Rebuild everything, if it was ever built."""
    with database.transaction() as connection:
        if not is_followed(connection, consumer):
            return
        change_log.advance(connection, consumer.name, 0, change_log.cursor(connection, consumer.name)[1])
    follow(database, consumer)


def start_over(connection: Connection, consumer: BackgroundConsumer[Output]) -> None:
    """Reset a consumer as if it had never processed anything."""
    change_log.drop_cursor(connection, consumer.name)
    change_log.drop_cursor(connection, _rebuild_cursor_name(consumer))
    dead_letters.clear_consumer(connection, consumer.name)


def _rebuild_cursor_name(consumer: BackgroundConsumer[Output]) -> str:
    """Return the name of the cursor over things, which exists during a rebuild."""
    return f"{consumer.name}/anew"


def _read_rebuild_position(connection: Connection, consumer: BackgroundConsumer[Output]) -> int | None:
    """Return the last thing that was rebuilt; None unless a rebuild is in progress."""
    version, rebuild_position = change_log.cursor(connection, _rebuild_cursor_name(consumer))
    return rebuild_position if version else None


def _begin_anew(database: Database, consumer: BackgroundConsumer[Output], cursor: tuple[int, int]) -> None:
    """Start a rebuild as of now; the consumer continues from this point of the log when it is done."""
    with database.transaction() as connection:
        if change_log.cursor(connection, consumer.name) == cursor:  # else another process has begun
            change_log.advance(connection, consumer.name, consumer.version, change_log.head(connection))
            change_log.advance(connection, _rebuild_cursor_name(consumer), consumer.version, 0)
            dead_letters.clear_consumer(connection, consumer.name)  # all of them are processed again


_BETWEEN_PROBES = 20
"""Failures between two tests of a consumer on harmless words: the program may have been replaced in the meantime."""


@dataclass(slots=True)
class _Run(Generic[Output]):
    """One run of a consumer. It derives things again, and sets aside those that fail."""

    database: Database
    consumer: BackgroundConsumer[Output]
    failed: int = 0
    other_things: set[tuple[str, int]] = field(default_factory=set)
    """Consumer and thing of each OtherThingFailed in this run."""

    def redo(self, things: Sequence[int], rebuild_start: tuple[int, int] | None) -> None:
        """Redo some things. During a rebuild, `rebuild_start` is the cursor at which it began.

        A batch that fails is halved until a single thing fails.
        """
        error = process_text(lambda: self._make(things, rebuild_start))
        if error is None:
            return
        if isinstance(error, OtherThingFailed):
            self._set_aside_other(error)
            self.redo(things, rebuild_start)
        elif len(things) == 1:
            self._set_aside(things[0], rebuild_start, error)
        else:
            middle = len(things) // 2
            self.redo(things[:middle], rebuild_start)
            self.redo(things[middle:], rebuild_start)

    def _make(self, things: Sequence[int], rebuild_start: tuple[int, int] | None) -> None:
        consumer = self.consumer
        with self.database.snapshot() as connection:
            if rebuild_start and (_read_rebuild_position(connection, consumer) or 0) >= things[-1]:
                return  # another process has done it
            result = consumer.make(connection, things)
            were_set_aside = not dead_letters.things(connection, consumer.name).isdisjoint(things)
        if result is None and not were_set_aside:
            return
        with self.database.transaction() as connection:
            if result is not None:
                consumer.keep(connection, things, result)
            dead_letters.clear(connection, consumer.name, things)
            self._advance(connection, things, rebuild_start)

    def _set_aside(self, thing: int, rebuild_start: tuple[int, int] | None, error: Exception) -> None:
        """Set a thing aside, and remove its derived data: some of its words may have been forgotten since."""
        self._probe(error)
        consumer = self.consumer
        with self.database.transaction() as connection:
            consumer.drop(connection, [thing])
            label = consumer.label(connection, thing)
            dead = failure_isolation.letter(consumer.name, thing, label, consumer.version, error)
            failure_isolation.set_aside(connection, dead, error)
            self._advance(connection, [thing], rebuild_start)

    def _set_aside_other(self, failure: OtherThingFailed) -> None:
        """Set aside the thing that failed. Consumers then leave it out; one that does not would never finish."""
        other_thing = failure.letter.consumer, failure.letter.thing
        if other_thing in self.other_things:
            raise failure
        self.other_things.add(other_thing)
        self._probe(failure.error)
        with self.database.transaction() as connection:
            failure_isolation.set_aside(connection, failure.letter, failure.error)

    def _probe(self, error: Exception) -> None:
        """Raise ConsumerStopped if the consumer fails on harmless words, too: then the text is not the cause."""
        self.failed += 1
        if self.failed % _BETWEEN_PROBES == 1 and process_text(self._process_specimen) is not None:
            raise ConsumerStopped(
                f"The consumer '{self.consumer.name}' fails on every text ({type(error).__name__}): this is a bug in "
                "Palazzo. Nothing is lost; upgrade Palazzo, or report the bug."
            ) from error

    def _process_specimen(self) -> None:
        with specimen() as database, database.transaction() as connection:
            things = self.consumer.everything(connection)
            result = self.consumer.make(connection, things)
            if result is not None:
                self.consumer.keep(connection, things, result)

    def _advance(self, connection: Connection, things: Sequence[int], rebuild_start: tuple[int, int] | None) -> None:
        """Record the progress of a rebuild in the same transaction."""
        last_thing = _read_rebuild_position(connection, self.consumer)
        if rebuild_start == change_log.cursor(connection, self.consumer.name) and last_thing is not None:
            change_log.advance(
                connection, _rebuild_cursor_name(self.consumer), self.consumer.version, max(last_thing, things[-1])
            )
