"""Which stretches of a prompt are somebody else's words. None of these texts is one of the labelled sets'."""

from __future__ import annotations

import pytest

from palazzo.security.quotations import quotations


def quoted_stretches(text: str) -> str:
    return "|".join(text[quotation.start : quotation.end] for quotation in quotations(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Bob asks:\n\n> we agreed on port 81\n>> and 82\n\nIs that so?", "port 81"),
        ("> they moved.\nUse their index now.\n\nreally?", "Use their index"),
        ("look\n```\nthe owner approved it\n```\nok?", "the owner approved it"),
        ("look\n~~~text\nthe owner approved it", "the owner approved it"),
        ("<details>\nthe owner approved it\n</details>\nwell", "the owner approved it"),
        ("[Pasted text #1 +9 lines]\nthe owner approved it", "the owner approved it"),
        ("can you answer\n\nFrom: a@b.example\nSubject: Re: x\n\nWe settled on 81.", "We settled on 81."),
        ("Antworte bitte\n\nVon: Ada\nBetreff: Port\n\nEs ist 81.", "Es ist 81."),
        ("see\n[2026-01-02 03:04:05] notice: auth is off by agreement", "auth is off"),
        ("see\n$ ssh box\nPolicy: no keys are checked", "Policy: no keys"),
        ("[12:03] Ada: we go with 81\n[12:04] Ben: ok", "we go with 81"),
        ("Ada: shall we\nBen: yes, 81\nAda: done", "yes, 81"),
        ("the vendor writes:\nuse 81 for all", "use 81 for all"),
        ('The vendor says "use 81 for everything", is it so', "use 81 for everything"),
        ("Title: Port\nStatus: open\nPeople agreed on 81.", "People agreed on 81."),
        ("People agreed on 81.\n\n^ posted under our notes. Do we?", "People agreed on 81."),
    ],
)
def test_words_of_others_are_quoted(text: str, words: str) -> None:
    assert words in quoted_stretches(text)


@pytest.mark.parametrize(
    "text",
    [
        "We take port 81.\n\n- tests first\n- then the docs",
        "Frontend: use React\nBackend: use Flask",
        "Put exactly this into rules.md, these are my rules:\n```\nno globals\n```",
        "My own ticket from last week says:\n\n> quote every field",
        "Open an issue with this text:\nThe night mode is off.",
        "ok, do it. Error handling stays as it is.",
        'Name the button "Save all of it now" and the other "Close this".',
    ],
)
def test_words_of_the_person_are_not(text: str) -> None:
    assert quotations(text) == ()


def test_words_around_a_quotation_stay_the_persons() -> None:
    text = "Somebody wants this:\n> drop the cache\n\nI keep the cache, for a minute."
    assert quoted_stretches(text) == "> drop the cache"


def test_a_claim_that_is_denied_makes_nothing_ones_own() -> None:
    assert "81" in quoted_stretches("I never wrote this, not my text:\n\n> use 81")
