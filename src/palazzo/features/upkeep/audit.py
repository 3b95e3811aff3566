"""audit: list what could be cleaned up in the palace, each with the command that does it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.features.facts.fact_results import views
from palazzo.features.mining.sync_sources import check_documents
from palazzo.features.search.check_duplicate import check_threshold
from palazzo.features.upkeep.cleanup import candidates
from palazzo.features.upkeep.contract import AuditFinding, AuditRequest, AuditResult, CleanupRequest
from palazzo.features.upkeep.dedup import clusters
from palazzo.knowledge import conflict_detection
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Micros
from palazzo.operations.cited_files import check_project
from palazzo.store import anchors, fact_rows, feedback_rows, palace_overview, place_rows
from palazzo.text.names import fold

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

EXAMPLES = 5
_STALE = ("changed", "gone")
_FIGURES = re.compile(r"\d+")
_BY_THEMSELVES = frozenset({"general", "sessions", "conversations", "notes", "diary", "todos", "reminders"})
"""Rooms that every wing has by default. A single drawer in one of them is no finding."""


def audit(context: Context, request: AuditRequest) -> AuditResult:
    """Find what could be tidied up, and suggest a fix for each finding. Changes nothing."""
    check_threshold(request.threshold)
    with context.reading().database.snapshot() as connection:
        findings = tuple(
            audit_finding for look in _LOOKS for audit_finding in look(context, connection, request.threshold)
        )
    return AuditResult(all(audit_finding.ok for audit_finding in findings), findings)


def _little(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    limits = CleanupRequest()
    note_ids = [candidate.id for candidate in candidates(context, connection, limits.threshold, limits.min_length)]
    yield _make_finding("noise", ("note says little", "notes say little"), note_ids, "palazzo cleanup")


def _same(context: Context, connection: Connection, threshold: float) -> Iterator[AuditFinding]:
    note_clusters = clusters(context, connection, threshold)
    copies = [copy.drawers[0].id for cluster in note_clusters for copy in cluster.copies]
    yield _make_finding(
        "copies",
        ("note repeats another note", "notes repeat another note"),
        copies,
        f"palazzo dedup --threshold {threshold:g}",
    )


def _check_sources(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Yield a finding for each known project with documents that are gone or excluded: each has its own fix."""
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
                (f"document of {root} is gone or excluded", f"documents of {root} are gone or excluded"),
                uris,
                mend,
            )
    if not reported_uris:
        yield _make_finding("sources", ("", ""), [])


def _lone(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Find rooms with one drawer, in wings where other rooms have more."""
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
    """Find wings with similar names, except numbered names and wings that each have their own project."""
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
        ("pair of wings has similar names", "pairs of wings have similar names"),
        [f"{wing_a} and {wing_b}" for wing_a, wing_b in pairs],
        *mends,
    )


def _check_conflicts(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    conflict_ids = [conflict.uid for conflict, stands in conflict_detection.list_conflicts(connection) if stands]
    yield _make_finding(
        "conflicts",
        ("fact or statement contradicts another", "facts or statements contradict another"),
        conflict_ids,
        "palazzo kg conflicts",
    )


def _stale(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Find notes and facts of the current project whose cited files have changed or are gone."""
    commands: dict[str, str] = {}
    for uid, is_fact, citations in check_project(context, connection):
        stale = [anchors.name_of(citation) for citation, status in citations if status.freshness in _STALE]
        if stale:
            mend = _ending(connection, uid) if is_fact else _command("update-drawer", uid, "--still-holds")
            commands[f"{uid} cites {', '.join(stale)}"] = mend
    yield _make_finding(
        "anchors",
        ("note or fact cites a file that has changed", "notes and facts cite files that have changed"),
        [*commands],
        *commands.values(),
    )


def _judged(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Find drawers that were judged misleading or outdated, and that nobody has changed since."""
    commands: dict[str, str] = {}
    for uid, judgement in feedback_rows.judged_drawers(connection).items():
        if judgement.balance < 0:
            verb = "update-drawer" if judgement.label == "outdated" else "forget"
            commands[f"{uid} was judged {judgement.label}"] = _command(verb, uid)
    yield _make_finding(
        "feedback",
        ("drawer was judged misleading or outdated", "drawers were judged misleading or outdated"),
        [*commands],
        *commands.values(),
    )


def _ending(connection: Connection, uid: str) -> str:
    """Return the command that ends a fact. For a fact that still holds, it then states it again with the current
    files.
    """
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
    _judged,
)


def _make_finding(name: str, phrases: tuple[str, str], examples: Sequence[str], *mends: str) -> AuditFinding:
    """Return a finding, with its singular and plural text, and one command for all cases or one for each."""
    if not examples:
        return AuditFinding(name, True, 0, "nothing to do", (), "")
    detail = f"{len(examples):,} {phrases[len(examples) > 1]}"
    return AuditFinding(name, False, len(examples), detail, tuple(examples[:EXAMPLES]), mends[0], mends[:EXAMPLES])


def _command(*words: str) -> str:
    """Return a command as a person types it in a shell."""
    return shlex.join(["palazzo", *words])
