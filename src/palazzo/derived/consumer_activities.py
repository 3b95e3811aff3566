"""What each consumer does, for a person, and which of them run in the background process.

Commands that only ask what failed load this module, and no consumer.
"""

from __future__ import annotations

_BACKGROUND = {
    "embedding": "making vectors",
    "heading": "indexing titles and paths",
    "mending": "finding failures and their fixes",
    "anchor": "finding cited files",
    "digest": "digesting sessions",
    "mention": "finding names",
    "claim": "reading claims",
}
_OTHERS = {
    "cut": "cutting into drawers",
    "taint": "marking untrusted content",
    "keyword": "indexing by keyword",
    "retired": "recording earlier states of drawers",
    "claim/fact": "comparing with facts",
    "embed": "making vectors",
}
BACKGROUND_ACTIVITIES = tuple(_BACKGROUND)
"""Activities of the background process. If one fails, the others still run."""


def activity_of(consumer: str) -> str:
    """Return a description of a consumer's work; for a consumer of another release, its name."""
    return (_BACKGROUND | _OTHERS).get(consumer, consumer)
