"""Windows: which neighbours come with a hit, what they may not be, and what they may cost."""

from __future__ import annotations

import pytest
from tests.archive.conversations import EPOCH, PLACE, answered, called, file_rows, file_version, said
from tests.derived.state import drawers

from palazzo.index.presentation import Hit, Reason
from palazzo.index.query import Query
from palazzo.model import Micros, Place
from palazzo.palace import Palace
from palazzo.text.token_counts import cut, estimate_tokens

MINUTE = 60_000_000
LONG = "the zebra queue was moved to Redis since the old one lost every third message at night, says the runbook"
FAILURE = "E   AssertionError: expected 200 got 503"


def hits(palace: Palace, text: str, **fields: object) -> list[Hit]:
    return palace.search(Query(text, **{"limit": 20, "budget": 100_000, **fields})).hits  # type: ignore[arg-type]


def hit(palace: Palace, text: str, begins: str, **fields: object) -> Hit:
    return next(one for one in hits(palace, text, **fields) if one.text.startswith(begins))


def beside(one: Hit) -> list[tuple[int, str]]:
    return [(neighbour.position, neighbour.text) for neighbour in one.context]


def test_a_question_brings_the_answer(palace: Palace) -> None:
    file_rows(
        palace,
        [
            said(0, "user", "where do the zebras sleep at night when it is cold?", author="Ada"),
            said(1, "user", "I have been asking that for weeks now", author="Ada"),
            said(2, "user", "in the old barn behind the mill, on straw", author="Ben"),
            said(3, "user", "something else entirely", author="Ben"),
        ],
    )
    assert beside(hit(palace, "zebras", "where do")) == [
        (1, "I have been asking that for weeks now"),
        (2, "in the old barn behind the mill, on straw"),
    ]


def test_what_was_pasted_brings_what_the_agent_said_to_it(palace: Palace) -> None:
    pasted = "what the giraffe says. " + " ".join(f"line{n}" for n in range(220))
    file_rows(palace, [said(0, "user", pasted), said(1, "assistant", f"It is the clock of the barn. {LONG}" * 9)])
    (neighbour,) = hit(palace, "giraffe", "what the giraffe").context
    assert neighbour.position == 1
    assert "It is the clock of the barn." in neighbour.text


def test_a_terse_turn_brings_the_turn_before_it(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", LONG), said(1, "user", "yes, giraffes")])
    assert beside(hit(palace, "giraffes", "yes")) == [(-1, LONG)]


@pytest.mark.parametrize("text", [LONG, "where do zebras sleep? In the barn, on straw, as always, said the keeper."])
def test_what_speaks_for_itself_brings_nothing(palace: Palace, text: str) -> None:
    file_rows(palace, [said(0, "user", "hello there"), said(1, "user", text), said(2, "user", "good bye then")])
    assert beside(hit(palace, "zebra", text)) == []


def test_a_note_stands_alone(palace: Palace) -> None:
    palace.remember("about something else", PLACE)
    palace.remember("zebras: yes", PLACE)
    assert beside(hit(palace, "zebras", "zebras")) == []


def test_a_failed_call_brings_what_was_said_next_and_the_call_that_succeeded(palace: Palace) -> None:
    file_rows(
        palace,
        [
            said(0, "user", "please run the tests of the barn"),
            called(1, "Bash", "pytest barn", "c1"),
            answered(2, FAILURE, "c1"),
            called(3, "Read", "barn.py", "c2"),
            answered(4, "def barn(): …", "c2"),
            called(5, "Bash", "pytest barn --retry", "c3"),
            answered(6, "3 passed", "c3"),
            said(7, "assistant", "The service was not ready; it waits for its health check now."),
        ],
    )
    failed = hit(palace, "AssertionError 503", "pytest")
    assert beside(failed) == [
        (1, "pytest barn --retry\n\n3 passed"),
        (2, "The service was not ready; it waits for its health check now."),
    ]
    said_next = failed.context[1]
    assert said_next.truncated
    assert said_next.drawer.text.endswith(said_next.text)
    assert [(turn.role, turn.start, turn.end) for turn in said_next.turns] == [("assistant", 0, len(said_next.text))]
    assert beside(hit(palace, "3 passed retry", "pytest barn --retry")) == []


def test_a_heading_that_alone_was_asked_for_brings_what_stands_below(palace: Palace) -> None:
    first = "# Zebras\n\n" + "They are striped, and nobody has found out why that is so. " * 12
    second = "The herd is counted in spring, by two people with a list. " * 12
    file_version(
        palace, f"{first}\n\n{second}\n\n# Horses\n\nThey are not.\n" + "Grass and hay is what they eat. " * 30
    )
    found = hit(palace, "zebras", "# Zebras", limit=1)
    assert ["The herd is counted" in neighbour.text for neighbour in found.context] == [True]
    assert hit(palace, "striped zebras", "# Zebras").context == ()


def test_a_section_never_brings_another_heading(palace: Palace) -> None:
    file_version(palace, "# Zebras\n\n" + "Striped ones. " * 60 + "\n\n# Horses\n\n" + "Brown ones. " * 60)
    assert hit(palace, "zebras", "# Zebras").context == ()


def test_what_introduces_something_brings_it(palace: Palace) -> None:
    file_rows(
        palace, [said(0, "user", f"{LONG}, namely:"), said(1, "user", "- one\n- two\n- three"), said(2, "user", "x")]
    )
    assert beside(hit(palace, "zebra queue", LONG)) == [(1, "- one\n- two\n- three")]


def test_a_neighbour_that_is_a_hit_is_shown_once(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", LONG), said(1, "user", "zebra queue: ok")])
    found = hits(palace, "zebra queue")
    terse = next(one for one in found if one.text == "zebra queue: ok")
    (neighbour,) = terse.context
    assert neighbour.text == ""
    assert neighbour.shown_at is not None
    assert found[neighbour.shown_at - 1].text == LONG


def test_a_neighbour_of_two_hits_is_shown_with_the_first(palace: Palace) -> None:
    asks, between, terse = "where do the zebras sleep at night in winter?", "somewhere warm, on straw", "no, the zebras"
    rows = [said(0, "user", asks), said(1, "user", between, author="Ben"), said(2, "user", terse)]
    file_rows(palace, rows)
    found = hits(palace, "zebras")
    assert {one.text for one in found} == {asks, terse}
    assert [text for _, text in beside(found[0])] == [between]
    assert [(one.text, one.shown_at) for one in found[1].context] == [("", 1)]


def test_neighbours_are_only_what_the_search_might_have_found(palace: Palace) -> None:
    file_rows(palace, [said(0, "user", LONG), said(1, "user", "yes, giraffes"), said(2, "user", "why so?")])
    at = Micros(EPOCH + MINUTE)
    assert beside(hit(palace, "giraffes", "yes", since=at)) == []
    assert beside(hit(palace, "giraffes", "yes", branch="main")) == [(-1, LONG)]
    before = next(drawer.id for drawer in drawers(palace) if drawer.text == LONG)
    palace.move([before], Place("elsewhere", "auth"))
    assert beside(hit(palace, "giraffes", "yes", wing=PLACE.wing)) == []
    palace.forget([before])
    assert beside(hit(palace, "giraffes", "yes")) == []


@pytest.mark.parametrize("budget", [10, 45, 60, 90, 150, 400])
def test_hits_come_before_neighbours_in_the_budget(palace: Palace, budget: int) -> None:
    said_before = " ".join(f"word{n}" for n in range(100))
    rows = [
        row
        for n in range(4)
        for row in (
            said(2 * n, "user", f"{said_before} of {n} {n * 7}"),
            said(2 * n + 1, "user", f"yes, zebra {n} {n * 7}"),
        )
    ]
    file_rows(palace, rows)
    alone = [(one.drawer.id, one.text) for one in hits(palace, "zebra yes", limit=4, budget=budget)]
    assert len(alone) == 4
    found = hits(palace, "zebra yes", limit=4, budget=budget)
    texts = [one.text for one in found] + [neighbour.text for one in found for neighbour in one.context]
    assert sum(map(estimate_tokens, texts)) <= budget * 1.1 + 2
    if budget >= 45:
        assert all(one.text == one.drawer.text for one in found)
    for neighbour in (neighbour for one in found for neighbour in one.context):
        assert neighbour.drawer.text.endswith(neighbour.text)
        assert neighbour.truncated == (neighbour.text != neighbour.drawer.text)
    if budget == 400:
        assert [bool(one.context) for one in found] == sorted((bool(one.context) for one in found), reverse=True)


def test_turns_say_who_speaks_where_in_the_shown_text(palace: Palace) -> None:
    file_rows(
        palace, [said(0, "user", "may the zebra come in?"), said(1, "assistant", "No."), said(2, "assistant", "Never.")]
    )
    one = hit(palace, "zebra", "may")
    assert [(turn.role, one.text[turn.start : turn.end]) for turn in one.turns] == [
        ("user", "may the zebra come in?"),
        ("assistant", "No.\n\nNever."),
    ]
    (short,) = hits(palace, "zebra", budget=3)
    assert [(turn.role, turn.end) for turn in short.turns] == [("user", len(short.text))]


def test_many_hits_get_no_neighbours_past_the_first_ten(palace: Palace) -> None:
    file_rows(
        palace,
        [said(n, "user", LONG.replace("zebra", f"animal{n}") if n % 2 == 0 else f"yes zebra {n}") for n in range(40)],
    )
    found = hits(palace, "zebra")
    assert len(found) > 10
    assert all(one.context == () for one in found[10:])


def test_the_end_is_cut_at_a_word() -> None:
    text = "one two three four five six seven"
    assert cut(text, 4, 8, "end") == "five six seven"
    assert text.startswith(cut(text, 4, 8))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (Reason("vector", 0.713), "vector 0.71"),
        (Reason("bm25", 9.24, most=20.0), "bm25 9.2 of 20.0"),
        (Reason("covered", 0.5, weight=0.92), "covered 0.50 × 0.92"),
    ],
)
def test_a_reason_in_words(reason: Reason, told: str) -> None:
    assert str(reason) == told
