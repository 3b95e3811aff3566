"""The coding suite: its labels are true, its corpus is filed as sessions are, and what it calls right is right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.coding.filing import file_corpus, right_drawers
from benchmarks.coding.questions import (
    QUESTIONS,
    SECOND,
    TYPES,
    UNSEEN,
    Gold,
    Question,
    Stems,
    overlap,
    read_dev_questions,
    read_prompts,
    read_questions,
    shared,
    split,
)
from benchmarks.coding.sessions import write_sessions
from tests.index.hashed_words import HashedWords

from benchmarks import coding_suite
from palazzo.palace import Palace


class Lasting(HashedWords):
    """Survives the palaces that it is lent to."""

    def close(self) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return file_corpus(tmp_path_factory.mktemp("suite"), 0, Lasting())


@pytest.fixture(scope="module")
def asked(filed: Path) -> Iterator[list[coding_suite.Asked]]:
    chosen = [one for one in read_questions() if one.id in ("t09", "k11", "h09", "p11", "u13")]
    with coding_suite.Surroundings(filed, Lasting()) as context:
        yield coding_suite.ask(context, chosen, Lasting(), ())


def test_there_are_enough_questions_of_every_type_in_both_halves() -> None:
    questions = read_questions()
    answerable = [one for one in questions if one.golds]
    assert len({one.id for one in questions}) == len(questions)
    assert len(answerable) >= 120
    assert len(questions) - len(answerable) >= 25
    assert set(Counter((one.type, one.split) for one in questions)) == {
        (each, half) for each in TYPES for half in ("dev", "held-out")
    }


def test_the_second_set_has_enough_questions_and_a_third_is_in_the_file_of_the_unseen() -> None:
    second, unseen = read_questions(SECOND), read_questions(UNSEEN)
    assert {one.split for one in second} == {"second"}
    assert {one.split for one in unseen} == {"unseen"}
    assert sum(bool(one.golds) for one in (*second, *unseen)) >= 150
    assert 3 * len(unseen) >= len(second) + len(unseen)
    every = [one.id for one in (*read_questions(), *second, *unseen)]
    assert len(set(every)) == len(every)


def test_what_is_tuned_on_has_nothing_of_the_held_out_half_and_of_the_unseen_part() -> None:
    tuned = read_dev_questions()
    assert {one.split for one in tuned} == {"dev", "second"}
    assert {one.split for one in coding_suite.choose_questions("all")} == {"dev", "second", "held-out"}
    assert not {one.text for one in tuned} & {one.text for one in read_questions(UNSEEN)}


@pytest.mark.parametrize("program", ["fit_ranking", "fit_score", "fit_floor"])
def test_a_program_that_fits_does_not_know_the_unseen_part(program: str) -> None:
    source = (Path(coding_suite.__file__).parent / f"{program}.py").read_text("utf-8")
    assert "UNSEEN" not in source
    assert "questions-unseen" not in source


@pytest.mark.parametrize("path", [QUESTIONS, SECOND, UNSEEN], ids=lambda path: path.stem)
def test_each_question_says_truly_what_it_gives_away_and_half_give_nothing(path: Path) -> None:
    stems, answerable = Stems(), [one for one in read_questions(path) if one.golds]
    told = {one.id: overlap(one, stems) for one in answerable}
    assert told == {one.id: one.overlap for one in answerable}
    assert sum(value == "none" for value in told.values()) * 2 >= len(told)


@pytest.mark.parametrize(
    ("question", "answer", "stems"),
    [
        ("why were retries doubled", "We retry twice as often", {"retri"}),
        ("what is MAX_RETRIES", "MAX_RETRIES is 8", set()),
        ("the opinion on Celery", "Celery needs a broker", set()),
        ("which port does tally use", "tally listens on port 80", {"port"}),
        ("who did what", "who did what", set()),
    ],
)
def test_words_in_common_are_stems_that_are_neither_stop_words_nor_identifiers(
    question: str, answer: str, stems: set[str]
) -> None:
    assert shared(question, answer, Stems()) == stems


def test_a_question_without_an_answer_must_say_so(tmp_path: Path) -> None:
    labels = tmp_path / "questions.yaml"
    labels.write_text('- {id: x1, type: reason, q: "why"}\n', "utf-8")
    with pytest.raises(ValueError, match="x1"):
        read_questions(labels)


def test_prompts_are_two_hundred_of_which_none_comes_twice() -> None:
    prompts = read_prompts()
    assert len(prompts) == len(set(prompts)) == 200
    assert set(map(split, prompts)) == {"dev", "held-out"}


def test_a_session_is_the_same_bytes_each_time_and_each_row_follows_the_one_before(tmp_path: Path) -> None:
    first, second = write_sessions(tmp_path / "one"), write_sessions(tmp_path / "two")
    assert len(first) >= 25
    for name, path in first.items():
        assert path.read_bytes() == second[name].read_bytes()
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [row["parentUuid"] for row in rows] == [None, *(row["uuid"] for row in rows[:-1])]


def test_every_gold_stands_in_a_drawer_of_its_source(filed: Path) -> None:
    with Palace.open(filed, "read") as palace, palace.database.snapshot() as connection:
        questions = [one for path in (QUESTIONS, SECOND, UNSEEN) for one in read_questions(path)]
        right = right_drawers(connection, questions)
    assert all(bool(right[one.id]) == bool(one.golds) for one in questions)


def test_a_gold_that_nobody_said_is_an_error(filed: Path) -> None:
    invented = Question("x2", "reason", "why", (Gold("tally-queue", "because of the moon"),), "none")
    with (
        Palace.open(filed, "read") as palace,
        palace.database.snapshot() as connection,
        pytest.raises(ValueError, match="because of the moon"),
    ):
        right_drawers(connection, [invented])


def test_an_error_message_is_found_by_itself_and_counted_as_right(asked: list[coding_suite.Asked]) -> None:
    rows = coding_suite.figures(asked)
    found = [row for row in rows if row["way"] == "palazzo" and row["questions"]]
    assert found
    assert all(row["any@5"] == 100 for row in found)


def test_what_nobody_said_counts_by_whether_anything_came_back(asked: list[coding_suite.Asked]) -> None:
    nobody = next(one for one in asked if not one.right)
    (row,) = coding_suite.unanswered([one for one in asked if one.right or one is nobody])
    assert row["nothing found, %"] == (0.0 if nobody.hits else 100.0)
