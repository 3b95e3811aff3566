"""Data sets' own files as cases: odd records are read for what they say, another file is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.bench import data_sets
from tests.bench.data_sets import Record, written

from palazzo.bench import locomo, longmemeval
from palazzo.errors import UsageError
from palazzo.features.bench.bench import read_cases


def micros(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp() * 1_000_000)  # type: ignore[misc,arg-type]


def test_a_conversation_is_read_with_its_sessions_in_order() -> None:
    one, two = locomo.read(data_sets.locomo())
    assert [talk.id for talk in one.talks] == ["1", "2", "10"]
    assert [talk.at for talk in one.talks] == [micros(2023, 5, 8, 13, 56), None, micros(2023, 6, 12, 9, 0)]
    assert [len(talk.turns) for talk in one.talks] == [2, 0, 2]
    assert one.talks[0].turns[1].text.endswith("on sunday. [shares a photo: a round loaf]")
    assert one.talks[0].turns[1].author == "Ben"
    assert (one.id, two.id) == ("one", "two")


def test_evidence_is_read_however_it_is_spelled_and_what_does_not_exist_is_left_out() -> None:
    asked = locomo.read(data_sets.locomo())[0].questions
    assert asked[1].turns == {"D1:2", "D10:2"}
    assert asked[1].sessions == {"1", "10"}
    assert (asked[3].turns, asked[3].sessions) == (frozenset(), frozenset())


def test_adversarial_questions_are_counted_and_known_to_have_no_answer() -> None:
    adversarial = locomo.read(data_sets.locomo())[0].questions[2]
    assert (adversarial.type, adversarial.unanswerable, adversarial.is_scored) == ("adversarial", True, True)


def test_a_turn_id_that_comes_twice_names_the_first_turn() -> None:
    document = data_sets.locomo()
    document[1]["conversation"]["session_1"] *= 2
    two = locomo.read(document)[1]
    assert [turn.id for turn in two.talks[0].turns] == ["D1:1", "D1:1~2"]
    assert two.questions[0].turns == {"D1:1"}


def test_a_haystack_is_read_with_its_marks() -> None:
    one, two = longmemeval.read(data_sets.longmemeval())
    assert [talk.id for talk in one.talks] == ["walls", "ferns", "ferns~2"]
    assert [talk.at for talk in one.talks] == [micros(2023, 5, 27, 14, 19), micros(2023, 5, 28, 7, 11), None]
    assert one.questions[0].turns == {"walls#1"}
    assert one.questions[0].sessions == {"walls"}
    assert (one.questions[0].is_scored, one.questions[0].unanswerable) == (True, False)
    assert (two.questions[0].type, two.questions[0].is_scored) == ("abstention", False)
    assert two.questions[0].sessions == {"walls"}
    assert two.talks[0].at is None


def test_cases_of_one_name_are_told_apart() -> None:
    assert [case.id for case in locomo.read(data_sets.locomo()[:1] * 2)] == ["one", "one~2"]
    assert [case.id for case in longmemeval.read(data_sets.longmemeval()[:1] * 2)] == ["q1", "q1~2"]


def without(path: str) -> Callable[[list[Record]], None]:
    """Take away a field, or an entry, of a document."""

    def change(document: Any) -> None:
        *way, last = (int(step) if step.isdigit() else step for step in path.split("."))
        for step in way:
            document = document[step]
        del document[last]

    return change


@pytest.mark.parametrize(
    ("name", "break_it", "said"),
    [
        ("locomo", without("1.conversation"), "conversation 2 has no 'conversation'"),
        ("locomo", without("0.qa"), "conversation 1 has no 'qa'"),
        ("locomo", without("0.qa.2.category"), "question 3 of conversation 1 has no 'category'"),
        ("locomo", lambda d: d[0]["qa"][1].update(question=" "), "'question' of question 2 of conversation 1 is empty"),
        ("locomo", without("0.conversation.session_10.1.dia_id"), "turn 2 of session_10 of conversation 1 has no"),
        ("locomo", lambda d: d[0]["conversation"].update(session_2="x"), "'session_2' of conversation 1 is not a list"),
        ("locomo", lambda d: d.append(7), "entry 3 of it is not an object"),
        ("locomo", lambda d: d.clear(), "it has no questions"),
        ("longmemeval", without("0.haystack_sessions"), "question 1 has no 'haystack_sessions'"),
        ("longmemeval", without("0.haystack_sessions.1"), "question 1 has 3 session ids, 3 dates and 2 sessions"),
        ("longmemeval", without("0.question_type"), "question 1 has no 'question_type'"),
        ("longmemeval", lambda d: d[0]["haystack_sessions"][1][0].update(content=None), "'content' of a turn of"),
    ],
)
def test_another_file_is_refused_in_one_sentence_that_names_the_place(
    tmp_path: Path, name: str, break_it: Callable[[list[Record]], None], said: str
) -> None:
    document = data_sets.locomo() if name == "locomo" else data_sets.longmemeval()
    break_it(document)
    with pytest.raises(UsageError) as error:
        read_cases(name, written(tmp_path / "data.json", document))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": 1}', b"null"])
def test_what_is_no_such_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    for name in ("locomo", "longmemeval"):
        with pytest.raises(UsageError, match="is not a"):
            read_cases(name, path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_cases("locomo", tmp_path / "none.json")
