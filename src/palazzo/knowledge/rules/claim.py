"""A claim: what a statement says of what, and what it says held before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from palazzo.knowledge.statement_values import Value
from palazzo.knowledge.statements import Statement

Kind = Literal[
    "version", "port", "path", "boolean", "value", "name", "switch", "instead", "ended",
    "use", "owner", "rename", "deprecated", "dependency", "decision",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement claims. `start` and `end` are where it stands, in code points of its text.

    `predicate` and `object` are what a fact would say; without a predicate it is good for comparing only. `stated`
    is the object in a fact's words where the value alone would say too little. `old` is what
    it says held before. `words` is the bag of words of a claim with a `value`, `about` those of its
    subject, `lead` that of a label before it, `key` the name of a configuration entry,
    `beside` what stands around that, `within` the keys it stands under. A
    `loose` one is told by its value alone: its verb is not known. A `changed` one says that its value is new.
    """

    kind: Kind
    subject: str
    predicate: str
    object: str
    start: int
    end: int
    old: str = ""
    fact_object: str = ""
    value: Value | None = None
    words: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    lead: frozenset[str] = frozenset()
    key: str = ""
    context_lines: frozenset[str] = frozenset()
    parent_keys: tuple[str, ...] = ()
    sentence: str = ""
    loose: bool = False
    changed: bool = False


class Candidate(NamedTuple):
    """A fact that a claim would make."""

    subject: str
    predicate: str
    object: str


def candidate(claim: Claim) -> Candidate | None:
    """Return the fact that a claim is worth, None where it is none by itself."""
    if not claim.predicate:
        return None
    if claim.kind in ("switch", "instead"):
        return Candidate(claim.old, claim.predicate, claim.object)
    if claim.kind == "ended":
        return Candidate(claim.subject or "project", claim.predicate, claim.object)
    return Candidate(claim.subject, claim.predicate, claim.fact_object or claim.object)


def claim(
    statement: Statement, kind: Kind, subject: str, predicate: str, thing: str, old: str = "", part: str = ""
) -> Claim:
    """Return a claim of a statement without a value; `part` is the part of it that says so."""
    return Claim(kind, subject, predicate, thing, statement.start, statement.end, old, sentence=part or statement.text)
