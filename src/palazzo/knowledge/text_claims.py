"""Claims of a text: the statements in it that say what holds, what changed and what ended, and their positions.

Pure: the input is a text and its speaker, the output is claims. Precision has priority over recall: text that is a
question, a supposition, a plan, a denial, a recollection, a quotation or a statement about others makes no claim
(`modality`), nor do code, logs and tables (`statements`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from palazzo.knowledge.modality import as_done, spelled_out
from palazzo.knowledge.rules import (
    attributes,
    decisions,
    dependencies,
    endings,
    ownership,
    renames,
    replacements,
    switches,
)
from palazzo.knowledge.rules.claim import Claim, candidate
from palazzo.knowledge.statements import Statement, statements

_IN_WORDS = (switches.find, replacements.find, endings.find, ownership.find, renames.find, dependencies.find)
_IF_NOTHING_ELSE = decisions.find


def read_claims(text: str, role: str) -> list[Claim]:
    """Return the claims of a text; `role` says who speaks."""
    return [claim for statement in statements(text, role) for claim in claims_of(statement)]


def claims_of(statement: Statement) -> Iterator[Claim]:
    """Yield the claims of one statement."""
    statement = as_done(spelled_out(statement))
    claims = list(attributes.find(statement))
    if statement.setting != "entry":
        claims += [claim for find in _IN_WORDS for claim in find(statement)]
        claims += _IF_NOTHING_ELSE(statement) if not any(claim.predicate for claim in claims) else ()
    fact_keys: set[tuple[str, str]] = set()
    for claim in claims:
        fact = candidate(claim)
        if fact is not None and (fact.subject, fact.object) in fact_keys:
            claim = replace(claim, predicate="")
        elif fact is not None:
            fact_keys.add((fact.subject, fact.object))
        yield claim
