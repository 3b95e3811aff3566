"""audit: list what could be cleaned up in the palace, each with the command that does it."""

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
"""Rooms that every wing has by default. A single drawer in one of them is no finding."""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The similarity threshold."""

    threshold: Annotated[float, About("Minimum similarity of two names of wings, or of two notes, from 0 to 1.")] = 0.75


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One finding of the audit: the count, some examples, and the command to run next, if any.

    `mends` lists one command for each example that is fixed separately; `mend` is the first of them.
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
    """All findings, and whether everything is tidy."""

    ok: bool
    findings: tuple[AuditFinding, ...]


def audit(context: Context, request: AuditRequest) -> AuditResult:
    """Find what could be tidied up, and suggest a fix for each finding. Changes nothing.

    It looks for notes that say little or the same, deleted documents, rooms with one drawer, wings with similar names,
    contradictory facts, and notes and facts of the current project whose cited files have changed.
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
        ("note repeats another note", "notes repeat another note"),
        copies,
        f"palazzo dedup --threshold {threshold:g}",
    )


def _check_sources(context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Yield a finding for each known project with documents that are gone or excluded: each has its own fix."""
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
                (f"document of {root} is gone or excluded", f"documents of {root} are gone or excluded"),
                uris,
                mend,
            )
    if not reported_uris:
        yield _make_finding("sources", ("", ""), [])


def _lone(_context: Context, connection: Connection, _threshold: float) -> Iterator[AuditFinding]:
    """Find rooms with one drawer, in wings where other rooms have more."""
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
    """Find wings with similar names, except numbered names and wings that each have their own project."""
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
        ("pair of wings has similar names", "pairs of wings have similar names"),
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
    """Find notes and facts of the current project whose cited files have changed or are gone."""
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
        ("note or fact cites a file that has changed", "notes and facts cite files that have changed"),
        [*commands],
        *commands.values(),
    )


def _ending(connection: Connection, uid: str) -> str:
    """Return the command that ends a fact. For a fact that still holds, it then states it again with the current
    files.
    """
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
    """Return a finding, with its singular and plural text, and one command for all cases or one for each."""
    if not examples:
        return AuditFinding(name, True, 0, "nothing to do", (), "")
    detail = f"{len(examples):,} {phrases[len(examples) > 1]}"
    return AuditFinding(name, False, len(examples), detail, tuple(examples[:EXAMPLES]), mends[0], mends[:EXAMPLES])


def _command(*words: str) -> str:
    """Return a command as a person types it in a shell."""
    return shlex.join(["palazzo", *words])


OPERATION = Operation(
    "audit",
    AuditRequest,
    AuditResult,
    audit,
    scope="read",
    view="tidy_view:audit",
    examples=("palazzo audit",),
)
