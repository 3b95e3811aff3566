"""Records as lines: what is written is read again, what others write is read or refused, and nothing else happens."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sync.told_lines import SCHEMA, lines_of

from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.record_lines import MOST_VALUES, NewerFormat, from_line, key_of, kind_of, to_line
from palazzo.sync.records.act_records import Act, Span
from palazzo.sync.records.header_record import Header
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.kind_registry import RECORD_KINDS
from palazzo.sync.records.place_records import Wing
from palazzo.sync.records.record_kind import Record

ID = "ab" * 16
NOTE = Item(ID, ID, ID, "note", "user", 1, "user")
ITEM: dict[str, Any] = {"kind": "item", **dict.fromkeys(("id", "source", "room"), ID), "type": "note", "role": "user"}
ITEM |= {"recorded_at": 1, "trust": "user"}


def line(**told: Any) -> bytes:
    return json.dumps(told).encode()


VALIDATORS = {kind: jsonschema.Draft202012Validator(SCHEMA["$defs"][kind]) for kind in RECORD_KINDS}


def read_or_refused(told: bytes) -> Record | None:
    try:
        return from_line(told)
    except BadRecord as error:
        why = str(error)
    assert why
    assert "\n" not in why
    return None


def is_of_the_schema(written: bytes) -> bool:
    told = json.loads(written)
    return bool(VALIDATORS[told["kind"]].is_valid(told))


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from([*RECORD_KINDS]))
def test_what_the_schema_allows_is_read_and_written_as_one_line(data: st.DataObject, kind: str) -> None:
    told = data.draw(lines_of(kind))
    record = read_or_refused(json.dumps(told).encode())
    if record is None:  # two halves of a character, or bytes that are no text: JSON has both
        return
    written = to_line(record)
    assert kind_of(record) == kind
    assert from_line(written) == record
    assert to_line(from_line(written)) == written
    assert written.endswith(b"\n")
    assert written.count(b"\n") == 1
    assert not any(separator in written[:-1] for separator in (b"\n", b"\r"))
    assert is_of_the_schema(written)


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from([*RECORD_KINDS]))
def test_what_is_not_of_the_schema_is_refused_in_one_sentence(data: st.DataObject, kind: str) -> None:
    told = data.draw(lines_of(kind))
    name = data.draw(st.sampled_from([*told, "unheard_of"]))
    values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
    told[name] = data.draw(values | st.dictionaries(st.text(), st.integers()))
    record = read_or_refused(json.dumps(told).encode("utf-8"))
    assert record is None or is_of_the_schema(to_line(record))


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=60))
def test_bytes_are_a_record_or_refused(told: bytes) -> None:
    read_or_refused(told)


@pytest.mark.parametrize(
    "text",
    ["", "plain", "\0", "naïve 漢字 😀", "\ud800", "\udc00x", "\ud83d\ude00", "a\ud83d\ude00b\ud800"],
)
def test_texts_come_back_to_the_letter(text: str) -> None:
    item = Item(ID, ID, ID, "note", "user", 1, "user", text=text)
    back = from_line(to_line(item))
    assert isinstance(back, Item)
    assert [ord(letter) for letter in back.text] == [ord(letter) for letter in text]


@pytest.mark.parametrize("raw", [None, b"", b'{"a": "\\u00e9"}\n', "é".encode(), b"\xff\xfe", b"\xed\xa0\x80"])
def test_bytes_come_back_to_the_byte_and_none_is_not_nothing(raw: bytes | None) -> None:
    item = Item(ID, ID, ID, "note", "user", 1, "user", raw=raw)
    assert from_line(to_line(item)) == item


@pytest.mark.parametrize(
    "meta",
    ["{}", '{"a":1}', '{"a": 1}', '{"a":NaN}', '{"b":1,"a":[1.50,"\\u00e9"]}', '{"a":' + "[" * 90 + "]" * 90 + "}"],
)
def test_what_is_stored_as_json_comes_back_as_it_is_stored(meta: str) -> None:
    """The links of the chain are made of these very letters."""
    item = Item(ID, ID, ID, "note", "user", 1, "user", meta=meta)
    assert from_line(to_line(item)) == item


def test_a_line_is_read_as_words_and_escaped_only_where_it_must_be() -> None:
    assert "漢字 \u2028".encode() in to_line(replace(NOTE, text="漢字 \u2028"))
    assert to_line(replace(NOTE, text="漢\ud800")).isascii()
    assert b"base64" in to_line(replace(NOTE, raw=b"\0" * 9))


def test_a_field_at_its_default_is_left_out_and_fields_stand_in_one_order() -> None:
    assert to_line(Wing(ID, "api")) == b'{"kind":"wing","id":"' + ID.encode() + b'","first_name":"api"}\n'
    assert b"branch" not in to_line(NOTE)
    assert to_line(from_line(line(first_name="api", id=ID, kind="wing"))) == to_line(Wing(ID, "api"))
    given_at_default = from_line(line(**ITEM, branch="", parts=[["text", 0, 1]], meta={}))
    assert b"branch" not in to_line(given_at_default)


def test_a_record_is_known_by_its_id_or_by_what_stands_for_one() -> None:
    assert key_of(Wing(ID, "api")) == ("wing", ID)
    assert key_of(from_line(line(kind="repetition", source=ID, ordinal=3, item=ID))) == ("repetition", ID, "3", ID)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (b"", "is not valid JSON"),
        (b'{"kind":"wing"', "is not valid JSON (was the file truncated?)"),
        (b"[]", "an object with 'kind'"),
        (b"7", "an object with 'kind'"),
        (b'{"kind":7}', "an object with 'kind'"),
        (b'{"kind":"wong"}', "has a kind 'wong'"),
        (line(kind="wing", id=ID), "wing: lacks 'first_name'"),
        (
            line(kind="wing", id=ID, first_name="a", colour="red"),
            "an unknown field 'colour'; this version does not support it",
        ),
        (line(kind="wing", id=7, first_name="a"), "'id' must be an id"),
        (line(kind="wing", id=ID.upper(), first_name="a"), "'id' must be an id"),
        (line(kind="wing", id="../" + ID, first_name="a"), "'id' must be an id"),
        (line(kind="wing", id=ID, first_name=["a"]), "'first_name' must be a string"),
        (line(kind="wing", id=ID, first_name="\ud800"), "contains half of a surrogate pair"),
        (line(**{**ITEM, "type": "god"}), "'type' must be one of message"),
        (line(**{**ITEM, "type": ["note"]}), "'type' must be one of message"),
        (line(**{**ITEM, "recorded_at": True}), "'recorded_at' must be an integer"),
        (line(**{**ITEM, "recorded_at": 1.5}), "'recorded_at' must be an integer"),
        (line(**{**ITEM, "recorded_at": 10**18}), "years 1 to 9999"),
        (line(**ITEM, ordinal=1 << 63), "'ordinal' is out of range"),
        (line(**{**ITEM, "type": "message"}, ordinal=-1), "'ordinal' of a message must be at least 0"),
        (line(**ITEM, created_at=None), "'created_at' must be an integer"),
        (b'{"kind":"wing","id":' + b"9" * 5_000 + b"}", "is not valid JSON"),
        (line(**ITEM, raw={"base64": "###"}), "'raw' is not valid base64"),
        (line(**ITEM, raw={"base64": "", "more": 1}), "an object with no key but 'base64'"),
        (line(**ITEM, raw="\ud800"), "contains half of a surrogate pair"),
        (line(**ITEM, text={"base64": "/w=="}), "'text' is not valid text"),
        (line(**ITEM, salt="abc"), "'salt' must be hexadecimal digits"),
        (line(**ITEM, meta=[1]), "'meta' must be an object"),
        (line(**ITEM, meta="{"), "'meta' contains a value that is not valid JSON"),
        (line(**ITEM, parts=[]), "'parts' must be a list of parts"),
        (line(**ITEM, parts=[["text", "0", 1]]), "'parts' must be an integer"),
        (b'{"kind":"act","detail":{"a":' + b"[" * 70 + b"]" * 70 + b"}}", "lacks 'id'"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"kind":"wing","id":NaN}', "contains NaN"),
        (b'\xff{"kind":"wing"}', "is not UTF-8 text"),
        ('{"kind":"wing"}'.encode("utf-16"), "is not UTF-8 text"),
    ],
)
def test_what_is_no_record_says_why(told: bytes, why: str) -> None:
    with pytest.raises(BadRecord, match=re.escape(why)):
        from_line(told)


SPAN = {"item": ID, "start": 0, "end": 3, "drawer": ID}
SAID = {"item": ID, "start": 0, "end": 3}
ACT = {"kind": "act", "id": ID, "actor": "user", "at": 1}
LINK = {"kind": "entity_link", "id": ID, "entity": ID, "recorded_at": 1}
ARRANGED = {"kind": "arrangement", "id": ID, "recorded_at": 1}
CONFLICT = {"kind": "conflict", "id": ID, "type": "functional", "found_at": 1}
VERSION = {"kind": "fact_version", "id": ID, "fact": ID, "confidence": 1, "recorded_at": 1}
MEMBER = {"kind": "member", "group": ID, "n": 0}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"kind": "source", "id": ID, "type": "document", "key": []}, "'key' is empty"),
        ({"kind": "link", "device": ID, "seq": 1, "item": ID, "digest": "00", "hash": "00" * 32}, "32 bytes"),
        (
            {"kind": "link", "device": ID, "seq": 0, "item": ID, "digest": "00" * 32, "hash": "00" * 32},
            "'seq' must be at least 1",
        ),
        ({**ACT, "type": "tag", "detail": {}}, "lacks 'tag'"),
        ({**ACT, "type": "move", "detail": {"wing": "api"}}, "lacks 'room'"),
        ({**ACT, "type": "forget", "detail": {"row": "7"}}, "a row of another palace"),
        ({**ACT, "type": "forget", "detail": {"reason": 7}}, "must contain only strings"),
        ({**ACT, "type": "forget", "detail": {}, "spans": [{**SPAN, "start": 4}]}, "ends before it begins"),
        ({**LINK, "type": "alias"}, "lacks 'name'"),
        ({**LINK, "type": "merge", "name": "Ada"}, "lacks 'other'"),
        ({**ARRANGED, "type": "name", "name": "api"}, "of either a wing or a room"),
        ({**ARRANGED, "type": "name", "wing": ID, "room": ID, "name": "api"}, "of either a wing or a room"),
        ({**ARRANGED, "type": "name", "wing": ID}, "lacks 'name'"),
        ({**ARRANGED, "type": "name", "room": ID, "name": "api"}, "lacks 'target'"),
        ({**ARRANGED, "type": "merge", "wing": ID, "name": "api"}, "lacks 'target'"),
        ({**ARRANGED, "type": "move", "wing": ID, "name": "api", "target": ID}, "does not move a room"),
        ({**CONFLICT, "earlier": {}, "later": {"fact": ID}}, "each side must be either a fact or a span of an item"),
        (
            {**CONFLICT, "earlier": {**SAID, "fact": ID}, "later": {"fact": ID}},
            "each side must be either a fact or a span of an item",
        ),
        ({**CONFLICT, "earlier": {"fact": ID}, "later": {"item": ID}}, "must have a valid span"),
        ({**VERSION, "valid_from": 2, "valid_to": 2}, "ends before it begins"),
        ({**VERSION, "sources": [{"stated_by": "user", "start": 1}]}, "a start and an end"),
        ({**ITEM, "parts": [["poem", 0, 1]]}, "not one of text, thinking"),
        ({**ITEM, "parts": [["text", 0, 1, "", "", False, "untag"]]}, "a part with an unknown trust"),
        ({"kind": "erasure", "id": ID, "at": 1, "certificate": "{"}, "'certificate' is invalid"),
        ({"kind": "erasure", "id": ID, "at": 1, "certificate": "[]"}, "'certificate' is invalid"),
        ({"kind": "erasure", "id": ID, "at": 1, "certificate": '{"items":[]}'}, "'certificate' is invalid"),
        ({**MEMBER, "type": "act"}, "lacks 'number' or 'ref'"),
        ({**MEMBER, "type": "undone", "ref": ID}, "lacks 'number' or 'ref'"),
    ],
)
def test_a_record_of_which_nothing_can_be_made_is_refused(told: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRecord, match=re.escape(why)):
        from_line(line(**told))


def test_a_later_version_is_told_apart_from_damage() -> None:
    with pytest.raises(NewerFormat, match="declares version 2 of the format"):
        from_line(line(kind="header", format="palazzo", version=2, shiny=True))
    with pytest.raises(BadRecord, match="which does not exist"):
        from_line(line(kind="header", format="palazzo", version=0))
    assert from_line(line(kind="header", format="palazzo", version=1)) == Header("palazzo", 1)


@pytest.mark.parametrize(
    "inner", [b'{},"a":' + b"[" * 1_100_000, b"{}" + b',"":{}' * 600_000, b"{}" + b',"a":1' * 600_000]
)
def test_a_line_of_more_values_than_it_may_have_is_refused_before_anything_is_made_of_it(inner: bytes) -> None:
    with pytest.raises(BadRecord, match="more than 1,000,000 values"):
        from_line(b'{"kind":"act","detail":' + inner)


def test_a_long_line_of_words_is_none_of_many_values() -> None:
    words = '", "[{:,' * 200_000
    item = Item(ID, ID, ID, "note", "user", 1, "user", text=words)
    assert from_line(to_line(item)) == item
    spans = tuple(Span(ID, n, n + 1, ID) for n in range(20_000))
    act = Act(ID, "forget", "user", 1, {}, None, None, spans)
    assert len(to_line(act)) > 1 << 20
    assert from_line(to_line(act)) == act
    assert 4 * len(spans) < MOST_VALUES
