"""Ways to damage a file, and the promises that hold for what is left of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO

from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import LONGEST_REASON, Feeder, Message, Noise, Row, Unreadable

DEEP = 10_000
SNIPPETS = (
    *("null", "true", "false", "0", "-1", "0.5", "1e308", "1e999", "-1e999", "NaN", "Infinity", "-Infinity"),
    *('""', '"x"', '"\\ud800"', '"\\u0000"', '"{}"', "[]", "{}", "[null]", "[[]]", "[3]", '["x"]', '[{"type": 3}]'),
    *('{"text": null}', '{"type": "text"}', '{"type": "text", "text": 3}', '{"id": 1, "id": [], "id": null}'),
    *("9" * 400, "9" * 5000, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "0" + "}" * DEEP, "[" * DEEP, "{" * 5, "}", ""),
    *('[{"type": "tool_use", "id": [], "name": {}, "input": 3}]', '[{"type": "tool_result", "content": {"a": 1}}]'),
)
"""What may stand where a value was; the last few are no JSON."""
_HOLE = "hole 5b0f6e"


@dataclass(frozen=True)
class Place:
    """A value in a JSON text: a choice among all there are, and whether it is doubled rather than replaced."""

    choice: float
    snippet: str
    doubled: bool


places = st.builds(Place, st.floats(0, 1, exclude_max=True), st.sampled_from(SNIPPETS), st.booleans())


def put(raw: bytes, place: Place) -> bytes:
    """Put a snippet where some value of a JSON text stands, or before it as a second member of that key."""
    try:
        value = json.loads(raw.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return raw
    spots = list(_spots(value))
    if not spots:
        return place.snippet.encode()
    holder, key = spots[int(place.choice * len(spots))]
    if place.doubled and isinstance(holder, dict):
        written = json.dumps(value, ensure_ascii=True)
        name = json.dumps(str(key))
        return written.replace(f"{name}:", f"{name}: {place.snippet}, {name}:", 1).encode()
    holder[key] = _HOLE
    return json.dumps(value, ensure_ascii=True).replace(f'"{_HOLE}"', place.snippet, 1).encode()


def _spots(value: object) -> Iterator[tuple[dict[object, object], object]]:
    """Each value of a tree, as what holds it (a list is named as a dictionary here; both take a key) and its key."""
    members: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    for key, member in members:
        yield value, key  # type: ignore[misc]
        yield from _spots(member)


@dataclass(frozen=True)
class Cut:
    """One change of bytes: `at` and `size` are shares of the file."""

    kind: str
    at: float
    size: float
    byte: int

    def apply(self, data: bytes) -> bytes:
        """Return the changed bytes."""
        at = int(self.at * len(data))
        end = min(len(data), at + int(self.size * self.size * len(data)) + 1)
        match self.kind:
            case "flip":
                return data[:at] + bytes([data[at] ^ (1 << self.byte % 8)]) + data[at + 1 :] if at < len(data) else data
            case "write":
                return data[:at] + bytes([self.byte]) + data[at + 1 :]
            case "insert":
                return data[:at] + bytes([self.byte]) * (1 + self.byte % 4) + data[at:]
            case "drop":
                return data[:at] + data[end:]
            case "double":
                return data[:end] + data[at:end] + data[end:]
            case _:
                return data[:at]


_kinds = st.sampled_from(["flip", "flip", "write", "insert", "drop", "double", "truncate"])
cuts = st.lists(st.builds(Cut, _kinds, st.floats(0, 1), st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=5)


def read(feeder: Feeder, data: bytes) -> list[Row]:
    """Read a damaged transcript: rows, or a sentence."""
    with_sentence = readable(lambda: list(feeder.rows(BytesIO(data))))
    if with_sentence is None:
        return []
    joined = b"".join(row.raw for row in with_sentence)
    assert data.startswith(joined)
    assert b"\n" not in data[len(joined) :]
    return with_sentence


def readable(reading: Callable[[], list[Row]]) -> list[Row] | None:
    """Read; None where it is refused with a sentence. Every row keeps its promises."""
    try:
        rows = reading()
    except SourceUnreadable as refusal:
        sentence = str(refusal)
        assert sentence.endswith(".")
        assert len(sentence) < 600
        return None
    for row in rows:
        keeps_its_promises(row)
    return rows


def keeps_its_promises(row: Row) -> None:
    """A row is a message with parts in order, or says why it is none; a message is never a row as it stood."""
    if not isinstance(row.content, Message):
        assert isinstance(row.content, Noise | Unreadable)
        assert row.content.reason
        assert len(row.content.reason) <= LONGEST_REASON
        return
    message = row.content
    bounds = [0, *(bound for part in message.parts for bound in (part.start, part.end)), len(message.text)]
    assert bounds == sorted(bounds)
    message.text.encode("utf-8", "surrogatepass")
    for said in (message.uuid, message.parent, message.thread, message.author, message.cwd, message.branch, row.title):
        said.encode("utf-8", "surrogatepass")
    json.dumps(dict(message.meta))
    if message.role != "author":  # what a person keeps as text may be JSON
        assert not is_raw(message.text, row.raw)


def is_raw(text: str, raw: bytes) -> bool:
    """Whether a text is the JSON that its row is."""
    if text.strip()[:1] != "{":
        return False
    try:
        value = json.loads(text, strict=False)
        return len(value) > 1 and bool(value == json.loads(raw.decode("utf-8", "surrogateescape"), strict=False))
    except (ValueError, RecursionError):
        return False
