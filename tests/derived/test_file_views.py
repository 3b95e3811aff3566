"""What calls do to files in the words of each host, and what a session knows of a file by then."""

from __future__ import annotations

import random

import pytest

from palazzo.knowledge.session_citations import blob_of, mentions
from palazzo.sessions.file_calls import Excerpt, FileCall, FileEdit, Piece, Reading, Writing, file_calls, read_excerpt
from palazzo.sessions.file_views import View

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def total():
 def total():
-    return 1
+    return 2
*** Add File: src/b.py
+B = 1
*** Delete File: src/c.py
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "call", "wanted"),
    [
        ("Read", "Read\nfile_path: /p/a.py\noffset: 10\nlimit: 5", Reading("/p/a.py", 10, 5)),
        ("read_file", "read_file\nabsolute_path: /p/a.py", Reading("/p/a.py")),
        ("view", "view\npath: a.py\nview_range:\n  - 3\n  - 9", Reading("a.py", 3, 7)),
        ("str_replace_based_edit_tool", "x\ncommand: view\npath: a.py", Reading("a.py")),
        ("exec_command", "exec_command\ncmd: sed -n '10,20p' src/a.py", Reading("src/a.py", 10, 11)),
        ("shell", "shell\ncommand:\n  - bash\n  - -lc\n  - cat src/a.py", Reading("src/a.py")),
        (
            "Write",
            "Write\nfile_path: a.yaml\ncontent:\npath: x\ncommand: y\n",
            Writing("a.yaml", "path: x\ncommand: y\n"),
        ),
        ("create", "create\nfile_text:\na\nb\npath: a.txt", Writing("a.txt", "a\nb")),
        ("Edit", "Edit\nfile_path: a\nold_string: 1\nnew_string: 2", FileEdit("a", (Piece("1", "2"),))),
        (
            "Edit",
            "Edit\nreplace_all: true\nfile_path: a\nold_string:\nx:\n    path: 1\nnew_string:\n",
            FileEdit("a", (Piece("x:\n    path: 1", "", everywhere=True),)),
        ),
        (
            "edit",
            "edit\npath: a\nedits:\n  -\n    oldText: 1\n    newText:\nb\nc\n  -\n    oldText: 3\n    newText: 4",
            FileEdit("a", (Piece("1", "b\nc"), Piece("3", "4"))),
        ),
        ("NotebookEdit", "NotebookEdit\nnotebook_path: a.ipynb\nnew_source: x", FileEdit("a.ipynb")),
        ("Bash", "Bash\ncommand: echo 1 > out.txt", FileEdit("out.txt")),
    ],
)
def test_what_a_call_does_to_a_file(tool: str, call: str, wanted: FileCall) -> None:
    assert list(file_calls(tool, call)) == [wanted]


def test_a_patch_changes_whole_lines_of_several_files() -> None:
    changed = FileEdit("src/a.py", (Piece("def total():\n    return 1", "def total():\n    return 2", whole=True),))
    assert list(file_calls("apply_patch", PATCH)) == [changed, Writing("src/b.py", "B = 1\n")]


@pytest.mark.parametrize("command", ["cat a.py | wc -l", "cat a.py b.py", "git diff", "ls", "sed -n '5,2p' a.py"])
def test_a_command_that_does_more_than_show_a_file_reads_none(command: str) -> None:
    assert [one for one in file_calls("Bash", f"Bash\ncommand: {command}") if isinstance(one, Reading)] == []


@pytest.mark.parametrize(
    ("reading", "tool", "result", "wanted"),
    [
        (Reading("a"), "Read", "1\tx\n2\ty\n3\t", Excerpt(1, ("x", "y"), True)),
        (Reading("a"), "Read", "     1→x\n     2→\n     3→y", Excerpt(1, ("x", "", "y"), True)),
        (Reading("a", 7, 2), "Read", "     7→\n     8→", Excerpt(7, ("",), False)),
        (Reading("a"), "read", "<file>\n00001| x\n00002| y\n\n(End of file - total 2 lines)\n</file>",
         Excerpt(1, ("x", "y"), True)),
        (Reading("a"), "read", "<path>/a</path>\n<content>\n1: x\n2: y\n\n(End)\n</content>",
         Excerpt(1, ("x", "y"), True)),
        (Reading("a"), "read", "<content>\n1: x\n\n(Output capped at 50 KB. Showing lines 1-1.)\n</content>",
         Excerpt(1, ("x",), False)),
        (Reading("a"), "read", "x\ny\n", Excerpt(1, ("x", "y"), True)),
        (Reading("a", 5, 2), "read", "x\ny\n\n[12 more lines in file. Use offset=7 to continue.]",
         Excerpt(5, ("x", "y"), False)),
        (Reading("a"), "exec_command", "Wall time: 0.01 seconds\nOutput:\nx\n", Excerpt(1, ("x",), True)),
        (Reading("a"), "Read", "1\tkey = [redacted:aws:12ab]\n2\ty\n3\t", Excerpt(1, (None, "y"), True)),
        (Reading("a"), "Read", "File unchanged since last read.", None),
        (Reading("a"), "read_file", "IMPORTANT: The file content has been truncated.\nx", None),
    ],
)  # fmt: skip
def test_what_a_result_shows_of_a_file(reading: Reading, tool: str, result: str, wanted: Excerpt | None) -> None:
    assert read_excerpt(reading, tool, result) == wanted


def test_a_view_stays_what_the_file_is_through_any_edits() -> None:
    chance = random.Random(11)
    for _ in range(1_500):
        words = ["a", "b", "xa", "", "}", "foo(a)"]
        text = "".join(f"{chance.choice(words)}{chance.randint(0, 3)}\n" for _ in range(chance.randint(1, 12)))
        start = chance.randrange(len(text))
        old = text[start : start + chance.randint(1, 12)]
        new = chance.choice(["", "X", "X\n", "Y\nZ", "\nQ\n", "zz\nyy\nxx"])
        everywhere = chance.random() < 0.5
        view = View()
        view.write(text)
        places = view.change(Piece(old, new, everywhere=everywhere))
        if text.count(old) > 1 and not everywhere:
            assert (places, view.file_lines()) == ([], None)
            continue
        now = text.replace(old, new)
        assert (view.file_lines() or []) == now.removesuffix("\n").split("\n")[: view.size]
        if len(places) == 1 and new.strip("\n"):
            assert new.strip("\n") in "\n".join(view.span(places[0].first, places[0].last) or [])


def test_lines_that_were_never_shown_are_not_known() -> None:
    view = View()
    view.read(Excerpt(10, ("a", None, "c"), False))
    assert view.span(10, 10) == ["a"]
    assert [view.span(9, 10), view.span(10, 12), view.file_lines()] == [None, None, None]
    assert [(one.first, one.last) for one in view.change(Piece("c", "c\nd"))] == [(12, 13)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("see src/a.py:10-20, please", [("src/a.py", 10, 20)]),
        ("at lib/b.ts(3,4): error; c.go#L7-L9", [("lib/b.ts", 3, 3), ("c.go", 7, 9)]),
        ('File "/srv/api/a.py", line 12, in total', [("/srv/api/a.py", 12, 12)]),
        ("`a.py:5:9` and a.py lines 3 to 4", [("a.py", 5, 5), ("a.py", 3, 4)]),
        ("C:\\shop\\cart.py:8", [("C:\\shop\\cart.py", 8, 8)]),
        ("https://example.com/a.py:80 and example.com:443, at 10:20, v1.2:3, a.py:0", []),
    ],
)
def test_lines_of_files_that_a_text_names(text: str, wanted: list[tuple[str, int, int]]) -> None:
    assert [(one.path, one.first, one.last) for one in mentions(text)] == wanted


def test_a_blob_has_the_id_that_git_gives_it() -> None:
    assert blob_of("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
