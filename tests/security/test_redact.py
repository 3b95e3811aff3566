"""Redaction takes secrets and private spans, leaves all else, and changes nothing when it comes by again."""

from __future__ import annotations

import copy
import json
import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.bench.labelled_secrets import KINDS, cases, sample
from palazzo.model import Part
from palazzo.security.private_spans import private_spans
from palazzo.security.redactor import mark, redact
from palazzo.security.row_redactor import redact_json, redact_row
from palazzo.security.secret_scanner import find_secrets

KEY = b"a key of the palace"
TOKEN = sample("ghp_{alnum:36}", random.Random(7))
PASSWORD = "tr0ub4dor" + "&3x"

PIECES = st.sampled_from(
    [
        *("password", "=", ": ", '"', "'", "<private>", "</private>", "<PRIVATE x='y'>", "\\", "\n", " ", "[private]"),
        *("[redacted:jwt:", "0a1b2c3d]", "token", TOKEN, PASSWORD, "://", "user:", "@host", "bearer ", "a1B2c3D4" * 4),
        *("-----BEGIN PRIVATE KEY-----", "\ud800"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(st.characters(codec=None))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def test_equal_secrets_have_equal_marks_and_only_under_one_key() -> None:
    text = f"use {TOKEN}, I said {TOKEN}"
    first, second = re.findall(r"\[redacted:github-token:[0-9a-f]{8}\]", redact(text, KEY).text)
    assert first == second == mark(TOKEN, "github-token", KEY)
    assert redact(text, b"another key").text != redact(text, KEY).text


@pytest.mark.parametrize("key", [b"", b"x" * 65])
def test_a_key_that_is_none_is_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="1 to 64"):
        redact("text", key)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE reason='x'>b\nb</Private > c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a </private> b", "a </private> b"),
        ("a <private/> b", "a <private/> b"),
        ("write `<private>` before and `</private>` behind it", "write `<private>` before and `</private>` behind it"),
        ("a <privateer>b</privateer>", "a <privateer>b</privateer>"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ('{"a": "\\u003cprivate\\u003eb\\u003c/private\\u003e"}', '{"a": "[private]"}'),
    ],
)
def test_private_spans_go_whole(text: str, left: str) -> None:
    assert redact(text, KEY).text == left


def test_an_open_private_span_ends_with_its_stretch() -> None:
    text = "see <private> tags\n\nthe answer"
    parts = (Part("tool_result", 0, 18), Part("text", 20, 30))
    done = redact(text, KEY, [(part.start, part.end) for part in parts])
    assert done.text == "see [private]\n\nthe answer"
    assert [done.text[part.start : part.end] for part in done.shift(parts)] == ["see [private]", "the answer"]


def test_parts_move_with_the_text() -> None:
    pieces = ["hello", f"token {TOKEN} it is", "<private>gone</private>", "bye"]
    text, parts = "", []
    for piece in pieces:
        parts.append(Part("text", len(text), len(text) + len(piece), name=piece[:3]))
        text += piece + "\n\n"
    done = redact(text, KEY)
    shifted = [done.text[part.start : part.end] for part in done.shift(parts)]
    assert shifted == ["hello", f"token {mark(TOKEN, 'github-token', KEY)} it is", "[private]", "bye"]
    assert [part.name for part in done.shift(parts)] == ["hel", "tok", "<pr", "bye"]


def test_a_secret_across_two_parts_is_marked_in_the_first() -> None:
    text = f"x {TOKEN} y"
    done = redact(text, KEY)
    parts = (Part("text", 0, 10), Part("text", 10, 20), Part("text", 20, len(text)))
    shifted = done.shift(parts)
    assert "".join(done.text[part.start : part.end] for part in shifted) == done.text
    assert len(shifted) == 2


@given(TEXTS, st.lists(st.integers(0, 60), max_size=6))
@settings(max_examples=400, deadline=None)
def test_redacting_twice_changes_nothing_and_all_else_is_left(text: str, cuts: list[int]) -> None:
    done = redact(text, KEY)
    assert redact(done.text, KEY).text == done.text
    assert find_secrets(done.text) == []
    assert private_spans(done.text) == []
    at, rebuilt = 0, ""
    for edit in done.edits:
        assert at <= edit.start < edit.end <= len(text)
        rebuilt += text[at : edit.start] + edit.mark
        at = edit.end
    assert rebuilt + text[at:] == done.text
    ends = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    parts = [Part("text", a, b) for a, b in pairwise(ends)]
    assert "".join(done.text[part.start : part.end] for part in done.shift(parts)) == done.text


def test_no_labelled_secret_survives() -> None:
    for case in cases():
        if any(span.start <= case.start and case.end <= span.end for span in find_secrets(case.text)):
            assert case.text[case.start : case.end] not in redact(case.text, KEY).text


def test_json_is_walked_values_under_a_secrets_name_and_strings_that_hold_json() -> None:
    inner = json.dumps({"command": f"curl -H 'X: {TOKEN}'", "env": {"DB_PASSWORD": PASSWORD}})
    value = {"password": PASSWORD, "pin": {"passwd": 12345678}, "list": [TOKEN, 1, None, 2.5, True], "inner": inner}
    before = copy.deepcopy(value)
    done = redact_json(value, KEY)
    assert value == before
    assert done.rules.total() == 5
    assert PASSWORD not in json.dumps(done.value)
    assert TOKEN not in json.dumps(done.value)
    assert isinstance(done.value, dict)
    assert json.loads(done.value["inner"])["command"].startswith("curl -H 'X: [redacted:github-token:")
    assert done.value["list"][1:] == [1, None, 2.5, True]
    assert done.secrets.keys() == {PASSWORD, "12345678", TOKEN}


def test_what_was_found_elsewhere_goes_too() -> None:
    found = redact(f"password: {PASSWORD}", KEY).secrets(f"password: {PASSWORD}")
    assert found == {PASSWORD: "password"}
    assert redact_json({"output": f"echo {PASSWORD} | cat"}, KEY, found).value == {
        "output": f"echo {mark(PASSWORD, 'password', KEY)} | cat"
    }


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":  1,\t"b": [ "caf\xc3\xa9" ]}\r\n',
        b"not json\n",
        b"\xff\xfe broken \x00\n",
        b"",
        b"[" * 5000 + b"\n",
        b'{"a": "\\ud800"}',
    ],
)
def test_a_row_with_nothing_in_it_keeps_its_bytes(raw: bytes) -> None:
    assert redact_row(raw, KEY) == (raw, {}, {})


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_row_with_a_secret_is_written_in_its_own_manner(ensure_ascii: bool, separators: tuple[str, str]) -> None:
    def row(key: str) -> bytes:
        value = {"é": ["ü", key, 1.5], "n": None}
        return b" " + json.dumps(value, ensure_ascii=ensure_ascii, separators=separators).encode() + b"\r\n"

    assert redact_row(row(TOKEN), KEY).raw == row(mark(TOKEN, "github-token", KEY))


def test_rows_that_are_no_json_or_no_utf8_are_redacted_as_text() -> None:
    done = redact_row(b"\xff key " + TOKEN.encode() + b"\xfe\n", KEY)
    assert done.raw == b"\xff key " + mark(TOKEN, "github-token", KEY).encode() + b"\xfe\n"
    deep = b"[" * 100_000 + TOKEN.encode()
    assert TOKEN.encode() not in redact_row(deep, KEY).raw


def test_a_lone_surrogate_in_a_row_stays_an_escape() -> None:
    raw = b'{"\xc3\xa9": "\\ud800", "k": "' + TOKEN.encode() + b'"}'
    assert json.loads(redact_row(raw, KEY).raw) == {"é": "\ud800", "k": mark(TOKEN, "github-token", KEY)}


def test_any_depth() -> None:
    value: object = TOKEN
    for _ in range(20_000):
        value = [value]
    done = redact_json(value, KEY)
    assert done.rules.total() == 1


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_redacted_json_is_left_alone_by_the_next_redaction(value: object) -> None:
    once = redact_json(value, KEY)
    again = redact_json(once.value, KEY)
    assert not again.rules
    assert repr(again.value) == repr(once.value)
    if not once.rules:
        assert repr(once.value) == repr(value)


@given(st.binary() | VALUES.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=200, deadline=None)
def test_redacting_a_row_twice_changes_nothing(raw: bytes) -> None:
    once = redact_row(raw, KEY)
    assert redact_row(once.raw, KEY).raw == once.raw


def test_every_structured_kind_is_taken_out_of_a_row() -> None:
    draw = random.Random(11)
    for kind in KINDS:
        if kind.has_fixed_form:
            before, _, rest = sample(kind.template, draw).rpartition("«")
            secret, _, after = rest.partition("»")
            row = json.dumps({"message": {"content": f"it is\n{before}{secret}{after}\nthere"}}).encode() + b"\n"
            done = redact_row(row, KEY)
            assert done.rules
            assert secret not in json.loads(done.raw)["message"]["content"]


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_row_shows_every_secret_that_its_text_shows(levels: int) -> None:
    for case in cases():
        row, secret = case.text, case.text[case.start : case.end]
        if secret in redact(row, KEY).text:
            continue  # missed in the text: the figure of S3
        for _ in range(levels):
            row, secret = json.dumps({"type": "user", "content": row}), json.dumps(secret)[1:-1]
        done = redact_row(row.encode() + b"\n", KEY)
        assert done.rules, (case.kind.id, case.context)
        assert secret.encode() not in done.raw, (case.kind.id, case.context)
