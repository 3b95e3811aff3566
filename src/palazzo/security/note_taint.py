"""Whom to believe for what is written on purpose: notes, diary entries, to-dos, reminders, facts. Pure.

An agent that has met words from outside may write what they tell it to. So what it writes from then on, until its
session ends, is worth no more than those words, unless a person approves it. Only an agent is tainted so: what a person
writes is the person's. `trust` says which words come from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from palazzo.model import Part, Trust

MOST_NAMED = 100
"""Items that are named as what tainted something; of more, the last that were met."""
AGENTS_VARIABLES = (
    *("CLAUDECODE", "OPENCODE", "PI_SESSION_ID", "GEMINI_CLI", "COPILOT_CLI", "CURSOR_AGENT", "AI_AGENT"),
    *("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI"),
)
"""Variables that hosts set in the shells of their agents, and that no shell of a person's has."""


@dataclass(frozen=True, slots=True)
class TrustAssessment:
    """Whom to believe for what somebody states, and the ids of the items from outside that brought that down."""

    trust: Trust
    tainted_by: tuple[str, ...] = ()


PERSON = TrustAssessment("user")
AGENT = TrustAssessment("agent")


def assess_trust(trust: Trust, untrusted_ids: Sequence[str]) -> TrustAssessment:
    """Return whom to believe for one of that trust who has `met` these items from outside, in their order."""
    if trust == "user" or not untrusted_ids:
        return TrustAssessment(trust)
    return TrustAssessment("external", tuple(dict.fromkeys(untrusted_ids))[-MOST_NAMED:])


def from_outside(trust: Trust, parts: Sequence[Part], size: int) -> list[tuple[int, int]]:
    """Return the stretches of an item's text that came from outside: all of it, or those of its parts."""
    if trust == "external":
        return [(0, size)]
    return [(part.start, part.end) for part in parts if part.trust == "external" and part.start < part.end]


def is_agents(variables: Mapping[str, str]) -> bool:
    """Whether these are the variables of a shell in which an agent runs its commands."""
    return any(variables.get(name) for name in AGENTS_VARIABLES)
