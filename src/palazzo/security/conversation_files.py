"""Whether a file or a program's output records what people, or people and a model, said to each other. Pure.

Such words are somebody's, wherever they lie: an exported chat in the project is no statement of the project. The forms
are narrower than those of `quoted_text`, which looks at what a person pastes, because configuration, logs and program
text have many lines `name: value`.
"""

from __future__ import annotations

import re

from palazzo.security.quotation_patterns import DAY, NAME, TIME

_LONGEST = 200_000
"""Characters of an output that are looked at: half of them from its end."""
_MOST_LINES = 400
"""Lines of one form that are looked at. A record of a conversation has two that count among its first."""
_START = r"^[ \t]{0,12}(?:(?:[\w./-]{1,200}:)?\d{1,7}(?:→|\t|:|\| ?)[ \t]{0,12})?(?:> ?|[-*] )?"
"""A line's beginning, with the number or the place that a reader or a search puts before it."""
_MESSAGE = re.compile(
    rf"{_START}(?:[\[(]?{DAY}, ?{TIME}[\])]?(?: ?[-–—])? (?P<name>{NAME}): ?\S"
    rf"|\[{TIME}\] <(?P<nick>[^<>\s]{{1,40}})> \S"
    rf"|(?P<before>{NAME}),? [\[(]{DAY},? {TIME}[\])]\s*$)",
    re.MULTILINE,
)
"""A message of a messenger's export: by whom and when. A logger puts no comma between day and time."""
_TURN = re.compile(
    rf"{_START}[\"'“«`]?(?:\*\*|#{{1,4}} )?"
    r"(?P<role>user|human|assistant|system|chatgpt|claude|gemini|copilot)(?:\*\*)?:"
    r"(?:\*\*)?[ \t]{1,4}(?P<words>[^\n]{1,300})",
    re.MULTILINE | re.IGNORECASE,
)
"""A turn of a conversation with a model."""
_EDGES = frozenset({"human", "assistant"})
"""Roles that by themselves begin a turn in models' own formats. `User: ` and `System: ` begin many other lines."""
_SENTENCE = re.compile(r"(?:[^\W\d_]+(?:['’-][^\W\d_]+)*[,;]? ){3}[^\W\d_]")
"""Four words in a row, none with a digit: a value or an expression has fewer."""
_LEVEL = re.compile(r"[A-Z]{2,}|[a-z]+[_.\w]*")
"""A level or the name of a logger where a name is expected."""


def holds_conversation(text: str) -> bool:
    """Whether a text has two messages of a chat, turns of two roles, or a turn as models' formats begin it."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    return _has_messages(text) or _has_turns(text)


def _has_messages(text: str) -> bool:
    count = 0
    for n, message in enumerate(_MESSAGE.finditer(text)):
        name = message["name"] or message["before"]
        count += name is None or not _LEVEL.fullmatch(name)
        if count > 1 or n > _MOST_LINES:
            break
    return count > 1


def _has_turns(text: str) -> bool:
    roles: set[str] = set()
    for n, turn in enumerate(_TURN.finditer(text)):
        role = turn["role"].lower()
        if _SENTENCE.match(turn["words"]):
            if role in _EDGES:
                return True
            roles.add(role)
        if len(roles) > 1 or n > _MOST_LINES:
            break
    return len(roles) > 1
