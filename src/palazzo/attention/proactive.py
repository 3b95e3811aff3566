"""What may be put before an agent that has not asked: of what is known, the little that the words at hand call for.

Nothing is better than noise. A memory must score above a floor that ordinary prompts hardly ever reach, a reminder must
be due, a to-do overdue or about the same thing, a fact about something that the words name. All of it comes from a few
wings, and is trusted as far as the settings let it be put before an agent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from palazzo.archive import tasks
from palazzo.archive.tasks import Due, Moment
from palazzo.graph.beliefs import Beliefs
from palazzo.model import Micros, Trust
from palazzo.recall import present
from palazzo.recall.present import Hit
from palazzo.store import entities
from palazzo.store.database import Connection
from palazzo.store.facts import Version
from palazzo.store.tasks import Task
from palazzo.store.worth import worth_of
from palazzo.text.names import fold
from palazzo.text.stopwords import STOP_WORDS
from palazzo.text.tokens import estimate_tokens
from palazzo.text.words import index_form, terms

USERS_WING = "user"
"""Where a person keeps what holds in every project."""
LINE = 20
"""Tokens that an entry takes besides its words: its id, its date, who says it."""
_SHORT_SHARE = 0.5
"""Of the budget, what reminders, to-dos and facts may take together; memories have the rest, and what these leave."""
_LONGEST_NAME = 4
"""Words of a name that is looked for in the words at hand."""
_SAME_THING = 0.5
"""Share of a to-do's telling words that must come up, two of them at least where it has as many."""
_CALLING = 2
"""Telling words that call for a memory at least. A single one that a few drawers have scores above any floor."""
T = TypeVar("T")
_EDGES = ".,;:!?()[]{}<>\"'`*"


@dataclass(frozen=True, slots=True)
class Asked:
    """The words at hand, the wings that are told of, and when. `files` are names of those that are opened."""

    words: str
    wings: tuple[str, ...]
    now: Micros
    trusts: frozenset[str]
    files: tuple[tuple[str, str | None], ...] = ()


class Called(NamedTuple):
    """What the words call for besides memories, each with what is nearest first."""

    reminders: list[Due]
    todos: list[Task]
    facts: list[Version]


def called_for(connection: Connection, asked: Asked) -> Called:
    """Return reminders that are due, to-dos that are overdue or about the same thing, and facts about what is named."""
    return Called(_reminders(connection, asked), _todos(connection, asked), list(_facts(connection, asked)))


def calls_for_memories(connection: Connection, words: str) -> bool:
    """Whether the words say enough for a memory to be called for: `go on` and `yes, the second` do not."""
    return len(_telling(connection, words)) >= _CALLING


def worth_telling(connection: Connection, hits: Iterable[Hit], asked: Asked, floor: float, limit: int) -> list[Hit]:
    """Return the best hits of several searches that may be told: above the floor, trusted enough, each said once.

    The floor was fitted with vectors. A hit that was found by its words alone must have several of those at hand.
    """
    telling = _telling(connection, asked.words)
    good = [
        hit
        for hit in hits
        if hit.score >= floor
        and hit.drawer.trust in asked.trusts
        and (_has_vector(hit) or len(telling.intersection(connection.stems(index_form(hit.drawer.text)))) >= _CALLING)
    ]
    good.sort(key=lambda hit: (-hit.score, -hit.drawer.created_at))
    whole = (replace(hit, text=hit.drawer.text, truncated=False, context=(), turns=()) for hit in good)
    return present.fold(whole, limit)


def within(
    called: Called, hits: Sequence[Hit], texts: Sequence[str], limit: int, budget: int
) -> tuple[Called, list[Hit]]:
    """Return what fits the budget, at most `limit` of each; `texts` are the facts in words.

    What is short is told whole or not at all; a memory may be cut, and says so.
    """
    left = int(budget * _SHORT_SHARE)
    reminders, left = _fitting(called.reminders, [due.task.text for due in called.reminders], limit, left)
    todos, left = _fitting(called.todos, [task.text for task in called.todos], limit, left)
    facts, left = _fitting(called.facts, texts, limit, left)
    rest = left + budget - int(budget * _SHORT_SHARE) - LINE * len(hits)
    shown = [hit for hit in present.within_budget(hits, rest) if hit.text] if rest >= present.LEAST_SHOWN else []
    return Called(reminders, todos, facts), shown


def _has_vector(hit: Hit) -> bool:
    return any(reason.name == "vector" for reason in hit.reasons)


def _telling(connection: Connection, text: str) -> frozenset[str]:
    """Stems of the words that tell what a text is about."""
    return frozenset(stem for term in terms(text) if term not in STOP_WORDS for stem in connection.stems(term))


def _fitting(found: Sequence[T], texts: Sequence[str], limit: int, left: int) -> tuple[list[T], int]:
    kept: list[T] = []
    for one, text in zip(found, texts, strict=True):
        cost = estimate_tokens(text) + LINE
        if cost <= left and len(kept) < limit:
            kept.append(one)
            left -= cost
    return kept, left


# --- reminders and to-dos ----------------------------------------------------------------------------------


def _reminders(connection: Connection, asked: Asked) -> list[Due]:
    moment = Moment(asked.now, asked.files, asked.words)
    found = {due.task.row: due for wing in asked.wings for due in tasks.due(connection, moment, wing)}
    trusted = _trusted(connection, [due.task for due in found.values()], asked.trusts)
    return [due for due in found.values() if due.task.row in trusted]


def _todos(connection: Connection, asked: Asked) -> list[Task]:
    found = [task for wing in asked.wings for task in tasks.open_todos(connection, wing)]
    if not found:
        return []
    said = frozenset(connection.stems(index_form(asked.words)))
    overdue = {task.row for task in found if task.due_at is not None and task.due_at <= asked.now}
    called = [task for task in found if task.row in overdue or _is_about(connection, task.text, said)]
    trusted = _trusted(connection, called, asked.trusts)
    return sorted((task for task in called if task.row in trusted), key=lambda task: task.row not in overdue)


def _is_about(connection: Connection, text: str, said: Collection[str]) -> bool:
    """Whether enough of the words that tell what a text is about come up."""
    telling = _telling(connection, text)
    common = sum(stem in said for stem in telling)
    return common >= min(2, len(telling)) and common >= _SAME_THING * len(telling) and common > 0


def _trusted(connection: Connection, found: Sequence[Task], trusts: Collection[Trust | str]) -> set[int]:
    """Row ids of the tasks that are there still, and may be told."""
    worth = worth_of(connection, (task.item for task in found))
    return {task.row for task in found if task.item in worth and worth[task.item].trust in trusts}


# --- facts -------------------------------------------------------------------------------------------------


def _facts(connection: Connection, asked: Asked) -> Iterator[Version]:
    """What holds now of what the words name, the newest first."""
    named = entities.known_among(connection, names_in(asked.words), entities.LATEST)
    if not named:
        return
    beliefs = Beliefs(connection)
    found = {version.row: version for entity in named for version in beliefs.about(entity)}
    held = [one for one in found.values() if one.holds_at(asked.now) and one.superseded_by is None]
    told = beliefs.tell(held)
    for version, fact in sorted(zip(held, told, strict=True), key=lambda pair: -pair[0].row):
        speakers = {one.stated_by for one in fact.provenance}
        trust = "user" if speakers == {"user"} else "agent"
        if trust in asked.trusts and fact.wing in (None, *asked.wings):
            yield version


def names_in(words: str) -> frozenset[str]:
    """Return what may be a name in a text, folded: runs of a few words, between two that say something."""
    folded = " ".join(fold(word.strip(_EDGES)) for word in words.split()).split()
    found = set()
    for start in range(len(folded)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(folded)) + 1):
            if folded[start] not in STOP_WORDS and folded[end - 1] not in STOP_WORDS:
                found.add(" ".join(folded[start:end]))
    return frozenset(found)
