"""The consumers of the log: their names, and a description of each for people."""

from __future__ import annotations

from typing import Any

from palazzo.derived.async_consumer import BackgroundConsumer
from palazzo.derived.citation_consumer import ANCHOR_CONSUMER
from palazzo.derived.claim_consumer import ClaimConsumer
from palazzo.derived.digest_consumer import DIGEST_CONSUMER
from palazzo.derived.fix_consumer import FAILURE_CONSUMER
from palazzo.derived.mention_consumer import MENTION_CONSUMER
from palazzo.model import Micros

_ACTIVITIES = {
    "cut": "cutting into drawers",
    "taint": "marking untrusted content",
    "keyword": "indexing by keyword",
    "retired": "recording earlier states of drawers",
    "claim": "reading claims",
    "claim/fact": "comparing with facts",
    "mention": "finding names",
    "digest": "digesting sessions",
    "mending": "finding failures and their fixes",
    "anchor": "finding cited files",
    "embed": "making vectors",
    "embedding": "making vectors",  # the process that does it
}


def activity_of(consumer: str) -> str:
    """Return a description of a consumer's work; for a consumer of another release, its name."""
    return _ACTIVITIES.get(consumer, consumer)


def lagging_consumers(time: Micros) -> list[BackgroundConsumer[Any]]:
    """Return the asynchronous consumers. `time` is recorded with the conflicts that they find."""
    return [ClaimConsumer(time), MENTION_CONSUMER, DIGEST_CONSUMER, FAILURE_CONSUMER, ANCHOR_CONSUMER]
