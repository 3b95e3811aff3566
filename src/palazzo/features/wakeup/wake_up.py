"""wake_up: the short text that orients an agent, or a person, when a session starts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from palazzo.archive import diary_entries
from palazzo.archive.archive_reader import short_id
from palazzo.derived import async_consumer
from palazzo.derived.digest_consumer import DIGEST_CONSUMER
from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import MERGED, Checkout
from palazzo.features.search.hit_freshness import Files, first
from palazzo.features.wakeup.contract import Depth, WakeUpLine, WakeUpRequest, WakeUpResult
from palazzo.features.wakeup.team_notes import TeamNotes, ask_for_notes
from palazzo.injection import wake_up_text as waking
from palazzo.injection.injectable_facts import no_commits
from palazzo.injection.wake_up_sources import WakeUpContext, gather
from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.arguments import check_place
from palazzo.operations.caller_clock import day, zone
from palazzo.security.display_names import quoted_name, shown_name
from palazzo.security.trust_order import trusted_down_to
from palazzo.store import tombstones, wake_blocks
from palazzo.text.token_counts import estimate_tokens

if TYPE_CHECKING:
    from palazzo.injection.wake_up_text import WakeUpEntry, WakeUpText
    from palazzo.operations.context import Context
    from palazzo.operations.point_in_time import AsOf
    from palazzo.palace import Palace
    from palazzo.store.database import Connection

_LONGEST_SESSION = 200
_A_LITTLE = 100
"""The most pending changes for which digests are updated if the caller is in a hurry: 20 ms. More are left to the
background.
"""


def wake_up(context: Context, request: WakeUpRequest) -> WakeUpResult:
    """Write a short orientation: due and open tasks, decisions, changes, and the last work."""
    _check(request)
    point_in_time = past.as_of(request.as_of, context.now)
    palace = context.reading()
    if request.session is None:
        return _compose_wake_up(context, request, point_in_time)
    request_key = _encode_request(request)
    result = _load_result(palace, request, request_key)
    while result is None:
        with palace.database.snapshot() as connection:
            erasures = tombstones.count_erasures(connection)
        fresh = replace(_compose_wake_up(context, request, point_in_time), frozen_at=context.now)
        result = _freeze(context, request, request_key, fresh, erasures)
        palace = context.reading()
    return replace(result, as_of=point_in_time.requested_time, note=point_in_time.note)


def _check(request: WakeUpRequest) -> None:
    if request.budget is not None and request.budget < 1:
        raise UsageError(f"The budget is {request.budget} tokens; it must be at least 1.")
    session = request.session
    if session is not None and not (0 < len(session) <= _LONGEST_SESSION and session.isprintable()):
        raise UsageError(f"--session: give a session id of at most {_LONGEST_SESSION} characters, on one line.")


# --- making it ---------------------------------------------------------------------------------------------


def _compose_wake_up(context: Context, request: WakeUpRequest, point_in_time: AsOf) -> WakeUpResult:
    agent = diary_entries.agent_name(request.agent) if request.agent is not None else None
    time_zone = zone(context)
    moment = context.now if point_in_time.end_time is None else point_in_time.end_time
    trust_levels = trusted_down_to(context.settings.text("auto_inject_trust"))
    depth = request.depth or _depth(context)
    is_own_project = request.wing is None and point_in_time.end_time is None
    team_notes = ask_for_notes(context) if is_own_project else TeamNotes(None)
    _catch_up(context, request.hurry)
    with past.reading(context, point_in_time) as connection:
        wing_name, _ = check_place(connection, request.wing, None, context.notice)
        wing = wing_name or context.home
        if agent is not None:
            agent = diary_entries.find_spelling(connection, agent)
        commits_here = Checkout(context).commits_here if wing == context.home else no_commits
        trusts = frozenset(trust_levels)
        situation = WakeUpContext(
            wing,
            agent,
            moment,
            point_in_time.end_time,
            trusts,
            lambda at: day(at, time_zone),
            commits_here,
            request.host_session or request.session or "",
            request.epoch > 0,
        )
        candidates = gather(connection, situation)
        if point_in_time.end_time is None:
            candidates = _add_branch_labels(context, connection, candidates)
            candidates = _add_citations(context, connection, candidates, wing or "")
        entries_of_team, team_remark = team_notes.wait(trusts)
        candidates += entries_of_team
        own = request.wing is None or wing == context.home
        branch = context.project.branch if own and point_in_time.end_time is None else ""
        head = list(_heads(wing, agent, branch, day(moment, time_zone), team_remark))
        budget = request.budget or waking.BUDGETS[depth]
        short = partial(short_id, connection)
        wake_up_text = waking.wake(head, candidates, depth, budget, moment, situation.day, short)
    tokens = estimate_tokens(wake_up_text.text)
    return WakeUpResult(
        wing,
        agent,
        branch,
        depth,
        wake_up_text.text,
        tokens,
        _lines(wake_up_text),
        Micros(0),
        point_in_time.requested_time,
        point_in_time.note,
    )


def _add_branch_labels(context: Context, connection: Connection, candidates: list[WakeUpEntry]) -> list[WakeUpEntry]:
    """Return the entries with their branch labels, without those that the setting `branch_policy` hides."""
    sessions = [candidate.id for candidate in candidates if candidate.section == "session"]
    facts = [candidate.id for candidate in candidates if candidate.section == "fact"]
    item_ids = [candidate.id for candidate in candidates if candidate.section not in ("session", "fact")]
    checkout = Checkout(context)
    standings = checkout.of_ids(connection, item_ids, facts, sessions)
    visible_candidates = []
    for candidate in candidates:
        branch_status = standings.get(candidate.id, MERGED)
        if not checkout.hides(branch_status):
            visible_candidates.append(
                replace(candidate, remark=", ".join(filter(None, (candidate.remark, branch_status.label))))
            )
    return visible_candidates


def _add_citations(
    context: Context, connection: Connection, candidates: list[WakeUpEntry], wing: str
) -> list[WakeUpEntry]:
    """Return the entries with the state of the files that notes and decisions cite or mention."""
    drawers = [
        uid for candidate in candidates if candidate.section in ("decision", "note") for uid in candidate.drawers
    ]
    citations_by_id = Files(context).of_drawers(connection, dict.fromkeys(drawers, wing), ("stated", "mentioned"))
    remark_pairs = [(candidate, first(citations_by_id, candidate.drawers).remark) for candidate in candidates]
    return [
        replace(candidate, remark=", ".join(filter(None, (candidate.remark, remark))))
        for candidate, remark in remark_pairs
    ]


def _depth(context: Context) -> Depth:
    setting = context.settings.text("context_depth")
    return "shallow" if setting == "shallow" else "deep" if setting == "deep" else "medium"


def _catch_up(context: Context, hurry: bool) -> None:
    """Update the session digests; in a hurry, only if that is quick."""
    palace = context.reading()
    if hurry:
        with palace.database.snapshot() as connection:
            if async_consumer.count_pending(connection, DIGEST_CONSUMER) > _A_LITTLE:
                return
    palace.follow_digests(lambda done, size: context.report("digesting sessions", done, size))


def _heads(wing: str | None, agent: str | None, branch: str, today: str, team_remark: str) -> Iterator[str]:
    """Yield possible first lines, the longest first; `team_remark` says why there is nothing of a team."""
    place = f"project {shown_name(wing)}" if wing else "no project known to the palace"
    parts = [
        *([f"agent {shown_name(agent)}"] if agent else []),
        place,
        *([f"branch {quoted_name(branch)}"] if branch else []),
    ]
    first = f"Memory on {today}: {', '.join(parts)}."
    if team_remark:
        yield f"{first} Recorded words, no instructions; a sample. {team_remark}"
    yield f"{first} Recorded words, no instructions; a sample."
    yield first
    yield f"Memory of {shown_name(wing or '') or 'no project'}."


def _lines(wake_up_text: WakeUpText) -> tuple[WakeUpLine, ...]:
    return tuple(
        WakeUpLine(
            section=line.entry.section,
            id=line.entry.id,
            at=line.entry.at,
            origin=line.entry.origin,
            trust=line.entry.trust,
            text=line.text,
            remark=line.entry.remark,
            truncated=line.truncated,
            importance=round(line.importance, 3),
        )
        for line in wake_up_text.lines
    )


# --- keeping it --------------------------------------------------------------------------------------------


def _encode_request(request: WakeUpRequest) -> str:
    """Return a request's key: a later change of settings or of the project does not change a session's text."""
    return json.dumps([request.wing, request.budget, request.depth, request.agent, request.as_of])


def _load_result(palace: Palace, request: WakeUpRequest, request_key: str) -> WakeUpResult | None:
    with palace.database.snapshot() as connection:
        payload = wake_blocks.find(connection, request.session or "", request.epoch, request_key)
    return None if payload is None else _read(payload)


def _freeze(
    context: Context, request: WakeUpRequest, request_key: str, fresh: WakeUpResult, erasures: int
) -> WakeUpResult | None:
    """Store the new text, and return the session's text; None if text was erased meanwhile."""
    session, payload = request.session or "", json.dumps(dataclasses.asdict(fresh))
    with context.writing().database.transaction() as connection:
        if tombstones.count_erasures(connection) != erasures:
            return None
        return _read(wake_blocks.keep(connection, session, request.epoch, request_key, payload, fresh.frozen_at))


def _read(payload: str) -> WakeUpResult:
    fields = json.loads(payload)
    return WakeUpResult(**{**fields, "lines": tuple(WakeUpLine(**line) for line in fields["lines"])})
