"""Texts that a consumer could not process: what commands say of them, and that the remedy they name works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.features.hooks.test_hook import START

from palazzo.derived import async_consumer
from palazzo.derived.claim_consumer import ClaimBatch, ClaimConsumer
from palazzo.errors import ConsumerStopped
from palazzo.features.facts.contract import KgAddRequest, KgConflictsRequest, KgSuggestRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_conflicts import kg_conflicts
from palazzo.features.facts.kg_suggest import kg_suggest
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.service.background_process import failure_file, note_failure
from palazzo.features.upkeep.contract import DoctorRequest, RepairRequest, StatusRequest, VerifyRequest
from palazzo.features.upkeep.doctor import doctor
from palazzo.features.upkeep.repair import repair
from palazzo.features.upkeep.status import status
from palazzo.features.upkeep.verify import verify
from palazzo.knowledge import compared_text
from palazzo.knowledge.compared_text import ComparedText
from palazzo.model import Micros
from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.context import Context
from palazzo.store import keyword_columns
from palazzo.store.database import Connection

NOTES = (
    "The gateway listens on port 8443.",
    "The broker listens on port 5672, says Quetzalcoatl.",
    "The gateway listens on port 9443.",
)


class FailingClaims(ClaimConsumer):
    """Claims; fails on the drawer with a certain name."""

    def make(self, connection: Connection, things: Sequence[int]) -> ClaimBatch:
        if any("Quetzalcoatl" in keyword_columns.body_of(connection, thing) for thing in things):
            raise ValueError("Quetzalcoatl")
        return super().make(connection, things)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A palace with three notes, of which claims could not be read from the second."""
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
    with Context(tmp_path / "palace.db", tmp_path, variables) as context:
        for text in NOTES:
            remember(context, RememberRequest(text))
        yield context


def let_claims_fail(context: Context) -> None:
    async_consumer.follow(context.writing().database, FailingClaims(Micros(1)))


def findings(context: Context, name: str) -> list[Diagnosis]:
    all_findings = doctor(context, DoctorRequest(canaries=False)).findings
    return [finding for finding in all_findings if finding.name == name]


def test_what_is_set_aside_is_named_and_the_rest_is_answered(context: Context, tmp_path: Path) -> None:
    let_claims_fail(context)
    conflicts, suggestions = kg_conflicts(context, KgConflictsRequest()), kg_suggest(context, KgSuggestRequest())
    assert conflicts.count == 1
    assert {suggestion.subject for suggestion in suggestions.suggestions} == {"gateway"}
    assert (
        conflicts.note
        == suggestions.note
        == "Claims could not be extracted from 1 text; 'palazzo verify' names the affected texts."
    )
    (report,) = findings(context, "set aside")
    assert "reading claims failed (ValueError)" in report.detail
    assert report.mend.startswith("palazzo repair; ")
    log = Path(report.mend.rpartition(" ")[2]).read_text()
    assert "set aside (ValueError)" in log
    assert "Quetzalcoatl" not in log.replace('"Quetzalcoatl" in', "").replace('ValueError("Quetzalcoatl")', "")
    (check,) = [suggestion for suggestion in verify(context, VerifyRequest()).checks if not suggestion.ok]
    assert check.name == "set aside"
    assert report.detail.partition(":")[0] in check.detail
    assert status(context, StatusRequest()).set_aside == 1


def test_repair_tries_it_again(context: Context) -> None:
    let_claims_fail(context)
    assert repair(context, RepairRequest(dry_run=True)).set_aside == 1
    repair_result = repair(context, RepairRequest())
    assert (repair_result.retried_texts, repair_result.set_aside, repair_result.ok) == (1, 0, True)
    assert findings(context, "set aside") == []
    suggestions = kg_suggest(context, KgSuggestRequest()).suggestions
    assert {suggestion.subject for suggestion in suggestions} == {"gateway", "broker"}


def test_doctor_mends_it(context: Context) -> None:
    let_claims_fail(context)
    fixes = doctor(context, DoctorRequest(canaries=False, fix=True)).fixed
    assert [fix.detail for fix in fixes] == ["rebuilt: nothing; still set aside: 0"]
    assert findings(context, "set aside") == []


def test_the_failure_of_a_consumer_is_told_as_its_own(context: Context) -> None:
    note_failure("claim", ConsumerStopped("It fails on every text."), context.variables)
    line = hook(context, START).tell
    assert line == "Palazzo could not continue with reading claims: It fails on every text. See 'palazzo doctor'."
    (report,) = findings(context, "background")
    assert report.detail == "reading claims failed in its last run: It fails on every text."
    assert not failure_file(context.variables).exists()  # which alone pauses them
    assert report.mend == "palazzo repair"
    repair(context, RepairRequest())
    assert findings(context, "background") == []


def test_a_failure_to_make_vectors_is_over_once_they_are_made(context: Context) -> None:
    note_failure("embedding", OSError("no room"), context.variables)
    (report,) = findings(context, "background")
    assert report.detail == "making vectors failed in its last run: OSError"
    repair(context, RepairRequest())
    assert findings(context, "background") == []


def test_a_fact_that_still_cannot_be_read_stays_set_aside(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    read = compared_text.tell

    def tell(text: str, role: Any) -> ComparedText:
        if "Quetzalcoatl" in text:
            raise ValueError(text)
        return read(text, role)

    kg_add(context, KgAddRequest("Quetzalcoatl", "uses", "Redis"))
    with monkeypatch.context() as failing_rules:
        failing_rules.setattr(compared_text, "tell", tell)
        kg_conflicts(context, KgConflictsRequest())
        assert repair(context, RepairRequest()).set_aside == 2
        assert any("comparing with facts failed" in finding.detail for finding in findings(context, "set aside"))
    assert repair(context, RepairRequest()).set_aside == 0
