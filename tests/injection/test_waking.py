"""What a wake-up tells: the budget is kept, what matters more comes first, nothing twice."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.injection.wake_up_text import BUDGETS, DEPTHS, TITLES, Depth, Section, WakeUpEntry, importance, wake
from palazzo.model import Micros
from palazzo.text.token_counts import estimate_tokens

DAY = 86_400_000_000
NOW = Micros(1_800_000_000_000_000)
HEAD = ["Memory of shop, with much said about it.", "Memory of shop."]


def known(
    section: Section = "note", text: str = "The cache is kept in Redis.", days: float = 0, n: int = 0
) -> WakeUpEntry:
    return WakeUpEntry(section, f"{n:032x}", Micros(int(NOW - days * DAY)), "user", text, "user")


def day(at: Micros) -> str:
    return f"day {at // DAY}"


def texts(some: list[WakeUpEntry], depth: Depth = "medium", budget: int = 900) -> list[str]:
    return [line.text for line in wake(HEAD, some, depth, budget, NOW, day).lines]


def test_importance_is_whole_today_half_after_the_half_life_and_then_fades_more_slowly() -> None:
    assert importance(known("decision"), NOW) == pytest.approx(2.5)
    assert importance(known("decision", days=60), NOW) == pytest.approx(1.25)
    assert importance(known("session", days=14), NOW) == pytest.approx(1.5 / 3)


def test_tags_what_rests_on_it_and_use_each_lift_importance() -> None:
    plain = known()
    lifted = [replace(plain, marks=1), replace(plain, references=1), replace(plain, uses=1)]
    assert [importance(one, NOW) for one in lifted] == pytest.approx([1.5, 1.5, 1.5])
    assert importance(replace(plain, marks=40), NOW) == pytest.approx(2.5)
    assert importance(replace(plain, references=7), NOW) == pytest.approx(2.5)


def test_what_comes_from_the_future_is_of_today_and_what_has_no_date_is_one_half_life_old() -> None:
    assert importance(known(days=-400), NOW) == pytest.approx(1.0)
    assert importance(replace(known(), at=Micros(0)), NOW) == pytest.approx(0.5)


def test_an_old_note_that_much_rests_on_comes_before_newer_ones() -> None:
    old = replace(known(text="All money is counted in cents.", days=40, n=1), references=15, marks=3)
    newer = [known(text=f"On page {n} the colour was changed to green.", days=n, n=n) for n in range(2, 20)]
    assert texts([*newer, old], budget=120)[0] == old.text


def test_sections_stand_in_the_order_of_worth_and_each_title_once() -> None:
    some = [known(section, f"{section} words that only this says", n=n) for n, section in enumerate(TITLES)]
    text = wake(HEAD, reversed(some), "deep", 2000, NOW, day).text
    assert [line for line in text.split("\n") if line in TITLES.values()] == list(TITLES.values())


def test_many_open_threads_leave_room_for_a_decision() -> None:
    threads = [known("open", f"Thread {n} about the {n}th part is open", n=n) for n in range(30)]
    decision = known("decision", "We keep SQLite.", n=99)
    assert "We keep SQLite." in texts([*threads, decision], "shallow", 300)


def test_a_project_that_was_left_for_a_year_still_has_its_last_session() -> None:
    decisions = [known("decision", f"Decision {n} is about the {n}th part", days=n, n=n) for n in range(30)]
    assert "The login was mended." in texts([*decisions, known("session", "The login was mended.", 365, 99)])


def test_a_near_copy_is_told_once() -> None:
    text = "We decided to keep the queue in SQLite because nobody wants to run another server"
    assert texts([known("decision", text, n=1), known("open", text.upper(), n=2), known("note", text, n=3)]) == [
        text.upper()
    ]


def test_shallow_tells_of_no_notes_and_deep_says_more_of_each() -> None:
    long = " ".join(f"word{n}" for n in range(200))
    assert texts([known("note"), known("diary", "An entry.", n=1)], "shallow", 300) == []
    cut = [len(texts([known("decision", long)], depth, 2000)[0]) for depth in DEPTHS]
    assert cut == sorted(set(cut))


def test_long_words_are_cut_at_a_sentence_where_one_ends_and_say_so() -> None:
    text = "The first sentence is long enough to fill most of the room that a line of it has here. " + "And on. " * 60
    woken = wake(HEAD, [known("decision", text)], "shallow", 300, NOW, day)
    assert woken.lines[0].truncated
    assert woken.lines[0].text.endswith(".")
    assert text.startswith(woken.lines[0].text)
    assert ". … [" in woken.text


def test_each_line_has_its_day_who_says_it_what_is_remarked_and_its_id() -> None:
    task = replace(known("todo", "Renew the\ncertificate", n=7), remark="due before 2026-03-04")
    lines = wake(HEAD, [task], "medium", 900, NOW, day).text.split("\n")
    assert f"- {day(NOW)} user: Renew the certificate (due before 2026-03-04) [{7:032x}]" in lines


def test_with_little_room_less_is_said_of_whose_memory_it_is_and_with_none_nothing() -> None:
    assert wake(HEAD, [], "medium", 6, NOW, day).text == "Memory of shop."
    assert wake(HEAD, [known()], "medium", 1, NOW, day) == wake([], [], "medium", 900, NOW, day)


@given(
    st.lists(
        st.builds(
            known,
            st.sampled_from(list(TITLES)),
            st.text(min_size=1, max_size=700),
            st.floats(0, 900),
            st.integers(0, 2**64),
        ),
        max_size=25,
    ),
    st.integers(1, 2500),
    st.sampled_from(DEPTHS),
    st.randoms(use_true_random=False),
)
def test_the_budget_is_kept_and_the_order_in_which_things_are_known_changes_nothing(
    some: list[WakeUpEntry], budget: int, depth: Depth, chance: Random
) -> None:
    some = list({one.id: one for one in some}.values())
    woken = wake(HEAD, some, depth, budget, NOW, day)
    assert estimate_tokens(woken.text) <= budget
    shuffled = sorted(some, key=lambda _: chance.random())
    assert wake(HEAD, shuffled, depth, budget, NOW, day) == woken


def test_depths_are_as_large_as_they_are_documented() -> None:
    assert [BUDGETS[depth] for depth in DEPTHS] == [300, 900, 2000]
