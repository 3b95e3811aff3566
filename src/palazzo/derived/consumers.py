"""The asynchronous consumers of the log."""

from __future__ import annotations

from typing import Any

from palazzo.derived.async_consumer import BackgroundConsumer
from palazzo.derived.citation_consumer import ANCHOR_CONSUMER
from palazzo.derived.claim_consumer import ClaimConsumer
from palazzo.derived.digest_consumer import DIGEST_CONSUMER
from palazzo.derived.fix_consumer import FAILURE_CONSUMER
from palazzo.derived.heading_consumer import HEADING_CONSUMER
from palazzo.derived.mention_consumer import MENTION_CONSUMER
from palazzo.model import Micros


def lagging_consumers(time: Micros) -> list[BackgroundConsumer[Any]]:
    """Return the asynchronous consumers. `time` is recorded with the conflicts that they find."""
    return [
        HEADING_CONSUMER,
        ClaimConsumer(time),
        MENTION_CONSUMER,
        DIGEST_CONSUMER,
        FAILURE_CONSUMER,
        ANCHOR_CONSUMER,
    ]
