"""Conversations with everything in them that hurts, and what is expected back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palazzo.sources.formats import Message, Row

FACTOR = float(os.environ.get("PALAZZO_FIDELITY", "1"))
EVERY_DAY, SLOW = 100, int(1000 * FACTOR)
START = 1_795_293_302_613
"""Milliseconds since 1970, in November 2026."""


@dataclass(frozen=True)
class Turn:
    """One thing said: by the user, the assistant, or a tool; `at` in milliseconds since 1970."""

    role: str
    text: str
    at: int


@dataclass(frozen=True)
class Heard:
    """What is expected back; `at` in microseconds, None where the format has no times."""

    role: str
    text: str
    at: int | None


def joined(text: str) -> str:
    """Text as UTF-16 has it, which all hosts in JavaScript do: two surrogates that make a pair are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


ODD = (
    "> quoted\n> twice",
    "a\r\nb\r\n",
    "```python\nprint('fence')\n```",
    "~~~~\n```\n~~~~",
    "\0",
    "a\0b\x01\x1b[31mred\x1b[0m",
    "\ud800 lone",
    "\udc00",
    "{}",
    '{"type": "text", "text": "not a row"}',
    "[]",
    "null",
    "---",
    "# Heading\n\ntext",
    "🙏🏽 👩‍👩‍👧 åäö 日本語 \u202eright to left\u202c",
    "\ufeffwith a mark",
    "line\u2028separator\u2029and\x85next\x0bline\x0cpage",
    "\\ud800 \\n \\u0000 \\\\",
    " leading and trailing \t",
    "\n\n",
    " ",
    "",
    "x" * 9000,
    "word " * 3000,
)
_any = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)
_OF_HOSTS = ("Stop hook feedback:", "[Request interrupted by user")
"""A whole message that begins so is the host's own; Hypothesis finds such words in the sources."""
texts = (
    st.lists(st.sampled_from(ODD) | _any, min_size=1, max_size=3)
    .map("\n".join)
    .map(joined)
    .filter(lambda text: not text.lstrip().startswith(_OF_HOSTS))
)
_roles = st.sampled_from(["user", "assistant", "tool"])
turns = st.lists(
    st.builds(lambda role, text, gap: (role, text, gap), _roles, texts, st.integers(1, 10_000_000)), max_size=7
).map(lambda made: [Turn(role, text, START + n * 60_000 + gap % 60_000) for n, (role, text, gap) in enumerate(made)])
"""Conversations whose times go forward."""


def hard() -> list[Turn]:
    """Everything that hurts in one conversation, with a line of a megabyte."""
    told = [*map(joined, ODD), "x" * 1_000_000, "é" * 300_000 + "\n" + "y" * 700_000]
    roles = ("user", "assistant", "tool", "assistant")
    return [Turn(roles[n % 4], text, START + n * 1000) for n, text in enumerate(told)]


def spoken(told: Iterable[Turn], *, times: bool = True) -> list[Heard]:
    """What is expected of a format that keeps every word: all but what is empty."""
    return [Heard(one.role, one.text, one.at * 1000 if times else None) for one in told if one.text]


def heard(rows: Iterable[Row], *, times: bool = True, branch: str | None = None) -> list[Heard]:
    """What was read: the conversation without calls of tools; of one branch, where one is named."""
    found = []
    for row in rows:
        one = row.content
        if isinstance(one, Message) and one.standing == "said" and branch in (None, one.thread):
            at = one.created_at if times else None
            found += [Heard(role, text, at) for role, text in _without_calls(one) if text]
    return found


def _without_calls(one: Message) -> list[tuple[str, str]]:
    """What a message says; where it holds a call, its other parts, of which a result is the tool's."""
    if all(part.kind != "tool_call" for part in one.parts):
        return [(one.role, one.text)]
    rest = [part for part in one.parts if part.kind != "tool_call"]
    return [("tool" if part.kind == "tool_result" else one.role, one.text[part.start : part.end]) for part in rest]


Check = Callable[[list[Turn], Path, int], None]
"""Writes a conversation into a directory and reads it back; the number chooses among ways to write it."""


def hold(check: Check, directory: Path, examples: int) -> None:
    """Hold a check for the hard conversation and that many others."""
    count = 0

    def fresh() -> Path:
        nonlocal count
        count += 1
        (directory / str(count)).mkdir()
        return directory / str(count)

    for way in range(4 if examples > EVERY_DAY else 1):
        check(hard(), fresh(), way)

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(told=turns, way=st.integers(0, 1_000_000))
    def holds(told: list[Turn], way: int) -> None:
        check(told, fresh(), way)

    holds()
