"""How a question is understood."""

from __future__ import annotations

from palazzo.index.query import Query, understand


def test_a_person_who_is_named_is_known_and_left_out_of_the_sentence() -> None:
    found = understand(Query("What did Mara's brother buy?"), ["Mara Lind", "Tom", "claude"])
    assert found.author_names == {"Mara Lind"}
    assert found.sentence == "What did brother buy?"
    assert "mara" in found.terms


def test_a_whole_name_goes_whole() -> None:
    found = understand(Query("did mara lind agree"), ["Mara Lind"])
    assert found.author_names == {"Mara Lind"}
    assert found.sentence == "did agree"


def test_a_question_that_is_only_a_name_is_asked_as_it_is() -> None:
    assert understand(Query("Mara"), ["Mara"]).sentence == "Mara"


def test_part_of_a_word_is_nobody_s_name() -> None:
    found = understand(Query("the tomato and the marathon"), ["Tom", "Mara"])
    assert (found.author_names, found.sentence) == (frozenset(), "the tomato and the marathon")


def test_names_with_signs_of_regular_expressions_are_read_as_they_are() -> None:
    assert understand(Query("what does gpt-4.1 (mini) say"), ["gpt-4.1 (mini)", ".*", "("]).author_names >= {
        "gpt-4.1 (mini)"
    }


def test_a_wing_is_named_by_its_name_or_a_long_enough_part_of_it() -> None:
    asked = understand(Query("why does the harbor worker leave, in tally"))
    assert asked.names_wing("tally")
    assert asked.names_wing("harbor-web")
    assert not asked.names_wing("web")
    assert not asked.names_wing("in-the-api")
