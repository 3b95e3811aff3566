"""Numbers with their nouns and verbs."""

from __future__ import annotations

from palazzo.text.counts import agreeing, counted


def test_a_noun_and_a_verb_agree_with_their_number() -> None:
    phrases = [f"{counted(number, 'near-copy')} {agreeing(number)}" for number in (0, 1, 2, 2000)]
    assert phrases == ["0 near-copies are", "1 near-copy is", "2 near-copies are", "2,000 near-copies are"]
    assert counted(2, "open entry") == "2 open entries"
    assert agreeing(1, "waits", "wait") == "waits"
