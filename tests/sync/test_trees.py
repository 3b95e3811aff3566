"""Trees of pages: names that every file system has, and what was there before."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from palazzo.errors import PalazzoError, SourceUnreadable, UsageError
from palazzo.sync import page_tree
from palazzo.sync.page_tree import MANIFEST, open_tree, safe_names

HARD_NAMES = [
    *(
        ".",
        "..",
        "",
        " ",
        "a/b",
        "a\\b",
        "C:",
        "con",
        "NUL.txt",
        "COM1",
        "x.",
        "x ",
        ".git",
        "-rf",
        "~",
        "ä",
        "a\u0308",
    ),
    *(
        "A",
        "a",
        "K",
        "\u212a",
        "ﬁ",
        "fi",
        "x\u202ey",
        "\ud800",
        "n" * 300,
        "😀" * 90,
        "a~1a2b3c4d",
        "facts.md",
        "FACTS.MD",
    ),
]
HARD = st.text(max_size=80) | st.sampled_from(HARD_NAMES)


def grown(top: Path, **pages: str) -> None:
    with open_tree(top) as tree:
        for name, text in pages.items():
            tree.write(f"{name.replace('_', '/')}.md", text)


def pages_of(top: Path) -> dict[str, str]:
    return {str(page.relative_to(top)): page.read_text() for page in sorted(top.rglob("*")) if page.suffix == ".md"}


@examples(400)
@given(st.lists(HARD, max_size=12))
def test_names_are_safe_and_differ_on_every_file_system(names: list[str]) -> None:
    safe = safe_names(names, ["facts.md"])
    assert set(safe) == set(names)
    folded = {unicodedata.normalize("NFKC", one).casefold() for one in safe.values()} | {"facts.md"}
    assert len(folded) == len(set(names)) + 1
    for one in safe.values():
        assert 0 < len(one.encode()) <= 255
        assert not set(one) & set('<>:"/\\|?*\0\n')
        assert one[0] not in ".-~ "
        assert one[-1] not in ". "
        assert one.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1"}
        assert all(unicodedata.category(letter)[0] not in "CZ" or letter == " " for letter in one)


@examples(100)
@given(st.sets(HARD, max_size=6), st.sets(HARD, max_size=6))
def test_a_name_that_has_to_change_changes_alike_whatever_stands_beside_it(some: set[str], more: set[str]) -> None:
    one, two = safe_names(some), safe_names(some | more)
    assert all(one[name] == two[name] for name in some if one[name] != name)
    assert all(
        two[name] == name for name in some if one[name] == name and name == name.casefold() == page_tree.fold_name(name)
    )


def test_a_usual_name_stays() -> None:
    assert safe_names(["api", "wing_claude", "my project", "naïve.v2"]) == {
        one: one for one in ("api", "wing_claude", "my project", "naïve.v2")
    }


def test_a_tree_is_made_anew_over_the_earlier_one_and_spares_what_is_not_its_own(tmp_path: Path) -> None:
    top = tmp_path / "out"
    grown(top, a_one="1", a_two="2", b_one="3")
    before = (top / "a" / "one.md").stat()
    (top / "notes.txt").write_text("a person's")
    (top / "b" / "mine.md").write_text("a person's, too")
    (top / ".git").mkdir()
    grown(top, a_one="1", a_two="two")
    assert pages_of(top) == {"a/one.md": "1", "a/two.md": "two", "b/mine.md": "a person's, too"}
    assert (top / "notes.txt").exists()
    assert (top / ".git").is_dir()
    after = (top / "a" / "one.md").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    grown(top, c_one="4")
    assert not (top / "a").exists()
    assert not [one for one in top.iterdir() if one.name.startswith(".palazzo")]


def test_who_stops_it_leaves_what_was_there(tmp_path: Path) -> None:
    top = tmp_path / "out"
    for before in ({}, {"a_one": "1"}):
        if before:
            grown(top, **before)
        with pytest.raises(KeyboardInterrupt):
            _stopped(top)
        assert top.exists() == bool(before)
        assert pages_of(top) == {"a/one.md": "1"} if before else not list(tmp_path.iterdir())


def _stopped(top: Path) -> None:
    with open_tree(top) as tree:
        tree.write("a/one.md", "half")
        raise KeyboardInterrupt


def test_a_repository_that_was_just_made_is_grown_into(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    grown(tmp_path, api_auth="words")
    assert pages_of(tmp_path) == {str(Path("api/auth.md")): "words"}
    assert (tmp_path / ".git" / "HEAD").is_file()


def test_a_directory_of_somebody_elses_and_a_file_are_not_written_into(tmp_path: Path) -> None:
    top = tmp_path / "project"
    top.mkdir()
    (top / "main.py").write_text("print()")
    with pytest.raises(UsageError, match="something other than an export"):
        grown(top, a="1")
    with pytest.raises(UsageError, match="is not a directory"):
        grown(top / "main.py", a="1")
    assert [one.name for one in top.iterdir()] == ["main.py"]


@pytest.mark.parametrize(
    "name", ["../x.md", "a/../../x.md", "/x.md", "C:/x.md", "a\\..\\x.md", "x.txt", ".git/x.md", ""]
)
def test_a_manifest_that_names_what_is_not_its_own_is_refused(tmp_path: Path, name: str) -> None:
    top, victim = tmp_path / "out", tmp_path / "x.md"
    grown(top, a_one="1")
    victim.write_text("a person's")
    told = json.loads((top / MANIFEST).read_text())
    (top / MANIFEST).write_text(json.dumps({**told, "pages": [name]}))
    with pytest.raises(SourceUnreadable, match="is not a valid manifest of an export"):
        grown(top, a_one="2")
    assert victim.read_text() == "a person's"


@pytest.mark.parametrize(
    "text", ["", "[", "[" * 100_000, "null", '{"format": "palazzo-markdown", "version": 2, "pages": []}']
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    grown(tmp_path / "out", a="1")
    (tmp_path / "out" / MANIFEST).write_text(text)
    with pytest.raises(SourceUnreadable, match="is not a valid manifest of an export"):
        grown(tmp_path / "out", a="2")


@pytest.mark.skipif(os.name == "nt", reason="a link takes a right there")
def test_a_link_in_the_way_is_not_followed_out_of_the_tree(tmp_path: Path) -> None:
    top, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    grown(top, a_one="1", b_one="1")
    elsewhere.mkdir()
    (elsewhere / "one.md").write_text("a person's")
    (top / "a" / "one.md").unlink()
    (top / "a").rmdir()
    (top / "a").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a link"):
        grown(top, a_one="2")
    with pytest.raises(UsageError, match="is a link"):
        grown(top, b_one="2")
    assert (elsewhere / "one.md").read_text() == "a person's"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="who is root writes everywhere")
def test_where_nothing_may_be_written_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PalazzoError, match="cannot be written"):
        grown(tmp_path / "out", a="1")
