"""Detection of conversations: whether a file or a program's output records a dialogue of people, or with a model. Pure.

Such words belong to their speakers, wherever the file is: an exported chat in the project is not a statement of the
project. The patterns are narrower than those of `quotations`, which examines what a person pastes, because
configuration, logs and program text have many lines of the form `name: value`.
"""

from __future__ import annotations

import re

from palazzo.security.quotation_patterns import DAY, NAME, TIME
from palazzo.text.lazy_patterns import make_regex

_LONGEST = 200_000
"""The most characters of an output that are examined: half of them from its end."""
_MOST_LINES = 400
"""The most lines of one form that are examined. A conversation record has two that count among its first lines."""
_START = r"^[ \t]{0,12}(?:(?:[\w./-]{1,200}:)?\d{1,7}(?:→|\t|:|\| ?)[ \t]{0,12})?(?:> ?|[-*] )?"
"""The start of a line, with the line number or position that a reader or a search puts before it."""
_MESSAGE = make_regex(
    rf"{_START}(?:[\[(]?{DAY}, ?{TIME}[\])]?(?: ?[-–—])? (?P<name>{NAME}): ?\S"
    rf"|\[{TIME}\] <(?P<nick>[^<>\s]{{1,40}})> \S"
    rf"|(?P<before>{NAME}),? [\[(]{DAY},? {TIME}[\])]\s*$)",
    re.MULTILINE,
)
"""A message in a messenger's export: its author and time. A logger puts no comma between day and time."""
_TURN = make_regex(
    rf"{_START}[\"'“«`]?(?:\*\*|#{{1,4}} )?"
    r"(?P<role>user|human|assistant|system|chatgpt|claude|gemini|copilot)(?:\*\*)?:"
    r"(?:\*\*)?[ \t]{1,4}(?P<words>[^\n]{1,300})",
    re.MULTILINE | re.IGNORECASE,
)
"""A turn of a conversation with a model."""
_TIME_HINT = make_regex(r"\d[:.h]\d{2}")
_ROLE_HINT = make_regex(r"(?:user|human|stant|system|chatgpt|claude|gem..?n..?|cop..?lot)(?:\*\*)?:")
"""What each message contains, and each turn whose letters are folded: most outputs have neither, and these say so in a
third of the time. Folding leaves the letters that `re` takes for an "i" as they are, or makes two of one."""
_EDGES = frozenset({"human", "assistant"})
"""Roles that alone start a turn in models' own formats. `User: ` and `System: ` also start many other lines."""
_SENTENCE = make_regex(r"(?:[^\W\d_]+(?:['’-][^\W\d_]+)*[,;]? ){3}[^\W\d_]")
"""Four consecutive words without digits: a value or an expression has fewer."""
_LEVEL = make_regex(r"[A-Z]{2,}|[a-z]+[_.\w]*")
"""A log level, or the name of a logger, in place of a name."""


def holds_conversation(text: str) -> bool:
    """Whether a text contains two chat messages, turns of two roles, or a turn in a model's chat format."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    return (_TIME_HINT.search(text) is not None and _has_messages(text)) or (
        _ROLE_HINT.search(text.casefold()) is not None and _has_turns(text)
    )


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
