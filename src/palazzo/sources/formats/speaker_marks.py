"""Speaker marks: how people mark who speaks in text they kept, and whether a file uses one way throughout.

A *form* is where the name stands: before a colon, in bold, as a heading, in brackets, each with or without a time. A
*style* is one form with one spelling of each name. The rules prefer documents: a manual that shows a conversation, a
form with a field `User:`, or a page with a heading `## Assistant` must never become a transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Role
from palazzo.sources.formats.marked_lines import Line
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

_NAMES: tuple[tuple[Role, str], ...] = (
    ("user", "user human me you användare jag benutzer utilisateur usuario utente usuário gebruiker"),
    ("user", "用户 用戶 ユーザー"),
    ("assistant", "assistant ai claude chatgpt gpt gpt-4 gpt-4o gpt-5 bot copilot gemini codex"),
    ("assistant", "assistent asistente assistente 助手 アシスタント"),
    ("system", "system"),
)
_ROLE_OF: dict[str, Role] = {name: role for role, names in _NAMES for name in names.split()}
_SPEAKER_NAMES = "|".join(sorted(map(re.escape, _ROLE_OF), key=len, reverse=True))
_NAME = rf"(?P<name>(?:{_SPEAKER_NAMES}))(?: said)?"
_TIME = r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?Z?"
_TIME_SUFFIX = rf"(?:[ \t]*[(\[](?P<after>{_TIME}|[^()\[\]\n]{{1,40}})[)\]])?"
_TIME_PREFIX = rf"(?:\[(?P<before>{_TIME})\][ \t]+)?"
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (form, make_regex(pattern, re.IGNORECASE))
    for form, pattern in (
        ("heading", rf"(?P<level>#{{1,6}})[ \t]+(?:\W{{1,4}}[ \t]+)?{_NAME}{_TIME_SUFFIX}[ \t]*:?[ \t]*$"),
        ("bold", rf"{_TIME_PREFIX}(?P<level>\*\*|__){_NAME}{_TIME_SUFFIX}:?(?:\*\*|__)(?P<colon>:?)[ \t]*(?=\S|$)"),
        ("brackets", rf"{_TIME_PREFIX}(?P<level>[\[<]){_NAME}[\]>]:?(?:[ \t]+|$)"),
        ("colon", rf"{_TIME_PREFIX}(?P<level>){_NAME}{_TIME_SUFFIX}[ \t]?[:：](?:[ \t]|$)[ \t]*"),
    )
)
_SESSION = make_regex(
    r"(?:#{1,3}[ \t]+|[=*~]{3,}[ \t]*|-{3,}[ \t]*)(?:session|conversation|chat|transcript)\b[^\n]{0,120}$",
    re.IGNORECASE,
)
_ABOVE = make_regex(
    r"[ \t]*(?:|#{1,6}[ \t].*|[-=*_~]{3,}|[-=*~]{3,}.{0,120}[-=*~]{3,}"
    r"|(?:[-*][ \t]+)?(?:\*\*|__)?[\w \t/-]{1,30}(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*\S.{0,200}"
    rf"|{_TIME}|\d{{4}}-\d{{2}}-\d{{2}})[ \t]*"
)
_HEADING = make_regex(r"(#{1,6})[ \t]")
_MOST_ABOVE = 15
"""Maximum number of lines above the first turn: a title, a date, a few fields."""
_LEAST_TURNS, _LEAST_STATED = 3, 2
"""Minimum number of turns in a conversation: for a recognised file, and for a file that the user declares to be one."""
_LEAST_CHANGES = 0.7
"""Minimum share of turns that follow a turn of another speaker in their session."""
_LEAST_SAID = 0.8
"""Minimum share of turns that contain words."""


@frozen
class Mark:
    """A speaker's mark: the speaker of the turn, the stated time, and the number of bytes of the line that it takes."""

    role: Role
    said_at: Micros | None
    size: int


@frozen
class Style:
    """One form of marks, with the spelling of each name that the file uses."""

    form: str
    level: str
    spellings: tuple[tuple[Role, str], ...]

    def mark(self, line: Line) -> Mark | None:
        """Return the mark that the line begins with, if it is in this style."""
        form_match = None if line.in_fence else _match(line.text)
        if form_match is None or form_match[0] != self.form or form_match[1]["level"] != self.level:
            return None
        role = _ROLE_OF[form_match[1]["name"].lower()]
        if (role, form_match[1]["name"]) not in self.spellings:
            return None
        return Mark(role, _said_at(form_match[1]), _size(line, form_match[1]))


def find_style(lines: Sequence[Line], is_stated: bool = False) -> Style | None:
    """Return the style used throughout the lines; None if they are not a conversation.

    If a person states that they are one (`is_stated`), it may be short, and answers may have headings of their own.
    """
    style = _first_style(lines)
    if style is None:
        return None
    turns = list(_turns(lines, style))
    roles = {turn.role for turn in turns}
    follows = [
        previous_turn.role != next_turn.role for previous_turn, next_turn in pairwise(turns) if not next_turn.is_first
    ]
    holds = (
        len(turns) >= (_LEAST_STATED if is_stated else _LEAST_TURNS)
        and {"user", "assistant"} <= roles
        and sum(follows) >= _LEAST_CHANGES * len(follows)
        and sum(turn.has_words for turn in turns) >= _LEAST_SAID * len(turns)
        and (is_stated or style.form != "heading" or _are_most_headings(lines, style))
    )
    return style if holds else None


def is_preamble(line: Line) -> bool:
    """Return whether a line may be between a session's start and its first turn: title, field, rule or date."""
    return not line.in_fence and _ABOVE.fullmatch(line.text) is not None


def session_mark(line: Line) -> bool:
    """Return whether a line starts a session."""
    return not line.in_fence and _SESSION.match(line.text) is not None


def _first_style(lines: Sequence[Line]) -> Style | None:
    """Return the style of the first mark, which must be near the top with only a title and fields above it."""
    spellings: dict[Role, str] = {}
    form = level = ""
    above = 0
    for line in lines:
        form_match = None if line.in_fence else _match(line.text)
        if form_match is None:
            if not form:
                above += bool(line.raw.strip())
                if above > _MOST_ABOVE or not is_preamble(line):
                    return None
            continue
        if not form:
            form, level = form_match[0], form_match[1]["level"]
        if (form_match[0], form_match[1]["level"]) == (form, level):
            spellings.setdefault(_ROLE_OF[form_match[1]["name"].lower()], form_match[1]["name"])
    return Style(form, level, tuple(spellings.items())) if form else None


@dataclass(slots=True)
class _Turn:
    """A turn's speaker, whether it is the first of a session, and whether it contains words."""

    role: Role
    is_first: bool
    has_words: bool


def _turns(lines: Sequence[Line], style: Style) -> Iterator[_Turn]:
    turn: _Turn | None = None
    is_first = True
    for line in lines:
        mark = style.mark(line)
        if mark:
            if turn:
                yield turn
            turn = _Turn(mark.role, is_first, bool(line.raw[mark.size :].strip()))
            is_first = False
        elif turn:
            turn.has_words = turn.has_words or bool(line.raw.strip())
            is_first = is_first or session_mark(line)
    if turn:
        yield turn


def _are_most_headings(lines: Sequence[Line], style: Style) -> bool:
    """Return whether speakers are at least half of the headings of that level or above."""
    marks = sum(style.mark(line) is not None for line in lines)
    headings = sum(
        len(match.group(1)) <= len(style.level)
        for line in lines
        if not line.in_fence and (match := _HEADING.match(line.text))
    )
    return 2 * marks >= headings


def _match(text: str) -> tuple[str, re.Match[str]] | None:
    for form, pattern in _FORMS:
        match = pattern.match(text)
        if match and (form != "bold" or match["colon"] or text[: match.end()].rstrip().endswith((":**", ":__"))):
            return form, match
        if match and not text[match.end() :].strip():
            return form, match
    return None


def _said_at(match: re.Match[str]) -> Micros | None:
    groups = match.groupdict()
    return moment(groups.get("before") or groups.get("after") or "")


def _size(line: Line, match: re.Match[str]) -> int:
    mark = len(match.group().encode("utf-8", "surrogateescape"))
    return mark + 3 if line.start == 0 and line.raw.startswith(b"\xef\xbb\xbf") else mark
