"""Archived commits: found by their hashes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from palazzo.model import Micros, Trust
from palazzo.store.database import Connection
from palazzo.store.items import decode_text


class CommitRow(NamedTuple):
    """The drawer of an archived commit (its first, if a long message has several), and what it says."""

    drawer: str
    commit: str
    at: Micros
    author: str
    trust: Trust
    text: str


def of_hashes(connection: Connection, wing: str, hashes: Sequence[str]) -> list[CommitRow]:
    """Return those of these commits of a wing that are archived and live, in the order of the hashes; no tags."""
    rows = connection.execute(
        "SELECT lower(hex(d.uid)), i.commit_id, i.created_at, i.author, d.trust, i.text, i.text_codec"
        " FROM drawer d JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
        " JOIN drawer_span s ON s.drawer = d.id AND s.n = 0 AND s.start = 0 JOIN item i ON i.id = s.item"
        " WHERE w.name = ? AND d.kind = 'commit' AND d.retired_at IS NULL"
        " AND d.commit_id IN (SELECT value FROM json_each(?)) AND json_extract(i.meta, '$.label') <> 'tag'",
        (wing, json.dumps([*hashes])),
    )
    by_hash = {
        str(commit): CommitRow(uid, commit, Micros(at), author, trust, decode_text(text, codec))
        for uid, commit, at, author, trust, text, codec in rows
    }
    return [by_hash[commit] for commit in hashes if commit in by_hash]
