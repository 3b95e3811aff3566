"""The query: the request as received, and the request as understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Drawer, Micros
from palazzo.text import word_forms
from palazzo.text.questions import asks_how, asks_when

LARGEST_LIMIT = 10_000
DEFAULT_LIMIT = 5
_LEAST_OF_NAME = 3
_WORD = re.compile(r"[\w-]+")
DEFAULT_BUDGET = 2000
"""The most tokens of all hits of one answer together."""


@frozen
class Query:
    """A search request. `since` is inclusive, `until` exclusive; None means everywhere or always."""

    text: str
    wing: str | None = None
    room: str | None = None
    kind: str | None = None
    since: Micros | None = None
    until: Micros | None = None
    branch: str | None = None
    limit: int = DEFAULT_LIMIT
    budget: int = DEFAULT_BUDGET
    tags: frozenset[str] = frozenset()
    """Tags that a drawer must all have."""
    among: frozenset[int] | None = None
    """The row ids of the drawers to consider; None for all."""
    as_of: Micros | None = None
    """The point in time to search: `Palace.search` provides its snapshot."""
    home: str | None = None
    """The wing of the caller's project: preferred, not required."""
    checked_out: str | None = None
    """The git branch checked out there: entries that belong to it are preferred. None for no preference."""
    external: bool = True
    """Whether untrusted content counts: text from a web page, an MCP server or a dependency's file."""
    reasoning: bool = False
    """Whether reasoning of agents counts too, below what was said. A search for this `kind` finds it as any other."""
    but: Callable[[Drawer], bool] | None = None
    """Decides which drawers to leave out as if they did not exist: the other drawers do not seem far behind because of
    them.
    """
    look: Callable[[Sequence[Drawer]], None] | None = None
    """Called with the drawers that `but` is about to be asked about, in batches."""
    used: frozenset[int] = frozenset()
    """The row ids of the drawers used in the current session: they lift the drawers that were used together with
    them.
    """
    rerank: bool = False
    """Whether the best candidates are compared with the query token by token, which takes some 100 ms."""
    waits_for_model: bool = True
    """Whether to wait while the model and the vectors are being loaded; otherwise keywords alone answer meanwhile."""
    stretches: bool = False
    """Whether a hit may be the best two drawers of a session or of a document (`stretches`)."""
    certain_only: bool = False
    """Whether an uncertain answer has no hits, not even below the floor, as is right for somebody who did not ask
    (`certainty`).
    """
    disabled_stages: frozenset[str] = frozenset()
    """Stages (`keywords`, `vectors`, `ranking`, `tokens`) and signals to leave out, so that a benchmark can measure the
    effect of each.
    """


@frozen
class ParsedQuery:
    """The meaning of a query: words and phrases for the keyword index, a sentence for the embedder.

    `named` are the authors that it names. Their names are not in the sentence: they stand for the speaker, and would
    only attract other texts about a person.
    """

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    sentence: str
    author_names: frozenset[str] = frozenset()
    asks_when: bool = False
    asks_how: bool = False
    words: frozenset[str] = frozenset()
    home: str | None = None
    """The wing of the caller's project."""
    checked_out: str | None = None
    """The branch that is checked out there."""

    def names_wing(self, wing: str) -> bool:
        """Return whether the question names a wing, or a part of its name that is long enough to be a name."""
        name = wing.lower()
        return name in self.words or any(part in self.words for part in name.split("-") if len(part) > _LEAST_OF_NAME)


def check(query: Query) -> None:
    """Raise UsageError if the request cannot be executed as given."""
    if not query.text.strip():
        raise UsageError("The query is empty: give words to search for.")
    if not 1 <= query.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit is {query.limit}; it must be between 1 and {LARGEST_LIMIT:,}.")
    if query.budget < 1:
        raise UsageError(f"The budget is {query.budget} tokens; it must be at least 1.")
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise UsageError("The time range is inverted: --since must be before --until.")


def understand(query: Query, authors: Iterable[str] = ()) -> ParsedQuery:
    """Parse a query: a long pasted text is reduced to its question. `authors` are the people it may name."""
    question = word_forms.question(query.text)
    patterns = {author: _compile_name_pattern(author) for author in authors}
    matching_patterns = {author: pattern for author, pattern in patterns.items() if pattern.search(question)}
    sentence = question
    for pattern in matching_patterns.values():
        sentence = pattern.sub("", sentence)
    return ParsedQuery(
        terms=tuple(word_forms.terms(query.text)),
        phrases=tuple(word_forms.phrases(query.text)),
        sentence=" ".join(sentence.split()) or question,
        author_names=frozenset(matching_patterns),
        asks_when=asks_when(question),
        asks_how=asks_how(question),
        words=frozenset(_WORD.findall(question.lower())),
        home=query.home,
        checked_out=query.checked_out,
    )


def _compile_name_pattern(author: str) -> re.Pattern[str]:
    """Return a pattern for how a question may name a person: full or first name, with or without possessive."""
    names = dict.fromkeys(name for name in (author, author.split(maxsplit=1)[0]) if len(name) > 1)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b(?:['’]s\b)?", re.IGNORECASE)
