"""A conversation is found whatever letters its roles are written with: the quick look before must not miss one."""

from __future__ import annotations

import itertools

import pytest

from palazzo.security.conversation_files import holds_conversation

LETTERS = {"s": "sSſ", "k": "kK\u212a", "i": "iIİı"}
"""The letters that `re.IGNORECASE` takes for one."""
ROLES = ("user", "human", "assistant", "system", "chatgpt", "claude", "gemini", "copilot")


def spellings(role: str) -> list[str]:
    """Return the role in all mixtures of letters that count as the same."""
    return ["".join(letters) for letters in itertools.product(*(LETTERS.get(letter, letter) for letter in role))]


@pytest.mark.parametrize("role", ROLES)
def test_each_spelling_of_a_role_is_a_turn(role: str) -> None:
    other = "human" if role != "human" else "assistant"
    for spelling in spellings(role):
        text = f"{spelling}: We deploy on Fridays only, as was agreed.\n{other}: Then we should write that down."
        assert holds_conversation(text), spelling


@pytest.mark.parametrize("time", ["9:05", "21.40", "8h30"])
def test_each_form_of_a_time_is_a_message(time: str) -> None:
    text = f"[12.03.2026, {time}] Ada: We deploy on Fridays.\n[12.03.2026, {time}] Lin: Then write that down."
    assert holds_conversation(text)
