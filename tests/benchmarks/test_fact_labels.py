"""The labels of facts: enough of them, of every kind in both halves, hard ones among them, and true to their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.facts.labels import KINDS, MORE_CONTRADICTIONS, PREDICATES, half, plain, read_pairs, read_passages, same


def even(names: Sequence[str]) -> bool:
    held_out = sum(half(name) == "held-out" for name in names)
    return 0.4 <= held_out / len(names) <= 0.6


def test_pairs_are_enough_and_about_half_of_them_no_conflict_in_either_half() -> None:
    pairs = read_pairs()
    assert len(pairs) >= 220
    assert even([pair.id for pair in pairs])
    for wanted in ("dev", "held-out"):
        there = [pair for pair in pairs if half(pair.id) == wanted]
        assert 0.4 <= sum(pair.conflict is None for pair in there) / len(there) <= 0.6


def test_every_kind_of_conflict_is_in_both_halves_several_times() -> None:
    counts = Counter((pair.conflict.kind, half(pair.id)) for pair in read_pairs() if pair.conflict)
    assert min(counts[kind, which] for kind in KINDS for which in ("dev", "held-out")) >= 5


def test_the_third_set_is_as_even_and_of_every_kind_and_repeats_no_pair() -> None:
    pairs, others = read_pairs(MORE_CONTRADICTIONS), read_pairs()
    assert 0.4 <= sum(pair.conflict is None for pair in pairs) / len(pairs) <= 0.6
    counts = Counter(pair.conflict.kind for pair in pairs if pair.conflict)
    assert min(counts[kind] for kind in KINDS) >= 5
    texts = {(plain(pair.earlier.text), plain(pair.later.text)) for pair in (*pairs, *others)}
    assert len(texts) == len({pair.id for pair in (*pairs, *others)}) == len(pairs) + len(others)


def test_passages_are_enough_and_about_half_of_them_hold_nothing_in_either_half() -> None:
    passages = read_passages()
    assert len(passages) >= 160
    assert even([passage.id for passage in passages])
    for wanted in ("dev", "held-out"):
        there = [passage for passage in passages if half(passage.id) == wanted]
        assert 0.4 <= sum(not passage.facts for passage in there) / len(there) <= 0.6


def test_every_predicate_is_to_be_found_in_both_halves() -> None:
    counts = Counter((fact.predicate, half(passage.id)) for passage in read_passages() for fact in passage.facts)
    assert set(counts) == {(predicate, which) for predicate in PREDICATES for which in ("dev", "held-out")}


def test_an_id_and_a_text_come_once() -> None:
    pairs, passages = read_pairs(), read_passages()
    ids = [*(pair.id for pair in pairs), *(passage.id for passage in passages)]
    assert len(set(ids)) == len(ids)
    assert len({(plain(pair.earlier.text), plain(pair.later.text)) for pair in pairs}) == len(pairs)
    assert len({plain(passage.text) for passage in passages}) == len(passages)


def test_a_fact_that_is_left_open_is_none_that_is_asked_for() -> None:
    assert not [passage.id for passage in read_passages() if set(passage.facts) & set(passage.also)]


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("30 seconds", "30", True),
        ("`/srv/app`", "/srv/app", True),
        ("PostgreSQL 16", "postgresql", True),
        ("3.11", "3.11.4", False),
        ("80", "8080", False),
        ("/srv/app", "/srv/app/current", False),
        ("v4", "", False),
    ],
)
def test_values_are_the_same_with_a_unit_or_a_name_beside_them_and_not_by_a_part(
    one: str, other: str, agree: bool
) -> None:
    assert same(one, other) is agree
    assert same(other, one) is agree


@pytest.mark.parametrize(
    ("conflict", "fault"),
    [
        ("{subject: it, kind: port, old: '80', new: '9090'}", "does not say '80'"),
        ("{subject: it, kind: port, old: '8080', new: '9091'}", "does not say '9091'"),
        ("{subject: the moon, kind: port, old: '8080', new: '9090'}", "nobody says 'the moon'"),
        ("{subject: it, kind: port, old: '8080', new: null}", "what ended has nothing new"),
        ("{subject: it, kind: colour, old: '8080', new: '9090'}", "kind 'colour'"),
    ],
)
def test_a_conflict_that_its_texts_do_not_say_is_an_error(tmp_path: Path, conflict: str, fault: str) -> None:
    labels = tmp_path / "pairs.yaml"
    labels.write_text(
        f"""
        - id: x1
          note: ""
          conflict: {conflict}
          earlier: {{role: user, when: "2026-01-01", text: it is on port 8080}}
          later: {{role: user, when: "2026-01-02", text: it is on port 9090}}
        """,
        "utf-8",
    )
    with pytest.raises(ValueError, match=f"x1: .*{fault}"):
        read_pairs(labels)


@pytest.mark.parametrize(
    ("fact", "fault"),
    [
        ("{subject: cache, predicate: uses, object: Redis}", "object 'Redis'"),
        ("{subject: queue, predicate: uses, object: Valkey}", "subject 'queue'"),
        ("{subject: cache, predicate: likes, object: Valkey}", "predicate 'likes'"),
        ("{subject: cache, predicate: enabled, object: 'on'}", "object 'on'"),
    ],
)
def test_a_fact_that_its_passage_does_not_say_is_an_error(tmp_path: Path, fact: str, fault: str) -> None:
    labels = tmp_path / "passages.yaml"
    labels.write_text(
        f'- {{id: x1, role: user, note: "", text: we use Valkey for the cache, facts: [{fact}]}}\n', "utf-8"
    )
    with pytest.raises(ValueError, match=f"x1: {fault}"):
        read_passages(labels)
