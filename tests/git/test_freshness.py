"""Whether cited lines still stand: where they stood, elsewhere, no more, or nobody can say."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout as Repository

from palazzo.git import tracked_files
from palazzo.git.freshness import LARGEST_SEARCHED, Checkout, CitationStatus, worst
from palazzo.model import UNKNOWN_LINE, Anchor
from palazzo.text.cited_lines import digest, lines_of

KEY = bytes(range(32))
LONG = 20.0
"""Seconds that a test waits for git at most."""
BODY = """import sys


def connect(address: str, timeout: int) -> Connection:
    connection = Connection(address, timeout=timeout)
    connection.open()
    return connection


def measure(connection: Connection) -> int:
    began = connection.clock()
    connection.ping()
    return connection.clock() - began


def close(connection: Connection) -> None:
    if connection.is_open:
        connection.close()
    return None
"""
CONNECT = (4, 7)
RETURN_NONE = 19


def cited(path: str, first: int = 0, last: int = 0, words: str = BODY, *, blob: bool = False) -> Anchor:
    """The citation of lines of a file, as it is made when they are read."""
    lines = lines_of(words)
    seen = lines[first - 1 : last] if first > 0 else lines
    return Anchor(path, first, last, digest(KEY, seen), len(seen), blob_of(words) if blob else "")


def blob_of(words: str) -> str:
    data = words.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def check(root: Path, anchor: Anchor) -> CitationStatus:
    return Checkout(root, KEY, LONG).check([anchor])[0]


def told(root: Path, anchor: Anchor) -> str:
    """The state and, if they stand anywhere, the lines: `moved src/b.py:4-7`."""
    found = check(root, anchor)
    place = f" {found.path}:{found.first}-{found.last}" if found.freshness in ("fresh", "moved") else ""
    return found.freshness + place


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "project").init()
    (repository.root / "src").mkdir()
    repository.commit("code", BODY, "src/a.py")
    return repository


# --- in the file -------------------------------------------------------------------------------------------


def test_lines_that_nobody_touched_are_fresh(project: Repository) -> None:
    assert told(project.root, cited("src/a.py", *CONNECT)) == "fresh src/a.py:4-7"


def test_lines_below_an_insertion_have_moved_and_are_told_where_they_are(project: Repository) -> None:
    (project.root / "src/a.py").write_text("# one\n# two\n" + BODY)
    assert told(project.root, cited("src/a.py", *CONNECT)) == "moved src/a.py:6-9"


def test_lines_that_were_edited_or_deleted_are_changed(project: Repository) -> None:
    anchor = cited("src/a.py", *CONNECT)
    (project.root / "src/a.py").write_text(BODY.replace("timeout=timeout", "timeout=2 * timeout"))
    assert told(project.root, anchor) == "changed"
    (project.root / "src/a.py").write_text(BODY.partition("def connect")[0])
    assert told(project.root, anchor) == "changed"


def test_other_line_ends_and_blanks_at_the_end_of_lines_change_nothing(project: Repository) -> None:
    (project.root / "src/a.py").write_bytes(BODY.replace("\n", " \r\n").encode())
    assert told(project.root, cited("src/a.py", *CONNECT)) == "fresh src/a.py:4-7"
    assert told(project.root, cited("src/a.py")) == "fresh src/a.py:0-0"


def test_a_common_line_is_fresh_in_the_same_file_alone_and_never_moved(project: Repository) -> None:
    plain = cited("src/a.py", RETURN_NONE, RETURN_NONE)
    stated = cited("src/a.py", RETURN_NONE, RETURN_NONE, blob=True)
    assert (told(project.root, plain), told(project.root, stated)) == ("unknown", "fresh src/a.py:19-19")
    (project.root / "src/a.py").write_text("# one\n" + BODY)
    assert (told(project.root, plain), told(project.root, stated)) == ("unknown", "unknown")


def test_a_line_that_stands_in_the_file_twice_is_not_told_apart_and_a_function_is_the_nearest(tmp_path: Path) -> None:
    twice = "x = 1\n    connection.ping(address)\nx = 2\n    connection.ping(address)\n"
    (tmp_path / "a.py").write_text(twice)
    assert told(tmp_path, cited("a.py", 2, 2, twice)) == "unknown"
    (tmp_path / "b.py").write_text("# above\n" + BODY + "\n" * 50 + BODY)
    assert told(tmp_path, cited("b.py", *CONNECT)) == "moved b.py:5-8"


def test_the_words_of_an_edit_are_fresh_wherever_they_stand_in_its_file(project: Repository) -> None:
    stretch = cited("src/a.py", *CONNECT)
    edit = Anchor("src/a.py", UNKNOWN_LINE, UNKNOWN_LINE, stretch.digest, stretch.lines, how="edited")
    (project.root / "src/a.py").write_text("# one\n" + BODY)
    assert told(project.root, edit) == "fresh src/a.py:5-8"
    (project.root / "src/a.py").write_text("# all is new\n")
    assert told(project.root, edit) == "changed"


def test_a_whole_file_is_fresh_or_changed(project: Repository) -> None:
    by_words, by_blob = cited("src/a.py"), Anchor("src/a.py", blob=blob_of(BODY))
    assert (told(project.root, by_words), told(project.root, by_blob)) == ("fresh src/a.py:0-0", "fresh src/a.py:0-0")
    (project.root / "src/a.py").write_text(BODY + "# more\n")
    assert (told(project.root, by_words), told(project.root, by_blob)) == ("changed", "changed")


def test_what_nobody_saw_is_unknown_while_its_file_is_there(project: Repository) -> None:
    assert told(project.root, Anchor("src/a.py", 4, 7, how="mentioned")) == "unknown"
    (project.root / "src/a.py").unlink()
    assert told(project.root, Anchor("src/a.py", 4, 7, how="mentioned")) == "gone"


def test_a_blob_of_a_repository_with_longer_hashes_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BODY)
    blob = hashlib.sha256(b"blob %d\0" % len(BODY) + BODY.encode()).hexdigest()
    assert told(tmp_path, Anchor("a.py", 4, 7, blob=blob)) == "fresh a.py:4-7"


def test_a_file_that_is_long_is_compared_whole_and_not_searched(tmp_path: Path) -> None:
    words = BODY + "# long\n" * (LARGEST_SEARCHED // 5)
    (tmp_path / "a.py").write_text(words)
    assert told(tmp_path, cited("a.py", *CONNECT, words)) == "unknown"
    assert told(tmp_path, cited("a.py", *CONNECT, words, blob=True)) == "fresh a.py:4-7"
    assert not check(tmp_path, cited("a.py", *CONNECT, words)).is_checked


# --- elsewhere ---------------------------------------------------------------------------------------------


def test_a_renamed_file_has_moved_with_its_lines_whether_committed_staged_or_not_told(project: Repository) -> None:
    anchors = [cited("src/a.py", *CONNECT), Anchor("src/a.py", blob=blob_of(BODY)), Anchor("src/a.py")]
    (project.root / "lib").mkdir()
    (project.root / "src/a.py").rename(project.root / "lib/other.py")
    moved = ["moved lib/other.py:4-7", "moved lib/other.py:0-0", "moved lib/other.py:0-0"]
    assert [told(project.root, anchor) for anchor in anchors] == moved
    project.git("add", "-A")
    assert [told(project.root, anchor) for anchor in anchors] == moved
    project.git("commit", "-qm", "renamed")
    assert [told(project.root, anchor) for anchor in anchors] == moved


def test_of_a_renamed_file_that_was_edited_lines_are_moved_or_changed(project: Repository) -> None:
    project.git("mv", "src/a.py", "src/b.py")
    project.commit("renamed", "# one\n" + BODY.replace("connection.ping()", "connection.ping(2)"), "src/b.py")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "moved src/b.py:5-8"
    assert check(project.root, cited("src/a.py", 10, 13)) == CitationStatus("changed", "src/b.py")


def test_a_file_is_followed_through_several_renames(project: Repository) -> None:
    for n, (old, new) in enumerate((("src/a.py", "src/b.py"), ("src/b.py", "c.py"), ("c.py", "d.py"))):
        project.git("mv", old, new)
        project.commit(f"rename {n}", BODY + f"# {n}\n" * (n + 1), new)
    assert told(project.root, cited("src/a.py", *CONNECT)) == "moved d.py:4-7"


def test_a_deleted_file_is_gone_though_others_are_alike_or_have_its_name(project: Repository) -> None:
    project.commit("other", BODY.replace("connect", "attach").replace("measure", "weigh"), "src/other.py")
    (project.root / "lib").mkdir()
    project.commit("namesake", "".join(f"value_{n} = {n}\n" for n in range(40)), "lib/a.py")
    (project.root / "src/a.py").unlink()
    assert told(project.root, cited("src/a.py", *CONNECT)) == "gone"
    project.git("commit", "-qam", "deleted")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "gone"


def test_names_with_newlines_quotes_and_other_scripts_are_followed(project: Repository) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no such names")
    odd, new = 'src/two\nlines "and" tab\t.py', "src/žluťoučký 猫.py"
    project.commit("odd", BODY + "# odd\n", odd)
    assert told(project.root, cited(odd, *CONNECT)) == f"fresh {odd}:4-7"
    project.git("mv", odd, new)
    assert told(project.root, cited(odd, *CONNECT)) == f"moved {new}:4-7"
    project.git("commit", "-qm", "renamed")
    assert told(project.root, cited(odd, *CONNECT)) == f"moved {new}:4-7"


def test_what_a_sparse_checkout_leaves_out_is_not_gone(project: Repository) -> None:
    project.commit("kept", "kept\n", "kept.txt")
    project.git("update-index", "--skip-worktree", "src/a.py")
    (project.root / "src/a.py").unlink()
    assert told(project.root, cited("src/a.py", *CONNECT, blob=True)).startswith("fresh")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "unknown"


def test_a_submodule_that_is_not_checked_out_is_not_gone(project: Repository, tmp_path: Path) -> None:
    inner = Repository(tmp_path / "inner").init()
    project.git("submodule", "add", "-q", str(inner.root), "vendored")
    project.git("commit", "-qm", "vendored")
    assert told(project.root, Anchor("vendored/base.txt", 1, 1)) == "unknown"
    shutil.rmtree(project.root / "vendored")
    (project.root / "vendored").mkdir()
    assert told(project.root, Anchor("vendored/base.txt", 1, 1)) == "unknown"


def test_each_worktree_is_told_of_its_own_files(project: Repository, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "feature", str(tmp_path / "feature"))
    (tmp_path / "feature/src/a.py").rename(tmp_path / "feature/src/b.py")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "fresh src/a.py:4-7"
    assert told(tmp_path / "feature", cited("src/a.py", *CONNECT)) == "moved src/b.py:4-7"


# --- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../a.py", "src/../a.py", "/etc/passwd", "src//a.py", "a\0b", "a\ud800b", "x" * 5000]
)
def test_a_path_that_is_none_of_the_project_is_not_followed(project: Repository, path: str) -> None:
    (project.root.parent / "a.py").write_text(BODY)
    assert told(project.root, cited(path, *CONNECT)) == "unknown"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
def test_a_link_out_of_the_project_is_not_followed_and_one_within_is(project: Repository) -> None:
    (project.root.parent / "secret.py").write_text(BODY)
    (project.root / "out.py").symlink_to(project.root.parent / "secret.py")
    (project.root / "outside").symlink_to(project.root.parent)
    (project.root / "within.py").symlink_to("src/a.py")
    (project.root / "circle.py").symlink_to("circle.py")
    paths = ("out.py", "outside/secret.py", "within.py", "circle.py")
    assert [check(project.root, cited(path, *CONNECT)).freshness for path in paths] == [
        *("unknown", "unknown", "fresh", "unknown"),
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_is_no_file_is_not_waited_for(project: Repository) -> None:
    os.mkfifo(project.root / "pipe")
    assert [told(project.root, cited(path, *CONNECT)) for path in ("pipe", "src")] == ["unknown", "unknown"]


def test_binary_files_and_files_without_words_are_compared_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty").write_bytes(b"")
    assert told(tmp_path, cited("image.png", *CONNECT)) == "changed"
    assert told(tmp_path, cited("empty", *CONNECT)) == "changed"
    assert told(tmp_path, Anchor("empty", blob=blob_of(""))) == "fresh empty:0-0"


def test_a_project_that_is_not_there_says_nothing_of_its_files(tmp_path: Path) -> None:
    assert told(tmp_path / "unmounted", cited("src/a.py", *CONNECT)) == "unknown"


def test_without_a_repository_a_file_that_is_not_there_is_gone(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(BODY)
    assert told(tmp_path, cited("a.py", *CONNECT)) == "gone"


def test_a_broken_repository_cannot_say_where_a_file_went(project: Repository) -> None:
    (project.root / "src/a.py").unlink()
    (project.root / ".git/index").write_bytes(b"not an index")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "unknown"
    (project.root / ".git/HEAD").unlink()
    assert told(project.root, cited("src/a.py", *CONNECT)) == "unknown"
    assert told(project.root, cited("base.txt", 1, 3, "line 0\nline 1\nline 2\n")) == "fresh base.txt:1-3"


def test_without_git_what_is_there_is_compared_and_what_is_not_is_unknown(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert told(project.root, cited("src/a.py", *CONNECT)) == "fresh src/a.py:4-7"
    (project.root / "src/a.py").unlink()
    assert told(project.root, cited("src/a.py", *CONNECT)) == "unknown"


@pytest.mark.skipif(os.name == "nt", reason="a script that hangs")
def test_git_that_hangs_is_not_waited_for_longer_than_the_answer_may_take(
    project: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    (project.root / "src/a.py").unlink()
    monkeypatch.setattr("palazzo.git.tracked_files.PATIENCE", 0.1)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/bin")
    (found,) = Checkout(project.root, KEY).check([cited("src/a.py", *CONNECT)])
    assert (found.freshness, found.is_checked) == ("unknown", False)


def test_of_many_files_that_are_gone_few_are_looked_for_at_once(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer looks for some of them, so that asking again gets on."""
    asked: list[str] = []
    real = tracked_files._renamed_by_commit
    monkeypatch.setattr(tracked_files, "_renamed_by_commit", lambda root, path: asked.append(path) or real(root, path))  # type: ignore[func-returns-value]
    anchors = [Anchor(f"src/gone_{n}.py") for n in range(20)]
    Checkout(project.root, KEY, LONG).check([Anchor("src/first.py")])
    Checkout(project.root, KEY, timeout=0.0001).check(anchors)
    assert len(asked) <= 1 + tracked_files._AT_ONCE
    assert {one.freshness for one in Checkout(project.root, KEY, LONG).check(anchors)} == {"gone"}


def test_what_there_is_no_time_for_is_unknown(project: Repository) -> None:
    found = Checkout(project.root, KEY, timeout=0).check([cited("src/a.py", *CONNECT)] * 3)
    assert [(one.freshness, one.is_checked) for one in found] == [("unknown", False)] * 3


# --- of several --------------------------------------------------------------------------------------------


def test_the_worst_of_all_citations_is_said_of_a_memory() -> None:
    fresh, moved, changed, gone = (CitationStatus(state) for state in ("fresh", "moved", "changed", "gone"))
    unseen = CitationStatus("unknown")
    assert worst([fresh, moved, changed, gone]) == "gone"
    assert worst([fresh, moved, changed]) == "changed"
    assert worst([fresh, moved]) == "moved"
    assert worst([fresh, unseen]) == "fresh"
    assert worst([unseen]) == worst([]) == "unknown"


def test_a_memory_is_not_called_fresh_while_something_it_cites_was_not_compared() -> None:
    fresh, changed = CitationStatus("fresh"), CitationStatus("changed")
    late = CitationStatus("unknown", is_checked=False)
    assert worst([fresh, late]) == "unknown"
    assert worst([changed, late]) == "changed"
