"""Numbers with their nouns and verbs."""

from __future__ import annotations

from palazzo.text.count_phrases import agree, count_noun


def test_a_noun_and_a_verb_agree_with_their_number() -> None:
    phrases = [f"{count_noun(number, 'near-copy')} {agree(number)}" for number in (0, 1, 2, 2000)]
    assert phrases == ["0 near-copies are", "1 near-copy is", "2 near-copies are", "2,000 near-copies are"]
    assert count_noun(2, "open entry") == "2 open entries"
    assert agree(1, "waits", "wait") == "waits"
