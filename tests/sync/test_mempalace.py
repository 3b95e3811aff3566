"""MemPalace's palaces are read to the word: what is one text, when it was written, its facts and its tunnels."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sync.mempalace_store import Row, write_chroma, write_exact, write_facts

from palazzo.errors import SourceUnreadable
from palazzo.importers import DiaryEntry, Fact, Note, SkippedRecord, StoreRecord, Tunnel, mempalace_chunks
from palazzo.importers.mempalace import MemPalace
from palazzo.importers.store_readers import detect_reader
from palazzo.text.times import to_iso

FILED = "2026-03-04T10:20:30.123456+05:30"
UTC = "2026-03-04T04:50:30.123Z"


def note(uid: str, text: object, **metadata: object) -> Row:
    """A drawer of one row."""
    return uid, text, {"wing": "shop", "room": "api", "filed_at": FILED, "added_by": "kim", **metadata}


def parts(uid: str, text: str, size: int, **metadata: object) -> list[Row]:
    """A drawer as `add_drawer` cuts it."""
    return [
        note(
            f"{uid}_chunk_{n // size:06d}", text[n : n + size], chunk_index=n // size, parent_drawer_id=uid, **metadata
        )
        for n in range(0, len(text), size)
    ]


def cut(content: str, size: int = 800, overlap: int = 100, least: int = 50) -> list[str]:
    """Cut a file as MemPalace's miner does (`miner.chunk_text`)."""
    content, start, found = content.strip(), 0, []
    while start < len(content):
        end = min(start + size, len(content))
        if end < len(content):
            for mark in ("\n\n", "\n"):
                newline = content.rfind(mark, start, end)
                if newline > start + size // 2:
                    end = newline
                    break
        chunk = content[start:end].strip()
        if len(chunk) >= least:
            found.append(chunk)
        start = end - overlap if end < len(content) else end
    return found


def mined(source: str, content: str, **metadata: object) -> list[Row]:
    """A file as it mines one."""
    return [
        note(f"{source}-{n}", chunk, source_file=source, chunk_index=n, added_by="mempalace", line_start=1, **metadata)
        for n, chunk in enumerate(cut(content))
    ]


def read(path: Path) -> list[StoreRecord]:
    return [*MemPalace().read(path)]


def texts(things: Sequence[StoreRecord]) -> list[str]:
    return [one.text for one in things if isinstance(one, Note | DiaryEntry)]


def left(things: Sequence[StoreRecord]) -> dict[str, int]:
    return {one.what: one.count for one in things if isinstance(one, SkippedRecord)}


@pytest.fixture(params=["chroma.sqlite3", "sqlite_exact.sqlite3"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / ".mempalace" / "palace" / str(request.param)


def write(path: Path, rows: Sequence[Row]) -> None:
    (write_chroma if path.name == "chroma.sqlite3" else write_exact)(path, rows)


def test_a_drawer_comes_with_its_place_its_time_who_filed_it_and_the_rest_beside_it(database: Path) -> None:
    write(
        database,
        [note("d1", "Five attempts.", hall="hall_facts", source_file="/a/b.md", chunk_index=0, importance=0.5)],
    )
    (found,) = read(database.parent)
    assert isinstance(found, Note)
    assert (found.key, found.text, found.wing, found.room, found.author) == (
        "d1",
        "Five attempts.",
        "shop",
        "api",
        "kim",
    )
    assert found.created_at is not None
    assert (to_iso(found.created_at), found.created_at % 1_000) == (UTC, 456)
    assert (found.origin, found.trust) == ("/a/b.md", "agent")
    assert found.about == {"metadata": {"hall": "hall_facts", "importance": 0.5, "added_by": "kim", "filed_at": FILED}}


def test_a_drawer_that_a_tool_cut_is_one_text_in_the_order_of_its_chunks(database: Path) -> None:
    text = "0123456789" * 21
    rows = parts("d1", text, 20)
    random.Random(3).shuffle(rows)
    write(database, [*rows, note("d1", "what it was before it was cut")])
    assert [(one.key, one.text) for one in read(database.parent) if isinstance(one, Note)] == [("d1", text)]


def test_a_mined_file_is_one_text_without_what_its_chunks_repeat(database: Path) -> None:
    chance = random.Random(5)
    lines = ["    " * chance.randrange(4) + " ".join(["word"] * chance.randrange(30)) for _ in range(900)]
    long = "\n".join(lines).strip()
    write(
        database,
        [
            *mined("/shop/a.py", long),
            *mined("/shop/b.md", "# B\n\nShort, but long enough to be a chunk of its own, is B."),
        ],
    )
    assert sorted(texts(read(database.parent))) == sorted(
        [long, "# B\n\nShort, but long enough to be a chunk of its own, is B."]
    )


SPACES = st.sampled_from([" ", "\n", "\n\n", "\n    ", "  \n\n ", "\t"])


@given(st.lists(SPACES, max_size=300), st.integers(40, 90), st.integers(12, 20))
def test_whatever_was_cut_is_put_together_again_to_the_letter(spaces: list[str], size: int, overlap: int) -> None:
    content = "".join(f"word{n}{space}" for n, space in enumerate(spaces)).strip()
    pieces = cut(content, size, overlap, 1)
    assert (mempalace_chunks.of_file(pieces, size, overlap) if pieces else "") == content


def test_a_chunk_that_is_missing_parts_a_file_into_two(database: Path) -> None:
    rows = mined("/shop/a.md", "\n".join(f"line {n} of a file with many of them" for n in range(120)))
    write(database, [*rows[:2], *rows[3:]])
    found = [one for one in read(database.parent) if isinstance(one, Note)]
    assert [one.key for one in found] == [rows[0][0], rows[3][0]]


def test_a_conversation_comes_turn_by_turn_and_a_long_turn_is_one(database: Path) -> None:
    answer = "word " * 300
    pieces = [
        "> What is the budget?\nFive.",
        f"> Why?\n{answer[:490]}",
        answer[490:1200],
        answer[1200:].strip(),
        "> Good.",
    ]
    kept = [
        {"source_file": "s.jsonl", "chunk_index": n, "extract_mode": "exchange", "authored_at": "2025-01-02T03:04:05Z"}
        for n in range(5)
    ]
    write(database, [note(f"c{n}", piece, **told) for n, (piece, told) in enumerate(zip(pieces, kept, strict=True))])
    found = [one for one in read(database.parent) if isinstance(one, Note)]
    assert [one.text for one in found] == [pieces[0], f"> Why?\n{answer.strip()}", "> Good."]
    assert [one.key for one in found] == ["c0", "c1", "c4"]
    assert {one.created_at for one in found} == {1735787045_000_000}


def test_a_swept_message_is_as_old_as_it_was_said(database: Path) -> None:
    told: dict[str, object] = {
        "ingest_mode": "sweep",
        "source_file": "s.jsonl",
        "timestamp": "2025-01-02T03:04:05.000Z",
    }
    write(database, [note("a", "USER: Why?", **told), note("b", "ASSISTANT: Five.", **told)])
    found = [one for one in read(database.parent) if isinstance(one, Note)]
    assert [(one.text, one.created_at) for one in found] == [
        ("USER: Why?", 1735787045_000_000),
        ("ASSISTANT: Five.", 1735787045_000_000),
    ]


def test_what_a_mined_file_says_is_believed_no_more_than_a_repository(database: Path) -> None:
    write(database, [*mined("/shop/README.md", "word " * 300), note("d", "What an agent filed.")])
    assert {one.trust for one in read(database.parent) if isinstance(one, Note)} == {"repo", "agent"}


def test_turns_that_were_filed_one_by_one_are_no_chunks_of_one_text(database: Path) -> None:
    told: dict[str, object] = {"source_file": "hermes", "chunk_index": 0, "extract_mode": "exchange"}
    write(database, [note("a", "> One?\nYes.", **told), note("b", "> Two?\nNo.", **told)])
    assert texts(read(database.parent)) == ["> One?\nYes.", "> Two?\nNo."]


def test_diaries_are_entries_of_their_agents_whole(database: Path) -> None:
    told: dict[str, object] = {"type": "diary_entry", "room": "diary", "agent": "claude code", "topic": "leaks"}
    write(
        database,
        [
            note("e1", "Found the leak.", **{**told, "wing": "wing_claude_code"}),
            *parts("e2", "It went on. " * 200, 800, **{**told, "wing": "wing_shop"}),
        ],
    )
    found = [one for one in read(database.parent) if isinstance(one, DiaryEntry)]
    assert [(one.agent, one.topic, one.wing) for one in found] == [
        ("claude code", "leaks", ""),
        ("claude code", "leaks", "wing_shop"),
    ]
    assert found[1].text == "It went on. " * 200


def test_a_day_of_a_diarys_file_is_of_that_day(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        note(
            f"x{n}",
            text,
            source_file="2025-01-02.md",
            room="daily",
            date="2025-01-02",
            entry_index=0,
            entry_chunk_index=n,
            chunk_index=n,
        )
        for n, text in enumerate(("## Morning\nLong ", "day."))
    ]
    write(database, rows)
    (found,) = [one for one in read(database.parent) if isinstance(one, Note)]
    assert found.text == "## Morning\nLong day."
    assert found.created_at is not None
    assert abs(found.created_at - 1735776000_000_000) <= 14 * 3_600_000_000


def test_what_is_no_memory_is_told_and_left(database: Path) -> None:
    write(database, [note("d1", "Kept."), note("_reg_1", "[registry] /a", room="_registry", ingest_mode="registry")])
    if database.name == "chroma.sqlite3":
        write_chroma(database, [note("c1", "topic|→d1")], "mempalace_closets")
    (database.parent.parent / "hallways.json").write_text('[{"id": 1}]')
    found = read(database.parent)
    assert texts(found) == ["Kept."]
    assert left(found).keys() >= {"marks", "hallways"}


# --- Chroma's log ------------------------------------------------------------------------------------------


def test_what_stands_in_chromas_log_alone_counts(tmp_path: Path) -> None:
    log = [
        (0, "new", {"chroma:document": "New.", "wing": "shop", "room": "api", "filed_at": FILED}),
        (1, "d1", {"chroma:document": "Changed."}),
        (2, "d2", {"room": "web"}),
        (3, "d3", {}),
        (0, "brief", {"chroma:document": "Brief."}),
        (3, "brief", {}),
    ]
    path = tmp_path / "chroma.sqlite3"
    write_chroma(path, [note("d1", "Old."), note("d2", "Moved."), note("d3", "Deleted.")], log=log)
    found = [one for one in read(path) if isinstance(one, Note)]
    assert {(one.text, one.room) for one in found} == {("New.", "api"), ("Changed.", "api"), ("Moved.", "web")}


# --- facts and tunnels -------------------------------------------------------------------------------------


def test_facts_hold_from_and_until_when_they_did(tmp_path: Path) -> None:
    triple: dict[str, Any] = {"subject": "max", "predicate": "works_on", "object": "shop_api"}
    write_facts(
        tmp_path / "knowledge_graph.sqlite3",
        [("max", "Max", "person", "{}"), ("shop_api", "Shop API", "unknown", '{"a": 1}')],
        [
            {"id": "t1", **triple, "valid_from": "2025-01-02", "valid_to": "2025-03-01", "confidence": 0.7},
            {"id": "t2", **triple, "valid_from": "2025-04-01T10:00:00Z", "valid_to": "2025-05-01T10:00:00Z"},
            {"id": "t3", **triple, "valid_from": "last spring"},
            {"id": "t4", **triple, "object": "nowhere", "source_drawer_id": "lost"},
        ],
    )
    found = read(tmp_path)
    facts = [one for one in found if isinstance(one, Fact)]
    assert [(one.subject, one.predicate, one.object) for one in facts] == [
        ("Max", "is a", "person"),
        ("Max", "works_on", "Shop API"),
        ("Max", "works_on", "Shop API"),
        ("Max", "works_on", "nowhere"),
    ]
    times = [(one.valid_from and to_iso(one.valid_from), one.valid_to and to_iso(one.valid_to)) for one in facts[1:3]]
    assert times == [("2025-01-02T00:00:00Z", "2025-03-02T00:00:00Z"), ("2025-04-01T10:00:00Z", "2025-05-01T10:00:00Z")]
    assert facts[1].confidence == 0.7
    assert left(found) == {"properties of entities": 1, "facts": 1, "citations of facts": 1}


def test_facts_and_tunnels_cite_the_drawers_that_they_came_from(database: Path) -> None:
    write(database, parts("d1", "0123456789" * 10, 20))
    beside = database.parent.parent
    write_facts(
        beside / "knowledge_graph.sqlite3",
        [],
        [{"id": "t", "subject": "a", "predicate": "is", "object": "b", "source_drawer_id": "d1_chunk_000003"}],
    )
    ends = {"source": {"wing": "shop", "room": "api", "drawer_id": "d1"}, "target": {"wing": "web", "room": "login"}}
    tunnels = [{"id": "x", **ends, "label": "auth"}, {"id": "y", **ends, "kind": "topic"}, {"source": 3}, "none"]
    (beside / "tunnels.json").write_text(json.dumps(tunnels))
    found = read(beside)
    assert [one.cites for one in found if isinstance(one, Fact)] == ["d1"]
    assert [(one.key, one.label, one.source_cites) for one in found if isinstance(one, Tunnel)] == [("x", "auth", "d1")]
    assert sum(one.count for one in found if isinstance(one, SkippedRecord) and one.what == "tunnels") == 3


def test_who_the_agent_is_comes_as_the_persons_own_note(database: Path) -> None:
    write(database, [])
    (database.parent.parent / "identity.txt").write_text("I am Atlas, for Alice.\n")
    (found,) = read(database.parent)
    assert isinstance(found, Note)
    assert (found.text, found.trust, found.room) == ("I am Atlas, for Alice.", "user", "identity")


def test_hermes_diary_beside_the_palace_is_read_line_by_line(database: Path) -> None:
    write(database, [])
    lines = ['{"ts": "2025-01-02T03:04:05+00:00", "entry": "Found the leak."}', "{", "", "[1]"]
    (database.parent.parent / "diary.jsonl").write_text("\n".join(lines))
    found = read(database.parent)
    (entry,) = [one for one in found if isinstance(one, DiaryEntry)]
    assert (entry.agent, entry.text, entry.created_at) == ("hermes", "Found the leak.", 1735787045_000_000)
    assert sum(one.count for one in found if isinstance(one, SkippedRecord)) == 2


# --- where it lies -----------------------------------------------------------------------------------------


def test_it_is_known_by_any_of_its_directories_and_files(tmp_path: Path) -> None:
    palace = tmp_path / ".config" / "mempalace" / "palace"
    write_chroma(palace / "chroma.sqlite3", [note("d1", "Kept.")])
    write_facts(
        tmp_path / ".mempalace" / "knowledge_graph.sqlite3",
        [],
        [{"id": "t", "subject": "a", "predicate": "is", "object": "b"}],
    )
    for path in (palace, palace.parent, palace / "chroma.sqlite3", tmp_path / ".mempalace"):
        reader = detect_reader(path)
        assert reader is not None
        assert reader.name == "mempalace"
        assert [type(one) for one in reader.read(path)] == [Note, Fact], path


def test_another_programs_chroma_is_not_taken_for_it(tmp_path: Path) -> None:
    write_chroma(tmp_path / "db" / "chroma.sqlite3", [note("d1", "Not ours.")], "documents")
    for path in (tmp_path / "db", tmp_path / "db" / "chroma.sqlite3", tmp_path, tmp_path / "nowhere"):
        assert not MemPalace().recognises(path)


# --- what is wrong with it ---------------------------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(SourceUnreadable) as refusal:
        read(path)
    return str(refusal.value)


def test_a_store_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert "name the directory" in refused(tmp_path)
    torn = tmp_path / "torn" / "chroma.sqlite3"
    write_chroma(torn, [note(f"d{n}", "word " * 200) for n in range(60)])
    torn.write_bytes(torn.read_bytes()[:9000])
    assert "damaged" in refused(torn)
    other = tmp_path / "other" / "chroma.sqlite3"
    other.parent.mkdir()
    other.write_bytes(b"no database at all")
    assert "is not a SQLite database" in refused(other)
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "qdrant_backend.json").write_text("{}")
    assert "Qdrant" in refused(tmp_path / "server")
    empty = tmp_path / "empty" / "chroma.sqlite3"
    empty.parent.mkdir()
    with closing(sqlite3.connect(empty)) as database, database:
        database.execute("CREATE TABLE t(a)")
    assert "no such table" in refused(empty)


def test_a_store_that_its_program_is_writing_is_refused_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "chroma.sqlite3"
    write_chroma(path, [note("d1", "Kept.")])
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('BEGIN EXCLUSIVE');"
    program += " print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert "locked by another program" in refused(path)
        writer.communicate()
    assert texts(read(path)) == ["Kept."]


def test_rows_that_are_not_as_they_should_be_cost_no_other(tmp_path: Path) -> None:
    path = tmp_path / "palace" / "chroma.sqlite3"
    rows: list[Row] = [
        note("good", "Kept."),
        note("textless", None),
        ("bare", "Bare.", {}),
        note("odd", "Odd.", chunk_index="x", source_file=7, filed_at="yesterday", parent_drawer_id=5, entry_index=2.5),
    ]
    write_chroma(path, rows)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "UPDATE embedding_metadata SET string_value = CAST(x'ff4bff' AS TEXT) WHERE string_value = 'Bare.'"
        )
    (tmp_path / "tunnels.json").write_text("{")
    (tmp_path / "config.json").write_text("[" * 100_000)
    found = read(tmp_path)
    assert sorted(texts(found)) == sorted(["Kept.", "Odd.", "\udcffK\udcff"])
    assert left(found) == {"chunks": 1, "tunnels": 1}


def test_nothing_is_written_where_it_is_read(database: Path) -> None:
    write(database, [note("d1", "Kept.")])
    before = sorted(map(str, database.parent.rglob("*"))), database.read_bytes()
    read(database.parent)
    assert (sorted(map(str, database.parent.rglob("*"))), database.read_bytes()) == before


def test_two_readings_tell_the_same_in_the_same_order(database: Path) -> None:
    rows = [*mined("/a", "word " * 900), note("d2", "B."), *parts("d3", "x" * 100, 30), note("d4", "C.")]
    write(database, rows)
    first = read(database.parent)
    assert read(database.parent) == first
