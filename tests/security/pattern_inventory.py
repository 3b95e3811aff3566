"""Which single patterns take more than linear time: `python -m tests.security.pattern_inventory [NAME]`.

For each pattern, texts are made from its own parts: what each repetition repeats, alone and after what the pattern
wants before it. A pattern is reported if four times such a text takes more than eight times as long. It need not be a
defect: what calls it may limit the text, as a clause has 400 characters. `test_linear_readers.py` holds the callers to
linear time; this finds what their texts do not try. With NAME, patterns from the first that contains it on.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import palazzo
from palazzo.text.lazy_patterns import _LazyPattern

ROOMS = (
    *("archive", "derived", "git", "hosts", "importers", "index", "injection", "knowledge", "security", "sessions"),
    *("sources", "sync", "text"),
)
"""Packages whose patterns meet foreign text."""
ANCHORED = frozenset({"match", "fullmatch"})
_USE = re.compile(r"\b([A-Za-z_]\w*)(?:\[[^\]]*\])?\.(search|finditer|subn?|findall|split|match|fullmatch)\b")
_SAMPLES = "a0 \n-_.:/\"'`A=(é語\t,<>#*|\\"
"""Characters that are tried in turn for a set of characters."""
_DEEPEST = 12


class Use(NamedTuple):
    """A pattern, and whether it is only matched at the beginning of a text."""

    pattern: re.Pattern[str]
    is_anchored: bool


def find_patterns() -> dict[str, Use]:
    """Return the patterns of text, by module and name."""
    found = {}
    for module in pkgutil.walk_packages(palazzo.__path__, "palazzo."):
        if module.name.split(".")[1] in ROOMS:
            loaded = importlib.import_module(module.name)
            uses = _uses(Path(str(loaded.__file__)))
            for name, value in vars(loaded).items():
                for place, pattern in _patterns_in(name, value):
                    if isinstance(pattern.pattern, str):
                        found[f"{module.name}:{place}"] = Use(pattern, uses.get(name, {"search"}) <= ANCHORED)
    return found


def _uses(path: Path) -> dict[str, set[str]]:
    uses: dict[str, set[str]] = {}
    for match in _USE.finditer(path.read_text(encoding="utf-8")):
        uses.setdefault(match[1], set()).add(match[2])
    return uses


def _patterns_in(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, _LazyPattern):
        yield name, re.compile(value.pattern, value.flags)  # type: ignore[arg-type]
    elif depth < 3 and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _patterns_in(f"{name}[{str(key)[:30]}]", item, depth + 1)
    elif depth < 3 and isinstance(value, tuple | list | frozenset | set):
        for n, item in enumerate(value):
            yield from _patterns_in(f"{name}[{n}]", item, depth + 1)


def hard_texts(pattern: re.Pattern[str]) -> set[str]:
    """Return stretches to repeat: what each repetition repeats, alone and after what the pattern wants before it."""
    flags = pattern.flags & ~re.DEBUG
    tree = parser.parse(pattern.pattern, flags)
    texts: set[str] = set()
    _collect(list(tree), "", texts)
    whole = "".join(_sample(item) for item in tree)
    return {text for text in texts | {whole, whole + " "} if text}


def _collect(items: list[Any], before: str, texts: set[str]) -> str:
    """Add the stretches of a sequence; return a text that matches the sequence."""
    for item in items:
        code, argument = item
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            low, high, body = argument
            if high == codes.MAXREPEAT or high > 20:
                for piece in _samples(body):
                    texts |= {piece, before + piece * 8, piece + before}
            _collect(list(body), before, texts)
            before += "".join(_sample(part) for part in body) * max(low, 0)
            continue
        for branch in _branches(item):
            _collect(list(branch), before, texts)
        before += _sample(item)
    return before


def _branches(item: Any) -> list[Any]:
    code, argument = item
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    if code is codes.BRANCH:
        return list(argument[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    return []


def _samples(body: Any) -> set[str]:
    """Return some texts that a repeated part matches."""
    items = list(body)
    if len(items) == 1 and items[0][0] in (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.LITERAL):
        return set([character for character in _SAMPLES if _accepts(items[0], character)][:4]) or {_sample(items[0])}
    return {"".join(_sample(item) for item in items)}


def _sample(item: Any, depth: int = 0) -> str:
    """Return a text that an item of a pattern matches, or nearly."""
    code, argument = item
    if depth > _DEEPEST or code in (codes.AT, codes.ASSERT_NOT, codes.GROUPREF, codes.GROUPREF_EXISTS, codes.FAILURE):
        return ""
    if code is codes.LITERAL:
        return chr(int(argument))
    if code in (codes.IN, codes.ANY, codes.NOT_LITERAL):
        return next((character for character in _SAMPLES if _accepts(item, character)), _first_of(item))
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, _, body = argument
        return "".join(_sample(part, depth + 1) for part in body) * min(max(int(low), 1), 40)
    if code is codes.ASSERT:
        return ""
    branches = _branches(item)
    return "".join(_sample(part, depth + 1) for part in branches[0]) if branches else ""


def _first_of(item: Any) -> str:
    code, argument = item
    for kind, value in argument if code is codes.IN else ():
        if kind is codes.LITERAL:
            return chr(value)
        if kind is codes.RANGE:
            return chr(value[0])
    return "a"


_CATEGORIES: dict[object, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdecimal,
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
}
_NOT_CATEGORIES = {
    codes.CATEGORY_NOT_DIGIT: codes.CATEGORY_DIGIT,
    codes.CATEGORY_NOT_SPACE: codes.CATEGORY_SPACE,
    codes.CATEGORY_NOT_WORD: codes.CATEGORY_WORD,
}


def _accepts(item: Any, character: str) -> bool:
    code, argument = item
    if code is codes.ANY:
        return character != "\n"
    if code is codes.LITERAL:
        return bool(chr(argument) == character)
    if code is codes.NOT_LITERAL:
        return bool(chr(argument) != character)
    is_negated, is_member = False, False
    for kind, value in argument:
        if kind is codes.NEGATE:
            is_negated = True
        elif kind is codes.LITERAL:
            is_member = is_member or chr(value) == character
        elif kind is codes.RANGE:
            is_member = is_member or value[0] <= ord(character) <= value[1]
        elif kind is codes.CATEGORY:
            is_member = is_member or (
                _CATEGORIES[value](character)
                if value in _CATEGORIES
                else not _CATEGORIES[_NOT_CATEGORIES[value]](character)
            )
    return is_member != is_negated


_LENGTH, _LEAST = 1200, 0.02
"""Characters of the shorter text, and the seconds for four times as many below which nothing is reported."""
_TOO_LONG = 0.5
"""Seconds for the shorter text after which the longer is not tried."""


def find_slow_text(use: Use, length: int = _LENGTH) -> tuple[str, float, float] | None:
    """Return a stretch for which a pattern takes more than linear time, and the seconds for two lengths.

    The texts have `length` characters and four times as many. The second time is infinite if the first was too long.
    """
    for stretch in sorted(hard_texts(use.pattern)):
        text = stretch * (length // len(stretch) + 1)
        short = _seconds(use, text)
        if short > _TOO_LONG:
            return stretch, short, float("inf")
        if short * 16 > _LEAST:
            short, long = min(short, _seconds(use, text)), _seconds(use, text * 4)
            if long > _LEAST and min(long, _seconds(use, text * 4)) > 8 * short:
                return stretch, short, long
    return None


def _seconds(use: Use, text: str) -> float:
    began = time.thread_time()
    if use.is_anchored:
        use.pattern.match(text)
    else:
        for _ in use.pattern.finditer(text):
            pass
    return time.thread_time() - began


def main(arguments: list[str]) -> None:
    """Print each pattern that takes more than linear time, with its seconds and the stretch."""
    uses = find_patterns()
    first = next((n for n, name in enumerate(uses) if arguments and arguments[0] in name), 0)
    slow = 0
    for name, use in list(uses.items())[first:]:
        if (found := find_slow_text(use)) is not None:
            slow += 1
            stretch, short, long = found
            print(f"{short:.3f} s, {long:.3f} s  {name}  {stretch[:40]!r}", flush=True)
    print(f"{slow} of {len(uses) - first} patterns")


if __name__ == "__main__":
    main(sys.argv[1:])
