"""Write contexts: the branch, the commit and the wing where words were written, which queries to git are based on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from palazzo.store import place_rows
from palazzo.store import tag_rows as tags
from palazzo.store.database import Connection
from palazzo.store.keyword_table import tag_filter, wing_filter

_NEWEST = 200
"""The latest drawers of a branch that are searched for the branch's last commit."""


class CommitPlace(NamedTuple):
    """The branch and the commit ('' if unknown), and the wing."""

    branch: str
    commit: str
    wing: str


NOWHERE = CommitPlace("", "", "")


def of_items(connection: Connection, ids: Iterable[str]) -> dict[str, CommitPlace]:
    """Return where these items were written, by id, for those that are archived."""
    rows = connection.execute(
        "SELECT lower(hex(item.uid)), item.branch, item.commit_id, wing.name FROM json_each(?) AS asked"
        " CROSS JOIN item ON item.uid = unhex(asked.value) JOIN room ON room.id = item.room"
        " JOIN wing ON wing.id = room.wing",
        (json.dumps(sorted(set(ids))),),
    )
    return {str(uid): CommitPlace(*place) for uid, *place in rows}


def of_facts(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[CommitPlace, ...]]:
    """Return where these facts were stated, by fact id: the place of each item and of each source that states one.

    Sources tainted by untrusted content count only if there is no other source.
    """
    return _read_fact_places(connection, "fact.uid IN (SELECT unhex(value) FROM json_each(?))", sorted(set(ids)))


def of_versions(connection: Connection, rows: Iterable[int]) -> dict[str, tuple[CommitPlace, ...]]:
    """Return the same for the versions with these row ids, by fact id."""
    return _read_fact_places(connection, "v.id IN (SELECT value FROM json_each(?))", sorted(set(rows)))


def _read_fact_places(
    connection: Connection, condition: str, keys: Sequence[str] | Sequence[int]
) -> dict[str, tuple[CommitPlace, ...]]:
    rows = connection.execute(
        "SELECT lower(hex(fact.uid)), s.trust = 'external', s.item_uid IS NULL, s.branch, s.commit_id,"
        " coalesce(home.name, ''), item.branch, item.commit_id, wing.name"
        " FROM fact JOIN fact_version v ON v.fact = fact.id AND v.retired_at IS NULL"
        " JOIN fact_source s ON s.version = v.id LEFT JOIN wing AS home ON home.id = fact.wing"
        " LEFT JOIN item ON item.uid = s.item_uid LEFT JOIN room ON room.id = item.room"
        f" LEFT JOIN wing ON wing.id = room.wing WHERE {condition} ORDER BY s.n",
        (json.dumps(keys),),
    )
    places_by_fact: dict[str, tuple[list[CommitPlace], list[CommitPlace]]] = {}
    for uid, is_external, is_alone, branch, commit, home, *item in rows:
        places = places_by_fact.setdefault(str(uid), ([], []))[bool(is_external)]
        if is_alone or branch:
            places.append(CommitPlace(branch, commit, home))
        if item[0] is not None:
            places.append(CommitPlace(*item))
    best_places = {
        uid: trusted_places or external_places for uid, (trusted_places, external_places) in places_by_fact.items()
    }
    return {uid: tuple(dict.fromkeys(places)) for uid, places in best_places.items() if places}


def of_sessions(connection: Connection, sessions: Iterable[str]) -> dict[str, CommitPlace]:
    """Return where the last message of each of these sessions was written, by session id."""
    rows = connection.execute(
        "SELECT source.session_id, item.branch, item.commit_id, wing.name FROM json_each(?) AS asked"
        " CROSS JOIN source ON source.session_id = asked.value AND source.session_id <> '' JOIN item ON item.id ="
        " (SELECT id FROM item WHERE source = source.id AND thread = '' AND kind = 'message' ORDER BY ordinal DESC"
        " LIMIT 1) JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing ORDER BY item.created_at",
        (json.dumps(sorted(set(sessions))),),
    )
    return {str(session): CommitPlace(*place) for session, *place in rows}


def last_commits(connection: Connection, wing: str, branches: Iterable[str]) -> dict[str, str]:
    """Return the last known commit of each of these branches that has one."""
    stretches = place_rows.stretches(connection, wing)
    tag_rows = tags.known_tags(connection, {f"branch:{branch}" for branch in branches}) if stretches else {}
    commits_by_branch = {}
    for tag, row in tag_rows.items():
        rows = connection.execute(
            "SELECT commit_id FROM drawer WHERE commit_id <> '' AND retired_at IS NULL AND id IN"
            " (SELECT rowid FROM keyword WHERE keyword MATCH ? ORDER BY rowid DESC LIMIT ?)"
            " ORDER BY created_at DESC, id DESC LIMIT 1",
            (f"{tag_filter(row)} AND {wing_filter(stretches)}", _NEWEST),
        )
        commits_by_branch.update({tag.removeprefix("branch:"): str(commit) for (commit,) in rows})
    return commits_by_branch
