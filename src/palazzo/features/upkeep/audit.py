"""audit: what could be tidied up in the palace, each with the command that does it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

EXAMPLES = 5
_STALE = ("changed", "gone")
_FIGURES = re.compile(r"\d+")
_BY_THEMSELVES = frozenset({"general", "sessions", "conversations", "notes", "diary", "todos", "reminders"})
"""Rooms that every wing has by itself: one drawer in them says nothing about the room."""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """How alike is alike."""

    threshold: Annotated[float, About("How alike two names of wings, or two notes, must be, from 0 to 1.")] = 0.75


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One thing that was looked at: how many there are, some of them, and the command to go on with if any.

    `mends` are the commands for the examples, where each is mended by itself; `mend` is the first of them.
    """

    name: str
    ok: bool
    count: int
    detail: str
    examples: tuple[str, ...]
    mend: str
    mends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All that was looked at, and whether all of it is tidy."""

    ok: bool
    findings: tuple[AuditFinding, ...]


def audit(context: Context, request: AuditRequest) -> AuditResult:
    """Look for what could be tidied up, and say what mends it. Changes nothing.

    Notes that say little or the same, documents that are gone, rooms with one drawer, wings that look alike, facts that
    cannot both hold; notes and facts whose files of the project at hand are not as they were.
    """
    from palazzo.features.search.check_duplicate import check_threshold

    check_threshold(request.threshold)
    with context.reading().database.snapshot() as connection:
        findings = tuple(
            audit_finding for look in _LOOKS for audit_finding in look(context, connection, request.threshold)
        )
    return AuditResult(all(audit_finding.ok for audit_finding in findings), findings)


def _little(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    from palazzo.features.upkeep.cleanup import CleanupRequest, candidates

    limits = CleanupRequest()
    note_ids = [candidate.id for candidate in candidates(context, connection, limits.threshold, limits.min_length)]
    yield _make_finding("noise", ("note says little", "notes say little"), note_ids, "palazzo cleanup")


def _same(context: Context, connection: Connection, threshold: float) -> Iterator[AuditFinding]:
    from palazzo.features.upkeep.dedup import clusters

    note_clusters = clusters(context, connection, threshold)
    copies = [copy.drawers[0].id for cluster in note_clusters for copy in cluster.copies]
    yield _make_finding(
        "copies",
        ("note says what another says", "notes say what another says"),
        copies,
        f"palazzo dedup --threshold {threshold:g}",
    )


def _check_sources(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Documents that are gone or left out, of each known project a finding: each is mended by itself."""
    from palazzo.features.mining.sync_sources import check_documents
    from palazzo.store import place_rows

    roots = [Path(root) for root in place_rows.all_roots(connection)]
    reported_uris: set[str] = set()
    for root in roots:
        statuses = check_documents(context, connection, [root], None)
        uris = [status.document.uri for status in statuses if status.state in ("missing", "ignored")]
        if not reported_uris.issuperset(uris):
            reported_uris.update(uris)
            mend = _command("sync-sources", str(root), "--apply")
            yield _make_finding(
                "sources",
                (f"document of {root} is gone or left out", f"documents of {root} are gone or left out"),
                uris,
                mend,
            )
    if not reported_uris:
        yield _make_finding("sources", ("", ""), [])


def _lone(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Rooms with one drawer, in wings where other rooms have more."""
    from palazzo.store import palace_overview

    merge_commands: dict[str, str] = {}
    for wing, rooms in palace_overview.drawers_by_place(connection).items():
        largest = max(rooms, key=lambda room: (rooms[room], room), default="")
        lone = [room for room, number in rooms.items() if number == 1 and room not in _BY_THEMSELVES]
        if largest and rooms[largest] > 1:
            merge_commands |= {
                f"{wing}/{room}": _command("room", "merge", f"{wing}/{room}", f"{wing}/{largest}") for room in lone
            }
    yield _make_finding(
        "lone rooms", ("room holds one drawer", "rooms hold one drawer"), [*merge_commands], *merge_commands.values()
    )


def _alike(_context: Context, connection: Connection, threshold: float) -> Iterator[AuditFinding]:
    """Wings whose names look alike, unless each has a project of its own, or they are numbered: two for a reason."""
    from palazzo.store import palace_overview, place_rows
    from palazzo.text.names import fold

    sizes = {wing: sum(rooms.values()) for wing, rooms in palace_overview.drawers_by_place(connection).items()}
    of_projects = place_rows.names_of_projects(connection)
    pairs = []
    for wing_a, wing_b in combinations(sorted(sizes), 2):
        if (wing_a in of_projects and wing_b in of_projects) or _FIGURES.findall(wing_a) != _FIGURES.findall(wing_b):
            continue
        matcher = SequenceMatcher(None, fold(wing_a), fold(wing_b), autojunk=False)
        if matcher.quick_ratio() >= threshold and matcher.ratio() >= threshold:
            smaller, larger = sorted((wing_a, wing_b), key=lambda wing: (sizes[wing], wing in of_projects, wing))
            pairs.append((smaller, larger))
    mends = [_command("wing", "merge", smaller, larger) for smaller, larger in pairs]
    yield _make_finding(
        "wings",
        ("pair of wings looks alike", "pairs of wings look alike"),
        [f"{wing_a} and {wing_b}" for wing_a, wing_b in pairs],
        *mends,
    )


def _check_conflicts(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    from palazzo.knowledge import conflict_detection

    conflict_ids = [conflict.uid for conflict, stands in conflict_detection.list_conflicts(connection) if stands]
    yield _make_finding(
        "conflicts",
        ("fact or statement contradicts another", "facts or statements contradict another"),
        conflict_ids,
        "palazzo kg conflicts",
    )


def _stale(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Notes and facts of the project at hand that were given files which have changed since, or are gone."""
    from palazzo.git import freshness
    from palazzo.operations.cited_files import LONGEST_LOOK
    from palazzo.store import anchors, redaction_state

    wing = context.home
    notes = anchors.given_in(connection, wing) if wing is not None else {}
    facts = anchors.of_facts(connection, anchors.facts_in(connection, wing, context.now)) if wing is not None else {}
    commands: dict[str, str] = {}
    if notes or facts:
        files = freshness.Checkout(context.project_root, redaction_state.fingerprint_key(connection), LONGEST_LOOK)
        for uid, citations in (*notes.items(), *facts.items()):
            stale = [
                citation
                for citation, status in zip(citations, files.check(citations), strict=True)
                if status.freshness in _STALE
            ]
            if stale:
                mend = _command("update-drawer", uid, "--still-holds") if uid in notes else _ending(connection, uid)
                commands[f"{uid} cites {', '.join(map(anchors.name_of, stale))}"] = mend
    yield _make_finding(
        "anchors",
        ("note or fact cites a file that is not as it was", "notes and facts cite files that are not as they were"),
        [*commands],
        *commands.values(),
    )


def _ending(connection: Connection, uid: str) -> str:
    """The command that ends a fact; one that still holds is stated once more behind it, with the files as they are."""
    from palazzo.features.facts.fact_results import views
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.store import fact_rows

    (row,) = (row for row, _ in fact_rows.facts_between(connection, bytes.fromhex(uid), bytes.fromhex(uid), 1))
    (fact,) = views(Beliefs(connection), fact_rows.versions_of(connection, row)[-1:], Micros(0))
    return _command(
        "kg", "end", fact.subject, fact.predicate, fact.object, *(["--wing", fact.scope] if fact.scope else [])
    )


_LOOKS: tuple[Callable[[Context, Connection, float], Iterator[AuditFinding]], ...] = (
    _little,
    _same,
    _check_sources,
    _lone,
    _alike,
    _check_conflicts,
    _stale,
)


def _make_finding(name: str, phrases: tuple[str, str], examples: Sequence[str], *mends: str) -> AuditFinding:
    """What was found, by what is said of one and of several, with one command for all of it, or one for each."""
    if not examples:
        return AuditFinding(name, True, 0, "nothing to do", (), "")
    detail = f"{len(examples):,} {phrases[len(examples) > 1]}"
    return AuditFinding(name, False, len(examples), detail, tuple(examples[:EXAMPLES]), mends[0], mends[:EXAMPLES])


def _command(*words: str) -> str:
    """A command as a person types it in a shell."""
    return shlex.join(["palazzo", *words])


OPERATION = Operation("audit", AuditRequest, AuditResult, audit)
