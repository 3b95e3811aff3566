"""search: find what was said, decided or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palazzo.archive.archive_reader import short_id
from palazzo.errors import NoSuchPlace, UsageError
from palazzo.features.branches.branch_labels import Checkout, find_origin
from palazzo.features.ledger.usage import session_named
from palazzo.features.search import team_hits
from palazzo.features.search.contract import (
    HitView,
    NeighbourView,
    ReasonView,
    Scope,
    SearchRequest,
    SearchResult,
    SupersededView,
    TurnView,
)
from palazzo.features.search.hit_freshness import NOTHING, Files, join_summaries
from palazzo.features.search.hit_locations import (
    SHORTEST_ID,
    find_matched_words,
    find_quote,
    locate,
)
from palazzo.features.search.hit_parts import view_parts
from palazzo.features.search.hits import find_supersessions, source_of, title_of
from palazzo.features.search.strength import strengths_of
from palazzo.features.service.background_process import start_embedding
from palazzo.features.sessions import session_rows
from palazzo.features.tasks.task_results import task_states
from palazzo.index import query
from palazzo.index.query import Query
from palazzo.index.score import ANSWER_FLOOR, LENIENT_FLOOR
from palazzo.model import Micros, least_trust
from palazzo.operations import point_in_time as past
from palazzo.operations import source_filter
from palazzo.operations.arguments import check_place, label, moment
from palazzo.operations.source_filter import known_tags
from palazzo.store import drawers, feedback_rows, note_labels, use_totals
from palazzo.text.count_phrases import agree, count_noun
from palazzo.text.document_formats import is_prose

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import BranchStatus
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.index.presentation import Hit, Neighbour, Turn
    from palazzo.index.search_pipeline import Answer
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.database import Connection
    from palazzo.store.note_labels import Label

_FILTER_OPTIONS = {name: name for name in ("wing", "room", "kind", "since", "until", "branch", "source", "host")} | {
    "tags": "tag",
    "as_of": "as-of",
    "filed_as": "filed-as",
    "min_importance": "min-importance",
}


def search(context: Context, request: SearchRequest) -> SearchResult:
    """Find drawers by meaning and by words."""
    now = context.now
    point_in_time = past.as_of(request.as_of, now)
    search_query = _query(request, now, point_in_time.end_time)
    query.check(search_query)
    inquiry, team_note = team_hits.ask(context, request)
    if inquiry is not None:
        search_query = replace(search_query, budget=int(request.budget * team_hits.OWN_SHARE))
    palace = past.follow(context, point_in_time)
    with palace.database.snapshot() as connection:
        missing_place: NoSuchPlace | None = None
        try:
            wing, room = check_place(connection, request.wing, request.room, context.notice)
        except NoSuchPlace as error:
            if inquiry is None:
                raise
            wing, room, missing_place = request.wing, request.room, error  # the team may have such a place
        known_tags(connection, request.tags)
        among = _among(context, connection, request) if missing_place is None else frozenset()
        uses = use_totals.rows_used(connection, session_named(context))
    checkout = Checkout(context)
    search_query = replace(
        search_query,
        wing=wing,
        room=room,
        home=context.home,
        checked_out=checkout.boosted_branch,
        among=among,
        used=uses,
        rerank=context.settings.text("rerank") == "tokens",
    )
    answer, left_out = _answer(palace, search_query, checkout)
    if answer.index in ("building", "keyword-only"):
        start_embedding(context, insist=False)
    all_hits = (*answer.hits, *answer.below)
    shared_hits: list[HitView] = []
    if inquiry is not None:
        shared_hits, team_note = inquiry.wait()
        if missing_place is not None and not shared_hits:
            raise missing_place
    with palace.database.snapshot() as connection:
        matched_words = find_matched_words(
            connection,
            request.query,
            (*(text for hit in all_hits for text in _visible_texts(hit)), *(hit.text for hit in shared_hits)),
        )
    views = _views(context, palace, all_hits, checkout, point_in_time, matched_words, answer.is_uncertain)
    own_hits, below = views[: len(answer.hits)], views[len(answer.hits) :]
    hits = team_hits.merge(own_hits, shared_hits, request, matched_words, answer.is_uncertain)
    return SearchResult(
        query=request.query,
        scope=Scope(wing, point_in_time.requested_time),
        index=answer.index,
        took_ms=answer.took_ms,
        total_candidates=answer.total,
        hits=hits,
        below=below if request.explain and not hits else (),
        left_out=left_out,
        uncertain=answer.is_uncertain and bool(hits) and not any(hit.person for hit in hits),
        note=" ".join(
            filter(
                None,
                (
                    point_in_time.note,
                    answer.note,
                    _unshown(left_out),
                    _describe_untrusted(answer.untrusted_ahead),
                    team_note,
                ),
            )
        ),
        advice="" if hits else _advice(palace, request, answer),
        explained=request.explain,
        floor=next((hit.floor for hit in (*answer.hits, *answer.below)), LENIENT_FLOOR),
        is_likely=answer.chance >= ANSWER_FLOOR,
        home=context.home or "",
        searched_at=now,
        matched_words=tuple(sorted(matched_words)),
    )


def _views(
    context: Context,
    palace: Palace,
    hits: Sequence[Hit],
    checkout: Checkout,
    point_in_time: past.AsOf,
    matched_words: frozenset[str],
    is_uncertain: bool,
) -> tuple[HitView, ...]:
    """Return the hits with their labels, their locations and their strengths."""
    end_time = context.now if point_in_time.end_time is None else point_in_time.end_time
    with palace.database.snapshot() as connection:
        standings = checkout.standings(find_origin(hit.drawer) for hit in hits)
        drawers = [drawer for hit in hits for drawer in hit.drawers]
        supersessions = find_supersessions(connection, [drawer.id for drawer in drawers], end_time)
        labels_by_row = note_labels.labels_of(connection, [hit.row for hit in hits])
        judged = feedback_rows.judgements(connection, [hit.row for hit in hits])
        citations = Files(context).of_drawers(connection, {drawer.id: drawer.place.wing for drawer in drawers})
        display_fields = [
            _display_fields(connection, hit, matched_words)
            | {"parts": view_parts(hit, supersessions, citations)}
            | ({"feedback": judged[hit.row].label} if hit.row in judged else {})
            for hit in hits
        ]
    states = task_states(context, point_in_time, hits)
    strengths = strengths_of([hit.score for hit in hits], is_uncertain)
    return tuple(
        replace(
            _view(
                hit,
                standings[find_origin(hit.drawer)],
                join_summaries(
                    citations.get(hit.drawer.id, NOTHING),
                    [citations.get(part.drawer.id, NOTHING) for part in hit.parts if part.drawer.id != hit.drawer.id],
                ),
                supersessions.get(hit.drawer.id),
                states.get(hit.drawer.id, ""),
                labels_by_row.get(hit.row, note_labels.NO_LABEL),
            ),
            strength=strength,
            **fields,
        )
        for hit, strength, fields in zip(hits, strengths, display_fields, strict=True)
    )


def _visible_texts(hit: Hit) -> Iterator[str]:
    yield hit.text
    yield from (neighbour.text for neighbour in hit.context)


def _display_fields(connection: Connection, hit: Hit, matched_words: frozenset[str]) -> dict[str, Any]:
    """Return where a hit is, which sentence of it is quoted and what is beside it, as fields of `HitView`."""
    path = hit.drawer.source.key[-1] if hit.drawer.source.kind == "document" else ""
    as_prose = is_prose(hit.drawer.kind, path)
    own_section = next((part for part in hit.parts if part.drawer.id == hit.drawer.id and path), None)
    if own_section is None:
        quote = find_quote(hit.text, hit.turns, matched_words, as_prose)
    else:  # the hit's title and id are this section's: a sentence of the other one would stand under a wrong heading
        start = own_section.start
        sentence = find_quote(hit.text[start : own_section.end], (), matched_words, as_prose)
        quote = sentence._replace(start=start + sentence.start, end=start + sentence.end)
    quoted_part = next((part for part in hit.parts if part.start <= quote.start < part.end), None)
    quoted_drawer, offset = (hit.drawer, 0) if quoted_part is None else (quoted_part.drawer, quoted_part.start)
    location = locate(connection, quoted_drawer, quote.start - offset)
    return {
        "location": location.label,
        "path": location.path,
        "line": location.line,
        "short_id": short_id(connection, hit.drawer.id, SHORTEST_ID),
        "quoted": quote.text,
        "quoted_at": quote.start,
        "context": tuple(
            replace(_neighbour(beside), short_id=short_id(connection, beside.drawer.id, SHORTEST_ID))
            for beside in hit.context
        ),
    }


def _query(request: SearchRequest, now: Micros, as_of: Micros | None) -> Query:
    """Return the query for a request; the palace is not read."""
    return Query(
        text=request.query,
        wing=request.wing,
        room=request.room,
        kind=request.kind or ("note" if request.filed_as or request.min_importance is not None else None),
        since=moment(request.since, now, "--since"),
        until=moment(request.until, now, "--until"),
        branch=request.branch,
        tags=frozenset(tag.strip().lower() for tag in request.tags),
        as_of=as_of,
        limit=request.limit,
        budget=request.budget,
        external=request.external,
        reasoning=request.reasoning,
        stretches=not request.drawers,
        disabled_stages=frozenset(request.without),
    )


def _advice(palace: Palace, request: SearchRequest, answer: Answer) -> str:
    """Say in one sentence why nothing was found, and what to try."""
    options = [f"--{option}" for name, option in _FILTER_OPTIONS.items() if getattr(request, name) not in (None, ())]
    wider = f"without {' and '.join(options)}" if options else "a name, a path or an error as it was written"
    if answer.below:
        if not request.explain:
            return f"No candidate is likely to answer: try {wider}, or see the nearest ones with --explain."
        return (
            f"None of {answer.total:,} candidates is likely to answer (chance {answer.chance:.2f}, minimum "
            f"{ANSWER_FLOOR}): try {wider}."
        )
    with palace.database.snapshot() as connection:
        if not drawers.count_drawers(connection):
            return "The palace has no drawers yet: fill it with 'palazzo mine DIRECTORY' or 'palazzo feed'."
    return f"Nothing {'there ' if options else ''}contains any of these words: try {wider}."


def _among(context: Context, connection: Connection, request: SearchRequest) -> frozenset[int] | None:
    """Return the drawers, live and retired, that pass the filters without an index; None for all."""
    check_importance(request.min_importance)
    row_sets = []
    if request.source is not None:
        row_sets.append(
            drawers.drawers_of_sources(connection, source_filter.sources_at(context, connection, request.source))
        )
    if request.host is not None:
        row_sets.append(drawers.drawers_of_sources(connection, session_rows.sources_of_host(connection, request.host)))
    if request.filed_as or request.min_importance is not None:
        kinds = [label("--filed-as", raw_label) for raw_label in request.filed_as]
        row_sets.append(note_labels.drawers_labelled(connection, kinds, request.min_importance))
    return frozenset.intersection(*row_sets) if row_sets else None


def check_importance(least: float | None) -> None:
    """Raise UsageError for an invalid importance."""
    if least is not None and not 0 <= least <= 1:
        raise UsageError(f"--min-importance is {least:g}; it must be between 0 and 1.")


def _answer(palace: Palace, search_query: Query, checkout: Checkout) -> tuple[Answer, int]:
    """Return the answer, and how many of the best hits are left out because their branch is not merged here.

    If a branch is requested, its hits are shown.
    """
    answer = palace.search(search_query)
    if checkout.look is None or search_query.branch is not None:
        return answer, 0
    checkout.standings(find_origin(drawer) for hit in (*answer.hits, *answer.below) for drawer in hit.drawers)
    left_out = sum(checkout.is_hidden(drawer) for hit in answer.hits for drawer in hit.drawers)
    if left_out or any(checkout.is_hidden(hit.drawer) for hit in answer.below):
        answer = palace.search(replace(search_query, look=checkout.look, but=checkout.is_hidden))
    return answer, left_out


def _unshown(left_out: int) -> str:
    if not left_out:
        return ""
    hits = f"{count_noun(left_out, 'hit')} {agree(left_out)}"
    return f"{hits} left out, of branches that are not merged into what is checked out (setting branch_policy)."


def _describe_untrusted(left_out: int) -> str:
    """Say what was left out of a search that does not take untrusted content."""
    if not left_out:
        return ""
    drawers_left_out = f"{count_noun(left_out, 'drawer')} that {agree(left_out, 'matches', 'match')} better"
    return (
        f"{drawers_left_out} {agree(left_out)} left out as untrusted (foreign text, or words of a session that had "
        "read some): include external content to see them."
    )


def _view(
    hit: Hit,
    branch_status: BranchStatus,
    summary: CitationSummary,
    supersession: SupersededView | None,
    state: str,
    note_label: Label,
) -> HitView:
    drawer = hit.drawer
    return HitView(
        id=drawer.id,
        score=round(hit.score, 4),
        text=hit.text,
        truncated=hit.truncated,
        wing=drawer.place.wing,
        room=drawer.place.room,
        kind=drawer.kind,
        title=title_of(drawer),
        created_at=drawer.created_at,
        recorded_at=drawer.recorded_at,
        role=drawer.role,
        author=drawer.author,
        source=source_of(drawer),
        trust=least_trust(*(part.trust for part in hit.drawers)),
        branch=drawer.branch,
        commit=drawer.commit,
        visibility=branch_status.visibility,
        freshness=summary.freshness,
        why=hit.why,
        turns=_turns(hit.turns),
        superseded=supersession,
        label=branch_status.label,
        citations=summary.citations,
        cited=summary.remark,
        state=state,
        tags=drawer.tags,
        filed_as=note_label.filed_as,
        importance=note_label.importance,
        length=hit.length + hit.later,
        copies=len(hit.copies),
        reasons=tuple(ReasonView(reason.name, reason.value, reason.most, reason.weight) for reason in hit.reasons),
    )


def _neighbour(neighbour: Neighbour) -> NeighbourView:
    drawer = neighbour.drawer
    return NeighbourView(
        id=drawer.id,
        position=neighbour.position,
        hit=neighbour.shown_at,
        role=drawer.role,
        author=drawer.author,
        created_at=drawer.created_at,
        trust=drawer.trust,
        text=neighbour.text,
        truncated=neighbour.truncated,
        turns=_turns(neighbour.turns),
        length=len(drawer.text),
    )


def _turns(turns: Sequence[Turn]) -> tuple[TurnView, ...]:
    return tuple(TurnView(turn.role, turn.author, turn.start, turn.end) for turn in turns)
