"""Proactive context: the few memories that the current text calls for and that an agent gets without asking.

Nothing is better than noise. A memory must score above a threshold that ordinary prompts hardly ever reach; a reminder
must be due; a to-do must be overdue or about the same subject; a fact must be about something that the text names. All
of it comes from a few wings, and has enough trust for injection according to the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from palazzo.archive import task_notes
from palazzo.archive.task_notes import Due, Moment
from palazzo.frozen_class import frozen
from palazzo.index import presentation
from palazzo.index.presentation import Hit
from palazzo.index.signals import belongs
from palazzo.injection import thresholds
from palazzo.injection.injectable_facts import Audience, no_commits
from palazzo.injection.named_facts import named_facts
from palazzo.injection.recent_turns import has_said, has_told
from palazzo.model import Drawer, Micros, Trust
from palazzo.store import digest_rows
from palazzo.store.database import Connection
from palazzo.store.digest_rows import DigestLine
from palazzo.store.fact_rows import Version
from palazzo.store.injection_worth import worth_of
from palazzo.store.task_rows import Task
from palazzo.text.stopwords import STOP_WORDS
from palazzo.text.token_counts import estimate_tokens
from palazzo.text.word_forms import index_form, terms

LINE = 20
"""Tokens of an entry besides its text: its id, its date, its author."""
_SHORT_SHARE = 0.5
"""Maximum share of the budget for reminders, to-dos and facts together. Memories get the rest and whatever these leave
unused.
"""
_SAME_THING = 0.5
"""Share of a to-do's significant words that must occur; at least two of them if it has that many."""
_MIN_MATCHES = 2
"""Minimum number of significant words for a memory. A single word that a few drawers contain scores above any
threshold.
"""
ON_BRANCH = 1.05
"""Factor on the score of a memory from the checked-out branch. It affects only the order; it does not help a memory
pass a threshold. Not fitted, because no labelled prompts have branches: of two memories with similar scores, this one
comes first.
"""
T = TypeVar("T")


def _nobody(drawer: Drawer) -> bool:
    return False


@frozen
class Around:
    """What a session adds to the given text. Every field may be empty.

    `subject` are words of the previous turn that a short prompt continues, `answer` is the agent's last message,
    `branch` is the checked-out branch (None if there is none). `is_own` says whether a drawer comes from this session
    itself.
    """

    subject: str = ""
    answer: str = ""
    branch: str | None = None
    is_own: Callable[[Drawer], bool] = _nobody


@frozen
class ProactiveRequest:
    """The given text, the wings to search, and the time. `files` are names of the opened files."""

    words: str
    wings: tuple[str, ...]
    now: Micros
    trusts: frozenset[str]
    files: tuple[tuple[str, str | None], ...] = ()
    around: Around = Around()
    commits_here: Callable[[Collection[str]], Collection[str]] = no_commits

    @property
    def search_text(self) -> str:
        """Return the words that memories are searched by."""
        return f"{self.around.subject}\n{self.words}" if self.around.subject else self.words


class RelatedItems(NamedTuple):
    """Entries other than memories that match the given text, each list with the closest first."""

    reminders: list[Due]
    todos: list[Task]
    facts: list[Version]
    threads: list[DigestLine]


def called_for(connection: Connection, request: ProactiveRequest, near: Iterable[Hit] = ()) -> RelatedItems:
    """Return due reminders, to-dos that are overdue or on the same subject, and facts about things named.

    Also return open ends of sessions on the same subject; they are looked for in the hits `near` of a search.
    """
    audience = Audience(request.wings, request.now, request.commits_here)
    facts = named_facts(connection, request.words, request.trusts, audience)
    return RelatedItems(
        _reminders(connection, request),
        _todos(connection, request),
        list(facts),
        list(_threads(connection, request, near)),
    )


def is_left_out(request: ProactiveRequest, drawer: Drawer) -> bool:
    """Return whether a drawer must not be injected: its trust is too low, or it comes from the same session."""
    return drawer.trust not in request.trusts or request.around.is_own(drawer)


def calls_for_memories(connection: Connection, request: ProactiveRequest) -> bool:
    """Return whether the words are enough to search memories: `go on` and `yes, the second` are not."""
    return len(_extract_topic_stems(connection, request.search_text)) >= _MIN_MATCHES


def worth_telling(
    connection: Connection, hits: Iterable[Hit], request: ProactiveRequest, floor: float, limit: int
) -> list[Hit]:
    """Return the best hits of several searches that may be injected: above the floor, without duplicates.

    The floor was fitted with vectors. A hit found by its words alone must contain several of the words given.
    """
    topic_stems, around = _extract_topic_stems(connection, request.search_text), request.around
    good = [
        hit
        for hit in hits
        if hit.score >= floor
        and (
            _has_vector(hit)
            or len(topic_stems.intersection(connection.stems(index_form(hit.drawer.text)))) >= _MIN_MATCHES
        )
        and not has_said(request.words, hit.drawer.text, 1.0)
        and not has_told(around.answer, hit.drawer.id, hit.drawer.text)
    ]
    good.sort(key=lambda hit: (-hit.score * _lift(hit.drawer, around), -hit.drawer.created_at))
    whole = (replace(hit, text=hit.drawer.text, truncated=False, context=(), turns=()) for hit in good)
    return list(thresholds.filter_hits(presentation.fold(whole, limit), floor, limit))


def _lift(drawer: Drawer, around: Around) -> float:
    return ON_BRANCH if belongs(drawer.branch, around.branch) else 1.0


def fit_budget(
    related_items: RelatedItems, hits: Sequence[Hit], texts: Sequence[str], limit: int, budget: int
) -> tuple[RelatedItems, list[Hit]]:
    """Return what fits the budget, at most `limit` of each; `texts` are the facts in words.

    Short entries are injected whole or not at all; a memory may be cut, and then says so.
    """
    remaining = int(budget * _SHORT_SHARE)
    reminders, remaining = _fit_entries(
        related_items.reminders, [due.task.text for due in related_items.reminders], limit, remaining
    )
    todos, remaining = _fit_entries(related_items.todos, [task.text for task in related_items.todos], limit, remaining)
    facts, remaining = _fit_entries(related_items.facts, texts, limit, remaining)
    threads, remaining = _fit_entries(
        related_items.threads, [line.words for line in related_items.threads], limit, remaining
    )
    rest = remaining + budget - int(budget * _SHORT_SHARE) - LINE * len(hits)
    visible_hits = (
        [hit for hit in presentation.within_budget(hits, rest) if hit.text] if rest >= presentation.LEAST_SHOWN else []
    )
    return RelatedItems(reminders, todos, facts, threads), visible_hits


def _has_vector(hit: Hit) -> bool:
    return any(reason.name == "vector" for reason in hit.reasons)


def _extract_topic_stems(connection: Connection, text: str) -> frozenset[str]:
    """Return stems of the words that show a text's subject."""
    return frozenset(stem for term in terms(text) if term not in STOP_WORDS for stem in connection.stems(term))


def _fit_entries(entries: Sequence[T], texts: Sequence[str], limit: int, budget: int) -> tuple[list[T], int]:
    selection: list[T] = []
    for entry, text in zip(entries, texts, strict=True):
        cost = estimate_tokens(text) + LINE
        if cost <= budget and len(selection) < limit:
            selection.append(entry)
            budget -= cost
    return selection, budget


# --- reminders and to-dos ----------------------------------------------------------------------------------


def _reminders(connection: Connection, request: ProactiveRequest) -> list[Due]:
    moment = Moment(request.now, request.files, request.words)
    due_by_row = {due.task.row: due for wing in request.wings for due in task_notes.due(connection, moment, wing)}
    allowed_rows = _find_allowed_rows(connection, [due.task for due in due_by_row.values()], request.trusts)
    return [due for due in due_by_row.values() if due.task.row in allowed_rows]


def _todos(connection: Connection, request: ProactiveRequest) -> list[Task]:
    open_tasks = [task for wing in request.wings for task in task_notes.open_todos(connection, wing)]
    if not open_tasks:
        return []
    stems = frozenset(connection.stems(index_form(request.words)))
    overdue = {task.row for task in open_tasks if task.due_at is not None and task.due_at <= request.now}
    relevant_tasks = [task for task in open_tasks if task.row in overdue or _is_about(connection, task.text, stems)]
    allowed_rows = _find_allowed_rows(connection, relevant_tasks, request.trusts)
    return sorted(
        (task for task in relevant_tasks if task.row in allowed_rows), key=lambda task: task.row not in overdue
    )


def _threads(connection: Connection, request: ProactiveRequest, near: Iterable[Hit]) -> Iterator[DigestLine]:
    """Yield what sessions left open, the newest first. The session's own work is left out: its agent knows it."""
    rows = [hit.row for hit in near]
    if not rows:
        return
    stems = frozenset(connection.stems(index_form(request.words)))
    for line in digest_rows.open_in(connection, rows):
        if not line.is_untrusted and _is_about(connection, line.words, stems):
            yield line


def _is_about(connection: Connection, text: str, stems: Collection[str]) -> bool:
    """Return whether enough of the words that show a text's subject occur."""
    topic_stems = _extract_topic_stems(connection, text)
    common = sum(stem in stems for stem in topic_stems)
    return common >= min(2, len(topic_stems)) and common >= _SAME_THING * len(topic_stems) and common > 0


def _find_allowed_rows(connection: Connection, candidates: Sequence[Task], trusts: Collection[Trust | str]) -> set[int]:
    """Return row ids of the tasks that still exist and may be injected."""
    worth = worth_of(connection, (task.item for task in candidates))
    return {task.row for task in candidates if task.item in worth and worth[task.item].trust in trusts}
