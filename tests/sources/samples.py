"""Rows of transcripts, real and invented, for the tests beside this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from hypothesis import strategies as st

from palazzo.sources.formats import Feeder, Message, Row

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
SESSION = FIXTURES / "2.1.330" / "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl"
SUBAGENT = SESSION.with_suffix("") / "subagents" / "agent-ad54d616a2fa255a4.jsonl"
EIGHTEEN_TURNS = FIXTURES / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
TRANSCRIPTS = (SESSION, SUBAGENT, EIGHTEEN_TURNS)


def spoken(kind: str, content: object, **fields: object) -> dict[str, object]:
    """A row of a conversation, as the host writes it."""
    row: dict[str, object] = {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2026-11-21T20:39:00.629Z",
    }
    return row | fields


def line(row: Mapping[str, object], end: bytes = b"\n") -> bytes:
    """The bytes of a row."""
    return json.dumps(row).encode() + end


def read(feeder: Feeder, data: bytes, start: int = 0) -> list[Row]:
    """Read `data` from `start` on, as from a file."""
    stream = BytesIO(data)
    stream.seek(start)
    return list(feeder.rows(stream, start))


def message(feeder: Feeder, *rows: Mapping[str, object]) -> Message:
    """The message that the last of these rows says."""
    content = read(feeder, b"".join(map(line, rows)))[-1].content
    assert isinstance(content, Message), content
    return content


_words = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)  # lone surrogates and NUL too
_names = st.sampled_from(["Bash", "WebFetch", "Edit", "mcp__x__y"])
_ids = st.sampled_from(["t1", "t2", "t3"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)
_blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": _words}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": _words}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": _ids, "name": _names, "input": _json}),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": _ids, "content": _json}),
    st.fixed_dictionaries({"type": _words, "data": _json}),
    _json,
)
_rows = st.builds(
    spoken,
    st.sampled_from(["user", "assistant", "system", "attachment", "summary"]),
    st.lists(_blocks, max_size=3) | _json,
    uuid=st.sampled_from(["u1", "u2", ""]) | _json,
    timestamp=st.sampled_from(["2026-11-21T20:39:00Z", "soon", 1795293540629, -1.5]) | _json,
    isMeta=st.booleans(),
)
_bad = st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")) | st.sampled_from(
    [b"", b"[1]", b'"x"', b"{", b"\x00\x00", b'{"type": "user", "uuid": "u"}', b"\xff{}", b"\xef\xbb\xbf", b"{}" * 40]
)
_ends = st.sampled_from([b"\n", b"\r\n", b" \n"])
_lines = st.builds(lambda row, end: line(row, end), _rows, _ends) | st.builds(lambda raw, end: raw + end, _bad, _ends)
files = st.builds(
    lambda lines, cut: b"".join(lines)[: len(b"".join(lines)) - cut],
    st.lists(_lines, max_size=8),
    st.sampled_from([0, 0, 1, 2, 7]),
)
