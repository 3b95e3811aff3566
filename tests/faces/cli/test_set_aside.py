"""A text on which a rule fails: commands that read claims answer without it and name it, until repair succeeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.derived import async_consumer
from palazzo.derived.claim_consumer import ClaimBatch, ClaimConsumer
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import keyword_columns
from palazzo.store.database import Connection


class FailingClaims(ClaimConsumer):
    """Claims by rules that fail on a text about sites."""

    def make(self, connection: Connection, things: Sequence[int]) -> ClaimBatch:
        if any("framework" in keyword_columns.body_of(connection, thing) for thing in things):
            raise ValueError("framework")
        return super().make(connection, things)


@pytest.fixture
def palazzo_with_failure(palazzo: Command, home: Path) -> Command:
    """Return commands on a palace with two documents, of which claims could be read from one."""
    docs = home / "shop" / "docs"
    (docs / "sites.rst").write_text("Sites\n=====\n\nThe sites framework no longer is.\n")
    (docs / "ports.rst").write_text("Ports\n=====\n\nThe gateway listens on port 8443.\n")
    assert palazzo("mine", "docs").code == 0
    with Palace.open(Path(palazzo.json("status")["palace"])) as palace:
        async_consumer.follow(palace.database, FailingClaims(Micros(1)))
    return palazzo


def test_a_text_that_cannot_be_processed_is_named_until_repair_succeeds(palazzo_with_failure: Command) -> None:
    palazzo = palazzo_with_failure
    note = "Claims could not be extracted from 1 text; 'palazzo verify' names the affected texts."
    for command in ("conflicts", "suggest"):
        answer = palazzo("kg", command)
        assert (answer.code, note in " ".join(answer.out.split())) == (0, True)
    assert palazzo.json("kg", "suggest")["suggestions"][0]["object"] == "8443"
    assert "reading claims failed (ValueError)" in " ".join(palazzo("verify").out.split())
    assert "reading claims failed (ValueError)" in " ".join(palazzo("doctor", "--no-canaries").out.split())
    assert "1 text could not be fully processed" in palazzo("status").out
    repair_message = "Retried 1 text that had been set aside; still set aside: 0."
    assert repair_message in " ".join(palazzo("repair").out.split())
    assert palazzo.json("kg", "conflicts")["note"] == ""
    assert "set aside" not in palazzo("doctor", "--no-canaries").out
    assert palazzo("verify").code == 0
