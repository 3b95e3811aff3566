"""Consumers of the log that lag: nothing waits for them, and they take in what happened in short transactions.

What is made anew is made in the order of its row ids. How far that went is committed with what was made, so a run that
was stopped or killed goes on from there, and processes that run side by side share the work.

A thing that cannot be processed is set aside (`store/dead_letters`), and the rest goes on. It is processed again when
it has changed, when everything is made anew, by another release of Palazzo, and by `retry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from palazzo.errors import ConsumerStopped
from palazzo.index import failure_isolation
from palazzo.index.failure_isolation import OtherThingFailed, process_text
from palazzo.index.specimen_palace import specimen
from palazzo.store import change_log, dead_letters
from palazzo.store.change_log import Change, ChangeKind
from palazzo.store.database import Connection, Database

CHANGES_AT_ONCE = 2000
Progress = Callable[[int, int], None]
"""Told (things done, all known of)."""
Output = TypeVar("Output")


class BackgroundConsumer(Protocol[Output]):
    """What is derived of things (drawers, sessions), each for itself. `Made` is what was made of some of them.

    `version` goes up when the same truth gives another result; then everything is made anew.
    """

    @property
    def name(self) -> str:
        """The name of its cursor."""
        ...

    @property
    def version(self) -> int:
        """Which rules it goes by."""
        ...

    @property
    def kinds(self) -> tuple[ChangeKind, ...]:
        """The changes that it follows."""
        ...

    @property
    def at_once(self) -> int:
        """How many things are redone in one transaction: some 30 ms of work under the lock."""
        ...

    def find_affected_things(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the things that these changes are about."""
        ...

    def everything(self, connection: Connection) -> list[int]:
        """Return all things that have, or should have, something derived, ascending."""
        ...

    def make(self, connection: Connection, things: Sequence[int]) -> Output | None:
        """Make what is to be derived of these; None where that is what is there."""
        ...

    def keep(self, connection: Connection, things: Sequence[int], output: Output) -> None:
        """Let what was made of these stand for what was derived of them before."""
        ...

    def drop(self, connection: Connection, things: Sequence[int]) -> None:
        """Remove everything that was derived of these."""
        ...

    def label(self, connection: Connection, thing: int) -> str:
        """Return a thing's name for a person."""
        ...


def count_pending(connection: Connection, consumer: BackgroundConsumer[Output]) -> int:
    """Return how many changes it has not taken in yet; at most a few thousand are counted."""
    version, seq = change_log.cursor(connection, consumer.name)
    if _read_rebuild_position(connection, consumer) is not None:
        return CHANGES_AT_ONCE
    return len(change_log.since(connection, seq if version == consumer.version else 0, consumer.kinds, CHANGES_AT_ONCE))


def is_followed(connection: Connection, consumer: BackgroundConsumer[Output]) -> bool:
    """Whether it has ever taken in anything."""
    return change_log.cursor(connection, consumer.name) != (0, 0)


def follow(
    database: Database,
    consumer: BackgroundConsumer[Output],
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Let a consumer take in what has happened since the last call; nothing is written where nothing has.

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


def retry(database: Database, consumer: BackgroundConsumer[Output]) -> None:
    """Process again the things that a consumer has set aside."""
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
    """Make everything anew, if it was ever made."""
    with database.transaction() as connection:
        if not is_followed(connection, consumer):
            return
        change_log.advance(connection, consumer.name, 0, change_log.cursor(connection, consumer.name)[1])
    follow(database, consumer)


def start_over(connection: Connection, consumer: BackgroundConsumer[Output]) -> None:
    """Let a consumer be as if it had never taken in anything."""
    change_log.drop_cursor(connection, consumer.name)
    change_log.drop_cursor(connection, _rebuild_cursor_name(consumer))
    dead_letters.clear_consumer(connection, consumer.name)


def _rebuild_cursor_name(consumer: BackgroundConsumer[Output]) -> str:
    """The name of the cursor over things, which is there while everything is made anew."""
    return f"{consumer.name}/anew"


def _read_rebuild_position(connection: Connection, consumer: BackgroundConsumer[Output]) -> int | None:
    """The last thing that was made anew; None while that is not going on."""
    version, rebuild_position = change_log.cursor(connection, _rebuild_cursor_name(consumer))
    return rebuild_position if version else None


def _begin_anew(database: Database, consumer: BackgroundConsumer[Output], cursor: tuple[int, int]) -> None:
    """Everything is made anew as of now; the log is followed from here when that is done."""
    with database.transaction() as connection:
        if change_log.cursor(connection, consumer.name) == cursor:  # else another process has begun
            change_log.advance(connection, consumer.name, consumer.version, change_log.head(connection))
            change_log.advance(connection, _rebuild_cursor_name(consumer), consumer.version, 0)
            dead_letters.clear_consumer(connection, consumer.name)  # all of them are processed again


_BETWEEN_PROBES = 20
"""Failures between two tests of a consumer on harmless words: the program may have been replaced meanwhile."""


@dataclass(slots=True)
class _Run(Generic[Output]):
    """One run of a consumer. It makes things anew, and sets aside those that fail."""

    database: Database
    consumer: BackgroundConsumer[Output]
    failed: int = 0
    other_things: set[tuple[str, int]] = field(default_factory=set)
    """Consumer and thing of each OtherThingFailed of this run."""

    def redo(self, things: Sequence[int], rebuild_start: tuple[int, int] | None) -> None:
        """Make some things anew. While everything is made anew, `rebuild_start` is the cursor from when that began.

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
        """Set a thing aside, and remove what was derived of it: some of its words may have been forgotten since."""
        self._probe(error)
        consumer = self.consumer
        with self.database.transaction() as connection:
            consumer.drop(connection, [thing])
            label = consumer.label(connection, thing)
            dead = failure_isolation.letter(consumer.name, thing, label, consumer.version, error)
            failure_isolation.set_aside(connection, dead, error)
            self._advance(connection, [thing], rebuild_start)

    def _set_aside_other(self, failure: OtherThingFailed) -> None:
        """Set aside the thing that failed. Consumers then leave it out; one that does not would go on for ever."""
        other_thing = failure.letter.consumer, failure.letter.thing
        if other_thing in self.other_things:
            raise failure
        self.other_things.add(other_thing)
        self._probe(failure.error)
        with self.database.transaction() as connection:
            failure_isolation.set_aside(connection, failure.letter, failure.error)

    def _probe(self, error: Exception) -> None:
        """Raise ConsumerStopped if the consumer fails on harmless words, too: then no text is the cause."""
        self.failed += 1
        if self.failed % _BETWEEN_PROBES == 1 and process_text(self._process_specimen) is not None:
            raise ConsumerStopped(
                f"The consumer '{self.consumer.name}' fails on every text ({type(error).__name__}): this is a fault of "
                "Palazzo. Nothing is lost; upgrade Palazzo, or report it."
            ) from error

    def _process_specimen(self) -> None:
        with specimen() as database, database.transaction() as connection:
            things = self.consumer.everything(connection)
            result = self.consumer.make(connection, things)
            if result is not None:
                self.consumer.keep(connection, things, result)

    def _advance(self, connection: Connection, things: Sequence[int], rebuild_start: tuple[int, int] | None) -> None:
        """Note in the same transaction how far making everything anew has come."""
        last_thing = _read_rebuild_position(connection, self.consumer)
        if rebuild_start == change_log.cursor(connection, self.consumer.name) and last_thing is not None:
            change_log.advance(
                connection, _rebuild_cursor_name(self.consumer), self.consumer.version, max(last_thing, things[-1])
            )
