"""Patterns that are compiled at their first use match as `re` does, and all patterns of the package are valid."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import palazzo
from palazzo.text import lazy_patterns
from palazzo.text.lazy_patterns import make_regex

TEXT = "In 2026-03 ÜNAL said: a\nb\na b. Next 日本語 🙂🙂"


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        (r"(?P<year>\d{4})-(?P<month>\d\d)|(Ünal)", re.IGNORECASE),
        (r"^a(.)b$", re.MULTILINE | re.DOTALL),
        (r"(?<=[.?!])\s+(?-i:[A-Z])", re.IGNORECASE),
        ("[\u4e00-\u9fff🙂]{2,3}?", 0),
    ],
)
def test_it_behaves_as_a_compiled_pattern(pattern: str, flags: int) -> None:
    lazy, compiled = make_regex(pattern, flags), re.compile(pattern, flags)
    assert [found.span() for found in lazy.finditer(TEXT)] == [found.span() for found in compiled.finditer(TEXT)]
    assert lazy.sub("-", TEXT) == compiled.sub("-", TEXT)
    assert lazy.split(TEXT) == compiled.split(TEXT)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert copy.deepcopy(lazy).findall(TEXT) == compiled.findall(TEXT)


def test_it_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def note(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_now(pattern, flags)

    monkeypatch.setattr(re, "compile", note)
    lazy = make_regex("a+")
    assert compiled == []
    assert lazy.search("caat")
    assert lazy.search("caat")
    assert compiled == ["a+"]


def all_lazy_patterns() -> Iterator[tuple[str, lazy_patterns._LazyPattern]]:
    for module in pkgutil.walk_packages(palazzo.__path__, "palazzo."):
        if module.name.split(".")[1] not in ("text", "security", "knowledge", "sessions", "index", "injection"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, lazy_patterns._LazyPattern):
                yield f"{module.name}.{name}", value


def test_every_pattern_of_the_package_can_be_compiled() -> None:
    """A mistake in one would otherwise show when somebody's text first needs it."""
    names = []
    for name, lazy in all_lazy_patterns():
        re.compile(lazy.pattern, lazy._requested_flags)
        names.append(name)
    assert len(names) > 300
