"""Values in statements: versions, ports, paths, states, quantities, times of day; and when two of them differ.

Pure. Two values differ only if both cannot be true. A more precise version, a range that contains the other value,
another notation, another unit or a path inside the other path is not a difference.
"""

from __future__ import annotations

import re
from typing import Literal

from palazzo.frozen_class import frozen

ValueKind = Literal["version", "port", "path", "boolean", "value", "name"]


@frozen
class Value:
    """A value as written, its kind, and its unit (for a version: the name before it)."""

    kind: ValueKind
    text: str
    unit: str = ""


ON = frozenset(
    "on enabled true required mandatory allowed permitted active yes supported available"
    " aktiviert eingeschaltet activé activée activado activada attivato attivata ativado ativada".split()
)
OFF = frozenset(
    "off disabled false optional forbidden prohibited inactive no unsupported unavailable blocked banned"
    " denied disallowed deaktiviert ausgeschaltet abgeschaltet désactivé désactivée desactivado desactivada disattivato"
    " disattivata desativado desativada".split()
)
_OTHER_OFF = frozenset(
    "private closed manual asynchronous writable opt-out lenient immutable unencrypted unsigned".split()
)
_SAME_SCALE = (
    frozenset("on enabled true active yes off disabled false inactive no blocked".split()),
    frozenset("aktiviert eingeschaltet deaktiviert ausgeschaltet abgeschaltet".split()),
    frozenset("activé activée désactivé désactivée".split()),
    frozenset("activado activada desactivado desactivada".split()),
    frozenset("attivato attivata disattivato disattivata".split()),
    frozenset("ativado ativada desativado desativada".split()),
    frozenset("required mandatory optional".split()),
    frozenset("allowed permitted forbidden prohibited blocked banned denied disallowed".split()),
    frozenset("supported unsupported".split()),
    frozenset("available unavailable".split()),
    frozenset("public private".split()),
    frozenset("open closed".split()),
    frozenset("manual automatic".split()),
    frozenset("synchronous asynchronous".split()),
    frozenset("read-only writable".split()),
    frozenset("opt-in opt-out".split()),
    frozenset("strict lenient".split()),
    frozenset("mutable immutable".split()),
    frozenset("encrypted unencrypted".split()),
    frozenset("signed unsigned".split()),
)
STATE = r"(?:not |n't |no longer )?(?:" + "|".join(sorted(ON | OFF, key=len, reverse=True)) + r")\b"

_NUMBER = re.compile(r"[\d.,]*\d(?:e-?\d+)?")


def differ(value_a: Value, value_b: Value) -> bool:
    """Return whether two values of one thing exclude each other."""
    if value_a.kind != value_b.kind or plain(value_a.text) == plain(value_b.text):
        return False
    return _DIFFER[value_a.kind](value_a, value_b)


def plain(text: str) -> str:
    """Return a value without quotation marks, case and closing punctuation."""
    return text.strip(" `'\"“”„«».,;:").casefold()


def _versions_differ(value_a: Value, value_b: Value) -> bool:
    if value_a.unit and value_b.unit and plain(value_a.unit) != plain(value_b.unit):
        return False
    first, second = _range(value_a.text), _range(value_b.text)
    if first is None or second is None:
        return False
    (low, top), (lower, upper) = first, second
    return (top is not None and _is_below(top, lower)) or (upper is not None and _is_below(upper, low))


def _is_below(top: tuple[int, ...], low: tuple[int, ...]) -> bool:
    """Return whether all versions up to `top` are below `low`; 3.11 covers 3.11.9, so it is not below 3.11.4."""
    return top[: len(low)] < low[: len(top)]


def _range(text: str) -> tuple[tuple[int, ...], tuple[int, ...] | None] | None:
    """Return the lowest and the highest version of a range; None for the highest if it is open."""
    bounds = re.findall(r"(?:^|[\s,])([<>=~^!]*)\s?v?(\d+(?:\.\d+)*)", text)
    if not bounds:
        return None
    low: tuple[int, ...] = (0,)
    top: tuple[int, ...] | None = None
    for sign, digits in bounds:
        number = tuple(int(part) for part in digits.split(".")[:4])
        if sign.startswith(">"):
            low = number
        elif sign.startswith("<"):
            top = number if "=" in sign else _just_below(number)
        elif sign.startswith(("~", "^")):
            low, top = number, number[:1]
        else:
            low = top = number
    if "or newer" in text or "or later" in text or "+" in text:
        top = None
    return low, top


def _just_below(number: tuple[int, ...]) -> tuple[int, ...]:
    return (*number[:-1], number[-1] - 1) if number[-1] else number


def _ports_differ(value_a: Value, value_b: Value) -> bool:
    return value_a.text != value_b.text


def _paths_differ(value_a: Value, value_b: Value) -> bool:
    first, second = (
        plain(value.text).removeprefix("./").rstrip("/").replace("\\", "/") for value in (value_a, value_b)
    )
    first, second = first.removesuffix("/*"), second.removesuffix("/*")
    shorter, longer = sorted((first, second), key=len)
    is_nested = longer.startswith(f"{shorter}/") or longer.endswith(f"/{shorter}") or f"/{shorter}/" in f"/{longer}/"
    return first != second and not is_nested and ("://" in first) == ("://" in second)


def state_of(text: str) -> bool | None:
    """Return the state that a word gives: on or off, required or not; None if it is not a state."""
    words = plain(text).replace("n't ", "not ").split()
    if not words:
        return None
    is_negated = words[0] == "not" or words[:2] == ["no", "longer"]
    return (words[-1] not in OFF | _OTHER_OFF) != is_negated


def _states_differ(value_a: Value, value_b: Value) -> bool:
    first, second = state_of(value_a.text), state_of(value_b.text)
    words = {plain(value_a.text).split()[-1], plain(value_b.text).split()[-1]}
    return (
        first is not None
        and second is not None
        and (first != second and (len(words) == 1 or any(words <= scale for scale in _SAME_SCALE)))
    )


def _quantities_differ(value_a: Value, value_b: Value) -> bool:
    if _unit(value_a.unit) != _unit(value_b.unit):
        return False
    first, second = _number(value_a.text), _number(value_b.text)
    if first is None or second is None:
        return first is None and second is None
    return first != second


_UNITS = {
    "second": "s", "seconds": "s", "sec": "s", "secs": "s", "s": "s", "minutes": "min", "minute": "min", "mins": "min",
    "hours": "h", "hour": "h", "day": "day", "d": "day", "milliseconds": "ms", "character": "char", "characters": "char",
}  # fmt: skip


def _unit(text: str) -> str:
    return " ".join(_UNITS.get(word, word.removesuffix("s") if len(word) > 3 else word) for word in plain(text).split())


_WORDS = {
    word: float(n)
    for n, word in (
        (1, "one"), (2, "two"), (3, "three"), (4, "four"), (5, "five"), (6, "six"), (7, "seven"), (8, "eight"),
        (9, "nine"), (10, "ten"), (12, "twelve"), (15, "fifteen"), (20, "twenty"), (30, "thirty"), (60, "sixty"),
        (90, "ninety"),
    )
}  # fmt: skip


def _number(text: str) -> float | None:
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    match = _NUMBER.match(text.lstrip("$€£ "))
    try:
        return None if match is None or ":" in text else float(match[0].replace(",", ""))
    except ValueError:
        return None


def _names_differ(value_a: Value, value_b: Value) -> bool:
    if value_a.unit != value_b.unit:
        return False
    first, second = (set(plain(value.text).removesuffix("s").replace("-", "").split()) for value in (value_a, value_b))
    return not (first <= second or second <= first)


_DIFFER = {
    "version": _versions_differ,
    "port": _ports_differ,
    "path": _paths_differ,
    "boolean": _states_differ,
    "value": _quantities_differ,
    "name": _names_differ,
}
