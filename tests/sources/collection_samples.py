"""What the tests of collections share: reading everything, the promises every row keeps, and words that hurt."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Collection, Message, Noise, Row, Session, Unreadable

few = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
"""Tests that write files: few examples, and one directory for all of them."""

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)  # NUL and lone surrogates too
words = (
    anything
    | st.sampled_from(
        ["a\r\nb\r\n", "```python\nprint('hi')\n```", "> quoted\n> twice", '{"type": "user"}', "🙏 åäö 日本語"]
    )
    | st.just("x" * 1_000_000)
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)


def head_of(path: Path) -> bytes:
    """The first 64 KiB, as mining reads them; nothing of a directory."""
    return b"" if path.is_dir() else path.read_bytes()[:65536]


def read_all(collection: Collection, path: Path) -> list[tuple[Session, list[Row]]]:
    """Every session with its rows, each held to the promises of a row."""
    found = []
    for session in collection.sessions(path):
        rows = list(session.rows())
        check(session, rows)
        found.append((session, rows))
    return found


def read_or_refuse(collection: Collection, path: Path) -> list[tuple[Session, list[Row]]]:
    """The same, for what may be refused: with a sentence, never otherwise."""
    found = []
    try:
        for session in collection.sessions(path):
            rows = list(session.rows())
            check(session, rows)
            found.append((session, rows))
    except SourceUnreadable as refusal:
        reason = str(refusal)
        assert reason.endswith(".")
    return found


def check(session: Session, rows: list[Row]) -> None:
    """The promises of every row."""
    assert not any(part.startswith("/") or "/home/" in part for part in session.identity.key)
    assert session.stamp
    for n, row in enumerate(rows):
        assert row.position == n
        assert row.raw
        if isinstance(row.content, Message):
            check_message(row.content)
        else:
            assert isinstance(row.content, Noise | Unreadable)
            assert row.content.reason


def check_message(message: Message) -> None:
    """The promises of every message."""
    assert message.text
    bounds = [0, *(bound for part in message.parts for bound in (part.start, part.end))]
    assert bounds == sorted(bounds)
    assert bounds[-1] == len(message.text)
    assert all(part.start < part.end for part in message.parts)
    assert message.text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass") == message.text


def said(rows: Iterable[Row]) -> list[Message]:
    """The messages among rows."""
    return [row.content for row in rows if isinstance(row.content, Message)]


def is_canonical(raw: bytes) -> bool:
    """Whether this is JSON with sorted keys, no spaces, on one line."""
    value = json.loads(raw)
    plain = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    escaped = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return raw in (plain.encode("utf-8", "surrogatepass"), escaped.encode())
