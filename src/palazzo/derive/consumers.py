"""The consumers of the log: their names, and what each does, in words for a person."""

from __future__ import annotations

from typing import Any

from palazzo.derive.anchoring import ANCHOR_CONSUMER
from palazzo.derive.claiming import ClaimConsumer
from palazzo.derive.lagging import BackgroundConsumer
from palazzo.derive.mending import FAILURE_CONSUMER
from palazzo.derive.naming import MENTION_CONSUMER
from palazzo.derive.summing import DIGEST_CONSUMER
from palazzo.model import Micros

_ACTIVITIES = {
    "cut": "cutting into drawers",
    "taint": "marking what came from outside",
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
    """Return what a consumer does, in words. One of another release is named as it is."""
    return _ACTIVITIES.get(consumer, consumer)


def lagging_consumers(time: Micros) -> list[BackgroundConsumer[Any]]:
    """Return the consumers that lag. `time` is noted with the conflicts that they find."""
    return [ClaimConsumer(time), MENTION_CONSUMER, DIGEST_CONSUMER, FAILURE_CONSUMER, ANCHOR_CONSUMER]
