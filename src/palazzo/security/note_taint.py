"""Trust of deliberately written content: notes, diary entries, to-dos, reminders, facts. Pure.

An agent that has read untrusted content may write what that content tells it to write. So everything that it writes
from then on, until its session ends, is trusted no more than that content, unless a person approves it. Only agents are
tainted: a person's writing counts as the person's. `trust` says which content is untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from palazzo.frozen_class import frozen
from palazzo.host_names import AGENT_VARIABLES
from palazzo.model import Part, Trust

MOST_NAMED = 100
"""Maximum number of items named as the sources of a taint; if there are more, the last ones read."""
AGENTS_VARIABLES = (*AGENT_VARIABLES, "AI_AGENT")
"""Variables that hosts set in the shells of their agents, and that are not set in a person's shell."""


@frozen
class TrustAssessment:
    """The trust of a statement, and the ids of the untrusted items that lowered it."""

    trust: Trust
    tainted_by: tuple[str, ...] = ()


PERSON = TrustAssessment("user")
AGENT = TrustAssessment("agent")


def assess_trust(trust: Trust, untrusted_ids: Sequence[str]) -> TrustAssessment:
    """Return the effective trust for a source of that trust that has `met` these untrusted items, in order."""
    if trust == "user" or not untrusted_ids:
        return TrustAssessment(trust)
    return TrustAssessment("external", tuple(dict.fromkeys(untrusted_ids))[-MOST_NAMED:])


def from_outside(trust: Trust, parts: Sequence[Part], size: int) -> list[tuple[int, int]]:
    """Return the untrusted spans of an item's text: all of it, or those of its parts."""
    if trust == "external":
        return [(0, size)]
    return [(part.start, part.end) for part in parts if part.trust == "external" and part.start < part.end]


def is_agents(variables: Mapping[str, str]) -> bool:
    """Return whether these are the variables of a shell in which an agent runs its commands."""
    return any(variables.get(name) for name in AGENTS_VARIABLES)
