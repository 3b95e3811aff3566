"""A claim: the subject of a statement, what the statement says about it, and what it says was true before."""

from __future__ import annotations

from typing import Literal, NamedTuple

from palazzo.frozen_class import frozen
from palazzo.knowledge.statement_values import Value
from palazzo.knowledge.statements import Statement

Kind = Literal[
    "version", "port", "path", "boolean", "value", "name", "switch", "instead", "ended",
    "use", "owner", "rename", "deprecated", "dependency", "decision",
]  # fmt: skip


@frozen
class Claim:
    """A claim that a statement makes. `start` and `end` are its position, in code points of its text.

    `predicate` and `object` are those of a possible fact; a claim without a predicate is used only for comparison.
    `fact_object` is the object in a fact's words if the value alone says too little. `old` is the previous state that
    it names. `words` is the bag of words of a claim with a `value`, `about` the words of its subject, `lead` those of a
    label before it, `key` the name of a configuration entry, `context_lines` the text around that entry, `parent_keys`
    the keys above it. A `loose` claim is recognized only by its value: its verb is unknown. A `changed` claim says that
    its value is new.
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
    """A fact that a claim could create."""

    subject: str
    predicate: str
    object: str


def candidate(claim: Claim) -> Candidate | None:
    """Return the fact for a claim, None if the claim alone does not give one."""
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
    """Return a claim without a value from a statement; `part` is the part of the statement that makes it."""
    return Claim(kind, subject, predicate, thing, statement.start, statement.end, old, sentence=part or statement.text)
