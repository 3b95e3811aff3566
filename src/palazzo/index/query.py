"""What is asked: the request as it came, and the request as it is understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from palazzo.errors import UsageError
from palazzo.model import Drawer, Micros
from palazzo.text import word_forms
from palazzo.text.questions import asks_how, asks_when

LARGEST_LIMIT = 10_000
DEFAULT_LIMIT = 5
_LEAST_OF_NAME = 3
_WORD = re.compile(r"[\w-]+")
DEFAULT_BUDGET = 2000
"""Tokens that the hits of one answer may take together."""


@dataclass(frozen=True, slots=True)
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
    """The row ids of the drawers that are looked at; None for all."""
    as_of: Micros | None = None
    """The moment as of which to look: `Palace.search` gives the snapshot of it."""
    home: str | None = None
    """The wing of the project that is asked from: lifted, not required."""
    checked_out: str | None = None
    """The git branch that is checked out there: what belongs to it is lifted. None for nothing."""
    external: bool = True
    """Whether words of strangers count: what a page, an MCP server or a dependency's file said."""
    but: Callable[[Drawer], bool] | None = None
    """Says which drawers to leave out as if they were not there: none of them makes the others look far behind."""
    look: Callable[[Sequence[Drawer]], None] | None = None
    """Told of the drawers that `but` is about to be asked of, many at a time."""
    used: frozenset[int] = frozenset()
    """The row ids of the drawers that the session that asks has used: they lift those that were used with them."""
    disabled_stages: frozenset[str] = frozenset()
    """Stages (`keywords`, `vectors`, `ranking`) and signals to leave out: how a benchmark tells what each does."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query asks for: words and phrases for the keyword index, a sentence for the embedder.

    `named` are the authors whom it names. Their names are not in the sentence: they stand for who speaks, and would
    only draw near whatever else is about a person.
    """

    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    sentence: str
    author_names: frozenset[str] = frozenset()
    asks_when: bool = False
    asks_how: bool = False
    words: frozenset[str] = frozenset()
    home: str | None = None
    """The wing that is asked from."""
    checked_out: str | None = None
    """The branch that is checked out there."""

    def names_wing(self, wing: str) -> bool:
        """Whether the question names a wing, or a part of its name that is long enough to be a name."""
        name = wing.lower()
        return name in self.words or any(part in self.words for part in name.split("-") if len(part) > _LEAST_OF_NAME)


def check(query: Query) -> None:
    """Raise UsageError when the request cannot be carried out as it was put."""
    if not query.text.strip():
        raise UsageError("There is nothing to search for: the query is empty.")
    if not 1 <= query.limit <= LARGEST_LIMIT:
        raise UsageError(f"The limit is {query.limit}; it must be between 1 and {LARGEST_LIMIT:,}.")
    if query.budget < 1:
        raise UsageError(f"The budget is {query.budget} tokens; it must be at least 1.")
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise UsageError("The time range is inverted: --since must lie before --until.")


def understand(query: Query, authors: Iterable[str] = ()) -> ParsedQuery:
    """Read a query: a pasted wall of text is reduced to its question. `authors` are the people it may name."""
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
    """How a question may name somebody: by the whole name or by its first word, with or without a possessive."""
    names = dict.fromkeys(name for name in (author, author.split(maxsplit=1)[0]) if len(name) > 1)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b(?:['’]s\b)?", re.IGNORECASE)
