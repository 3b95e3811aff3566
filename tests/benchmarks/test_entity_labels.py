"""Labelled mentions: they stand in their passages, both halves hold every kind, and a third mentions nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.entities.passages import KINDS, ROLES, Mention, read_passages


def test_there_are_enough_passages_and_the_halves_are_about_even() -> None:
    passages = read_passages()
    assert len(passages) >= 180
    assert len({one.id for one in passages}) == len({one.text for one in passages}) == len(passages)
    assert 0.4 <= sum(one.split == "held-out" for one in passages) / len(passages) <= 0.6
    assert {one.role for one in passages} == set(ROLES)


def test_both_halves_hold_every_kind_and_about_a_third_that_mentions_nothing() -> None:
    for half in ("dev", "held-out"):
        passages = [one for one in read_passages() if one.split == half]
        kinds = Counter(mention.kinds[0] for one in passages for mention in one.mentions)
        assert set(kinds) == set(KINDS)
        assert min(kinds.values()) >= 10, kinds
        assert 0.3 <= sum(not one.mentions for one in passages) / len(passages) <= 0.5


def test_every_form_stands_in_its_passage_and_is_labelled_once() -> None:
    for passage in read_passages():
        forms = [mention.text for mention in passage.mentions] + list(passage.either)
        assert len(set(forms)) == len(forms), passage.id
        assert not [form for form in forms if form not in passage.text], passage.id


def test_forms_leave_out_what_stands_around_them() -> None:
    for passage in read_passages():
        for mention in passage.mentions:
            assert mention.text == mention.text.strip("`'\"() \n"), (passage.id, mention)
            assert len(mention.kinds) == len(set(mention.kinds)), (passage.id, mention)


def test_a_passage_has_one_to_eight_lines() -> None:
    assert not [one.id for one in read_passages() if not 1 <= len(one.text.splitlines()) <= 8]


def test_words_that_look_like_names_are_labelled_only_where_they_are_names() -> None:
    mentions = {one.id: one.mentions for one in read_passages()}
    assert Mention("rich", ("package",)) in mentions["hard-02"]
    assert Mention("Will", ("person",)) in mentions["hard-02"]
    assert not mentions["commit-17"]
    assert not mentions["user-05"]


@pytest.mark.parametrize(
    "row",
    [
        "{id: p, role: user, text: x, mentions: [{text: x, kind: animal}]}",
        "{id: p, role: user, text: x, mentions: [{text: x, kind: file, why: none}]}",
        "{id: p, role: nobody, text: x, mentions: []}",
        "{id: p, role: user, text: x, mentions: [], more: 1}",
    ],
)
def test_an_unknown_role_kind_or_field_is_refused(row: str, tmp_path: Path) -> None:
    file = tmp_path / "passages.yaml"
    file.write_text(f"- {row}\n", "utf-8")
    with pytest.raises(ValueError, match="Passage p: no such"):
        read_passages(file)
