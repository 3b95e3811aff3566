"""Diaries: one file per day, an entry under each heading."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.sources.formats import Noise
from palazzo.sources.formats.diary_files import DiaryFiles

from .collection_samples import few, read_all, said, words

FEEDER = DiaryFiles()
DAY = 1_772_582_400_000_000
HOUR = 3_600_000_000


def write(directory: Path, text: str, name: str = "2026-03-04.md", folder: str = "diary") -> Path:
    path = directory / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def test_each_heading_is_an_entry_with_its_time(tmp_path: Path) -> None:
    text = "late\n\n# 09:30 Ports\n\nChose 8443.\n\n### detail\nx\n## Deploy\nFrozen.\n# 2026-03-05 7:05 on\nz"
    [(session, rows)] = read_all(FEEDER, write(tmp_path, text))
    assert [(one.kind, one.role, one.text.split("\n")[0], (one.created_at or 0) - DAY) for one in said(rows)] == [
        ("note", "author", "late", 0),
        ("note", "author", "# 09:30 Ports", 9 * HOUR + HOUR // 2),
        ("note", "author", "## Deploy", 0),
        ("note", "author", "# 2026-03-05 7:05 on", 31 * HOUR + HOUR // 12),
    ]
    assert "### detail\nx" in said(rows)[1].text
    assert (session.title, session.identity.key) == ("2026-03-04", ("diary", "diary", "2026-03-04.md"))


def test_a_heading_in_code_begins_no_entry(tmp_path: Path) -> None:
    [(_, rows)] = read_all(FEEDER, write(tmp_path, "# a\n```\n# comment\n```\n"))
    assert len(rows) == 1


def test_an_entry_that_is_added_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    [(before, first)] = read_all(FEEDER, write(tmp_path, "# a\nx\n"))
    [(after, second)] = read_all(FEEDER, write(tmp_path, "# a\nx\n# b\ny\n"))
    assert (second[0], before.identity) == (first[0], after.identity)
    assert before.stamp != after.stamp


@pytest.mark.parametrize(
    ("folder", "name", "is_diary"),
    [
        ("notes", "2026-03-04.md", True),
        ("diary", "2026-03-04-standup.md", True),
        ("Journal", "2026-03-04 evening.md", True),
        ("_posts", "2026-03-04-my-post.md", False),
        ("plans", "2026-03-04-gateway.md", False),
        ("diary", "2026-13-04.md", False),
        ("diary", "20260304.md", False),
        ("diary", "notes-2026-03-04.md", False),
        ("diary", "2026-03-04.txt", False),
        ("diary", "2026-03-04.md.bak", False),
    ],
)
def test_only_a_diarys_name_will_do(folder: str, name: str, is_diary: bool) -> None:
    assert FEEDER.recognises(Path("/home/dev") / folder / name, b"# x\n") is is_diary


def test_binary_and_empty_files_are_none() -> None:
    assert not FEEDER.recognises(Path("/d/2026-03-04.md"), b"\x00\x01")
    assert not FEEDER.recognises(Path("/d/2026-03-04.md"), b"")


@few
@given(texts=st.lists(words, max_size=5))
def test_every_byte_is_in_a_row(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("d"), "\n".join(f"# {n}\n{text}" for n, text in enumerate(texts)))
    [(_, rows)] = read_all(FEEDER, path)
    assert b"".join(row.raw for row in rows) == path.read_bytes()
    assert not [row for row in rows if isinstance(row.content, Noise) and row.raw.strip()]
