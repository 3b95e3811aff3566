"""Git history as a source: a note for each commit, merge and tag of a project's repository.

Each is archived once, under an id that follows from the project and the commit, so every clone has the same one. The
text is `commit HASH` and the exact message. Branch and commit are those of the commit itself, so search shows and hides
it like anything said there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from palazzo.archive import identity, ingest
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.git.commit_log import GitRecord, read_records
from palazzo.git.project_identity import ProjectIdentity
from palazzo.model import ItemId, Micros, Part, Place, Source
from palazzo.sources.source_places import Placer
from palazzo.store import items
from palazzo.store.database import Database

KIND, SHELF, ROOM = "git", "commit", "commits"
_AT_ONCE = 100
"""Commits of one transaction: it holds the write lock for some 20 ms."""
_SHOWN_HASH = 10


@frozen
class GitReport:
    """How many commits, merges and tags were found, and how many of them are new. `is_read` says that git answered."""

    found: int = 0
    new: int = 0
    wing: str = ""
    is_read: bool = True


def mine_git(
    database: Database | None, root: Path, placer: Placer, room: str | None, now: Micros, dry_run: bool
) -> GitReport:
    """Archive what is new in the history of the repository at `root`, the oldest first."""
    project = placer.project(root)
    records = read_records(project.root)
    if records is None:
        return GitReport(is_read=False)
    new_records = sorted(_unknown(database, project, records), key=lambda record: (record.at, record.commit))
    wing = placer.of_document(project, "", "").wing
    report = GitReport(len(records), len(new_records), wing)
    if dry_run or database is None:
        return report
    remaining_records = iter(new_records)
    while batch := list(islice(remaining_records, _AT_ONCE)):
        _file(database, project, batch, placer, Place(wing, room or ROOM), now)
    return report


def _unknown(database: Database | None, project: ProjectIdentity, records: Iterable[GitRecord]) -> list[GitRecord]:
    by_id = {bytes.fromhex(_id_of(project, record)): record for record in records}
    if database is not None:
        with database.snapshot() as connection:
            for uid in items.known_items(connection, by_id):
                del by_id[uid]
    return [*by_id.values()]


def _file(
    database: Database, project: ProjectIdentity, batch: list[GitRecord], placer: Placer, place: Place, now: Micros
) -> None:
    """Archive some records, each in the source of its month."""
    guard = Guard.of(database)
    by_month: dict[str, list[GitRecord]] = {}
    for record in batch:
        by_month.setdefault(time.strftime("%Y-%m", time.gmtime(record.at)), []).append(record)
    prepared = [
        (
            Source((project.identity, month), KIND, f"palazzo:{ROOM}/{place.wing}/{month}", project=project.identity),
            ingest.prepare([_new_item(project, record) for record in group], guard),
        )
        for month, group in by_month.items()
    ]
    with database.transaction() as connection:
        placer.record(connection, project, now)
        current_place = placer.current(connection, project, place)
        for source, new_items in prepared:
            ingest.file(connection, source, current_place, new_items, now)


def _id_of(project: ProjectIdentity, record: GitRecord) -> ItemId:
    """Return the id of a commit, which is the same in every clone; a tag that was moved is another one."""
    name = f"tag {record.name} {record.object}" if record.kind == "tag" else record.commit
    return identity.message_id(KIND, project.identity, name)


def _new_item(project: ProjectIdentity, record: GitRecord) -> NewItem:
    title = _title(record)
    text = f"{record.kind} {record.name or record.commit}\n\n{record.message.strip() or title}"
    details = {
        "shelf": SHELF,
        "topic": title,
        "label": record.kind,
        "parents": list(record.parents),
        "pull_request": record.pull_request,
    }
    return NewItem(
        id=_id_of(project, record),
        text=text,
        kind="note",
        role="author",
        author=record.author,
        parts=(Part("text", 0, len(text)),),
        ordinal=record.at,
        created_at=Micros(record.at * 1_000_000),
        trust="repo",
        branch=record.branch,
        commit=record.commit,
        meta={name: value for name, value in details.items() if value},
    )


def _title(record: GitRecord) -> str:
    commit = f"commit {record.commit[:_SHOWN_HASH]}"
    if record.kind == "tag":
        return f"tag {record.name}, {commit}"
    return f"pull request {record.pull_request}, {commit}" if record.pull_request else commit
