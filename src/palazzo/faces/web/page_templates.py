"""Templates of the pages, and what they do with values: show times, mark words, shorten. Everything is escaped."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from datetime import time as clock_time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from palazzo.model import Micros
from palazzo.text.ages import describe_age
from palazzo.text.times import to_iso
from palazzo.text.visible import visible

_TEMPLATES = Path(__file__).parent / "templates"
_LAST_TIME = 32_503_680_000_000_000
"""The year 3000, in microseconds: a later time, which a forged record may have, is shown as undated."""
LONGEST_MARKED = 200_000
"""The most characters of a text in which words are marked."""


@cache
def environment() -> Environment:
    """Return the environment of all templates. An undefined name is an error: a page never shows a hole."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        age=_show_age,
        clock=_show_clock,
        day=_show_day,
        counted=_show_count,
        marked=mark_words,
        shown=visible,  # control characters, and those that reverse the text, are made visible
        line=show_line,
        moment=_show_moment,
        deadline=_show_deadline,
        shell=shlex.quote,
    )
    made.globals.update(address=make_address, without=_without)
    return made


def fill(template: str, **values: Any) -> bytes:
    """Return a filled template as UTF-8. A lone surrogate, which UTF-8 cannot encode, becomes a question mark."""
    return environment().get_template(template).render(**values).encode("utf-8", "replace")


def make_address(path: str, /, **parameters: object) -> str:
    """Return an address of the viewer: `path` with its parts escaped, and the parameters that are set."""
    present = {name: value for name, value in parameters.items() if value not in (None, "", 0, False)}
    query = f"?{urlencode(present, errors='replace')}" if present else ""
    return quote(path.encode("utf-8", "replace"), safe="/") + query


def _without(parameters: Mapping[str, str], name: str) -> dict[str, str]:
    """Return parameters of an address without one of them."""
    return {other: value for other, value in parameters.items() if other != name}


def show_line(text: str, longest: int = 200) -> str:
    """Return recorded words as one line of limited length."""
    words = " ".join(visible(text[: 8 * longest]).split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def mark_words(text: str, words: Collection[str]) -> Markup:
    """Return text in which `words` (lower case) are marked. Every piece of it is escaped."""
    pattern = _pattern_of(tuple(sorted(words, key=lambda word: (-len(word), word))))
    if pattern is None or len(text) > LONGEST_MARKED:
        return escape(visible(text))
    pieces = pattern.split(visible(text))
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if position % 2 else escape(piece)
        for position, piece in enumerate(pieces)
    )


@lru_cache(maxsize=64)
def _pattern_of(words: tuple[str, ...]) -> re.Pattern[str] | None:
    usable_words = [re.escape(word) for word in words if word.strip()]
    return re.compile(rf"(?<!\w)({'|'.join(usable_words)})(?!\w)", re.IGNORECASE) if usable_words else None


def _show_count(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 drawer`, `2,000 drawers`; the two stay on one line."""
    return f"{count:,}\N{NO-BREAK SPACE}{noun if count == 1 else plural or f'{noun}s'}"


def _show_age(at: Micros | None) -> Markup:
    """Return how long ago a time was, with the exact time for machines and on hovering."""
    if not at or abs(at) > _LAST_TIME:
        return Markup('<span class="quiet">undated</span>')
    age = describe_age(at, time.time_ns() // 1_000)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(to_iso(at), _show_clock(at), age)


def _show_clock(at: Micros | None) -> str:
    """Return the local date and time of a moment."""
    return "undated" if not at or abs(at) > _LAST_TIME else f"{_local_time(at):%Y-%m-%d %H:%M}"


def _show_deadline(at: Micros) -> str:
    """Return the local date and time before which something is due; only the date if that is midnight."""
    return _show_clock(at).removesuffix(" 00:00")


def _show_day(at: Micros | None) -> str:
    """Return the local date of a moment."""
    return "undated" if not at or abs(at) > _LAST_TIME else f"{_local_time(at):%Y-%m-%d}"


def _show_moment(text: str) -> Markup:
    """Return an ISO-8601 time as local date and time; one at midnight UTC, which stands for a day, as its date."""
    try:
        at = datetime.fromisoformat(text)
        shown = f"{at:%Y-%m-%d}" if at.time() == clock_time() else f"{at.astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # the first and last hours of the calendar, which a forged record may have
        shown = text
    return Markup('<time datetime="{}">{}</time>').format(text, shown)


def _local_time(at: Micros) -> datetime:
    return datetime.fromtimestamp(at // 1_000_000, UTC).astimezone()
