"""Exports that are taken in: to the byte, once, and nothing of what is not as an export has it."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.sync.homes import HOSTILE, Home, filled
from tests.sync.replicas import Replica

from palazzo.errors import PalazzoError, SourceUnreadable, UsageError
from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase
from palazzo.features.mining.contract import RestoreSessionRequest
from palazzo.features.mining.restore_session import restore_session
from palazzo.features.notes.contract import RememberRequest, UndoRequest
from palazzo.features.notes.remember import remember
from palazzo.features.notes.undo import undo
from palazzo.features.portability.contract import ExportRequest
from palazzo.features.portability.export import export
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.features.upkeep.contract import DoctorRequest, StatusRequest, VerifyRequest
from palazzo.features.upkeep.doctor import doctor
from palazzo.features.upkeep.status import status
from palazzo.features.upkeep.verify import verify
from palazzo.features.wakeup.contract import WakeUpRequest
from palazzo.features.wakeup.wake_up import wake_up
from palazzo.store.database import Database
from palazzo.sync import merge

Lines = list[Any]


@pytest.fixture(scope="module")
def home_and_export(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, bytes]:
    """A palace with something of each kind, and its export; nobody changes it."""
    home = filled(tmp_path_factory.mktemp("made"))
    return home, home.bytes()


@pytest.fixture
def other_home(tmp_path: Path) -> Home:
    """Another home, which has no palace yet."""
    return Home(tmp_path / "other")


@pytest.fixture
def path(tmp_path: Path, home_and_export: tuple[Home, bytes]) -> Path:
    """The export."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(home_and_export[1])
    return path


def read(whole: bytes) -> Lines:
    return [json.loads(line) for line in whole.splitlines()]


def write(path: Path, lines: Lines) -> None:
    """Write these and the end that belongs to them; of none nothing."""
    told = [line for line in lines if "kind" not in line or line["kind"] != "end"]
    if told:
        told.append({"kind": "end", "lines": len(told)})
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in told))


def test_an_export_in_an_empty_palace_is_exported_to_the_byte(other_home: Home, path: Path) -> None:
    result = other_home.take(path)
    assert result.store == "palazzo"
    assert {count.what: count.new for count in result.counts}["item"] > 4
    assert result.left_out == ()
    assert other_home.bytes() == path.read_bytes()
    second_result = other_home.take(path)
    assert all(count.new == count.changed == 0 for count in second_result.counts)
    with other_home.at() as context:
        assert [one for one in verify(context, VerifyRequest()).checks if not one.ok] == []


@examples(12)
@given(st.integers(0, 1 << 32), st.integers(1, 40))
def test_whatever_a_palace_holds_its_export_makes_the_same_export_with_the_same_drawers(seed: int, writes: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        replica, path = Replica(Path(place) / "one", 1, b"k" * 32, Random(seed)), Path(place) / "export.jsonl"
        for _ in range(writes):
            replica.write()
        export(replica.context, ExportRequest(path))
        replica.close()
        other_home = Home(Path(place) / "other")
        assert other_home.take(path).left_out == ()
        *lines, end = path.read_bytes().splitlines(keepends=True)
        assert other_home.bytes() == b"".join([*lines, end[: end.index(b',"mac"')] + b"}\n"])


def test_what_was_imported_is_found_as_it_was(
    home_and_export: tuple[Home, bytes], other_home: Home, path: Path
) -> None:
    other_home.take(path)
    for asked in ("which database", "slow", "grey cat", "This is wrong", "rained"):
        found = []
        for home in (home_and_export[0], other_home):
            with home.at() as context:
                hits = search(context, SearchRequest(asked)).hits
                found.append([(hit.id, hit.text, hit.wing, hit.room, hit.recorded_at, hit.trust) for hit in hits])
        assert found[0] == found[1]


def test_an_export_holds_everything_and_where_it_came_from(home_and_export: tuple[Home, bytes]) -> None:
    lines = read(home_and_export[1])
    kinds = {line["kind"] for line in lines}
    assert (lines[0]["format"], lines[0]["version"]) == ("palazzo", 1)
    assert kinds >= {"item", "source", "wing", "room", "act", "task", "task_state", "fact", "fact_version", "drawer"}
    texts = [line["text"] for line in lines if line["kind"] == "item"]
    assert HOSTILE in texts
    assert any("Today it rained." in text for text in texts)
    assert any("This is wrong." in text for text in texts)  # what is forgotten is retired, not gone
    drawer = next(line for line in lines if line["kind"] == "drawer" and line["type"] == "note")
    (span,) = drawer["spans"]
    item = next(line for line in lines if line["kind"] == "item" and line["id"] == span["item"])
    assert item["text"][span["start"] : span["end"]] in ("We chose SQLite.", "The grey cat sleeps.")


def test_two_exports_are_the_same_but_for_what_changed(other_home: Home, path: Path) -> None:
    other_home.take(path)
    with other_home.at() as context:
        remember(context, RememberRequest("One more.", wing="shop", room="notes"))
    lines_before, lines_after = set(path.read_bytes().splitlines()), set(other_home.bytes().splitlines())
    # Its end says how many lines there are.
    assert {json.loads(line)["kind"] for line in lines_before - lines_after} == {"end"}
    assert {json.loads(line)["kind"] for line in lines_after - lines_before} >= {"item", "link", "drawer"}


@pytest.mark.parametrize("ending", [".jsonl.gz", ".jsonl.zst"])
def test_a_packed_export_is_imported_like_another(
    home_and_export: tuple[Home, bytes], other_home: Home, path: Path, ending: str
) -> None:
    packed = path.with_name(f"packed{ending}")
    with home_and_export[0].at() as context:
        told = export(context, ExportRequest(packed))
    assert told.size == packed.stat().st_size < len(home_and_export[1])
    other_home.take(packed)
    assert other_home.bytes() == home_and_export[1]


def test_a_filter_is_told_in_the_header_and_what_it_lets_through_can_be_imported(
    home_and_export: tuple[Home, bytes], other_home: Home, path: Path
) -> None:
    with home_and_export[0].at() as context:
        export(context, ExportRequest(path, tags=("storage",), wing="shop"))
    lines = read(path.read_bytes())
    assert lines[0]["filter"] == {"tags": ["storage"], "wing": "shop"}
    assert [line["text"] for line in lines if line["kind"] in "item"] == ["We chose SQLite."]
    assert other_home.take(path).left_out == ()
    with other_home.at() as context:
        (hit,) = search(context, SearchRequest("SQLite")).hits
    assert (hit.wing, hit.room) == ("shop", "notes")


@pytest.mark.parametrize(
    "filters",
    [
        {"wing": "shop"}, {"wing": "api"}, {"room": "notes"}, {"kind": "diary"}, {"kind": "todo"}, {"branch": "main"},
        {"filed_as": ("decision",)}, {"source": "s1"}, {"since": "2030-01-01"}, {"until": "2030-01-01"},
        {"external": False},
    ],
)  # fmt: skip
def test_whatever_a_filter_lets_through_is_whole(
    home_and_export: tuple[Home, bytes], other_home: Home, path: Path, filters: dict[str, Any]
) -> None:
    with home_and_export[0].at() as context:
        export(context, ExportRequest(path, **filters))
    assert other_home.take(path).left_out == ()
    assert set(path.read_bytes().splitlines()[1:-1]) <= set(home_and_export[1].splitlines())


def test_a_dry_run_writes_nothing(other_home: Home, path: Path) -> None:
    would = other_home.take(path, dry_run=True)
    assert not (other_home.place / "palace.db").exists()
    with other_home.at() as context:
        remember(context, RememberRequest("Mine.", wing="own"))
    export_before = other_home.bytes()
    assert other_home.take(path, dry_run=True).counts == would.counts
    assert other_home.bytes() == export_before
    assert other_home.take(path).counts == would.counts


def test_an_import_that_was_stopped_is_finished_by_the_next(
    other_home: Home, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(merge, "RECORDS_AT_ONCE", 7)
        for stop in range(1, 6):
            left = iter(range(stop, 0, -1))

            def step(self: Database, left: Any = left) -> None:
                if next(left) == 1:
                    raise KeyboardInterrupt

            patched.setattr(Database, "step", step)
            with pytest.raises(KeyboardInterrupt):
                other_home.take(path)
            with other_home.at() as context:
                wrong = [one for one in verify(context, VerifyRequest()).checks if not one.ok]
                assert [(one.name, str(path) in one.detail) for one in wrong] == [("imports", True)]
                assert status(context, StatusRequest()).unfinished_imports == (str(path),)
    other_home.take(path)
    assert other_home.bytes() == path.read_bytes()


@pytest.mark.parametrize("imported_file", ["the same file", "a copy", "another in its place"])
def test_an_import_that_was_stopped_is_told_of_until_its_file_is_imported_again(
    other_home: Home, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imported_file: str
) -> None:
    def stop(self: Database) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Database, "step", stop)
        with pytest.raises(KeyboardInterrupt):
            other_home.take(path)
    unrelated = tmp_path / "unrelated.jsonl"
    (tmp_path / "copy.jsonl").write_bytes(path.read_bytes())
    with Home(tmp_path / "empty").at() as context:
        remember(context, RememberRequest("Mine.", wing="own"))
        export(context, ExportRequest(unrelated))
    other_home.take(unrelated)
    other_home.take(path, dry_run=True)
    with other_home.at() as context:
        (told,) = [one for one in doctor(context, DoctorRequest(canaries=False)).findings if one.name == "import"]
        assert (told.ok, told.mend) == (False, f"palazzo import '{path}'")
    if imported_file == "another in its place":
        path.write_bytes(path.read_bytes() + b"\n")
    other_home.take(tmp_path / "copy.jsonl" if imported_file == "a copy" else path)
    with other_home.at() as context:
        assert status(context, StatusRequest()).unfinished_imports == ()
        assert [one for one in verify(context, VerifyRequest()).checks if not one.ok] == []


def test_a_file_that_changes_while_it_is_read_is_not_taken(
    other_home: Home, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from palazzo.sync import export_check

    whole = export_check.check

    def changed(*given: Any) -> export_check.VerifiedExport:
        found = whole(*given)
        path.write_bytes(path.read_bytes() + b"\n")
        return found

    monkeypatch.setattr(export_check, "check", changed)
    with pytest.raises(SourceUnreadable, match="changed while it was read"):
        other_home.take(path)


def test_what_was_erased_here_does_not_come_back_by_an_earlier_export(other_home: Home, path: Path) -> None:
    other_home.take(path)
    with other_home.at() as context:
        erase(context, EraseRequest(match="SQLite"))
    export_after_erasing = other_home.bytes()
    other_home.take(path)
    assert b"SQLite" not in other_home.bytes()
    assert {line for line in export_after_erasing.splitlines() if b"drawer" in line[:20]} == {
        line for line in other_home.bytes().splitlines() if b"drawer" in line[:20]
    }


def test_two_copies_of_one_palace_that_went_on_apart_are_put_together(
    other_home: Home, path: Path, tmp_path: Path
) -> None:
    other_home.take(path)
    with other_home.at() as context:
        remember(context, RememberRequest("Said before.", wing="shop"))
    copy = Home(tmp_path / "copy")
    copy.clock = other_home.clock
    (copy.place / "palace.db").write_bytes((other_home.place / "palace.db").read_bytes())
    for home, words in ((other_home, "Said here."), (copy, "Said there.")):
        with home.at() as context:
            remember(context, RememberRequest(words, wing="shop"))
    told = tmp_path / "told.jsonl"
    told.write_bytes(copy.bytes())
    assert len(other_home.take(told).forked) == 1
    assert all(words in other_home.bytes() for words in (b"Said before.", b"Said here.", b"Said there."))
    with other_home.at() as context:
        assert [one for one in verify(context, VerifyRequest()).checks if not one.ok] == []
    again = Home(tmp_path / "again")
    path.write_bytes(other_home.bytes())
    again.take(path)
    assert again.bytes() == path.read_bytes()


def test_secrets_are_taken_out_of_what_is_imported(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes]
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    path.write_bytes(home_and_export[1].replace(b"The grey cat sleeps.", f"The key is {token}".encode()))
    lines = [line for line in read(path.read_bytes()) if line["kind"] not in ("drawer", "link")]
    write(path, lines)
    other_home.take(path)
    assert token.encode() not in other_home.bytes()
    assert token.encode() not in (other_home.place / "palace.db").read_bytes()


# --- bad input ---------------------------------------------------------------------------------------------


def _without(kind: str) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if line["kind"] != kind]


def _with(kind: str, **fields: object) -> Callable[[Lines], Lines]:
    return lambda lines: [{**line, **fields} if line["kind"] == kind else line for line in lines]


BAD: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "nothing": (lambda lines: [], "is empty"),
    "does not begin with a header": (lambda lines: lines[1:], "does not begin with a header"),
    "two headers": (lambda lines: [*lines, lines[0]], "second header"),
    "a later version": (_with("header", version=2), "upgrade"),
    "another format": (_with("header", format="memory"), "is not an export of Palazzo"),
    "another order": (lambda lines: [lines[0], *reversed(lines[1:])], "order"),
    "drawers first": (lambda lines: [lines[-2], *lines[:-1]], "does not begin with a header"),
    "no rooms": (_without("room"), "that no earlier line defines"),
    "no sources": (_without("source"), "that no earlier line defines"),
    "no entities": (_without("entity"), "that no earlier line defines"),
    "a field that nobody knows": (_with("item", secret=1), "'secret'"),
    "a drawer's field that nobody knows": (_with("drawer", secret=1), "'secret'"),
    "a kind that nobody knows": (lambda lines: [*lines, {"kind": "spell"}], "'spell'"),
    "a wrong type": (_with("item", text=7), "'text' must be a string"),
    "an id that is none": (_with("item", id="../../etc/passwd"), "'id' must be an id"),
    "a time out of range": (_with("item", recorded_at=10**18), "years 1 to 9999"),
    "a number out of range": (_with("item", ordinal=2**63), "out of range"),
    "a place before the first": (_with("item", ordinal=-(2**63 - 1)), "'ordinal' of a message must be at least 0"),
    "a share out of range": (_with("fact_version", confidence=7), "0 to 1"),
    "a link that was changed": (_with("link", digest="00" * 32), "does not continue the chain"),
    "links in another order": (_with("link", seq=3), "does not continue the chain"),
    "a part outside its text": (_with("item", parts=[["text", 0, 10**9]]), "outside its text"),
    "half a character in a name": (_with("wing", first_name="\ud800"), "contains half of a surrogate pair"),
    "nested too deeply": (_with("act", detail={"a": json.loads("[" * 200 + "]" * 200)}), "detail"),
    "a list for an object": (lambda lines: [lines[0], [1, 2]], "is not a record"),
}


def assert_refused(other_home: Home, path: Path, why: str) -> None:
    """Whoever imports it is told in one sentence, and nothing has come."""
    with pytest.raises(SourceUnreadable) as caught:
        other_home.take(path, store="palazzo")
    said = str(caught.value)
    assert why in said
    assert str(path) in said
    assert "\n" not in said
    assert not (other_home.place / "palace.db").exists()


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_as_an_export_has_it_is_one_sentence_and_nothing_of_it_is_taken(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], name: str
) -> None:
    change, why = BAD[name]
    write(path, change(read(home_and_export[1])))
    assert_refused(other_home, path, why)


def test_an_export_that_was_cut_off_is_not_taken(other_home: Home, path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert_refused(other_home, path, "is not valid JSON (was the file truncated?)")
    lines = whole.splitlines(keepends=True)
    for many in (1, 5, -1):
        path.write_bytes(b"".join(lines[:many]))
        assert_refused(other_home, path, "is truncated")
    path.write_bytes(b"".join([*lines[:-2], lines[-1]]))
    assert_refused(other_home, path, "lines before its end")
    path.write_bytes(whole + lines[-2])
    assert_refused(other_home, path, "comes after the end")
    packed = gzip.compress(whole)
    path.write_bytes(packed[: len(packed) // 2])
    assert_refused(other_home, path, "is truncated")


def test_a_million_facts_in_one_line_are_not_read(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes]
) -> None:
    head = home_and_export[1].splitlines()[0]
    one = json.dumps({"kind": "fact", "id": "0" * 32, "subject": "1" * 32})
    path.write_bytes(head + b"\n[" + ",".join([one] * 180_000).encode() + b"]")
    assert_refused(other_home, path, "values")
    path.write_bytes(head + b'\n{"kind":"item","parts":' + b"[" * 1_100_000)
    assert_refused(other_home, path, "values")
    path.write_bytes(head + b'\n{"kind":"item","parts":' + b"[" * 100_000)
    assert_refused(other_home, path, "nested too deeply")


@pytest.mark.parametrize("ending", [b"", b'"', b"\\"])
def test_a_long_line_that_is_cut_off_within_quotes_is_looked_at_once(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], ending: bytes
) -> None:
    """Looked at from each quote in it, it would take hours."""
    path.write_bytes(home_and_export[1].splitlines()[0] + b'\n{"kind":"item","text":"' + b'x\\"' * 400_000 + ending)
    assert_refused(other_home, path, "is not valid JSON (was the file truncated?)")


@pytest.mark.parametrize("cut", [2, 11, 200])
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_packed_export_of_which_only_the_beginning_is_left_is_told_from_another_file(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], compress: Callable[[bytes], bytes], cut: int
) -> None:
    path.write_bytes(compress(home_and_export[1])[: max(cut, 4) if compress is zstandard.compress else cut])
    with pytest.raises(SourceUnreadable, match="is truncated"):
        other_home.take(path)


@pytest.mark.parametrize("text", [b"", b"\n \n"])
def test_a_file_without_a_word_is_said_to_be_empty(other_home: Home, path: Path, text: bytes) -> None:
    path.write_bytes(text)
    with pytest.raises(UsageError, match="is empty"):
        other_home.take(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_what_is_no_file_is_not_waited_for(other_home: Home, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    for path in (tmp_path / "pipe", tmp_path / "dangling", Path("/dev/zero")):
        for store in (None, "palazzo", "shodh", "claude-mem"):
            with pytest.raises(UsageError, match="neither a file nor a directory"):
                other_home.take(path, store=store)


@pytest.mark.parametrize("at", [-62_135_596_800_000_000, 253_402_300_799_999_999])
def test_what_was_said_at_an_end_of_the_calendar_is_imported_and_shown(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], at: int
) -> None:
    lines = [line for line in read(home_and_export[1]) if line["kind"] not in ("link", "drawer")]
    lines = [{**line, "created_at": at, "recorded_at": at} if line["kind"] == "item" else line for line in lines]
    write(path, lines)
    other_home.take(path, store="palazzo")
    for zone in ("UTC", "Pacific/Auckland", "America/Los_Angeles"):
        other_home.variables["TZ"] = zone
        with other_home.at() as context:
            assert "cat" in search(context, SearchRequest("grey cat")).hits[0].text
            wake_up(context, WakeUpRequest(wing="shop"))
    with other_home.at() as context:
        assert [one for one in verify(context, VerifyRequest()).checks if not one.ok] == []


@pytest.mark.parametrize(("field", "value"), [("author", "Kim"), ("role", "tool"), ("meta", {})])
def test_an_item_that_is_told_otherwise_stays_as_it_was_and_is_named(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], field: str, value: object
) -> None:
    lines = [line for line in read(home_and_export[1]) if line["kind"] not in ("link", "drawer")]
    notes = [line for line in lines if line["kind"] == "item" and line["type"] == "note"]
    for told in ({}, {field: value}):
        changed = [{**line, **told} if line in notes else line for line in lines]
        write(path, changed)
        result = other_home.take(path)
    assert {*result.variants} == {note["id"] for note in notes if note.get(field, {}) != value}
    items_by_id = {line["id"]: line for line in read(other_home.bytes()) if line["kind"] == "item"}
    assert [items_by_id[note["id"]].get(field) for note in notes] == [note.get(field) for note in notes]
    with other_home.at() as context:
        assert [check for check in verify(context, VerifyRequest()).checks if not check.ok] == []


def test_a_bomb_is_not_unpacked(other_home: Home, path: Path) -> None:
    packed = path.with_name("bomb.jsonl.gz")
    with gzip.open(packed, "wb", compresslevel=9) as file:
        for _ in range(100):
            file.write(b" " * (1 << 20))
    assert_refused(other_home, packed, "times its size")


@pytest.mark.parametrize("kind", ["claude-code", "codex", "gemini", "copilot"])
@pytest.mark.parametrize("session", ["../../evil", "/evil", ".."])
def test_a_session_whose_name_is_a_path_is_restored_in_the_directory_that_was_named(
    other_home: Home, path: Path, home_and_export: tuple[Home, bytes], kind: str, session: str
) -> None:
    lines = [line for line in read(home_and_export[1]) if line["kind"] not in ("link", "drawer")]
    for line in lines:
        if line["kind"] == "source" and line.get("session"):
            line |= {"type": kind, "session": session, "uri": "file:///sessions/../../%2e%2e/x/.."}
    write(path, lines)
    other_home.take(path)
    for name in ("projects", "sessions", "tmp", "session-state", "anywhere"):
        top = path.parent / "restored" / name
        top.mkdir(parents=True)
        with other_home.at() as context:
            told = restore_session(context, RestoreSessionRequest(session, top))
        assert told.files
        assert all(top in file.path.resolve().parents for file in told.files)


def test_what_is_nobodys_is_named_with_what_could_be_read(other_home: Home, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Buy milk.\n")
    for named, why in (({}, "mempalace"), ({"store": "spells"}, "'spells'")):
        with pytest.raises(UsageError, match=why):
            other_home.take(path, **named)
    with pytest.raises(UsageError, match="does not exist"):
        other_home.take(tmp_path / "missing.jsonl")


def test_an_export_says_itself_where_things_stand(other_home: Home, path: Path) -> None:
    with pytest.raises(UsageError, match="leave out --wing"):
        other_home.take(path, wing="other")


def test_markdown_is_for_reading(home_and_export: tuple[Home, bytes], other_home: Home, tmp_path: Path) -> None:
    with home_and_export[0].at() as context:
        export(context, ExportRequest(tmp_path / "pages", "markdown"))
    with pytest.raises(UsageError, match="for reading"):
        other_home.take(tmp_path / "pages")


def test_an_agent_may_see_what_would_come_and_a_person_imports_it(other_home: Home, path: Path) -> None:
    other_home.variables["CLAUDECODE"] = "1"
    assert other_home.take(path, dry_run=True).counts
    with pytest.raises(UsageError, match="only a person may import one"):
        other_home.take(path)


@pytest.mark.parametrize(("variables", "trust"), [({}, "user"), ({"AI_AGENT": "1"}, "agent")])
def test_what_an_agent_takes_over_is_believed_as_an_agents(
    other_home: Home, tmp_path: Path, variables: dict[str, str], trust: str
) -> None:
    store = tmp_path / ".claude"
    (store / "projects").mkdir(parents=True)
    (store / "CLAUDE.md").write_text("# Rules\n\nNever deploy on a Friday.\n")
    other_home.variables |= variables
    result = other_home.take(store)
    assert result.store == "claude-memory"
    with other_home.at() as context:
        (hit,) = search(context, SearchRequest("deploy on Friday")).hits
        assert hit.trust == trust
        undo(context, UndoRequest())
        assert search(context, SearchRequest("deploy on Friday")).hits == ()


@pytest.mark.parametrize("trust", ["tool", "external"])
def test_another_memory_s_store_is_trusted_as_far_as_is_said(other_home: Home, tmp_path: Path, trust: str) -> None:
    store = tmp_path / ".claude"
    (store / "projects").mkdir(parents=True)
    (store / "CLAUDE.md").write_text("# Rules\n\nNever deploy on a Friday.\n")
    other_home.take(store, trust=trust)
    with other_home.at() as context:
        (hit,) = search(context, SearchRequest("deploy on Friday")).hits
    assert hit.trust == trust


def test_nothing_but_an_earlier_export_is_overwritten(home_and_export: tuple[Home, bytes], tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"mine": 1}\n')
    for out, why in (
        (notes, "is not an export"),
        (home_and_export[0].place / "palace.db", "is not an export"),
        (tmp_path, "is a directory"),
    ):
        with home_and_export[0].at() as context, pytest.raises(UsageError, match=why):
            export(context, ExportRequest(out))
    assert notes.read_text() == '{"mine": 1}\n'
    with home_and_export[0].at() as context, pytest.raises(PalazzoError, match="cannot be written"):
        export(context, ExportRequest(tmp_path / "no" / "such" / "export.jsonl"))
