"""Palace: opens a store and offers the engine's functions. Faces and operations hold only this object.

    with Palace.open(path) as palace:
        palace.remember("…", Place("api", "auth"))
        palace.search(Query("why did the retries double"))

Threads may share a `Palace`. Other processes may have the same palace open; the next call sees what they commit.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.index.consumer import CUTTER_KINDS, CUTTER_NAME, follow
from palazzo.index.embedder import Embedder, TokenEmbedder
from palazzo.model import Micros, Place
from palazzo.store import change_groups, change_log, drawer_history, file_scrub, schema
from palazzo.store.database import Connection, Database
from palazzo.store.palace_opening import CACHE_MB, Mode
from palazzo.sync import hybrid_clock as hybrid

if TYPE_CHECKING:
    from palazzo.archive.erasure import SurveyResult
    from palazzo.archive.erasure_request import ErasureRequest
    from palazzo.derived import async_consumer, rebuild
    from palazzo.index import passage_embedding, retired_drawers
    from palazzo.index.lexicon import Lexicon
    from palazzo.index.past_search import PastIndexes
    from palazzo.index.query import Query
    from palazzo.index.reranker import Reranker
    from palazzo.index.search_pipeline import Answer
    from palazzo.index.token_matching import StatesCache, TokenMatcher
    from palazzo.index.vector_index import VectorIndex
    from palazzo.knowledge import undo_actions
    from palazzo.model import Certificate, Drawer, ItemId, Trust
    from palazzo.store.act_rows import ActKind
    from palazzo.store.change_groups import Group

Clock = Callable[[], Micros]
EmbedderFactory = Callable[[], Embedder]


def system_clock() -> Micros:
    """Return now."""
    return Micros(time.time_ns() // 1000)


def without_embedder() -> Embedder:
    """Refuse to compute vectors: for callers that search by keyword alone."""
    raise EmbedderUnavailable("No embedder is configured, so search works by keyword only.")


def _cut(connection: Connection) -> None:
    """Let the cutter process what a transaction changed. Most hooks change no text and need not load the cutter."""
    _, seq = change_log.cursor(connection, CUTTER_NAME)
    if not change_log.since(connection, seq, CUTTER_KINDS, 1):
        return
    from palazzo.derived.cutter import Cutter

    follow(connection, Cutter())


@frozen
class StoredNote:
    """A saved note: its id, and the drawers it was cut into."""

    item: ItemId
    drawers: tuple[str, ...]


class Palace:
    """One open palace; see the module. Use `Palace.open`, and close it (or use `with`)."""

    def __init__(
        self, database: Database, embedder: EmbedderFactory, clock: Clock, reranker: Reranker | None = None
    ) -> None:
        self.database, self.machine_clock, self._reranker = database, clock, reranker
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._index: VectorIndex | None = None
        self._lexicon: Lexicon | None = None
        self._past: PastIndexes | None = None
        self._states: StatesCache | None = None
        self._lock = threading.Lock()
        self.is_warm = False
        """Whether a search has loaded the model and the vectors, or has found that there are none."""

    @classmethod
    def open(
        cls,
        path: Path,
        mode: Mode = "write",
        embedder: EmbedderFactory = without_embedder,
        clock: Clock = system_clock,
        redact: bool = True,
        cache_mb: int = CACHE_MB,
        reranker: Reranker | None = None,
        creates: bool = True,
    ) -> Palace:
        """Open the palace at `path`; if it `creates`, opening for writing makes a new one.

        `embedder` is called when the first vector is needed. Without `redact` secrets stay in what is filed. Each
        thread keeps up to `cache_mb` of pages. A `reranker` orders the best hits of explicit searches. Raises
        PalaceMissing, PalaceGone, NotAPalace, SchemaTooNew or PalaceUnusable.
        """
        database = Database(path, mode, cache_mb=cache_mb, creates=creates)
        database.redacts = redact
        try:
            if mode == "write":
                schema.migrate(database)
                database.before_commit(_cut)
            else:
                schema.migrate_older(database)
                schema.check(database)
        except BaseException:
            database.close()
            raise
        return cls(database, embedder, clock, reranker)

    def __enter__(self) -> Palace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the model."""
        if self._embedder is not None:
            self._embedder.close()
        self.database.close()

    def clock(self) -> Micros:
        """Return now: the machine's time, but never earlier than what was received from other devices."""
        return hybrid.read_time(self.database, self.machine_clock())

    def search(self, query: Query) -> Answer:
        """Find the drawers that answer `query`; by keyword alone if vectors are unavailable, with a note.

        The first search of a palace loads the model and the vectors, unless the query does not wait for them.
        """
        from palazzo.index import past_search, search_pipeline  # NumPy: what does not search does without it
        from palazzo.index.lexicon import Lexicon

        index, embedder, note = None, None, ""
        try:
            embedder, index = self._ready(query.waits_for_model)
        except EmbedderUnavailable as error:
            note = str(error)
        matcher = self._token_matcher(query, embedder)
        if query.as_of is not None:
            self.follow_past()
            return past_search.search_past(
                self.database, query, query.as_of, index, embedder, self._past_indexes(), note, matcher, self._reranker
            )
        lexicon = self._lexicon = self._lexicon or Lexicon()
        try:  # the index and the lexicon outlive a call that may be taken back
            with self.database.read_committed() as connection:
                answer = search_pipeline.search(
                    connection, query, index, embedder, note, lexicon=lexicon, matcher=matcher, reranker=self._reranker
                )
        finally:
            self.is_warm = self.is_warm or query.waits_for_model
        if index is not None:
            index.save()
        return answer

    def warm_up(self) -> None:
        """Load the model and all vectors, as far as no search has."""
        if not self.is_warm:
            from palazzo.index.query import Query

            self.search(Query("what was decided"))
        if self._index is not None:
            self._index.read_codes()

    @contextlib.contextmanager
    def as_of(self, at: Micros) -> Iterator[Connection]:
        """Read the palace as it was at `at` (defined in `store/drawer_history`)."""
        self.follow_past()
        with drawer_history.as_of(self.database, at) as connection:
            yield connection

    def follow_past(self, progress: retired_drawers.Progress | None = None) -> None:
        """Process the earlier states of drawers. A palace that cannot be written is read as far as it was processed.

        The first time after much was forgotten takes a while; `progress` is called with (drawers done, all).
        """
        from palazzo.derived import backlog

        backlog.process_past(self.database, progress)

    def follow_claims(
        self, progress: async_consumer.Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Process new claims and contradictions since the last call; the first time takes a while.

        `progress` is called with (drawers read, all). A palace that cannot be written is read as far as it was
        processed.
        """
        self.follow_consumer("claim", progress, stop)

    def follow_digests(
        self, progress: async_consumer.Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Process the outcomes of sessions since the last call; calls `progress` with (sessions read, all)."""
        self.follow_consumer("digest", progress, stop)

    def follow_failures(self, stop: Callable[[], bool] | None = None) -> None:
        """Process failures in sessions, and their fixes, since the last call."""
        self.follow_consumer("mending", stop=stop)

    def follow_anchors(self, stop: Callable[[], bool] | None = None) -> None:
        """Process which files drawers cite, since the last call."""
        self.follow_consumer("anchor", stop=stop)

    def follow_consumer(
        self, name: str, progress: async_consumer.Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        """Let one asynchronous consumer process what happened since the last call."""
        from palazzo.derived import backlog, consumers

        for consumer in consumers.lagging_consumers(self.clock()):
            if consumer.name == name:
                backlog.run_consumer(self.database, consumer, progress, stop)

    def retry_set_aside(self) -> None:
        """Retry what consumers could not process (`store/dead_letters`)."""
        from palazzo.derived import dead_letter_retry

        dead_letter_retry.retry_all(self.database, self.clock())

    def retry_of_other_releases(self) -> None:
        """Retry what another release of Palazzo could not process."""
        from palazzo.derived import dead_letter_retry

        dead_letter_retry.retry_of_other_releases(self.database)

    def know_people(self, names: Iterable[str]) -> None:
        """Register people by their full names, so that mentions of them are found."""
        from palazzo.derived import mention_consumer

        mention_consumer.know(self.database, names)

    def follow_mentions(self, entities: bool = True, stop: Callable[[], bool] | None = None) -> None:
        """Process what drawers mention; if `entities` are not wanted, keep none."""
        if entities:
            self.follow_consumer("mention", stop=stop)
        elif self.database.mode == "write":
            from palazzo.derived import mention_consumer

            mention_consumer.forget_all(self.database)

    def drawer(self, prefix: str) -> Drawer:
        """Return the drawer whose ID begins with `prefix`; raises NotFound or AmbiguousId otherwise."""
        from palazzo.archive import archive_reader

        with self.database.snapshot() as connection:
            return archive_reader.read_drawer(connection, archive_reader.resolve_drawer(connection, prefix))

    def embedder(self) -> Embedder:
        """Return the palace's embedder, loading it at the first call; raises EmbedderUnavailable if there is none."""
        with self._lock:
            if self._embedder is None:
                self._embedder = self._make_embedder()
            return self._embedder

    # --- writing -------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        place: Place,
        *,
        author: str = "",
        trust: Trust = "user",
        label: str = "",
        tags: Sequence[str] = (),
        anchors: Sequence[str] = (),
        branch: str = "",
        commit: str = "",
    ) -> StoredNote:
        """File a note and return its id; when this returns, the note is on disk.

        `anchors` are files it is about, from the project's root: `PATH` or `PATH:L1-L2`.
        """
        from palazzo.archive import acts, archive_reader, drawer_acts, notes
        from palazzo.archive.ingest_guard import Guard
        from palazzo.store.anchors import parse_anchor

        notes.check_note(text)
        guard = Guard.of(self.database)
        with self.database.transaction() as connection:
            now = self.clock()
            actor = guard.words(author or trust)
            group = drawer_acts.begin_group(connection, actor, "remember", now)
            item, row = notes.file_note(
                connection,
                text,
                place,
                now,
                guard,
                author=author,
                trust=trust,
                label=label,
                branch=branch,
                commit=commit,
                anchors=[parse_anchor(anchor) for anchor in anchors],
            )
            change_groups.add(connection, group, "note", [row])
            change_groups.count(connection, group, 1)
            for tag in tags:
                acts.act_on_item(connection, "tag", row, actor, now, {"tag": guard.words(tag)}, group)
        with self.database.snapshot() as connection:
            return StoredNote(item, tuple(archive_reader.drawers_of_item(connection, row)))

    def begin_group(self, actor: str, verb: str) -> int:
        """Begin a change group for work in several transactions; pass it to each of the verbs below."""
        from palazzo.archive import drawer_acts
        from palazzo.archive.ingest_guard import Guard

        actor = Guard.of(self.database).words(actor)
        with self.database.transaction() as connection:
            return drawer_acts.begin_group(connection, actor, verb, self.clock())

    def forget(
        self, drawers: Sequence[str], actor: str = "user", reason: str = "", group: int | None = None
    ) -> list[str]:
        """Retire drawers (IDs or unique prefixes), all or none; return their full IDs."""
        return self._act("forget", drawers, actor, {"reason": reason}, group)

    def erase(self, request: ErasureRequest, survey_result: SurveyResult, actor: str = "user") -> Certificate:
        """Permanently erase what a survey found, in one transaction; `finish_erasing` then clears it from the file.

        This cannot be undone. What was added since the survey is checked too.
        """
        from palazzo.sync import local_erasures

        return local_erasures.erase(self.database, self.clock, request, survey_result, actor)

    def finish_erasing(self, patience: float = file_scrub.PATIENCE) -> list[Certificate]:
        """Rewrite the file if an erase has left traces in it; return the certificates of those erases.

        Raises PalaceUnusable if another program reads an older state for longer than `patience` seconds.
        """
        from palazzo.sync import local_erasures

        return local_erasures.finish(self.database, self.clock, patience)

    def move(self, drawers: Sequence[str], place: Place, actor: str = "user", group: int | None = None) -> list[str]:
        """Move drawers to another place; IDs and text stay as they are."""
        return self._act("move", drawers, actor, {"wing": place.wing, "room": place.room}, group)

    def tag(self, drawers: Sequence[str], tag: str, actor: str = "user", group: int | None = None) -> list[str]:
        """Add a tag to drawers."""
        return self._act("tag", drawers, actor, {"tag": tag}, group)

    def untag(self, drawers: Sequence[str], tag: str, actor: str = "user", group: int | None = None) -> list[str]:
        """Remove a tag that was stated from drawers; tags by rule stay."""
        return self._act("untag", drawers, actor, {"tag": tag}, group)

    def undo(
        self,
        actor: str = "user",
        prefix: str | None = None,
        progress: undo_actions.Progress | None = None,
        start_time: Micros | None = None,
    ) -> Group:
        """Undo the actor's last change group, or the one whose ID begins with `prefix`; return it.

        First finishes an interrupted undo; one that was begun at the moment `start_time` or later is taken as the
        requested one. Raises NotFound if there is nothing to undo, UsageError for a group that was undone or is itself
        an undo.
        """
        from palazzo.knowledge import undo_actions

        return undo_actions.undo(self.database, self.clock, actor, prefix, progress, start_time)

    def embed_pending(
        self, progress: passage_embedding.Progress | None = None, stop: Callable[[], bool] | None = None
    ) -> int:
        """Compute the vectors that are still pending; return how many."""
        from palazzo.index import passage_embedding

        return passage_embedding.embed_pending(self.database, self.embedder(), progress, stop)

    def rebuild(self, target: rebuild.RebuildTarget, progress: rebuild.Progress | None = None) -> None:
        """Rebuild derived data from the archive."""
        from palazzo.derived import rebuild

        rebuild.rebuild(self.database, target, progress)

    # --- parts ---------------------------------------------------------------------------------------------

    def _act(
        self, kind: ActKind, drawers: Sequence[str], actor: str, detail: dict[str, str], group: int | None
    ) -> list[str]:
        from palazzo.archive import drawer_acts

        return drawer_acts.act(self.database, self.clock, kind, drawers, actor, detail, group)

    def _token_matcher(self, query: Query, embedder: Embedder | None) -> TokenMatcher | None:
        """Return what compares passages with a query token by token, if the query wants it and the model can."""
        from palazzo.index.token_matching import StatesCache, TokenMatcher

        if not query.rerank or not isinstance(embedder, TokenEmbedder):
            return None
        with self._lock:
            self._states = self._states or StatesCache()
        return TokenMatcher(embedder, self._states)

    def _past_indexes(self) -> PastIndexes:
        from palazzo.index.past_search import PastIndexes

        if self._past is None:
            self._past = PastIndexes()
        return self._past

    def _ready(self, waits: bool = True) -> tuple[Embedder, VectorIndex]:
        """Return the embedder and an index of its vectors; raises EmbedderUnavailable if either is unavailable."""
        if not waits and not self.is_warm:
            raise EmbedderUnavailable("The model is still being loaded, so search works by keyword only for now.")
        from palazzo.index import passage_embedding
        from palazzo.index.vector_index import VectorIndex

        with self.database.snapshot() as connection:
            current = passage_embedding.current_embedder(connection)
        if current is None:
            raise EmbedderUnavailable(
                "No vectors have been computed in this palace yet, so search works by keyword only."
            )
        embedder = self.embedder()
        if current[1] != embedder.id:
            raise EmbedderUnavailable(
                f"The vectors of this palace were computed by {current[1]}, but the settings name {embedder.id}; "
                "search works by keyword only until you restore the setting or run 'palazzo repair --rebuild vectors'."
            )
        with self._lock:
            if self._index is None or self._index.embedder != current[0]:
                self._index = VectorIndex.with_file(self.database, current)
            return embedder, self._index
