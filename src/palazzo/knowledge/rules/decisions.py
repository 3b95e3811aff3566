"""Rule for decisions that no other rule can express."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.knowledge.clauses import bag
from palazzo.knowledge.modality import asserts
from palazzo.knowledge.rules.claim import Claim, claim
from palazzo.knowledge.statements import Statement
from palazzo.text.lazy_patterns import make_regex

_DECISION = make_regex(
    r"(?:^|[.;:,]\s|\bwe\s(?:have\s|now\s|all\s|just\s)?)(?:decided|agreed|decision)\b(?:\s(?:from|in|at|of)\s[^:]{0,30})?(?::\s|\s(?:that|to|on|against)\s)"
    r"(?P<what>[^;]{8,160}?)(?=[.;]\s|[.;]?$)",
    re.IGNORECASE,
)


def find(statement: Statement) -> Iterator[Claim]:
    """Yield stated decisions."""
    match = _DECISION.search(statement.text) if statement.mentions(("decid", "agreed", "decision")) else None
    if match is None:
        return
    # "won't" and "never" are what decisions are about, so only the part before is looked at.
    if not asserts(statement, match.start(), match.start("what"), match["what"]):
        return
    decision = match["what"].strip()
    if len(bag(decision)) > 1:
        yield claim(statement, "decision", _about(decision), "decided", decision)


def _about(decision: str) -> str:
    """Return what a decision is about: the first name in it, else the project."""
    name = re.search(r"(?<!^)\b[A-Z][\w.-]+(?:\s[A-Z0-9][\w.-]*)*", decision)
    return name[0] if name else "project"
