"""audit: what could be tidied up in the palace, each with the command that does it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

EXAMPLES = 5
_BY_THEMSELVES = frozenset({"general", "sessions", "conversations", "notes", "diary", "todos", "reminders"})
"""Rooms that every wing has by itself: one drawer in them says nothing about the room."""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """How alike is alike."""

    threshold: Annotated[float, About("How alike two names of wings, or two notes, must be, from 0 to 1.")] = 0.75


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that was looked at: how many there are, some of them, and the command to go on with if any."""

    name: str
    ok: bool
    count: int
    detail: str
    examples: tuple[str, ...]
    mend: str


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All that was looked at, and whether all of it is tidy."""

    ok: bool
    findings: tuple[AuditFinding, ...]


def audit(context: Context, request: AuditRequest) -> AuditResult:
    """Look for what could be tidied up, and say what mends it. Changes nothing.

    Notes that say little or the same, documents that are gone, rooms with one drawer, wings that look alike, facts that
    cannot both hold.
    """
    from palazzo.operations.check_duplicate import check_threshold

    check_threshold(request.threshold)
    with context.reading().database.snapshot() as connection:
        findings = tuple(finding for look in _LOOKS for finding in look(context, connection, request.threshold))
    return AuditResult(all(finding.ok for finding in findings), findings)


def _little(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    from palazzo.operations.cleanup import CleanupRequest, candidates

    limits = CleanupRequest()
    found = [one.id for one in candidates(context, connection, limits.threshold, limits.min_length)]
    yield _finding("noise", "notes say little", found, "palazzo cleanup --dry-run")


def _same(context: Context, connection: Connection, threshold: float) -> Iterator[AuditFinding]:
    from palazzo.operations.dedup import clusters

    found = clusters(context, connection, threshold)
    copies = [copy.drawers[0].id for cluster in found for copy in cluster.copies]
    yield _finding(
        "copies", "notes say what another says", copies, f"palazzo dedup --dry-run --threshold {threshold:g}"
    )


def _gone(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Documents that are gone or left out, of each known project a finding: each is mended by itself."""
    from palazzo.operations.sync_sources import looked_after
    from palazzo.store import places

    roots = [Path(root) for root in places.all_roots(connection)]
    told: set[str] = set()
    for root in roots:
        found = looked_after(context, connection, [root], None)
        gone = [one.document.uri for one in found if one.state in ("missing", "ignored")]
        if not told.issuperset(gone):
            told.update(gone)
            mend = f"palazzo sync-sources {shlex.quote(str(root))}"
            yield _finding("sources", f"documents of {root} are gone or left out", gone, mend)
    if not told:
        yield _finding("sources", "", [], "")


def _lone(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Rooms with one drawer, in wings where other rooms have more."""
    from palazzo.store import overview

    found: list[str] = []
    mend = ""
    for wing, rooms in overview.drawers_by_place(connection).items():
        largest = max(rooms, key=lambda room: (rooms[room], room), default="")
        lone = [room for room, number in rooms.items() if number == 1 and room not in _BY_THEMSELVES]
        if largest and rooms[largest] > 1:
            found += [f"{wing}/{room}" for room in lone]
            mend = mend or (f"palazzo room merge {found[0]} {wing}/{largest}" if found else "")
    yield _finding("lone rooms", "rooms hold one drawer", found, mend)


def _alike(_context: Context, connection: Connection, threshold: float) -> Iterator[AuditFinding]:
    """Wings whose names look alike, unless each has a project of its own: those are two for a reason."""
    from palazzo.store import overview, places
    from palazzo.text.names import fold

    sizes = {wing: sum(rooms.values()) for wing, rooms in overview.drawers_by_place(connection).items()}
    of_projects = places.names_of_projects(connection)
    pairs = []
    for one, other in combinations(sorted(sizes), 2):
        if one in of_projects and other in of_projects:
            continue
        matcher = SequenceMatcher(None, fold(one), fold(other), autojunk=False)
        if matcher.quick_ratio() >= threshold and matcher.ratio() >= threshold:
            smaller, larger = sorted((one, other), key=lambda wing: (sizes[wing], wing in of_projects, wing))
            pairs.append((smaller, larger))
    mend = f"palazzo wing merge {pairs[0][0]} {pairs[0][1]}" if pairs else ""
    yield _finding("wings", "pairs of wings look alike", [f"{one} and {other}" for one, other in pairs], mend)


def _conflicting(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    from palazzo.graph import conflicting

    found = [conflict.uid for conflict, stands in conflicting.standing(connection) if stands]
    yield _finding("conflicts", "facts or statements contradict another", found, "palazzo kg conflicts")


_LOOKS: tuple[Callable[[Context, Connection, float], Iterator[AuditFinding]], ...] = (
    _little,
    _same,
    _gone,
    _lone,
    _alike,
    _conflicting,
)


def _finding(name: str, what: str, found: Sequence[str], mend: str) -> AuditFinding:
    detail = f"{len(found):,} {what}" if found else "nothing to do"
    return AuditFinding(name, not found, len(found), detail, tuple(found[:EXAMPLES]), mend if found else "")


OPERATION = Operation("audit", AuditRequest, AuditResult, audit)
