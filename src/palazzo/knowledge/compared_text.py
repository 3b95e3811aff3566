"""A compared text is a text with its statements, claims and words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from palazzo.knowledge.clauses import bag
from palazzo.knowledge.rules.claim import Claim
from palazzo.knowledge.statements import Statement, statements
from palazzo.knowledge.text_claims import claims_of


@dataclass(frozen=True)
class ComparedText:
    """A text prepared for comparison: the whole text, its statements, its claims, and its words."""

    text: str
    statements: tuple[Statement, ...]
    claims: tuple[Claim, ...]

    @cached_property
    def bags(self) -> tuple[frozenset[str], ...]:
        """Return the words of each statement."""
        return tuple(bag(statement.text) for statement in self.statements)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the bag of its words."""
        return bag(self.text)


def tell(text: str, role: str) -> ComparedText:
    """Parse a text for comparison."""
    statement_list = tuple(statements(text, role))
    return ComparedText(
        text, statement_list, tuple(claim for statement in statement_list for claim in claims_of(statement))
    )
