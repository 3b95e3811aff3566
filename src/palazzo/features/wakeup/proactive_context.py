"""proactive_context: suggest memories relevant to the current text; usually none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from palazzo.archive import diary_entries
from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import MERGED, Checkout, find_origin, with_label
from palazzo.features.facts import fact_results
from palazzo.features.search.hit_freshness import NOTHING, Files
from palazzo.features.search.hits import find_supersessions, title_of
from palazzo.features.tasks.task_results import file_names, reminder_view, todo_view
from palazzo.features.wakeup.contract import MemoryView, ProactiveContextRequest, ProactiveContextResult, ThreadView
from palazzo.index.query import Query
from palazzo.injection import proactive
from palazzo.injection.proactive import Around, ProactiveRequest, is_left_out
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import USERS_WING, Micros
from palazzo.operations.arguments import check_place, label
from palazzo.security.trust_order import trusted_down_to
from palazzo.store import feedback_rows, note_labels, place_rows
from palazzo.text.token_counts import estimate_tokens

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import BranchStatus
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.index.presentation import Hit
    from palazzo.injection.proactive import RelatedItems
    from palazzo.model import Drawer
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine

_MOST = 50
_LOOKED_AT = 30
"""The most hits of each wing that are examined: few of the best are above the floor."""
_LONGEST = 20_000
"""The most characters of the given text that are examined, from its end: a prompt ends with its question."""


def proactive_context(context: Context, request: ProactiveContextRequest) -> ProactiveContextResult:
    """Suggest memories, reminders, to-dos, open threads and facts relevant to a text. Usually none."""
    return called_for(context, request, Around())


def called_for(context: Context, request: ProactiveContextRequest, around: Around) -> ProactiveContextResult:
    """Return the same suggestions, given the context that a session adds `around` the text."""
    _check(request)
    checkout = Checkout(context)
    around = replace(around, branch=checkout.boosted_branch)
    floor = max(context.settings.number("proactive_floor") / 100, request.floor or 0.0)
    with context.reading().database.snapshot() as connection:
        situation = _build_situation(context, connection, request, around)
        if request.wing is None:
            situation = replace(situation, commits_here=checkout.commits_here)
        calls = proactive.calls_for_memories(connection, situation)
    candidates, index = _search_wings(context, request, situation, checkout) if calls else ([], None)
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        worthy_hits = proactive.worth_telling(connection, candidates, situation, floor, request.limit)
        hits = _drop_disproved(connection, worthy_hits, situation.now)
        notices, standings = _standings(connection, checkout, proactive.called_for(connection, situation, candidates))
        fact_texts = [f"{entry.subject} {entry.predicate} {entry.object}" for entry in beliefs.tell(notices.facts)]
        selection, top_hits = proactive.fit_budget(notices, hits, fact_texts, request.limit, request.budget)
        views = fact_results.views(beliefs, selection.facts, situation.now)
        memories = _memories(connection, top_hits)
        hit_statuses = checkout.standings(find_origin(hit.drawer) for hit in top_hits)
        standings |= {hit.drawer.id: hit_statuses[find_origin(hit.drawer)] for hit in top_hits}
        files = Files(context)
        citations = files.of_drawers(connection, {hit.drawer.id: hit.drawer.place.wing for hit in top_hits})
        citations |= files.of_facts(connection, {entry.id: entry.scope for entry in views})
    words = [
        *(entry.text for entry in memories),
        *(due.task.text for due in selection.reminders),
        *(task.text for task in selection.todos),
        *(f"{entry.subject} {entry.predicate} {entry.object}" for entry in views),
        *(line.words for line in selection.threads),
    ]
    return ProactiveContextResult(
        memories=memories,
        reminders=tuple(reminder_view(due.task, due.causes) for due in selection.reminders),
        todos=tuple(todo_view(task, situation.now) for task in selection.todos),
        facts=views,
        threads=tuple(_thread(line) for line in selection.threads),
        wings=situation.wings,
        floor=floor,
        labels=_labels(standings, citations),
        tokens=sum(estimate_tokens(text) + proactive.LINE for text in words),
        index=index,
    )


def _labels(standings: Mapping[str, BranchStatus], citations: Mapping[str, CitationSummary]) -> dict[str, str]:
    """Return the labels of the suggestions, by id."""
    ids = [*standings, *(uid for uid in citations if uid not in standings)]
    labels = {uid: with_label(standings.get(uid, MERGED).label, citations.get(uid, NOTHING).remark) for uid in ids}
    return {uid: label for uid, label in labels.items() if label}


def _standings(
    connection: Connection, checkout: Checkout, notices: RelatedItems
) -> tuple[RelatedItems, dict[str, BranchStatus]]:
    """Return the suggestions other than memories, without hidden ones, and the branch status of each by id."""
    tasks = [*(due.task.uid for due in notices.reminders), *(task.uid for task in notices.todos)]
    items, facts = [*tasks, *(line.quote.item for line in notices.threads)], [entry.uid for entry in notices.facts]
    standings = checkout.of_ids(connection, items, facts)

    def is_visible(uid: str) -> bool:
        return not checkout.hides(standings.get(uid, MERGED))

    visible_notices = notices._replace(
        reminders=[due for due in notices.reminders if is_visible(due.task.uid)],
        todos=[task for task in notices.todos if is_visible(task.uid)],
        facts=[entry for entry in notices.facts if is_visible(entry.uid)],
        threads=[line for line in notices.threads if is_visible(line.quote.item)],
    )
    visible_uids = {due.task.uid for due in visible_notices.reminders} | {task.uid for task in visible_notices.todos}
    visible_uids |= {entry.uid for entry in visible_notices.facts} | {
        line.quote.item for line in visible_notices.threads
    }
    return visible_notices, {uid: entry for uid, entry in standings.items() if uid in visible_uids}


def _check(request: ProactiveContextRequest) -> None:
    if not request.context.strip():
        raise UsageError("The context is empty: give a text.")
    if request.floor is not None and not 0 <= request.floor <= 1:
        raise UsageError(f"--floor is {request.floor:g}; it must be between 0 and 1.")
    if not 1 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {_MOST}.")
    if request.budget < 1:
        raise UsageError(f"The budget is {request.budget} tokens; it must be at least 1.")


def _build_situation(
    context: Context, connection: Connection, request: ProactiveContextRequest, around: Around
) -> ProactiveRequest:
    """Return the text, the existing wings and the files to search for."""
    wing_name, _ = check_place(connection, request.wing, None, context.notice)
    own = () if request.agent is None else diary_entries.wings_of(diary_entries.agent_name(request.agent))
    known_wings = set(place_rows.wing_names(connection))
    wings = [wing for wing in dict.fromkeys((wing_name or context.home, *own, USERS_WING)) if wing in known_wings]
    trusts = trusted_down_to(context.settings.text("auto_inject_trust"))
    files = tuple(name for file in request.files for name in file_names(context, file))
    words = request.context[-_LONGEST:]
    return ProactiveRequest(words, tuple(wing for wing in wings if wing), context.now, frozenset(trusts), files, around)


def _search_wings(
    context: Context, request: ProactiveContextRequest, situation: ProactiveRequest, checkout: Checkout
) -> tuple[list[Hit], Literal["ready", "keyword-only", "building", "without-tokens"]]:
    """Return the best hits of each wing, searched separately so that hits of one wing cannot displace another's."""
    palace = context.reading()
    kinds = [label("--filed-as", raw_label) for raw_label in request.filed_as]
    among = None
    if kinds:
        with palace.database.snapshot() as connection:
            among = note_labels.drawers_labelled(connection, kinds)

    def but(drawer: Drawer) -> bool:
        return is_left_out(situation, drawer) or checkout.is_hidden(drawer)

    look = checkout.look
    hits: list[Hit] = []
    index: Literal["ready", "keyword-only", "building", "without-tokens"] = "ready"
    for wing in situation.wings:
        query = Query(
            situation.search_text,
            wing,
            kind="note" if kinds else None,
            limit=_LOOKED_AT,
            budget=1,
            among=among,
            but=but,
            look=look,
            waits_for_model=context.waits_for_model,
            certain_only=True,
        )
        answer = palace.search(query)
        hits += answer.hits
        index = answer.index if answer.index != "ready" else index
    return hits, index


def _drop_disproved(connection: Connection, hits: Sequence[Hit], now: Micros) -> list[Hit]:
    """Return the hits that are neither superseded nor judged misleading or outdated.

    To-dos and reminders are left out as well: they are suggested separately.
    """
    over = find_supersessions(connection, [hit.drawer.id for hit in hits], now)
    judged = feedback_rows.judgements(connection, [hit.row for hit in hits])
    rejected_rows = {row for row, judgement in judged.items() if judgement.balance < 0}
    return [
        hit
        for hit in hits
        if hit.drawer.id not in over and hit.row not in rejected_rows and hit.drawer.kind not in ("todo", "reminder")
    ]


def _thread(line: DigestLine) -> ThreadView:
    return ThreadView(line.quote.item, line.words, line.wing, line.session, line.role, line.said_at)


def _memories(connection: Connection, hits: Sequence[Hit]) -> tuple[MemoryView, ...]:
    labels_by_row = note_labels.labels_of(connection, [hit.row for hit in hits])
    return tuple(
        MemoryView(
            id=hit.drawer.id,
            text=hit.text,
            truncated=hit.truncated,
            wing=hit.drawer.place.wing,
            room=hit.drawer.place.room,
            kind=hit.drawer.kind,
            filed_as=labels_by_row.get(hit.row, note_labels.NO_LABEL).filed_as,
            tags=hit.drawer.tags,
            title=title_of(hit.drawer),
            created_at=hit.drawer.created_at,
            role=hit.drawer.role,
            author=hit.drawer.author,
            trust=hit.drawer.trust,
            score=round(hit.score, 4),
        )
        for hit in hits
    )
