"""opencode's database: what it really wrote, read while it writes, and what may go wrong with it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Literal

import apsw
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.hosts.kilo_code.transcript import COLLECTIONS as OF_KILO_CODE
from palazzo.hosts.opencode.opencode_database import Opencode
from palazzo.hosts.opencode.opencode_parts import rank_id, strip_quotes
from palazzo.model import Micros
from palazzo.sources.formats import Message, Noise, Row, Unreadable

from .collection_samples import few, head_of, is_canonical, json_values, read_all, read_or_refuse, said, words
from .opencode_samples import FIXTURES, START, Writer, identifier, text, tool, unpack, unpack_live

LATER = Micros((START + 86_400_000) * 1000)
NOW = Micros((START + 60_000) * 1000)
FEEDER = Opencode(lambda: LATER)
MAIN = "ses_e002e30fbffedf4MnFw0KGFNkE"
EXPECTED = FIXTURES.parent / "claude-code" / "EXPECTED-18-turns.json"


def rows_of(path: Path, session: str = "", feeder: Opencode = FEEDER) -> list[Row]:
    found = read_all(feeder, path)
    return next(rows for one, rows in found if one.identity.session_id == (session or found[0][0].identity.session_id))


# What opencode really wrote


def test_the_sessions_are_all_there_with_their_titles_and_directories(tmp_path: Path) -> None:
    path = unpack("1.18.33.db", tmp_path)
    assert FEEDER.recognises(path, head_of(path))
    told = [(s.title, s.cwd, s.identity.parent_session) for s in FEEDER.sessions(path)]
    assert told == [
        ("Deploy port and config", "/home/dev/acme", ""),
        ("research retries (@general subagent)", "/home/dev/acme", MAIN),
        ("Second session", "/home/dev/acme", ""),
    ]


def test_a_database_of_kilo_code_is_that_host_s(tmp_path: Path) -> None:
    path = unpack("1.18.33.db", tmp_path, "kilo.db")
    [reader] = OF_KILO_CODE
    assert (reader.recognises(path, head_of(path)), FEEDER.recognises(path, head_of(path))) == (True, False)
    assert {session.identity.key[0] for session in reader.sessions(path)} == {"kilo"}


def test_what_kilo_code_wrote_is_read_to_the_last_row(tmp_path: Path) -> None:
    path = tmp_path / "kilo.db"
    path.write_bytes(zstandard.decompress((FIXTURES.parent / "kilo" / "7.7.9.db.zst").read_bytes()))
    [reader] = OF_KILO_CODE
    first, second = read_all(reader, path)
    assert [session.cwd for session, _ in (first, second)] == ["/home/dev/orders"] * 2
    assert not [row for _, rows in (first, second) for row in rows if isinstance(row.content, Unreadable)]
    assert [(message.role, message.text) for message in said(first[1])] == [
        ("user", "Which port does the payment gateway listen on?"),
        ("assistant", "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."),
    ]
    calls = [part.name for message in said(second[1]) for part in message.parts if part.kind == "tool_call"]
    assert calls == ["palazzo_search", "palazzo_remember"]


@pytest.mark.parametrize("name", ["1.18.33.db", "1.18.33-18-turns.db", "migrated.db"])
def test_every_message_and_part_is_a_row_and_every_row_is_understood(name: str, tmp_path: Path) -> None:
    path = unpack(name, tmp_path)
    rows = [row for _, rows in read_all(FEEDER, path) for row in rows]
    assert not [row for row in rows if isinstance(row.content, Unreadable)]
    assert all(is_canonical(row.raw) for row in rows)
    written = {json.loads(row.raw)["id"] for row in rows}
    connection = apsw.Connection(str(path))
    for table in ("session", "message", "part"):
        assert {one for (one,) in connection.execute(f"SELECT id FROM {table}")} <= written
    connection.close()


def test_the_eighteen_turns_are_all_there_without_their_quotes(tmp_path: Path) -> None:
    expected = json.loads(EXPECTED.read_bytes())
    messages = said(rows_of(unpack("1.18.33-18-turns.db", tmp_path)))
    assert [one.text for one in messages if one.role == "user"] == [turn["user"] for turn in expected]
    calls = [one.text[part.start : part.end] for one in messages for part in one.parts if part.kind == "tool_call"]
    answers = [one.text for one in messages if one.role == "assistant"]
    for turn, call in zip(expected, calls, strict=True):
        assert turn["tool_command"] in call
        assert turn["assistant_final"] in answers


def test_the_row_keeps_the_quotes_that_the_text_loses(tmp_path: Path) -> None:
    row = next(row for row in rows_of(unpack("1.18.33.db", tmp_path)) if isinstance(row.content, Message))
    assert said([row])[0].text == "What port does deploy use?"
    assert json.loads(row.raw)["data"]["text"] == '"What port does deploy use?"'


def test_what_a_tool_printed_is_whole(tmp_path: Path) -> None:
    messages = said(rows_of(unpack("1.18.33-18-turns.db", tmp_path)))
    [log] = [one for one in messages if "[build] step 400: compiled module_400" in one.text]
    output = next(log.text[part.start : part.end] for part in log.parts if part.kind == "tool_result")
    assert len(output.splitlines()) == 400


def test_the_session_has_the_standings_and_parts_that_were_captured(tmp_path: Path) -> None:
    rows = rows_of(unpack("1.18.33.db", tmp_path), MAIN)
    assert Counter((one.role, one.standing) for one in said(rows)) == {
        ("user", "said"): 5,
        ("user", "meta"): 1,
        ("assistant", "said"): 25,
        ("assistant", "summary"): 1,
    }
    noise = Counter(row.content.reason for row in rows if isinstance(row.content, Noise))
    assert noise["part/step-start"] == noise["part/step-finish"] == 17
    assert (noise["part/patch"], noise["part/compaction"], noise["session"]) == (2, 1, 1)
    [thought] = [one.text for one in said(rows) for part in one.parts if part.kind == "thinking"]
    assert thought == "The user wants the failing test output."


def test_results_know_their_tool_their_failure_and_their_trust(tmp_path: Path) -> None:
    rows = said(rows_of(unpack("1.18.33.db", tmp_path), MAIN))
    told = {(part.name, part.failed, part.trust) for one in rows for part in one.parts if part.kind == "tool_result"}
    assert {("bash", False, "tool"), ("bash", True, "tool")} <= told
    assert {("mem_memory_search", False, "external"), ("mem_memory_boom", True, "external")} <= told
    assert any("MCP-TOOL-ERROR: store is locked" in one.text for one in rows)


def test_a_migrated_store_keeps_the_dates_of_its_words(tmp_path: Path) -> None:
    """All its rows carry the time of the migration."""
    for session, rows in read_all(FEEDER, unpack("migrated.db", tmp_path)):
        times = [one.created_at or 0 for one in said(rows)]
        assert session.stamp.endswith(".1795293357395")
        assert 1_795_293_222_000_000 < min(times) < max(times) < 1_795_293_237_000_000


# Read while it is written


@pytest.fixture
def before(tmp_path: Path) -> Path:
    (tmp_path / "host").mkdir()
    return tmp_path / "host"


def test_what_lies_in_the_log_alone_is_read_and_nothing_is_left_beside_it(before: Path) -> None:
    path = unpack_live(before)
    held = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before.iterdir()}
    [(session, rows)] = read_all(FEEDER, path)
    assert session.title == "Live session"
    assert (len(said(rows)), len(rows)) == (12, 1 + 9 + 25)
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in before.iterdir()} == held


@pytest.mark.parametrize("name", ["1.18.33.db", "live.db"])
def test_a_directory_that_cannot_be_written_will_do(name: str, before: Path) -> None:
    path = unpack_live(before) if name == "live.db" else unpack(name, before)
    before.chmod(0o500)
    try:
        assert read_all(FEEDER, path)
    finally:
        before.chmod(0o700)


def test_a_database_that_opencode_left_in_wal_mode_gets_no_files_beside_it(before: Path) -> None:
    writer = Writer(before / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text("hi there")])
    writer.close()
    assert [file.name for file in before.iterdir()] == ["opencode.db"]
    assert [one.text for one in said(rows_of(before / "opencode.db"))] == ["hi there"]
    assert [file.name for file in before.iterdir()] == ["opencode.db"]


def test_an_open_writer_is_read_as_it_goes_and_never_hindered(before: Path) -> None:
    writer = Writer(before / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text("first")])
    names = sorted(file.name for file in before.iterdir())
    assert "opencode.db-shm" in names
    [session] = FEEDER.sessions(writer.path)
    rows = session.rows()
    next(rows)
    writer.message("ses_a", "assistant", START + 1, [text("second")])  # while a read is going on
    rest = [row.content.text for row in rows if isinstance(row.content, Message)]
    assert rest == ["first"]  # one snapshot
    [again] = FEEDER.sessions(writer.path)
    assert again.stamp != session.stamp
    assert [one.text for one in said(again.rows())] == ["first", "second"]
    assert sorted(file.name for file in before.iterdir()) == names
    writer.connection.execute("BEGIN IMMEDIATE")  # opencode in the middle of a write
    assert len(said(rows_of(writer.path))) == 2
    writer.connection.execute("ROLLBACK")
    writer.close()
    assert [file.name for file in before.iterdir()] == ["opencode.db"]


def test_copies_are_removed_when_nobody_needs_them(before: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = before.parent / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    path = unpack_live(before)
    sessions = list(FEEDER.sessions(path))
    assert list(copies.iterdir())
    assert list(sessions[0].rows())
    del sessions
    assert not list(copies.iterdir())


def test_what_the_model_is_still_writing_waits_for_the_next_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text("run it")])
    at_work = {"created": START + 1}
    own = writer.message("ses_a", "assistant", START + 1, [tool("bash", {}, "", "running")], time=at_work)
    feeder = Opencode(lambda: NOW)
    [(first, rows)] = read_all(feeder, writer.path)
    assert [one.text for one in said(rows)] == ["run it"]
    data = {"role": "assistant", "time": {"created": START + 1, "completed": START + 5}}
    writer.put("message", own, data, START + 5, session_id="ses_a")
    writer.connection.execute("DELETE FROM part WHERE message_id = ?", (own,))
    done = tool("bash", {"command": "true"}, "done")
    writer.put("part", identifier("prt", START, 9), done, START + 5, session_id="ses_a", message_id=own)
    [(second, whole)] = read_all(feeder, writer.path)
    assert second.stamp != first.stamp
    assert whole[: len(rows)] == rows  # nothing that was filed has changed
    assert "done" in said(whole)[-1].text
    writer.close()


def test_what_was_abandoned_is_read_after_an_hour(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    half = [text("half an answ"), tool("bash", {"command": "sleep 9"}, "", "running")]
    writer.message("ses_a", "assistant", START, half, time={"created": START})
    assert said(rows_of(writer.path, feeder=Opencode(lambda: NOW))) == []
    assert [one.text for one in said(rows_of(writer.path))] == ["half an answ", "bash\ncommand: sleep 9"]
    [young], [old] = Opencode(lambda: NOW).sessions(writer.path), FEEDER.sessions(writer.path)
    assert young.stamp != old.stamp
    writer.close()


def test_a_cancelled_message_says_so_and_holds_nothing_up(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    error = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
    writer.message("ses_a", "assistant", START, [text("half")], time={"created": START}, error=error)
    told = [(one.text, one.standing) for one in said(rows_of(writer.path, feeder=Opencode(lambda: NOW)))]
    assert told == [("MessageAbortedError: The operation was aborted.", "meta"), ("half", "said")]
    writer.close()


# Order, and ids that wrap


WRAPPED = 1_786_706_395_136
"""2026-08-14 11:19:55.136 UTC: 26 times 2^36 milliseconds, where ids begin anew."""


def test_ids_that_began_anew_do_not_disturb_the_order(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a", WRAPPED - 10)
    for at in range(WRAPPED - 3, WRAPPED + 3):
        writer.message("ses_a", "user", at, [text(f"at {at}")])
    ids = [json.loads(row.raw)["id"] for row in rows_of(writer.path) if isinstance(row.content, Message)]
    assert ids != sorted(ids)
    assert [one.text for one in said(rows_of(writer.path))] == [f"at {at}" for at in range(WRAPPED - 3, WRAPPED + 3)]
    writer.close()


@given(st.integers(0, 1 << 48), st.integers(-(1 << 40), 1 << 40))
def test_an_id_knows_how_far_it_is_from_its_message(at: int, distance: int) -> None:
    near = f"msg_{at % (1 << 48):012x}abc"
    assert rank_id(f"prt_{(at + distance) % (1 << 48):012x}abc", near) == distance


def test_parts_of_one_moment_are_in_the_order_of_their_making(tmp_path: Path) -> None:
    """A migration gives all parts one time, and a message may span the moment in which ids began anew."""
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    own = writer.message("ses_a", "assistant", WRAPPED - 1, [])
    for n, at in ((2, WRAPPED + 1), (1, WRAPPED), (0, WRAPPED - 1)):
        row = identifier("prt", at, n)
        writer.put("part", row, text(f"{n}"), START, session_id="ses_a", message_id=own)
    assert [one.text for one in said(rows_of(writer.path))] == ["0", "1", "2"]
    writer.close()


# Words


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ('"What port?"', "What port?"),
        ('"What port?"\n', "What port?"),
        ('"say \\"hi\\" now"', 'say "hi" now'),
        ("no quotes", "no quotes"),
        ('"a b" and "c d"', '"a b" and "c d"'),
        ('""', '""'),
        ('"', '"'),
        ('"two\nlines"', "two\nlines"),
    ],
)
def test_one_pair_of_quotes_around_a_prompt_is_taken_off(stored: str, shown: str) -> None:
    assert strip_quotes(stored) == shown


def test_quotes_that_the_model_or_a_program_wrote_stay(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text('"put in"', synthetic=True), text('"shown"', ignored=True)])
    writer.message("ses_a", "assistant", START + 1, [text('"quoted"')])
    told = [(one.text, one.standing) for one in said(rows_of(writer.path))]
    assert told == [('"put in"', "meta"), ('"shown"', "meta"), ('"quoted"', "said")]
    writer.close()


Turn = tuple[Literal["user", "assistant"], list[str]]
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.lists(words, min_size=1, max_size=3)), max_size=5)


@few
@given(told=turns)
def test_what_is_written_is_read_back(told: list[Turn], tmp_path_factory: pytest.TempPathFactory) -> None:
    writer = Writer(tmp_path_factory.mktemp("o") / "opencode.db")
    writer.session("ses_a")
    for n, (role, pieces) in enumerate(told):
        writer.message("ses_a", role, START + n, [text(piece) for piece in pieces])
    messages = said(rows_of(writer.path))
    expected = [
        (role, strip_quotes(piece) if role == "user" else piece, Micros((START + n) * 1000))
        for n, (role, pieces) in enumerate(told)
        for piece in pieces
        if piece
    ]
    assert [(one.role, one.text, one.created_at) for one in messages] == expected
    assert len({one.uuid for one in messages}) == len(messages)
    writer.close()


@few
@given(data=st.lists(json_values | words, max_size=6), part=st.lists(json_values, max_size=3))
def test_no_content_of_a_row_costs_another(
    data: list[object], part: list[object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    writer = Writer(tmp_path_factory.mktemp("o") / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text("a good one"), *part])
    for n, one in enumerate(data):
        writer.put("message", f"msg_{n}", one, START + n, session_id="ses_a")
        odd = {"type": "tool", "tool": one, "state": one, "text": one}
        writer.put("part", f"prt_{n}", odd, START, session_id="ses_a", message_id=f"msg_{n}")
    rows = rows_of(writer.path)
    assert "a good one" in [one.text for one in said(rows)]
    assert len(rows) == 1 + 1 + 1 + len(part) + 2 * len(data)
    writer.close()


def test_bytes_that_are_no_utf8_are_kept(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    own = writer.message("ses_a", "user", START, [text("x")])
    bad = b'{"type":"text","text":"caf\xe9 \x00 end"}'
    writer.connection.execute("UPDATE part SET data = CAST(? AS TEXT) WHERE message_id = ?", (bad, own))
    assert [one.text for one in said(rows_of(writer.path))] == ["caf\udce9 \x00 end"]
    writer.close()


def test_a_part_without_its_message_is_accounted_for(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    writer.connection.execute("PRAGMA foreign_keys=OFF")
    writer.put("part", "prt_lost", text("lost words"), START, session_id="ses_a", message_id="msg_gone")
    last = rows_of(writer.path)[-1]
    assert isinstance(last.content, Unreadable)
    assert b"lost words" in last.raw
    writer.close()


# Sessions


def test_sixty_sessions_are_told_apart_and_only_what_changed_is_read_again(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    for n in range(60):
        parent = {"parent_id": "ses_00"} if n % 10 == 9 else {}
        writer.session(f"ses_{n:02}", START + n, **parent)
        for turn in range(n % 3):
            writer.message(f"ses_{n:02}", "user", START + turn, [text(f"question {turn} of {n}")])
            writer.message(f"ses_{n:02}", "assistant", START + turn, [text(f"answer {turn} of {n}")])
    first = {one.identity.session_id: (one.stamp, len(rows)) for one, rows in read_all(FEEDER, writer.path)}
    assert list(first) == [f"ses_{n:02}" for n in range(60)]
    assert {size for _, size in first.values()} == {1, 5, 9}
    assert sum(bool(one.identity.parent_session) for one in FEEDER.sessions(writer.path)) == 6
    writer.message("ses_30", "user", START + 99, [text("one more")])
    second = {one.identity.session_id: one.stamp for one in FEEDER.sessions(writer.path)}
    assert [one for one in second if second[one] != first[one][0]] == ["ses_30"]
    writer.close()


def test_reading_again_gives_the_same_rows_and_new_ones_at_the_end(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "opencode.db")
    writer.session("ses_a")
    writer.message("ses_a", "user", START, [text("one")])
    first = rows_of(writer.path)
    writer.message("ses_a", "user", START + 1, [text("two")])
    writer.connection.execute("UPDATE session SET time_updated = 9, tokens_input = 7, cost = 1")
    assert rows_of(writer.path)[: len(first)] == first
    writer.close()


# What is refused


def test_a_generation_without_some_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE session(id TEXT, title TEXT)")
    connection.execute("CREATE TABLE message(id TEXT, session_id TEXT, data TEXT)")
    connection.execute("CREATE TABLE part(data TEXT, id TEXT, message_id TEXT, session_id TEXT, colour REAL)")
    connection.execute("INSERT INTO session VALUES ('ses_a', 'T')")
    connection.execute(
        """INSERT INTO message VALUES ('m', 'ses_a', '{"role":"user","time":{"created":1795293302613}}')"""
    )
    connection.execute("""INSERT INTO part VALUES ('{"type":"text","text":"hi"}', 'p', 'm', 'ses_a', 0.5)""")
    connection.close()
    [message] = said(rows_of(path))
    assert (message.text, message.created_at) == ("hi", START * 1000)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("DROP TABLE part", "no table 'part'"),
        ("ALTER TABLE message RENAME COLUMN data TO body", "no column 'data' in 'message'"),
    ],
)
def test_a_half_migrated_database_is_refused_with_a_sentence(sql: str, names: str, tmp_path: Path) -> None:
    path = unpack("1.18.33.db", tmp_path)
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()
    with pytest.raises(SourceUnreadable, match=names):
        list(FEEDER.sessions(path))


def test_a_locked_database_is_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.store.foreign_database.LONGEST_WAIT", 0.05)
    path = unpack("1.18.33.db", tmp_path)
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceUnreadable, match="locked"):
        list(FEEDER.sessions(path))
    connection.close()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x02" * 5000, b"no"])
def test_what_is_no_database_is_refused_with_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    with pytest.raises(SourceUnreadable):
        list(FEEDER.sessions(path))


@few
@example(places=[47], value=5)  # a schema format that SQLite does not know
@given(places=st.lists(st.integers(0, 303_103), min_size=1, max_size=12), value=st.integers(0, 255))
def test_damage_is_a_sentence_or_a_row_and_never_a_crash(
    places: list[int], value: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = unpack("1.18.33.db", tmp_path_factory.mktemp("o"))
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] = value
    path.write_bytes(data)
    read_or_refuse(FEEDER, path)


def test_a_file_that_goes_away_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = unpack("1.18.33.db", tmp_path)
    [session, *_] = FEEDER.sessions(path)
    path.unlink()
    with pytest.raises(SourceUnreadable):
        list(session.rows())


def test_other_databases_are_not_taken_for_opencodes(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE message(id TEXT, session_id TEXT, data TEXT)")
    connection.close()
    assert not FEEDER.recognises(path, head_of(path))
    assert not FEEDER.recognises(tmp_path / "opencode.db", b"# opencode.db\n")
    assert not FEEDER.recognises(tmp_path, b"")
    other_channel = unpack("1.18.33.db", tmp_path, "opencode-beta.db")
    assert FEEDER.recognises(other_channel, head_of(other_channel))


@pytest.mark.parametrize("name", ["1.18.33.db", "1.18.33-18-turns.db", "migrated.db", "live.db"])
def test_a_database_under_another_name_is_known_by_its_tables(name: str, tmp_path: Path) -> None:
    path = unpack(name, tmp_path, "backup of monday.db")
    assert FEEDER.recognises(path, head_of(path))
    apsw.Connection(str(path)).execute("VACUUM")
    assert FEEDER.recognises(path, head_of(path))
