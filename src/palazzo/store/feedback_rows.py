"""Feedback: what persons and agents judged about drawers. Each verdict is an act on the drawer's spans of text.

Of several verdicts by one actor, the last one counts. A person's counts twice an agent's.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from typing import Literal, get_args

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection

Verdict = Literal["helpful", "misleading", "outdated", "neutral"]
"""`neutral` withdraws an earlier verdict of the same actor."""
PERSON = "user"
"""The actor of what a person does."""
_VOTES_OF_PERSON = 2
_STANDS = "(act.grp IS NULL OR act.grp NOT IN (SELECT undoes FROM change_group WHERE undoes IS NOT NULL))"
_BY_DRAWER = (
    "SELECT s.drawer, act.actor, json_extract(act.detail, '$.verdict') FROM drawer_span s"
    " JOIN item ON item.id = s.item JOIN act_span a ON a.item_uid = item.uid AND a.start < s.end AND a.end > s.start"
    " JOIN act ON act.id = a.act WHERE s.drawer IN (SELECT value FROM json_each(?1)) AND act.kind = 'feedback'"
    f" AND act.at <= ?2 AND {_STANDS} ORDER BY act.at, act.uid"
)
_NO_LIMIT = (1 << 63) - 1


@frozen
class Judgement:
    """The verdicts on one drawer that count: votes by verdict."""

    votes: dict[str, int]

    @property
    def balance(self) -> float:
        """What the verdicts say together, from -1 to 1: one agent's says half as much as very many would."""
        helpful, total = self.votes.get("helpful", 0), sum(self.votes.values())
        return (helpful - (total - helpful)) / (total + 1)

    @property
    def label(self) -> str:
        """The verdict with the most votes, the worse one of two with as many; '' if there is none."""
        order = {verdict: n for n, verdict in enumerate(("misleading", "outdated", "helpful"))}
        return min(self.votes, key=lambda verdict: (-self.votes[verdict], order[verdict]), default="")


def judgements(connection: Connection, drawers: Collection[int]) -> dict[int, Judgement]:
    """Return what was judged of these drawers (row ids); those without a verdict are absent.

    On a snapshot as of a day, these are the verdicts of that day.
    """
    if not drawers or not any(True for _ in connection.execute("SELECT 1 FROM act LIMIT 1")):
        return {}
    until = _NO_LIMIT if connection.as_of is None else int(connection.as_of)
    last_verdicts: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for drawer, actor, verdict in connection.execute(_BY_DRAWER, (json.dumps([*drawers]), until)):
        if verdict in get_args(Verdict):
            last_verdicts[int(drawer)][str(actor)] = verdict
    found = {drawer: _count(verdicts) for drawer, verdicts in last_verdicts.items()}
    return {drawer: judgement for drawer, judgement in found.items() if judgement.votes}


def judged_drawers(connection: Connection) -> dict[str, Judgement]:
    """Return the live drawers with verdicts, by id."""
    rows = connection.execute(
        "SELECT DISTINCT d.id, d.uid FROM act JOIN act_span a ON a.act = act.id JOIN item ON item.uid = a.item_uid"
        " JOIN drawer_span s ON s.item = item.id JOIN drawer d ON d.id = s.drawer"
        " WHERE act.kind = 'feedback' AND d.retired_at IS NULL ORDER BY d.id"
    )
    uids = {int(row): bytes(uid).hex() for row, uid in rows}
    return {uids[row]: judgement for row, judgement in judgements(connection, uids).items()}


def _count(verdicts: dict[str, str]) -> Judgement:
    votes: dict[str, int] = {}
    for actor, verdict in verdicts.items():
        if verdict != "neutral":
            votes[verdict] = votes.get(verdict, 0) + (_VOTES_OF_PERSON if actor == PERSON else 1)
    return Judgement(votes)
