"""The digests' labels: what they cite stands there, both halves hold every kind, sessions are read whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from benchmarks.digests.labels import KINDS, Labelled, read_labels, turns, write_transcript

from palazzo.sources.formats import Message

Read = Sequence[tuple[Labelled, Sequence[Message]]]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    directory = tmp_path_factory.mktemp("sessions")
    return [(one, turns(write_transcript(one, directory))) for one in read_labels()]


@pytest.fixture(scope="module")
def said(read: Read) -> Mapping[str, Sequence[Message]]:
    return {labelled.session: messages for labelled, messages in read}


def test_every_session_is_labelled_once_and_the_halves_are_about_even() -> None:
    labelled = read_labels()
    assert len(labelled) >= 30
    assert len({one.session for one in labelled}) == len(labelled)
    assert 0.4 <= sum(one.split == "held-out" for one in labelled) / len(labelled) <= 0.6


def test_a_conversation_that_is_told_twice_is_in_one_half(read: Read) -> None:
    halves: dict[str, set[str]] = {}
    for labelled, messages in read:
        opening = next(one.text for one in messages if one.role == "user" and one.standing == "said")
        halves.setdefault(opening, set()).add(labelled.split)
    assert {opening: found for opening, found in halves.items() if len(found) > 1} == {}


def test_both_halves_hold_every_kind_and_traps() -> None:
    kinds = Counter((one.split, label.kind) for one in read_labels() for label in one.labels if label.stands)
    assert set(kinds) == {(half, kind) for half in ("dev", "held-out") for kind in KINDS}
    assert min(count for (_, kind), count in kinds.items() if kind in ("decided", "open")) >= 15
    traps = Counter((one.split, label.kind) for one in read_labels() for label in one.labels if not label.stands)
    assert {("dev", "decided"), ("dev", "open"), ("held-out", "decided"), ("held-out", "open")} <= set(traps)


def test_what_is_cited_stands_in_its_turn(read: Read) -> None:
    missing = [
        (labelled.session, cited)
        for labelled, messages in read
        for label in labelled.labels
        for cited in label.cited
        if not (0 < cited.turn <= len(messages) and cited.words in messages[cited.turn - 1].text)
    ]
    assert not missing


def test_no_label_stands_twice() -> None:
    for labelled in read_labels():
        cited = [(label.kind, label.cited[0]) for label in labelled.labels]
        assert len(set(cited)) == len(cited), labelled.session


def test_a_fix_names_the_turn_of_a_failure_before_it(read: Read) -> None:
    for labelled, _ in read:
        failed = {label.cited[0].turn for label in labelled.labels if label.kind == "failed"}
        for label in labelled.labels:
            assert (label.fixes is not None) == (label.kind == "fixed"), (labelled.session, label)
            assert label.fixes is None or (label.fixes in failed and label.fixes < label.cited[0].turn), (
                labelled.session
            )


def test_what_ended_did_so_later_in_the_session(read: Read) -> None:
    for labelled, messages in read:
        for label in labelled.labels:
            assert label.ended is None or label.cited[0].turn < label.ended <= len(messages), (labelled.session, label)


def test_people_ask_and_tools_change(read: Read) -> None:
    for labelled, messages in read:
        for label in labelled.labels:
            role = messages[label.cited[0].turn - 1].role
            assert label.kind != "asked" or role == "user", (labelled.session, label)
            assert (
                label.kind not in ("decided", "asked")
                or label.ended
                or role != "tool"
                or answered(messages[label.cited[0].turn - 1])
            ), (labelled.session, label)


def answered(message: Message) -> bool:
    return message.text.startswith("User has answered your questions")


def test_small_talk_has_nothing_to_digest() -> None:
    assert [one.session for one in read_labels() if not one.labels]


def test_a_command_that_failed_is_read_as_failed(said: Mapping[str, Sequence[Message]]) -> None:
    failed = [part.failed for part in said["osprey-slots"][8].parts]
    assert failed == [True]
    assert said["osprey-slots"][8].text.startswith("Exit code 1\n")
    assert not any(part.failed for part in said["osprey-slots"][2].parts)


def test_todos_a_sub_agents_report_and_an_answer_are_read_as_a_tools(said: Mapping[str, Sequence[Message]]) -> None:
    assert said["fern-sync"][1].parts[0].name == "TodoWrite"
    assert "  Recommendation: go with ProseMirror" in said["fern-editor"][2].text
    assert '"Which output should labels have?"="ZPL"' in said["wren-labels"][3].text
    assert [said[name][n].role for name, n in (("fern-editor", 2), ("wren-labels", 3))] == ["tool", "tool"]


@pytest.mark.parametrize("row", ["{kind: wish, turn: 1, words: x}", "{kind: open, turn: 1, words: x, why: none}"])
def test_an_unknown_kind_or_field_is_refused(row: str, tmp_path: Path) -> None:
    file = tmp_path / "labels.yaml"
    file.write_text(f"- session: s\n  source: digests\n  labels:\n  - {row}\n", "utf-8")
    with pytest.raises(ValueError, match="Session s: no such label"):
        read_labels(file)
