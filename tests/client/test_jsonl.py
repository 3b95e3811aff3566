"""Lines of JSON are written and read exactly as the module json does, without importing it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from palazzo.client import jsonl

VALUES: list[object] = [
    *({}, [], [[[]]], {"a": [1, 2.5, -0.0, 1e300, None, True, False, 'é\u2028\ud800"\\/\n']}, {"n": float("inf")}),
    *({"1": {"x": "😀" * 3}}, {1: 2, None: 3, 2.5: 1}, {True: 4}, "text", 12, None),
]
LINES = [
    *(b"{", b'{"a":}', b"[1,]", b"{}x", b"{} {}", b"", b"\xff", b'{"a":"\x01"}', b"nul", b"[NaN,Infinity,-Infinity]"),
    *(b'{"a":1} \r\n', b"\xef\xbb\xbf{}", '{"a":1}'.encode("utf-16"), "[1]".encode("utf-32-be"), b' {"a":1}'),
    *(b'["\\ud800"]', b"[1e400]", b'["\xed\xa0\x80"]', b"[01]", b'["a"', b"[-]", b'{"a" 1}', b'"x"', b"12"),
    b"[" * 100_000,
]


def outcome(read: Callable[[bytes], object], line: bytes) -> str:
    try:
        return repr(read(line))
    except (ValueError, RecursionError):
        return "refused"


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_written_as_json_writes_it(value: object) -> None:
    line = jsonl.dumps(value)
    assert line == json.dumps(value, separators=(",", ":")).encode()
    assert repr(jsonl.loads(line)) == repr(json.loads(line))


def test_each_line_is_read_or_refused_as_json_does() -> None:
    assert [outcome(jsonl.loads, line) for line in LINES] == [outcome(json.loads, line) for line in LINES]


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(TypeError):
        jsonl.dumps({"a": {1}})
