"""proactive_context: suggest memories relevant to the current text; usually none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.features.facts.fact_results import FactView
from palazzo.features.tasks.task_results import ReminderView, TodoView
from palazzo.model import Micros
from palazzo.operations.filters import FiledAs
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import BranchStatus, Checkout
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.index.presentation import Hit
    from palazzo.injection.proactive import Around, ProactiveRequest, RelatedItems
    from palazzo.model import Drawer
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine

BUDGET, LIMIT = 500, 5
_MOST = 50
_LOOKED_AT = 30
"""The most hits of each wing that are examined: few of the best are above the floor."""
_LONGEST = 20_000
"""The most characters of the given text that are examined, from its end: a prompt ends with its question."""


@dataclass(frozen=True, slots=True)
class ProactiveContextRequest:
    """The current text, the agent and its files, and the limits of the answer."""

    context: Annotated[
        str, About("The current text or activity; - reads it from standard input.", positional=True, stdin=True)
    ]
    wing: Annotated[str | None, About("The wing to search instead of the project's.")] = None
    agent: Annotated[
        str | None, About("The agent that gets the suggestions; its own wing is also searched.", metavar="NAME")
    ] = None
    files: Annotated[
        tuple[str, ...],
        About("A file that is being opened; may be given several times.", option="--file", metavar="PATH"),
    ] = ()
    filed_as: FiledAs = ()
    floor: Annotated[
        float | None, About("The minimum score of a memory, if higher than the setting proactive_floor.")
    ] = None
    limit: Annotated[int, About("Maximum number of each kind.")] = LIMIT
    budget: Annotated[int, About("Maximum number of tokens in total.", metavar="TOKENS")] = BUDGET


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A drawer that is likely to help. `text` is its beginning if `truncated` is set."""

    id: str
    text: str
    truncated: bool
    wing: str
    room: str
    kind: str
    filed_as: str
    tags: tuple[str, ...]
    title: str
    created_at: Micros
    role: str
    author: str
    trust: str
    score: float


@dataclass(frozen=True, slots=True)
class ThreadView:
    """Something that a session left open: `id` is the id of the message that says so, `by` its author."""

    id: str
    text: str
    wing: str
    session: str
    by: str
    said_at: Micros


@dataclass(frozen=True, slots=True)
class ProactiveContextResult:
    """The relevant entries; all lists are empty if there are none. `floor` is the score that a memory had to reach."""

    memories: tuple[MemoryView, ...]
    reminders: tuple[ReminderView, ...]
    todos: tuple[TodoView, ...]
    facts: tuple[FactView, ...]
    threads: tuple[ThreadView, ...]
    wings: tuple[str, ...]
    floor: float
    labels: Mapping[str, str]
    """Labels by id: the branch of entries not known to be part of the current checkout, and the state of cited
    files.
    """
    tokens: int
    index: Literal["ready", "keyword-only", "building", "without-tokens"] | None
    """What was searched; null if the text has too few words for a search."""


def proactive_context(context: Context, request: ProactiveContextRequest) -> ProactiveContextResult:
    """Suggest memories, reminders, to-dos, open threads and facts relevant to a text. Usually none.

    Searches the project's wing, the agent's and the one called 'user' for content that may be injected automatically
    (setting auto_inject_trust). A memory must score above a floor that ordinary prompts rarely reach.
    """
    from palazzo.injection.proactive import Around

    return called_for(context, request, Around())


def called_for(context: Context, request: ProactiveContextRequest, around: Around) -> ProactiveContextResult:
    """Return the same suggestions, given the context that a session adds `around` the text."""
    from palazzo.features.branches.branch_labels import Checkout, find_origin
    from palazzo.features.facts import fact_results
    from palazzo.features.search.hit_freshness import Files
    from palazzo.features.tasks.task_results import reminder_view, todo_view
    from palazzo.injection import proactive
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.text.token_counts import estimate_tokens

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
        hits = _drop_superseded(connection, worthy_hits, situation.now)
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
    from palazzo.features.branches.branch_labels import MERGED, with_label
    from palazzo.features.search.hit_freshness import NOTHING

    ids = [*standings, *(uid for uid in citations if uid not in standings)]
    labels = {uid: with_label(standings.get(uid, MERGED).label, citations.get(uid, NOTHING).remark) for uid in ids}
    return {uid: label for uid, label in labels.items() if label}


def _standings(
    connection: Connection, checkout: Checkout, notices: RelatedItems
) -> tuple[RelatedItems, dict[str, BranchStatus]]:
    """Return the suggestions other than memories, without hidden ones, and the branch status of each by id."""
    from palazzo.features.branches.branch_labels import MERGED

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
    from palazzo.archive import diary_entries
    from palazzo.features.tasks.task_results import file_names
    from palazzo.injection.proactive import ProactiveRequest
    from palazzo.model import USERS_WING
    from palazzo.operations.arguments import check_place
    from palazzo.security.trust_order import trusted_down_to
    from palazzo.store import place_rows

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
    from palazzo.index.query import Query
    from palazzo.injection.proactive import is_left_out
    from palazzo.operations.arguments import label
    from palazzo.store import note_labels

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
        )
        answer = palace.search(query)
        hits += answer.hits
        index = answer.index if answer.index != "ready" else index
    return hits, index


def _drop_superseded(connection: Connection, hits: Sequence[Hit], now: Micros) -> list[Hit]:
    """Return the hits that are not superseded, without to-dos and reminders, which are suggested separately."""
    from palazzo.features.search.hits import find_supersessions

    over = find_supersessions(connection, [hit.drawer.id for hit in hits], now)
    return [hit for hit in hits if hit.drawer.id not in over and hit.drawer.kind not in ("todo", "reminder")]


def _thread(line: DigestLine) -> ThreadView:
    return ThreadView(line.quote.item, line.words, line.wing, line.session, line.role, line.said_at)


def _memories(connection: Connection, hits: Sequence[Hit]) -> tuple[MemoryView, ...]:
    from palazzo.features.search.hits import title_of
    from palazzo.store import note_labels

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


OPERATION = Operation(
    "proactive_context",
    ProactiveContextRequest,
    ProactiveContextResult,
    proactive_context,
    scope="read",
    warm=True,
    examples=('palazzo proactive-context "the deploy fails again" --file deploy.sh',),
)
