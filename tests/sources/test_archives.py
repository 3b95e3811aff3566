"""Exports in zip files that nobody vouches for, and in directories."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import export_archives
from palazzo.sources.formats.claude_ai import ClaudeAI
from palazzo.sources.formats.export_archives import DirectoryExport, ZipExport, find, is_zip, open_export, refuse_rest
from palazzo.sources.formats.slack import Slack

from .collection_samples import few


def make(path: Path, *files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data, method)
    return path


def test_files_are_read_without_anything_being_written(tmp_path: Path) -> None:
    path = make(tmp_path / "e.zip", ("a/b.json", b"[1]"), ("c.json", b"[2]"))
    export = open_export(path)
    assert export.names() == ["a/b.json", "c.json"]
    assert export.read("a/b.json") == b"[1]"
    assert export.head("c.json", 2) == b"[2"
    assert [one.name for one in tmp_path.iterdir()] == ["e.zip"]


@pytest.mark.parametrize(
    "name",
    ["../up.json", "a/../../up.json", "/etc/passwd", "C:/x.json", "..\\up.json", "\\\\host\\share.json", "a/../b.json"],
)
def test_a_name_that_leads_out_is_refused_and_the_others_are_read(name: str, tmp_path: Path) -> None:
    export = ZipExport(make(tmp_path / "e.zip", (name, b"[]"), ("good.json", b"[1]")))
    assert export.names() == ["good.json"]
    assert list(export.refusals.values()) == ["its name points outside the archive"]
    with pytest.raises(SourceUnreadable, match="its name points outside the archive"):
        export.read(next(iter(export.refusals)))


def test_a_link_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    export = ZipExport(make(tmp_path / "e.zip", (link, b"/etc/passwd")))
    assert export.refusals == {"conversations.json": "a link, or not a file"}


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    export = ZipExport(make(tmp_path / "e.zip", ("bomb.json", b"0" * 50_000_000), ("good.json", b"[" * 1000)))
    assert export.names() == ["good.json"]
    assert "zip bomb" in export.refusals["bomb.json"]


def test_what_was_refused_is_said_when_the_rest_has_been_read(tmp_path: Path) -> None:
    talk = b'[{"uuid": "c1", "name": "A talk", "chat_messages": []}]'
    path = make(tmp_path / "e.zip", ("conversations-000.json", talk), ("../conversations-001.json", talk))
    found = ClaudeAI().sessions(path)
    assert next(found).title == "A talk"
    with pytest.raises(SourceUnreadable, match=r"points outside the archive.*everything else was"):
        next(found)


def test_a_day_of_slack_that_was_refused_is_said(tmp_path: Path) -> None:
    day = b'[{"type": "message", "user": "U1", "text": "hello", "ts": "1795293302.000100"}]'
    files = [("users.json", b'[{"id": "U1"}]'), ("channels.json", b'[{"id": "C1", "name": "general"}]')]
    link = zipfile.ZipInfo("general/2026-11-22.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = make(tmp_path / "e.zip", *files, ("general/2026-11-21.json", day), (link, b"/etc/passwd"))
    found = Slack().sessions(path)
    assert next(found).title == "#general, 2026-11-21"
    with pytest.raises(SourceUnreadable, match=r"2026-11-22\.json.*a link"):
        next(found)


def test_a_file_whose_name_begins_with_nul_is_refused(tmp_path: Path) -> None:
    """Python's own reader takes the name for an empty one, and fails on it."""
    path = make(tmp_path / "e.zip", ("Qa.json", b"[]"), ("good.json", b"[1]"))
    path.write_bytes(path.read_bytes().replace(b"Qa.json", b"\0a.json"))
    assert ZipExport(path).names() == ["good.json"]
    assert list(ZipExport(path).refusals.values()) == ["its name points outside the archive"]


def test_a_name_of_any_length_makes_a_short_sentence(tmp_path: Path) -> None:
    export = ZipExport(make(tmp_path / "e.zip", ("../" + "x" * 60_000, b"[]")))
    with pytest.raises(SourceUnreadable) as refusal:
        refuse_rest(export, tmp_path / "e.zip", lambda name: True)
    assert len(str(refusal.value)) < 300 + len(str(tmp_path))


def test_an_archive_in_the_form_for_large_files_is_read(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    with zipfile.ZipFile(path, "w") as archive, archive.open("a.json", "w", force_zip64=True) as stream:
        stream.write(b"[1]")
    assert ZipExport(path).read("a.json") == b"[1]"


def test_a_size_that_lies_is_damage(tmp_path: Path) -> None:
    path = make(tmp_path / "e.zip", ("bomb.json", b"0" * 5_000_000))
    data = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.index(signature) + at
        data[place : place + 4] = struct.pack("<I", 1000)
    path.write_bytes(data)
    with pytest.raises(SourceUnreadable, match="damaged"):
        ZipExport(path).read("bomb.json")


def test_there_is_an_end_to_what_one_archive_may_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_archives, "LARGEST_TOTAL", 2500)
    export = ZipExport(make(tmp_path / "e.zip", ("a", b"x" * 1000), ("b", b"y" * 1000), ("c", b"z" * 1000)))
    assert len(export.read("a") + export.read("b")) == 2000
    with pytest.raises(SourceUnreadable, match="unpacks to more"):
        export.read("c")
    monkeypatch.setattr(export_archives, "LARGEST_ENTRY", 999)
    assert ZipExport(tmp_path / "e.zip").names() == []


def test_other_refusals_have_their_reasons(tmp_path: Path) -> None:
    assert "compressed" in ZipExport(make(tmp_path / "b.zip", ("a", b"x"), method=zipfile.ZIP_BZIP2)).refusals["a"]
    path = make(tmp_path / "c.zip", ("a", b"x"))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert ZipExport(path).refusals == {"a": "encrypted"}
    with pytest.warns(UserWarning, match="Duplicate"):
        make(tmp_path / "d.zip", ("a", b"first"), ("a", b"second"))
    twice = ZipExport(tmp_path / "d.zip")
    assert (twice.read("a"), twice.refusals) == (b"first", {"a": "a second file with that name"})


def test_names_in_utf8_are_read_also_where_the_archive_does_not_say_so(tmp_path: Path) -> None:
    path = make(tmp_path / "e.zip", ("日本/å.json", b"[]"))
    data = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = data.index(signature) + at
        data[place : place + 2] = b"\x00\x00"
    path.write_bytes(data)
    assert ZipExport(path).names() == ["日本/å.json"]


def test_a_directory_gives_its_files_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "e" / "in").mkdir(parents=True)
    (tmp_path / "e" / "in" / "a.json").write_bytes(b"[1]")
    (tmp_path / "secret").write_bytes(b"s")
    (tmp_path / "e" / "link.json").symlink_to(tmp_path / "secret")
    export = open_export(tmp_path / "e")
    assert isinstance(export, DirectoryExport)
    assert export.names() == ["in/a.json"]
    assert export.read("in/a.json") == b"[1]"
    assert export.refusals == {"link.json": "a link, or not a file"}
    for name in ("link.json", "../secret", "nothing"):
        with pytest.raises(SourceUnreadable):
            export.read(name)


def test_a_stamp_changes_with_the_file(tmp_path: Path) -> None:
    one = ZipExport(make(tmp_path / "1.zip", ("a", b"x"))).stamp("a")
    assert one == ZipExport(make(tmp_path / "2.zip", ("a", b"x"))).stamp("a")
    assert one != ZipExport(make(tmp_path / "3.zip", ("a", b"y"))).stamp("a")


def test_a_file_is_found_at_the_top_or_in_the_one_folder(tmp_path: Path) -> None:
    export = ZipExport(make(tmp_path / "e.zip", ("export/users.json", b""), ("a/b/channels.json", b"")))
    assert find(export, "users.json") == "export/users.json"
    assert find(export, "channels.json") == ""


@few
@given(data=st.binary(max_size=300), places=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=6))
def test_no_bytes_make_an_archive_crash(
    data: bytes, places: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = make(tmp_path_factory.mktemp("z") / "e.zip", ("a.json", data), ("b.json", b"[]" * 50))
    damaged = bytearray(path.read_bytes())
    for place, value in places:
        damaged[place % len(damaged)] = value
    for content in (bytes(damaged), data, b"PK\x03\x04" + data):
        path.write_bytes(content)
        try:
            export = ZipExport(path)
            for name in export.names():
                export.read(name)
        except SourceUnreadable:
            pass
    assert is_zip(b"PK\x03\x04")
