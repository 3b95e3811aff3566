"""Mining: discover, read, hand to the archive.

Every source stands for itself: one that fails is reported and the others go on. What was reported as
committed is on disk; an interrupted run is completed by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from palazzo.errors import SourceUnreadable
from palazzo.feeders.documents import KIND as DOCUMENT
from palazzo.feeders.documents import Documents
from palazzo.feeders.registry import TRANSCRIPTS
from palazzo.mining.discover import Candidate, Found, Rules, discover
from palazzo.mining.documents import take_document
from palazzo.mining.placing import Placing
from palazzo.mining.report import Failed, MineProgress, MineReport, MineRequest, OnProgress, Skipped
from palazzo.mining.sessions import Taken
from palazzo.mining.transcripts import take_transcript
from palazzo.model import Micros
from palazzo.scope.identity import project_root
from palazzo.scope.project_file import read_project_config
from palazzo.store import sources
from palazzo.store.database import Database
from palazzo.store.sources import FileState


def mine(
    database: Database | None,
    clock: Callable[[], Micros],
    request: MineRequest,
    on_progress: OnProgress | None = None,
) -> MineReport:
    """Read what `request` names into the palace and say what was done.

    A dry run writes nothing and needs no palace (`database` may be None). Raises NotFound for a path that
    does not exist and PalaceUnusable when the palace cannot be written.
    """
    began = time.monotonic()
    tally = _Tally()
    candidates = tally.sort(discover(request.paths, _rules(request)))
    states = _states(database)
    placing = Placing(database, request.wing, request.room)
    for done, candidate in enumerate(candidates):
        if on_progress:
            on_progress(MineProgress(done, len(candidates), candidate.uri, tally.items))
        state = states.get(candidate.uri)
        if _unchanged(candidate, state):
            tally.unchanged += 1
        elif request.dry_run or database is None:
            tally.would_take(state)
        else:
            _take(
                database,
                candidate,
                placing,
                clock,
                tally,
                _Relay(on_progress, done, len(candidates), candidate.uri, tally),
            )
    if on_progress and candidates:
        on_progress(MineProgress(len(candidates), len(candidates), "", tally.items))
    return tally.report(len(candidates), time.monotonic() - began)


@dataclass(frozen=True, slots=True)
class _Relay:
    """Turns what one source has committed into progress of the whole run."""

    on_progress: OnProgress | None
    done: int
    total: int
    uri: str
    tally: _Tally

    def __call__(self, items: int) -> None:
        if self.on_progress:
            self.on_progress(MineProgress(self.done, self.total, self.uri, self.tally.items + items))


@dataclass(slots=True)
class _Tally:
    new: int = 0
    grown: int = 0
    unchanged: int = 0
    items: int = 0
    noise: int = 0
    drawers: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    wings: dict[str, None] = field(default_factory=dict)

    def sort(self, found: Iterable[Found]) -> list[Candidate]:
        """Return the candidates, and note the skips worth telling."""
        candidates: list[Candidate] = []
        for one in found:
            if isinstance(one, Candidate):
                candidates.append(one)
            elif not one.expected:
                self.skipped.append(Skipped(one.uri, one.reason))
        return candidates

    def add(self, taken: Taken) -> None:
        """Count what a source brought."""
        self.new += taken.standing == "new"
        self.grown += taken.standing in ("grown", "rewritten")
        self.unchanged += taken.standing == "unchanged"
        self.items += taken.items
        self.noise += taken.noise
        self.drawers += taken.drawers
        self.skipped.extend(taken.skipped)
        self.wings[taken.wing] = None

    def would_take(self, state: FileState | None) -> None:
        """Count a source that a dry run does not read."""
        self.new += state is None
        self.grown += state is not None

    def report(self, total: int, seconds: float) -> MineReport:
        """Return the report of the run."""
        return MineReport(
            sources=total,
            new=self.new,
            grown=self.grown,
            unchanged=self.unchanged,
            skipped=tuple(self.skipped),
            items=self.items,
            noise=self.noise,
            drawers=self.drawers,
            failed=tuple(self.failed),
            took_s=round(seconds, 3),
            wings=tuple(self.wings),
        )


def _rules(request: MineRequest) -> Rules:
    config = read_project_config(project_root(request.paths[0].absolute())) if request.paths else None
    return Rules(
        mode=request.mode,
        policy=config.policy if config and config.policy else request.policy,
        include=(*request.include, *(config.include if config else ())),
        exclude=(*request.exclude, *(config.exclude if config else ())),
        gitignore=request.gitignore,
    )


def _states(database: Database | None) -> dict[str, FileState]:
    if database is None:
        return {}
    with database.snapshot() as connection:
        return sources.read_file_states(connection)


def _unchanged(candidate: Candidate, state: FileState | None) -> bool:
    if state is None or (candidate.size, candidate.modified_ns) != (state.size, state.mtime):
        return False
    return (state.feeder, state.version) == (candidate.kind, _version(candidate.kind))


def _version(kind: str) -> int:
    return next((feeder.version for feeder in TRANSCRIPTS if feeder.kind == kind), Documents.version)


def _take(
    database: Database,
    candidate: Candidate,
    placing: Placing,
    clock: Callable[[], Micros],
    tally: _Tally,
    committed: Callable[[int], None],
) -> None:
    try:
        if candidate.kind == DOCUMENT:
            taken = take_document(database, candidate.path, candidate.root, placing, clock)
        else:
            feeder = next(feeder for feeder in TRANSCRIPTS if feeder.kind == candidate.kind)
            taken = take_transcript(database, feeder, candidate.path, placing, clock, committed)
    except (OSError, SourceUnreadable) as error:
        tally.failed.append(Failed(candidate.uri, str(error)))
        return
    tally.add(taken)
