"""diff: show what was learned on a branch, as text for a pull request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from palazzo.archive.session_titles import shown_title_of_session
from palazzo.errors import NotFound, UsageError
from palazzo.features.branches.contract import BranchReport, DiffRequest, DiffResult, LearnedView
from palazzo.features.branches.diff_text import markdown
from palazzo.features.notes.context_summary import LEARNINGS
from palazzo.features.search.hits import find_supersessions
from palazzo.frozen_class import frozen
from palazzo.git.branch_range import branch_range, plain_name
from palazzo.git.git_files import repository_of
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import MAIN_LINES, Micros
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_clock import day, zone
from palazzo.security.display_names import quoted_name
from palazzo.store import branch_learnings, digest_rows, fact_rows, task_rows, write_contexts
from palazzo.store.injection_worth import read_notes, worth_of

if TYPE_CHECKING:
    from palazzo.git.git_files import Repository
    from palazzo.operations.context import Context
    from palazzo.store.branch_learnings import BranchDrawer
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine
    from palazzo.store.write_contexts import CommitPlace

_MOST = 200
_MOST_BRANCHES = 8
"""The most branches that an error lists when a branch is unknown."""


def diff(context: Context, request: DiffRequest) -> DiffResult:
    """List what was learned on a branch that another branch does not have yet, as Markdown for a pull request."""
    base, tip = _ends(request.branches)
    if not 1 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {_MOST}.")
    palace = context.reading()
    with palace.database.snapshot() as connection:
        wing_name, _ = check_place(connection, request.wing, None, context.notice)
    wing = wing_name or context.home
    palace.follow_digests(lambda done, size: context.report("digesting sessions", done, size))
    repository = repository_of(context.cwd) if wing is not None and wing == context.home else None
    base_name, tip_name = plain_name(repository, base), plain_name(repository, tip)
    with palace.database.snapshot() as connection:
        news = _News(note="The palace has no content of a project here.")
        if wing is not None:
            news = _news(connection, repository, wing, (base, tip), tip_name)
        report = _build_report(connection, news, base_name, request.limit, context.now)
    timezone = zone(context)
    text = markdown(base_name, tip_name, report, news.note, lambda at: day(at, timezone))
    commits = None if news.commits is None else len(news.commits)
    return DiffResult(wing, base_name, tip_name, commits, report, news.note, text)


def _ends(branches: str) -> tuple[str, str]:
    """Return the two branches; an omitted one means what is checked out."""
    base, dots, tip = branches.strip().partition("..")
    if not dots or tip.startswith(".") or not (base or tip):
        raise UsageError(f"'{branches}' does not name two branches: write them as main..feature.")
    return base or "HEAD", tip or "HEAD"


# --- what is of the branch ---------------------------------------------------------------------------------


@frozen
class _News:
    """What was saved and stated between the two branches: drawers, and versions of facts by row id.

    `commits` are the commits between them, None if git did not answer; `note` explains how the result was found.
    """

    drawers: Sequence[BranchDrawer] = ()
    version_rows: Sequence[int] = ()
    commits: frozenset[str] | None = None
    note: str = ""


def _news(connection: Connection, repository: Repository | None, wing: str, ends: tuple[str, str], name: str) -> _News:
    """Return what belongs to the branch. A fact that holds everywhere does if its commit is one of this project."""
    base, tip = ends
    at = branch_learnings.commits_of(connection, wing, name)
    own = {record.commit for record in branch_learnings.read_branch_facts(connection, wing, name, ())}
    commit_range = None if repository is None else branch_range(repository, base, tip, at | own)
    if commit_range is not None and commit_range.has_base and commit_range.has_tip:
        drawers = branch_learnings.read_branch_drawers(connection, wing, name, commit_range.commits)
        is_main = name in MAIN_LINES
        drawers = [record for record in drawers if commit_range.is_news(record.commit, record.branch == name, is_main)]
        version_rows = [
            record.version
            for record in branch_learnings.read_branch_facts(connection, wing, name, commit_range.commits)
            if commit_range.is_news(
                record.commit,
                record.branch == name and (record.in_wing or record.commit in commit_range.present),
                is_main,
            )
        ]
        return _News(drawers, version_rows, commit_range.commits)
    drawers = branch_learnings.read_branch_drawers(connection, wing, name, ())
    version_rows = [
        record.version
        for record in branch_learnings.read_branch_facts(connection, wing, name, ())
        if record.in_wing or record.commit in at
    ]
    if commit_range is not None and not commit_range.has_base:
        raise NotFound(f"git knows no branch '{base}' here; write the branch to merge into first, as in main..feature.")
    if not drawers and not version_rows and (commit_range is None or not commit_range.has_tip):
        branch_names = ", ".join(map(quoted_name, branch_learnings.branches_of(connection, wing)[:_MOST_BRANCHES]))
        return _News(
            note=f"Nothing is known about a branch '{tip}' in "
            f"{wing}{f'; there are: {branch_names}' if branch_names else ''}."
        )
    why = "Git no longer has this branch" if commit_range is not None else "Git did not list its commits"
    return _News(
        drawers, version_rows, note=f"{why}, so this lists what was written on '{name}', found by its name only."
    )


# --- what was learned --------------------------------------------------------------------------------------


def _build_report(connection: Connection, news: _News, base: str, limit: int, now: Micros) -> BranchReport:
    items = [entry.item for entry in news.drawers]
    decisions, learnings, notes = _notes(connection, news.drawers, now)
    decisions += [_line(line) for line in digest_rows.of_items(connection, items, "decided") if not line.is_untrusted]
    todos = [task for task in task_rows.of_items(connection, dict.fromkeys(items)) if task.state == "open"]
    every = {
        "decisions": decisions,
        "learnings": learnings,
        "fixes": [_line(line) for line in digest_rows.of_items(connection, items, "fixed") if not line.is_untrusted],
        "facts": list(
            _facts(
                connection,
                {*branch_learnings.versions_stated(connection, items), *news.version_rows},
                base,
                news.commits,
            )
        ),
        "notes": notes,
        "todos": [LearnedView(task.uid, task.created_at, task.author, task.text) for task in todos],
        "threads": [_line(line) for line in digest_rows.of_items(connection, items, "open") if not line.is_untrusted],
        "sessions": [
            LearnedView(
                session.session, session.last, "", shown_title_of_session(connection, session.session, session.title)
            )
            for session in branch_learnings.sessions_among(connection, items)
        ],
    }
    newest_by_kind = {name: tuple(sorted(entries, key=lambda one: one.at)[-limit:]) for name, entries in every.items()}
    more = sum(map(len, every.values())) - sum(map(len, newest_by_kind.values()))
    return BranchReport(**newest_by_kind, more=more)


def _notes(
    connection: Connection, drawers: Iterable[BranchDrawer], now: Micros
) -> tuple[list[LearnedView], list[LearnedView], list[LearnedView]]:
    """Return decisions, learnings and other notes, without superseded ones."""
    items = {entry.item for entry in drawers if entry.kind == "note"}
    worth = worth_of(connection, items)
    over = find_supersessions(connection, [uid for entry in worth.values() for uid in entry.drawers], now)
    notes_by_kind: tuple[list[LearnedView], list[LearnedView], list[LearnedView]] = [], [], []
    for row, note in read_notes(connection, worth).items():
        if not over.keys() & set(worth[row].drawers):
            kind = 0 if note.label == "decision" else 1 if note.label in LEARNINGS else 2
            notes_by_kind[kind].append(LearnedView(note.id, note.at, note.author, note.text))
    return notes_by_kind


def _facts(
    connection: Connection, rows: Collection[int], base: str, commits: Collection[str] | None
) -> Iterator[LearnedView]:
    """Yield the facts of the branch, except those also stated on the other branch or without a branch."""

    def is_known(place: CommitPlace) -> bool:
        return place.branch in ("", base) and place.commit not in (commits or ())

    places = write_contexts.of_versions(connection, rows)
    versions = [fact_rows.read_version(connection, row) for row in sorted(rows)]
    current_versions = [record for record in versions if record.superseded_by is None]
    for fact in Beliefs(connection).tell(current_versions):
        if fact.trust != "external" and not any(map(is_known, places.get(fact.id, ()))):
            speakers = ", ".join(dict.fromkeys(record.stated_by for record in fact.provenance))
            yield LearnedView(fact.id, fact.recorded_at, speakers, f"{fact.subject} {fact.predicate} {fact.object}")


def _line(line: DigestLine) -> LearnedView:
    return LearnedView(line.quote.item, line.said_at, "agent" if line.role == "assistant" else line.role, line.words)


KINDS = tuple(field.name for field in fields(BranchReport) if field.name != "more")
"""The kinds of learnings, in display order."""
