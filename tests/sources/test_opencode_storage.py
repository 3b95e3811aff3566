"""opencode's JSON tree: what it really wrote, the same conversation as in its database, and what may go wrong."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_storage import OpencodeStorage
from palazzo.model import Micros
from palazzo.sources.formats import Message, Noise, Unreadable

from .collection_samples import few, json_values, read_all, said, words
from .opencode_samples import START, Writer, unpack, unpack_storage

FEEDER = OpencodeStorage(lambda: Micros(1 << 62))


def tree(root: Path, messages: dict[str, object], parts: dict[str, list[object]], session: object = None) -> Path:
    """Write one session as opencode does."""
    named = {"id": "ses_a", "directory": "/home/dev/acme", "title": "A", "time": {"created": START}}
    for folder, stem, value in (
        ("session/p1", "ses_a", named if session is None else session),
        *(("message/ses_a", message, data) for message, data in messages.items()),
        *((f"part/{message}", f"prt_{n}", data) for message, listed in parts.items() for n, data in enumerate(listed)),
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / f"{stem}.json").write_text(json.dumps(value))
    return root


def test_the_tree_is_recognised_where_it_lies_and_nothing_else_is(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    assert FEEDER.recognises(storage, b"")
    assert FEEDER.recognises(tmp_path, b"")
    assert not FEEDER.recognises(storage / "session", b"")
    assert not FEEDER.recognises(storage / "migration", b"2")
    (tmp_path / "other" / "session").mkdir(parents=True)
    (tmp_path / "other" / "message").mkdir()
    assert not FEEDER.recognises(tmp_path / "other", b"")


def test_every_file_is_a_row_to_the_byte(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    rows = [row for _, rows in read_all(FEEDER, storage) for row in rows]
    files = [file for kind in ("session", "message", "part") for file in (storage / kind).rglob("*.json")]
    assert sorted(row.raw for row in rows) == sorted(file.read_bytes() for file in files)
    assert not [row for row in rows if isinstance(row.content, Unreadable)]


def told(one: Message) -> tuple[object, ...]:
    """What a message says; the project of the second store had been moved."""
    words = one.text.replace("/home/dev/other/proj", "/home/dev/acme")
    return one.uuid, one.role, one.standing, one.author, one.created_at, words, [part.kind for part in one.parts]


def test_the_tree_and_the_database_that_took_it_over_say_the_same_under_the_same_ids(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    new = read_all(Opencode(), unpack("migrated.db", tmp_path / "new"))
    old = read_all(FEEDER, unpack_storage(tmp_path))
    assert OpencodeStorage.kind == Opencode().kind
    assert [session.identity for session, _ in old] == [session.identity for session, _ in new]
    for (_, before), (_, after) in zip(old, new, strict=True):
        assert [told(one) for one in said(before)] == [told(one) for one in said(after)]
        assert [type(row.content) for row in before] == [type(row.content) for row in after]


def test_sessions_of_the_database_beside_it_are_left_to_it(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_e002f3f98ffek6k9e5c7DG9uGf")
    assert [one.title for one in FEEDER.sessions(storage)] == [
        "Deploy port and config",
        "research retries (@general subagent)",
    ]
    writer.close()
    (tmp_path / "opencode.db").write_bytes(b"no database")
    assert len(list(FEEDER.sessions(storage))) == 3


def test_a_stamp_changes_with_any_file_of_the_session_and_with_no_other(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    first = {one.title: one.stamp for one in FEEDER.sessions(storage)}
    assert first == {one.title: one.stamp for one in FEEDER.sessions(storage)}
    message = sorted((storage / "message" / "ses_e002f3f98ffek6k9e5c7DG9uGf").iterdir())[-1]
    part = sorted((storage / "part" / message.stem).iterdir())[-1]
    os.utime(part, ns=(1, 1))
    second = {one.title: one.stamp for one in FEEDER.sessions(storage)}
    assert [title for title in first if first[title] != second[title]] == ["Second session"]


def test_what_the_model_is_still_writing_waits(tmp_path: Path) -> None:
    asked: dict[str, object] = {"role": "user", "time": {"created": START}}
    root = tree(
        tmp_path,
        {"msg_1": asked, "msg_2": {"role": "assistant", "time": {"created": START + 1}}},
        {"msg_1": [{"type": "text", "text": "hi"}], "msg_2": [{"type": "text", "text": "ha"}]},
    )
    waiting = OpencodeStorage(lambda: Micros(0))
    assert [one.text for _, rows in read_all(waiting, root) for one in said(rows)] == ["hi"]
    assert [one.text for _, rows in read_all(FEEDER, root) for one in said(rows)] == ["hi", "ha"]


def test_a_session_without_messages_is_a_session(tmp_path: Path) -> None:
    tree(tmp_path, {}, {})
    (tmp_path / "message").mkdir()
    [(session, rows)] = read_all(FEEDER, tmp_path)
    assert (session.title, [row.content for row in rows]) == ("A", [Noise("session")])


def test_a_damaged_file_is_one_row_that_says_so(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    message = sorted((storage / "message").rglob("*.json"))[0]
    message.write_bytes(message.read_bytes()[:40])
    part = sorted((storage / "part").rglob("*.json"))[-1]
    part.write_bytes(b"\xff[")
    bad = [row for _, rows in read_all(FEEDER, storage) for row in rows if isinstance(row.content, Unreadable)]
    assert {row.raw for row in bad} >= {message.read_bytes(), b"\xff["}


def test_files_that_vanish_are_skipped(tmp_path: Path) -> None:
    storage = unpack_storage(tmp_path)
    sessions = list(FEEDER.sessions(storage))
    shutil.rmtree(storage / "part")
    assert all(list(one.rows()) for one in sessions)


@few
@given(told=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), words), max_size=5))
def test_what_is_written_is_read_back(told: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    messages: dict[str, object] = {
        f"msg_{n}": {"role": role, "time": {"created": START + n, "completed": START}}
        for n, (role, _) in enumerate(told)
    }
    parts: dict[str, list[object]] = {f"msg_{n}": [{"type": "text", "text": one}] for n, (_, one) in enumerate(told)}
    root = tree(tmp_path_factory.mktemp("s"), messages, parts)
    (root / "message").mkdir(exist_ok=True)
    [(_, rows)] = read_all(FEEDER, root)
    quoted = [(role, one) for role, one in told if one and not (role == "user" and one.strip().startswith('"'))]
    assert [(one.role, one.text) for one in said(rows) if (one.role, one.text) in quoted] == quoted


@few
@given(session=json_values, message=json_values, part=json_values)
def test_no_content_of_a_file_makes_reading_fail(
    session: object, message: object, part: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tree(
        tmp_path_factory.mktemp("s"), {"msg_1": message}, {"msg_1": [part, {"type": "tool", "state": part}]}, session
    )
    [(_, rows)] = read_all(FEEDER, root)
    assert len(rows) == 4
