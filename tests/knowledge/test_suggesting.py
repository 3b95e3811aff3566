"""Facts that the record suggests, conflicts in it, and what has superseded a hit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.knowledge.conftest import Kg

from palazzo.derived import async_consumer, claim_consumer
from palazzo.derived.integrity_checks import verify
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.model import Micros, Place
from palazzo.palace import without_embedder

DAY = 86_400_000_000


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[Kg]:
    one = Kg(tmp_path)
    yield one
    one.context.close()


def note(kg: Kg, text: str, wing: str = "shop") -> str:
    """File a note, a day after the last one; return the id of its drawer."""
    kg.now = Micros(kg.now + DAY)
    return kg.context.writing().remember(text, Place(wing, "notes")).drawers[0]


def suggested(kg: Kg) -> list[tuple[str, str, str]]:
    return [(one.subject, one.predicate, one.object) for one in kg("suggest").suggestions]


def test_what_is_said_most_often_comes_first_with_the_words_that_say_it(kg: Kg) -> None:
    note(kg, "Mira owns billing.")
    note(kg, "The gateway listens on port 8443.")
    note(kg, "As said: the gateway listens on port 8443.")
    first, second = kg("suggest").suggestions
    assert (first.subject, first.predicate, first.object, first.support) == ("gateway", "runs_on_port", "8443", 2)
    assert [one.text for one in first.citations] == [
        "As said: the gateway listens on port 8443.", "The gateway listens on port 8443.",
    ]  # fmt: skip
    assert second.subject == "billing"


def test_none_is_a_fact_before_it_is_accepted_and_then_it_cites_its_sources(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443.")
    assert kg("stats").facts == 0
    (one,) = kg("suggest").suggestions
    (fact,) = kg("accept", (one.id[:8],), stated_by="reviewer").facts
    assert (fact.subject, fact.predicate, fact.object, fact.scope) == ("gateway", "runs_on_port", "8443", "shop")
    (source,) = fact.provenance
    assert (source.stated_by, source.item) == ("reviewer", one.citations[0].item)
    assert suggested(kg) == []


def test_accepting_is_one_change_that_undo_takes_back(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443. Mira owns billing.")
    kg("accept", tuple(one.id for one in kg("suggest").suggestions))
    assert kg("stats").facts == 2
    kg("undo")
    assert kg("stats").facts == 0


def test_a_suggestion_whose_words_were_forgotten_and_brought_back_is_accepted_or_dismissed_at_once(kg: Kg) -> None:
    drawers = [note(kg, "The gateway listens on port 8443."), note(kg, "Mira owns billing.")]
    first, second = kg("suggest").suggestions
    palace = kg.context.writing()
    palace.forget(drawers)
    assert suggested(kg) == []
    palace.undo("user")
    (fact,) = kg("accept", (first.id,)).facts
    assert fact.subject == first.subject
    palace.forget(drawers)
    assert suggested(kg) == []
    palace.undo("user")
    assert kg("dismiss", (second.id,)).rejected == (second.id,)
    assert suggested(kg) == []


def test_what_was_forgotten_since_it_was_suggested_is_not_accepted(kg: Kg) -> None:
    drawer = note(kg, "The gateway listens on port 8443.")
    (one,) = kg("suggest").suggestions
    kg.context.writing().forget([drawer])
    with pytest.raises(NotFound, match="No suggestion"):
        kg("accept", (one.id,))
    assert kg("stats").facts == 0


def test_what_was_dismissed_is_not_suggested_again_until_that_is_undone(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443.")
    (one,) = kg("suggest").suggestions
    assert kg("dismiss", (one.id,)).rejected == (one.id,)
    note(kg, "The gateway listens on port 8443, as ever.")
    assert suggested(kg) == []
    kg("undo", kg("undo", list=True).changes[1].id)
    assert suggested(kg) == [("gateway", "runs_on_port", "8443")]


def test_bad_ids_and_limits_are_clear_and_change_nothing(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443. Mira owns billing.")
    kg("suggest")
    with pytest.raises(NotFound, match="No suggestion has the id 'zz'"):
        kg("accept", ("zz",))
    with pytest.raises((NotFound, AmbiguousId)):
        kg("accept", ("",))
    with pytest.raises(UsageError, match="limit"):
        kg("suggest", limit=0)
    with pytest.raises(NotFound, match="No session"):
        kg("suggest", "no-such-session")
    assert kg("stats").facts == 0


def test_what_contradicts_what_was_said_is_a_conflict_and_a_label_on_the_hit(kg: Kg) -> None:
    earlier = note(kg, "The gateway listens on port 8443.")
    note(kg, "The gateway listens on port 9443 now.")
    (one,) = kg("conflicts").conflicts
    assert (one.kind, one.earlier.text, one.later.text) == (
        "port", "The gateway listens on port 8443.", "The gateway listens on port 9443 now.",
    )  # fmt: skip
    hits = {hit.id: hit.superseded for hit in kg("search", "gateway listens").hits}
    label = hits.pop(earlier)
    assert (label.value, label.by) == ("9443", one.later.item)
    assert set(hits.values()) == {None}
    assert kg("show", earlier).entries[0].superseded == label


def test_the_order_of_filing_does_not_matter_but_that_of_saying(kg: Kg) -> None:
    kg.at("2026-08-01T00:00:00Z")
    note(kg, "we switched the broker from RabbitMQ to NATS")
    kg("conflicts")
    kg.at("2026-07-01T00:00:00Z")
    note(kg, "Our broker is RabbitMQ.")
    (one,) = kg("conflicts").conflicts
    assert one.earlier.text == "Our broker is RabbitMQ."


def test_wings_do_not_contradict_each_other(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443.", "shop")
    note(kg, "The gateway listens on port 9443.", "bank")
    assert kg("conflicts").count == 0


def test_words_contradict_a_fact_that_holds(kg: Kg) -> None:
    kg("add", "gateway", "runs_on_port", "8443")
    note(kg, "The gateway listens on port 9443 now.")
    (one,) = kg("conflicts").conflicts
    assert one.earlier.fact is not None
    assert one.later.text == "The gateway listens on port 9443 now."


def test_a_conflict_that_was_dismissed_stays_so_also_when_all_is_made_anew(kg: Kg) -> None:
    earlier = note(kg, "The gateway listens on port 8443.")
    note(kg, "The gateway listens on port 9443 now.")
    (one,) = kg("conflicts").conflicts
    kg("dismiss", (one.id,))
    kg.context.writing().rebuild("all")
    assert kg("conflicts").count == 0
    assert kg("show", earlier).entries[0].superseded is None


def test_what_is_forgotten_is_neither_suggested_nor_in_conflict(kg: Kg) -> None:
    drawer = note(kg, "The gateway listens on port 8443.")
    note(kg, "The gateway listens on port 9443 now.")
    assert kg("conflicts").count == 1
    kg.context.writing().forget([drawer])
    assert kg("conflicts").count == 0
    assert suggested(kg) == [("gateway", "runs_on_port", "9443")]


def test_claims_are_followed_once_and_made_anew_as_they_were(kg: Kg) -> None:
    for n in range(30):
        note(kg, f"The gateway-{n} listens on port {8000 + n}.")
    palace = kg.context.writing()
    palace.follow_claims()
    with palace.database.snapshot() as connection:
        rows = [row for (row,) in connection.execute("SELECT id FROM drawer")]
        before = claim_consumer.expected(connection, rows)
        assert (async_consumer.count_pending(connection, claim_consumer.ClaimConsumer(Micros(0))), len(before)) == (
            0,
            30,
        )
    palace.rebuild("all")
    with palace.database.snapshot() as connection:
        assert claim_consumer.expected(connection, rows) == before
    assert next(check for check in verify(palace.database, without_embedder) if check.name == "claims").ok


def test_verify_sees_claims_that_are_not_what_drawers_say(kg: Kg) -> None:
    note(kg, "The gateway listens on port 8443.")
    palace = kg.context.writing()
    palace.follow_claims()
    with palace.database.transaction() as connection:
        connection.execute("UPDATE claim SET object = '1'")
    assert not next(check for check in verify(palace.database, without_embedder) if check.name == "claims").ok


def test_an_erase_takes_the_claims_with_it(kg: Kg) -> None:
    note(kg, "The gateway hushhush listens on port 8443.")
    note(kg, "Mira owns billing.")
    palace = kg.context.writing()
    palace.follow_claims()
    kg("erase", match="hushhush", even_most=True)
    with palace.database.snapshot() as connection:
        assert [row for (row,) in connection.execute("SELECT subject FROM claim")] == ["billing"]
    assert all(b"hushhush" not in path.read_bytes() for path in kg.directory.rglob("*") if path.is_file())
