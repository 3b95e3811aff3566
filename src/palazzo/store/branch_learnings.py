"""Learnings of a branch, or of certain commits: the drawers filed there, the items they show, and dependent rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store import place_rows
from palazzo.store.database import Connection


class BranchDrawer(NamedTuple):
    """A live drawer of a branch and an item that it shows, by row ids; `session` is '' if it belongs to none."""

    drawer: int
    item: int
    kind: str
    branch: str
    commit: str
    session: str


class BranchFact(NamedTuple):
    """A statement of a fact without an item: the current version, by row id.

    `in_wing` says whether the fact belongs to the wing; otherwise it holds everywhere.
    """

    version: int
    branch: str
    commit: str
    in_wing: bool


class SessionRow(NamedTuple):
    """A session: its id and title, and the times of its first and last text in this selection."""

    session: str
    title: str
    first: Micros
    last: Micros


def read_branch_drawers(connection: Connection, wing: str, branch: str, commits: Collection[str]) -> list[BranchDrawer]:
    """Return what was written in a wing on this branch or at one of these commits, without untrusted content."""
    rows = connection.execute(
        "SELECT d.id, s.item, d.kind, d.branch, d.commit_id, source.session_id FROM drawer d"
        " JOIN drawer_span s ON s.drawer = d.id JOIN source ON source.id = d.source"
        " WHERE d.room IN (SELECT value FROM json_each(?1)) AND d.retired_at IS NULL AND d.trust <> 'external'"
        " AND (d.branch = ?2 OR (d.commit_id <> '' AND d.commit_id IN (SELECT value FROM json_each(?3))))"
        " ORDER BY d.created_at, d.id, s.n",
        (json.dumps([*(place_rows.scope(connection, wing, None).rooms or ())]), branch, json.dumps(sorted(commits))),
    )
    return [BranchDrawer(*row) for row in rows]


def read_branch_facts(connection: Connection, wing: str, branch: str, commits: Collection[str]) -> list[BranchFact]:
    """Return where facts of a wing, or of none, were stated on this branch or at one of these commits.

    Statements tainted by untrusted content are excluded.
    """
    rows = connection.execute(
        "SELECT v.id, s.branch, s.commit_id, f.wing IS NOT NULL FROM fact_source s"
        " JOIN fact_version v ON v.id = s.version JOIN fact f ON f.id = v.fact LEFT JOIN wing w ON w.id = f.wing"
        " WHERE v.retired_at IS NULL AND s.trust <> 'external' AND (f.wing IS NULL OR w.name = ?1)"
        " AND (s.branch = ?2 OR (s.commit_id <> '' AND s.commit_id IN (SELECT value FROM json_each(?3))))"
        " ORDER BY v.id, s.n",
        (wing, branch, json.dumps(sorted(commits))),
    )
    return [BranchFact(version, at, commit, bool(in_wing)) for version, at, commit, in_wing in rows]


def commits_of(connection: Connection, wing: str, branch: str) -> set[str]:
    """Return the commits at which text of a wing was written on this branch."""
    rows = connection.execute(
        "SELECT DISTINCT commit_id FROM drawer WHERE room IN (SELECT value FROM json_each(?1)) AND retired_at IS NULL"
        " AND branch = ?2 AND commit_id <> ''",
        (json.dumps([*(place_rows.scope(connection, wing, None).rooms or ())]), branch),
    )
    return {str(commit) for (commit,) in rows}


def branches_of(connection: Connection, wing: str) -> list[str]:
    """Return the branches on which text of a wing was written, most recently used first."""
    rows = connection.execute(
        "SELECT branch FROM drawer WHERE room IN (SELECT value FROM json_each(?1)) AND retired_at IS NULL"
        " AND branch <> '' GROUP BY branch ORDER BY max(created_at) DESC, branch",
        (json.dumps([*(place_rows.scope(connection, wing, None).rooms or ())]),),
    )
    return [str(branch) for (branch,) in rows]


def versions_stated(connection: Connection, items: Iterable[int]) -> list[int]:
    """Return the active fact versions, by row id, that one of these items states."""
    rows = connection.execute(
        "SELECT DISTINCT v.id FROM json_each(?) AS asked CROSS JOIN item ON item.id = asked.value"
        " JOIN fact_source s ON s.item_uid = item.uid JOIN fact_version v ON v.id = s.version"
        " WHERE v.retired_at IS NULL ORDER BY v.id",
        (json.dumps(sorted(set(items))),),
    )
    return [int(row) for (row,) in rows]


def sessions_among(connection: Connection, items: Iterable[int]) -> list[SessionRow]:
    """Return the sessions in which these items were said, earliest first, without those of sub-agents."""
    rows = connection.execute(
        "SELECT s.session_id, max(s.title), min(i.created_at), max(i.created_at) FROM item i"
        " JOIN source s ON s.id = i.source WHERE i.id IN (SELECT value FROM json_each(?)) AND s.session_id <> ''"
        " AND instr(s.session_id, '/') = 0 GROUP BY s.session_id ORDER BY 3",
        (json.dumps(sorted(set(items))),),
    )
    return [SessionRow(*row) for row in rows]
