"""Stores that are cut off, locked, damaged or meant to do harm: one sentence, or the rest of them; never a crash."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.importers import Note, SkippedRecord, StoreRecord
from palazzo.importers.store_readers import READERS, detect_reader, find_reader

from . import samples
from .samples import WRITERS

SINGLE_TEXTS = ("wt-memory", "shodh")
DATABASES = ("mnemograph", "claude-mem")


def read(name: str, path: Path) -> list[StoreRecord]:
    return list(find_reader(name).read(path))


def refused(name: str, path: Path) -> str:
    with pytest.raises(SourceUnreadable) as caught:
        read(name, path)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", SINGLE_TEXTS)
def test_a_text_that_ends_in_the_middle_is_refused_as_a_whole(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    whole = path.read_bytes()
    for size in range(1, len(whole) - 1, max(1, len(whole) // 40)):
        path.write_bytes(whole[:size])
        assert "is not valid JSON, or is truncated" in refused(name, path)


@pytest.mark.parametrize("name", SINGLE_TEXTS)
@pytest.mark.parametrize(
    "text", [b"", b"[]", b"null", b"\x00" * 100, b"{" * 200_000, b'{"a":' * 100_000, b"\xff\xfe{\x00}\x00"]
)
def test_a_text_that_is_no_export_is_refused(name: str, text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(text)
    refused(name, path)


@pytest.mark.parametrize("name", SINGLE_TEXTS)
def test_a_text_that_unpacks_without_end_is_not_read_on(name: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(160):
            stream.write(b" " * (1 << 20))
    assert "times its size" in refused(name, path)


@pytest.mark.parametrize(
    ("name", "key", "version"),
    [("wt-memory", "version", 2), ("wt-memory", "version", "1"), ("shodh", "mif_version", "3")],
)
def test_an_export_of_a_later_version_is_refused(name: str, key: str, version: object, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    samples.json_file(path, json.loads(path.read_text(encoding="utf-8")) | {key: version})
    assert "version" in refused(name, path)


JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e308, float("nan"), "", "\ud800", "\x00", [], [None], [[]], {}, {"a": {"b": []}},
)  # fmt: skip


@pytest.mark.parametrize("name", SINGLE_TEXTS)
def test_whatever_a_member_is_the_others_are_read(name: str, tmp_path: Path) -> None:
    """Each member of each thing in turn is each sort of junk: nothing but that thing may be lost."""
    path = WRITERS[name](tmp_path)
    export = json.loads(path.read_text(encoding="utf-8"))
    usual = len(read(name, path))
    lists = [("records",)] if name == "wt-memory" else [
        ("memories",), ("todos",), ("reminders",), ("projects",), ("knowledge_graph", "entities"),
        ("knowledge_graph", "relationships"),
    ]  # fmt: skip
    for where in lists:
        inside = export
        for key in where:
            inside = inside[key]
        for number, one in enumerate(inside):
            for key in list(one):
                for junk in JUNK:
                    kept, one[key] = one[key], junk
                    samples.json_file(path, export)
                    assert len(read(name, path)) >= usual - 2
                    one[key] = kept
            for junk in JUNK:
                inside[number] = junk
                samples.json_file(path, export)
                read(name, path)
            inside[number] = one


def test_lines_that_are_no_entities_cost_no_other_line(tmp_path: Path) -> None:
    path = samples.mcp_memory(tmp_path)
    good = path.read_text(encoding="utf-8")
    bad = [
        "{", "null", "[" * 5000, '{"type":"entity"}', '{"type":"entity","name":7,"entityType":[],"observations":{}}',
        '{"type":"relation","from":"a","to":null,"relationType":"b"}', '{"type":"other"}', '{"type":[]}',
        '{"type":"entity","name":"A","entityType":3,"observations":[1,null,"","ok",{"content":"dated"}]}',
    ]  # fmt: skip
    path.write_text("\n".join([good, *bad]), encoding="utf-8")
    things = read("mcp-memory", path)
    assert [one.text for one in things if isinstance(one, Note)] == [
        "Kim_Park: Prefers morning reviews", "Kim_Park owns checkout", "A: ok", 'A: {"content": "dated"}',
    ]  # fmt: skip
    assert sum(one.count for one in things if isinstance(one, SkippedRecord)) == 7 + 4


def test_a_million_facts_in_one_line_are_left_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    line = '{"type":"entity","name":"A","entityType":"b","observations":[' + ",".join(['"x"'] * 1_000_001) + "]}"
    path.write_text(line + "\n" + '{"type":"entity","name":"B","entityType":"c","observations":["y"]}')
    assert detect_reader(path) is find_reader("mcp-memory")
    left, *others = read("mcp-memory", path)
    assert isinstance(left, SkippedRecord)
    assert left.count == 1_000_001
    assert [one.text for one in others if isinstance(one, Note)] == ["B: y"]


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_that_is_cut_or_none_is_refused(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    whole = path.read_bytes()
    for text in (whole[: len(whole) // 2], whole[:100], whole[:4096] + os.urandom(4096), b"no database"):
        path.write_bytes(text)
        refused(name, path)


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_of_other_tables_is_refused(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path)
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE events (id TEXT)")
        connection.execute("CREATE VIEW observations AS SELECT 1 AS project")
    connection.close()
    assert f"is not a supported {name}" in refused(name, path)


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_that_its_program_holds_locked_is_refused_and_one_that_it_writes_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.store.foreign_database.LONGEST_WAIT", 0.05)
    path = WRITERS[name](tmp_path)
    usual = read(name, path)
    holder = apsw.Connection(str(path))  # two SQLite libraries in one process would not see each other's locks
    holder.execute("BEGIN EXCLUSIVE")
    assert "locked" in refused(name, path)
    holder.execute("ROLLBACK")
    holder.execute("PRAGMA journal_mode=WAL").fetchall()
    holder.execute("BEGIN IMMEDIATE")
    assert read(name, path) == usual
    holder.close()


def test_rows_of_other_types_than_expected_cost_no_other_row(tmp_path: Path) -> None:
    path = samples.claude_mem(tmp_path)
    usual = [one for one in read("claude-mem", path) if isinstance(one, Note)]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        columns = "memory_session_id, project, type, title, facts, concepts, created_at, created_at_epoch"
        for row in (
            (b"\xff\x00", b"", b"", b"\xff", b"[", b"]", b"", b""),
            (1, 2, 3, 4, 5, 6, 7, 1e300),
            ("m-2", "p", "t", "A title", "[[[", '{"a":1}', "not a time", "not a time"),
        ):
            connection.execute(f"INSERT INTO observations ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
    things = read("claude-mem", path)
    found = [one for one in things if isinstance(one, Note)]
    assert [one for one in found if one in usual] == usual
    assert [one.text.splitlines()[0] for one in found if one.origin == "m-2"] == ["A title"]
    assert [one.created_at for one in found if one.origin == "m-2"] == [None]


def test_events_that_refer_to_nothing_cost_no_other_event(tmp_path: Path) -> None:
    junk: list[tuple[str, str, dict[str, Any]]] = [
        (samples.NOON, op, data)
        for op in (
            *("create_entity", "update_entity", "delete_entity", "add_observation", "delete_observation"),
            *("create_relation", "delete_relation", "update_weight", "restore_to", "unheard_of"),
        )
        for data in ({}, {"id": 7}, {"id": "none", "entity_id": "none"}, {"timestamp": "never"}, {"observations": 1})
    ]
    things = read("mnemograph", samples.mnemograph(tmp_path, samples.EVENTS + junk))
    assert [one.key for one in things if isinstance(one, Note)] == ["O1", "O2"]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: str(reader.name))
def test_no_reader_recognises_what_is_nothing_of_its_own(reader: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "directory").mkdir()
    (tmp_path / "a.json").write_text("[1, 2", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"type": "user", "cwd": "/x"}\n', encoding="utf-8")
    (tmp_path / "c.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    for path in (*tmp_path.iterdir(), tmp_path / "missing", tmp_path / ("n" * 300), Path("/dev/null")):
        assert not reader.recognises(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe that nobody writes to would be waited for, for ever."""
    memory = tmp_path / "memory"
    memory.mkdir()
    os.mkfifo(memory / "MEMORY.md")
    os.mkfifo(tmp_path / "claude-mem.db")
    os.mkfifo(tmp_path / "memory.jsonl")
    for path in (memory, tmp_path / "claude-mem.db", tmp_path / "memory.jsonl", tmp_path):
        reader = detect_reader(path)
        assert reader is None or all(isinstance(one, SkippedRecord) for one in reader.read(path))


def test_front_matter_that_is_a_bomb_or_broken_is_words(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\n" + "".join(f"c{n}: [*b,*b]\n" for n in range(9))
    for name, matter in {
        "bomb": bomb,
        "bad": "a: [",
        "python": "!!python/object/apply:os.system [ls]",
        "list": "- a",
    }.items():
        (memory / f"{name}.md").write_text(f"---\n{matter}\n---\nwords of {name}\n", encoding="utf-8")
    (memory / "open.md").write_text("---\nname: x\nno end\n", encoding="utf-8")
    (memory / "big.md").write_bytes(b"x" * ((1 << 20) + 1))
    (memory / "latin.md").write_bytes(b"\xe9t\xe9")
    things = read("claude-memory", memory)
    texts = {str(one.about["file"]): one.text for one in things if isinstance(one, Note)}
    assert texts["bomb.md"] == "words of bomb\n"
    assert all(texts[f"{name}.md"].startswith("---\n") for name in ("bad", "python", "list", "open"))
    assert sum(isinstance(one, SkippedRecord) for one in things) == 2


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.sampled_from(sorted(WRITERS)), cuts=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=8)), max_size=4)
)
def test_whatever_bytes_a_store_has_it_is_read_or_refused(
    name: str, cuts: list[tuple[float, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = WRITERS[name](tmp_path_factory.mktemp(name))
    file = path if path.is_file() else next(path.rglob("feedback_terse.md"))
    raw = bytearray(file.read_bytes())
    for where, what in cuts:
        at = int(where * len(raw))
        raw[at : at + len(what)] = what
    file.write_bytes(raw)
    for reader in READERS:
        reader.recognises(path)
    with suppress(SourceUnreadable):
        read(name, path)


def test_a_link_to_a_name_that_no_file_can_have_is_text(tmp_path: Path) -> None:
    memory = tmp_path / ".claude" / "projects" / "-home-kim" / "memory"
    memory.mkdir(parents=True)
    line = f"- [x]({'f' * 400}.md) hook"
    (memory / "MEMORY.md").write_text(f"{line}\n", encoding="utf-8")
    (note,) = read("claude-memory", tmp_path / ".claude")
    assert isinstance(note, Note)
    assert line in note.text
