"""diff: what was learned on a branch, as text for a pull request."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound, UsageError
from palazzo.model import MAIN_LINES, Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.scope.git_files import Repository
    from palazzo.store.database import Connection
    from palazzo.store.digests import DigestLine
    from palazzo.store.learned import Filed
    from palazzo.store.written import Written

_MOST = 200
_NAMED = 8
"""Branches that are named where one is not known."""


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """Between which branches, where, and how much."""

    branches: Annotated[
        str, About("The branch it is to be merged into and the branch: main..feature.", positional=True, metavar="A..B")
    ]
    wing: Annotated[str | None, About("The wing to look in; the project's if left out.")] = None
    limit: Annotated[int, About("How many of each kind at most, the newest.")] = 20


@dataclass(frozen=True, slots=True)
class LearnedView:
    """Something learned: the words, who said so when, and by which id `palazzo show` shows it."""

    id: str
    at: Micros
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned, by kind, oldest first. `more` is how many were left out, of all kinds together."""

    decisions: tuple[LearnedView, ...] = ()
    learnings: tuple[LearnedView, ...] = ()
    fixes: tuple[LearnedView, ...] = ()
    facts: tuple[LearnedView, ...] = ()
    notes: tuple[LearnedView, ...] = ()
    todos: tuple[LearnedView, ...] = ()
    threads: tuple[LearnedView, ...] = ()
    sessions: tuple[LearnedView, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class DiffResult:
    """What was learned on `tip` that `base` does not have, and the same as Markdown.

    `commits` is how many commits it has beyond `base`; null where git did not say: then the branch's name alone told
    what is of it, as `note` says. `wing` is null where the palace holds nothing of the project.
    """

    wing: str | None
    base: str
    tip: str
    commits: int | None
    learned: Learned
    note: str
    text: str


def diff(context: Context, request: DiffRequest) -> DiffResult:
    """List what was learned on a branch that another does not have yet, as Markdown for a pull request.

    Decisions, learnings, fixes, facts, notes, what is left to do and open, and the sessions: in the words in which they
    were said, by the commits that the branch has beyond the other and by its name. What strangers said is left out.
    """
    from palazzo.operations.clock import day, zone
    from palazzo.operations.diff_text import markdown
    from palazzo.operations.search import check_place
    from palazzo.scope.branch_range import plain_name
    from palazzo.scope.git_files import repository_of

    base, tip = _ends(request.branches)
    if not 1 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {_MOST}.")
    palace = context.reading()
    with palace.database.snapshot() as connection:
        named, _ = check_place(connection, request.wing, None, context.notice)
    wing = named or context.home
    palace.follow_digests(lambda done, size: context.report("digesting sessions", done, size))
    repository = repository_of(context.cwd) if wing is not None and wing == context.home else None
    base_name, tip_name = plain_name(repository, base), plain_name(repository, tip)
    with palace.database.snapshot() as connection:
        news = _News(note="The palace holds nothing of a project here.")
        if wing is not None:
            news = _news(connection, repository, wing, (base, tip), tip_name)
        learned = _learned(connection, news, base_name, request.limit, context.now)
    there = zone(context)
    text = markdown(base_name, tip_name, learned, news.note, lambda at: day(at, there))
    commits = None if news.commits is None else len(news.commits)
    return DiffResult(wing, base_name, tip_name, commits, learned, news.note, text)


def _ends(branches: str) -> tuple[str, str]:
    """The two branches; what is left out is what is checked out."""
    base, dots, tip = branches.strip().partition("..")
    if not dots or tip.startswith(".") or not (base or tip):
        raise UsageError(f"'{branches}' names no two branches: write them as main..feature.")
    return base or "HEAD", tip or "HEAD"


# --- what is of the branch ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _News:
    """What was filed and stated on the way from one to the other: drawers, and versions of facts by row id.

    `commits` are those of the way, None where git did not say; `note` is what is to be said of how it was found.
    """

    filed: Sequence[Filed] = ()
    stated: Sequence[int] = ()
    commits: frozenset[str] | None = None
    note: str = ""


def _news(connection: Connection, repository: Repository | None, wing: str, ends: tuple[str, str], name: str) -> _News:
    """Return what is of the branch. A fact that holds everywhere is of it if its commit is one of this project."""
    from palazzo.operations.branches import shown_name
    from palazzo.scope.branch_range import branch_range
    from palazzo.store import learned

    base, tip = ends
    at = learned.commits_of(connection, wing, name)
    own = {one.commit for one in learned.stated_there(connection, wing, name, ())}
    found = None if repository is None else branch_range(repository, base, tip, at | own)
    if found is not None and found.has_base and found.has_tip:
        filed = learned.filed_there(connection, wing, name, found.commits)
        is_main = name in MAIN_LINES
        filed = [one for one in filed if found.is_news(one.commit, one.branch == name, is_main)]
        stated = [
            one.version
            for one in learned.stated_there(connection, wing, name, found.commits)
            if found.is_news(one.commit, one.branch == name and (one.in_wing or one.commit in found.present), is_main)
        ]
        return _News(filed, stated, found.commits)
    filed = learned.filed_there(connection, wing, name, ())
    stated = [
        one.version for one in learned.stated_there(connection, wing, name, ()) if one.in_wing or one.commit in at
    ]
    if found is not None and not found.has_base:
        raise NotFound(
            f"git knows no branch '{base}' here; write what it is to be merged into first, as in main..feature."
        )
    if not filed and not stated and (found is None or not found.has_tip):
        known = ", ".join(map(shown_name, learned.branches_of(connection, wing)[:_NAMED]))
        return _News(note=f"Nothing is known of a branch '{tip}' in {wing}{f'; there are: {known}' if known else ''}.")
    why = "Git has no such branch any more" if found is not None else "Git did not say what it has"
    return _News(filed, stated, note=f"{why}, so this is all that was written on '{name}', by its name.")


# --- what was learned --------------------------------------------------------------------------------------


def _learned(connection: Connection, news: _News, base: str, limit: int, now: Micros) -> Learned:
    from palazzo.archive.titles import shown_title_of_session
    from palazzo.store import digests, learned, tasks

    items = [one.item for one in news.filed]
    decisions, learnings, notes = _notes(connection, news.filed, now)
    decisions += [_line(line) for line in digests.of_items(connection, items, "decided") if not line.is_untrusted]
    todos = [task for task in tasks.of_items(connection, dict.fromkeys(items)) if task.state == "open"]
    every = {
        "decisions": decisions,
        "learnings": learnings,
        "fixes": [_line(line) for line in digests.of_items(connection, items, "fixed") if not line.is_untrusted],
        "facts": list(
            _facts(connection, {*learned.versions_stated(connection, items), *news.stated}, base, news.commits)
        ),
        "notes": notes,
        "todos": [LearnedView(task.uid, task.created_at, task.author, task.text) for task in todos],
        "threads": [_line(line) for line in digests.of_items(connection, items, "open") if not line.is_untrusted],
        "sessions": [
            LearnedView(
                session.session, session.last, "", shown_title_of_session(connection, session.session, session.title)
            )
            for session in learned.sessions_among(connection, items)
        ],
    }
    kept = {name: tuple(sorted(some, key=lambda one: one.at)[-limit:]) for name, some in every.items()}
    more = sum(map(len, every.values())) - sum(map(len, kept.values()))
    return Learned(**kept, more=more)


def _notes(
    connection: Connection, filed: Iterable[Filed], now: Micros
) -> tuple[list[LearnedView], list[LearnedView], list[LearnedView]]:
    """Decisions, what was learned, and other notes; not those that something has superseded."""
    from palazzo.operations.context_summary import LEARNINGS
    from palazzo.operations.hits import superseded
    from palazzo.store.worth import read_notes, worth_of

    items = {one.item for one in filed if one.kind == "note"}
    worth = worth_of(connection, items)
    over = superseded(connection, [uid for one in worth.values() for uid in one.drawers], now)
    found: tuple[list[LearnedView], list[LearnedView], list[LearnedView]] = [], [], []
    for row, note in read_notes(connection, worth).items():
        if not over.keys() & set(worth[row].drawers):
            kind = 0 if note.label == "decision" else 1 if note.label in LEARNINGS else 2
            found[kind].append(LearnedView(note.id, note.at, note.author, note.text))
    return found


def _facts(
    connection: Connection, rows: Collection[int], base: str, commits: Collection[str] | None
) -> Iterator[LearnedView]:
    """Facts of the branch, but for those that somebody states on the other as well, or on none."""
    from palazzo.graph.beliefs import Beliefs
    from palazzo.store import facts, written

    def is_known(place: Written) -> bool:
        return place.branch in ("", base) and place.commit not in (commits or ())

    places = written.of_versions(connection, rows)
    versions = [facts.read_version(connection, row) for row in sorted(rows)]
    standing = [one for one in versions if one.superseded_by is None]
    for fact in Beliefs(connection).tell(standing):
        if fact.trust != "external" and not any(map(is_known, places.get(fact.id, ()))):
            speakers = ", ".join(dict.fromkeys(one.stated_by for one in fact.provenance))
            yield LearnedView(fact.id, fact.recorded_at, speakers, f"{fact.subject} {fact.predicate} {fact.object}")


def _line(line: DigestLine) -> LearnedView:
    return LearnedView(line.cited.item, line.said_at, "agent" if line.role == "assistant" else line.role, line.words)


KINDS = tuple(field.name for field in fields(Learned) if field.name != "more")
"""The kinds of what is learned, in the order in which they are told."""

OPERATION = Operation("diff", DiffRequest, DiffResult, diff)
