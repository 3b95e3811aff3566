"""Compiled patterns that outlive a process: they match as `re` does, and what is damaged is compiled again."""

from __future__ import annotations

import re

import pytest

from palazzo.injection import intent_patterns
from palazzo.text import compiled_patterns
from palazzo.text.compiled_patterns import DOT_ALL, IGNORE_CASE, MULTILINE

PATTERNS = (
    (r"(?P<year>\d{4})-(?P<month>\d\d)|(Ünal)", IGNORE_CASE),
    (r"^a(.)b$", MULTILINE | DOT_ALL),
    (r"(?<=[.?!])\s+(?-i:[A-Z])", IGNORE_CASE),
    ("[\u4e00-\u9fff🙂]{2,3}?", 0),
)
TEXT = "In 2026-03 ÜNAL said: a\nb\na b. Next 日本語 🙂🙂"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_patterns, "_code_cache", {})
    monkeypatch.setattr(compiled_patterns, "_new_patterns", {})


def kept() -> bytes:
    for pattern, flags in PATTERNS:
        compiled_patterns.compile_pattern(pattern, flags)
    return compiled_patterns.dump_cache()


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
def test_what_was_kept_matches_as_what_is_compiled(monkeypatch: pytest.MonkeyPatch, pattern: str, flags: int) -> None:
    compiled_patterns.remember(kept())
    monkeypatch.setattr(re, "compile", None)  # it is not asked for
    made = compiled_patterns.compile_pattern(pattern, flags)
    monkeypatch.undo()
    plain = re.compile(pattern, flags)
    assert [(m.span(), m.groupdict(), m.groups()) for m in made.finditer(TEXT)] == [
        (m.span(), m.groupdict(), m.groups()) for m in plain.finditer(TEXT)
    ]
    assert (made.pattern, made.flags, made.groups) == (plain.pattern, plain.flags, plain.groups)


def test_only_what_is_new_is_worth_keeping() -> None:
    raw = kept()
    compiled_patterns._new_patterns.clear()
    compiled_patterns.remember(raw)
    for pattern, flags in PATTERNS:
        compiled_patterns.compile_pattern(pattern, flags)
    assert compiled_patterns.dump_cache() == b""
    compiled_patterns.compile_pattern("another")
    assert len(compiled_patterns.dump_cache()) > len(raw)


@pytest.mark.parametrize("raw", [b"", b"x", b"12345678", b"\0" * 100])
def test_what_is_no_such_file_is_nothing(raw: bytes) -> None:
    compiled_patterns.remember(raw)
    assert compiled_patterns._code_cache == {}


def test_a_flipped_bit_is_seen() -> None:
    raw = bytearray(kept())
    raw[len(raw) // 2] ^= 4
    compiled_patterns.remember(bytes(raw))
    assert compiled_patterns._code_cache == {}


def test_lists_that_this_python_does_not_take_are_compiled_again() -> None:
    compiled_patterns._code_cache[PATTERNS[0]] = (34, b"\xff\xff\xff\x7f" * 3, 3, {}, (None,))
    assert compiled_patterns.compile_pattern(*PATTERNS[0]).search("2026-03")


def test_every_pattern_that_asks_can_be_kept() -> None:
    for pattern in (
        *intent_patterns.ASKS,
        intent_patterns.NEVER,
        intent_patterns.AT_HAND,
        intent_patterns.WHOLE,
        intent_patterns.PHRASES,
    ):
        compiled_patterns.compile_pattern(pattern.pattern, IGNORE_CASE)
    assert compiled_patterns.dump_cache()
