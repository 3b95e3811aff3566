"""Hits of teammates beside one's own: the team server is asked while the palace is searched, and both are merged.

    search ──> ask ──HTTP, on a thread──> team server
       └─> own hits ──────────> merge <── wait

Both scores are probabilities on one scale (`index/score`), so the better of two hits comes first, whoever has it. What
teammates said is theirs: the speaker of each such hit is the teammate, and its trust is below the user's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.search.contract import HitView, SearchRequest
from palazzo.features.search.hit_locations import SHORTEST_ID
from palazzo.features.search.strength import LIKELY, strengths_of
from palazzo.model import Micros
from palazzo.operations.arguments import moment
from palazzo.operations.shared_views import HitSource
from palazzo.security.display_names import name_teammate, plain_name, shown_name, shown_place
from palazzo.text.best_sentence import find_best_sentence
from palazzo.text.document_formats import is_prose
from palazzo.text.token_counts import cut, estimate_tokens

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.team.client.team_connection import SharedHit, TeamConnection

SECONDS = 3.0
"""The longest that a search waits for the team, from its beginning."""
OWN_SHARE = 2 / 3
"""The part of the token budget that one's own hits have; teammates' hits have what these leave of all of it."""
LEAST_SCORE = LIKELY
"""A teammate's hit below this is not shown: the nearest of what others wrote is no answer."""
_LEAST_TOKENS, _MOST_TOKENS = 40, 2_000
_UNKNOWN_TO_TEAM = {
    "tags": "--tag",
    "source": "--source",
    "host": "--host",
    "filed_as": "--filed-as",
    "min_importance": "--min-importance",
    "as_of": "--as-of",
}
"""Filters by what is not shared, with their options: nothing that teammates share can pass them."""


def _start(ask_server: Callable[[], list[SharedHit]]) -> Future[list[SharedHit]]:
    """Ask the server on a thread of its own.

    It is a daemon, of no pool: a server that sends a byte a second must hold up neither the end of the process nor the
    next question.
    """
    answer: Future[list[SharedHit]] = Future()

    def run() -> None:
        try:
            answer.set_result(ask_server())
        except BaseException as error:  # noqa: BLE001 - `result` raises it where somebody is told
            answer.set_exception(error)

    threading.Thread(target=run, name="palazzo-team", daemon=True).start()
    return answer


class TeamInquiry:
    """A question to the team server that is under way."""

    def __init__(self, connection: TeamConnection, request: SearchRequest, now: Micros, seconds: float) -> None:
        self._request, self._now = request, now
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        self._answer = _start(lambda: connection.search(request.query, request.limit, request.wing))

    def wait(self) -> tuple[list[HitView], str]:
        """Return the hits that may be shown, best first; and what to say if the team did not answer."""
        try:
            shared_hits = self._answer.result(max(self._deadline - time.monotonic(), 0.0))
        except FutureTimeoutError:
            return [], f"The team server did not answer within {self._seconds:g} seconds: these are your own hits."
        except PalazzoError as error:
            return [], f"{error} These are your own hits."
        hits = [view_shared_hit(shared_hit) for shared_hit in shared_hits]
        return [hit for hit in hits if hit.score >= LEAST_SCORE and self._is_match(hit)], ""

    def _is_match(self, hit: HitView) -> bool:
        """Return whether a hit passes the filters that the server was not asked for."""
        request = self._request
        since = moment(request.since, self._now, "--since")
        until = moment(request.until, self._now, "--until")
        criteria = ((request.room, hit.room), (request.kind, hit.kind), (request.branch, hit.branch))
        return (
            all(criterion is None or criterion == own for criterion, own in criteria)
            and (since is None or hit.created_at >= since)
            and (until is None or hit.created_at < until)
            and (request.external or hit.trust != "external")
        )


def ask(context: Context, request: SearchRequest, seconds: float = SECONDS) -> tuple[TeamInquiry | None, str]:
    """Ask the team, if the caller or the setting `team.search` wants it; also return what to say if it is not asked.

    Raises PalazzoError if the caller wants it and the palace has not joined a team, or its membership is damaged.
    """
    if not (request.team or context.settings.flag("team.search")):
        return None, ""
    from palazzo.team.client import membership as memberships
    from palazzo.team.client.team_connection import TeamConnection

    try:
        find = memberships.load_membership if request.team else memberships.find_membership
        member = find(context.palace_path)
    except PalazzoError as error:
        if request.team:
            raise
        return None, f"{error} These are your own hits."
    if member is None:
        return None, ""
    unknown = [option for name, option in _UNKNOWN_TO_TEAM.items() if getattr(request, name) not in (None, ())]
    if unknown:
        return None, f"Teammates' wings were not searched: what they share has nothing for {unknown[0]}."
    return TeamInquiry(TeamConnection(member.url, member.token, seconds), request, context.now, seconds), ""


def read_shared(context: Context, prefix: str) -> list[HitView]:
    """Return what teammates share under ids that begin so; nothing if the palace has joined no team.

    Raises PalazzoError if the team cannot be asked.
    """
    from palazzo.team.client import membership as memberships
    from palazzo.team.client.team_connection import TeamConnection, TeamUnreachable

    member = memberships.find_membership(context.palace_path)
    if member is None:
        return []
    connection = TeamConnection(member.url, member.token, SECONDS)
    try:
        shared_hits = _start(lambda: connection.read_drawers(prefix)).result(SECONDS)
    except FutureTimeoutError:
        raise TeamUnreachable(f"The team server did not answer within {SECONDS:g} seconds.") from None
    return [view_shared_hit(shared_hit) for shared_hit in shared_hits]


def ask_for_notes(context: Context, wing: str, limit: int, seconds: float) -> Future[list[SharedHit]] | None:
    """Ask for the newest notes of teammates in a wing; None if the palace has joined no team.

    A damaged membership counts as none: each search says that it is damaged.
    """
    from palazzo.team.client import membership as memberships
    from palazzo.team.client.team_connection import TeamConnection

    try:
        member = memberships.find_membership(context.palace_path)
    except PalazzoError:
        return None
    if member is None:
        return None
    connection = TeamConnection(member.url, member.token, seconds)
    return _start(lambda: connection.list_notes(wing, limit))


def view_shared_hits(shared_hits: Sequence[SharedHit], words: frozenset[str]) -> list[HitView]:
    """Return the hits of the team alone as a person reads them: each with its strength and its best sentence."""
    strengths = strengths_of([hit.score for hit in shared_hits])
    return [
        replace(_fit(view_shared_hit(hit), _MOST_TOKENS, words), strength=strength)
        for hit, strength in zip(shared_hits, strengths, strict=True)
    ]


def view_shared_hit(shared_hit: SharedHit) -> HitView:
    """Return a hit to show. Its names are others' words, so they are shown as data."""
    identity, person = plain_name(shared_hit.id), plain_name(shared_hit.person)
    at = Micros(shared_hit.created_at)
    return HitView(
        id=identity,
        score=shared_hit.score,
        text=shared_hit.text,
        truncated=False,
        wing=shared_hit.wing,
        room=shared_hit.room,
        kind=shared_hit.kind,
        title=plain_name(shared_hit.title),
        created_at=at,
        recorded_at=at,
        role="teammate",
        author=name_teammate(shared_hit.person, shared_hit.author),
        source=HitSource("", "team", "", ""),
        trust=shared_hit.trust,
        branch=shared_hit.branch,
        commit="",
        visibility="unknown",
        freshness="unknown",
        why=(),
        location=f"{shown_name(person)} · {shown_place(f'{shared_hit.wing}/{shared_hit.room}')}",
        short_id=identity[:SHORTEST_ID],
        length=len(shared_hit.text),
        person=person,
    )


def merge(
    own_hits: Sequence[HitView],
    team_hits: Sequence[HitView],
    request: SearchRequest,
    matched_words: frozenset[str],
    is_uncertain: bool,
) -> tuple[HitView, ...]:
    """Return the hits of both in one list within the limit and the budget; one's own words are not told twice.

    The order of one's own hits stays. If they are uncertain, those of teammates come first.
    """
    own_ids = {hit.id for hit in own_hits} | {part.id for hit in own_hits for part in hit.parts}
    waiting = [hit for hit in team_hits if hit.id not in own_ids]
    merged: list[HitView] = []
    for hit in own_hits:
        while waiting and (is_uncertain or waiting[0].score > hit.score):
            merged.append(waiting.pop(0))
        merged.append(hit)
    merged = [*merged, *waiting][: request.limit]
    if not any(hit.person for hit in merged):
        return tuple(merged)
    scores = [0.0 if is_uncertain and not hit.person else hit.score for hit in merged]
    spent = sum(_tokens_of(hit) for hit in merged if not hit.person)
    visible = []
    for hit, strength in zip(merged, strengths_of(scores), strict=True):
        if hit.person:
            hit = _fit(hit, max(request.budget - spent, _LEAST_TOKENS), matched_words)
            spent += _tokens_of(hit)
        visible.append(replace(hit, strength=strength))
    return tuple(visible)


def _tokens_of(hit: HitView) -> int:
    return estimate_tokens(hit.text) + sum(estimate_tokens(neighbour.text) for neighbour in hit.context)


def _fit(hit: HitView, tokens: int, matched_words: frozenset[str]) -> HitView:
    """Return a hit whose text takes at most `tokens`, with the sentence of it that says most."""
    cost = estimate_tokens(hit.text)
    text = hit.text if cost <= tokens else cut(hit.text, tokens, cost)
    quote, _ = find_best_sentence(text, matched_words, is_prose(hit.kind, ""))
    is_cut = text != hit.text
    return replace(hit, text=text, truncated=is_cut, length=len(text), quoted=quote.text, quoted_at=quote.start)
