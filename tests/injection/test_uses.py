"""What an agent's own messages and calls show that it used of what it was given."""

from __future__ import annotations

import pytest

from palazzo.injection.entry_text import Entry, render_entries
from palazzo.injection.usage_detection import (
    DeliveredItem,
    ToolCall,
    find_cited_ids,
    find_opened_files,
    find_quoted_ids,
    is_about_files,
    reads_by_id,
    runs,
    words_given,
)
from palazzo.store.ledger import Part

IDS = ["0123456789abcdef" * 2, "0123456789abcdee" * 2]
RULE = "Cart totals are rounded half up, as the tax office wants it, in src/cart/total.py."


def test_the_words_of_each_entry_are_those_that_stand_with_its_id() -> None:
    entries = [
        Entry(Part("drawer", IDS[0]), "2026-03-04", "api/notes", "user", f"{RULE}\n\n- [not an id] b", truncated=True),
        Entry(Part("drawer", IDS[1]), "2026-03-05", "api/notes", "user", "Another."),
    ]
    found = words_given(render_entries("Head.", entries), IDS)
    assert RULE in found[IDS[0]]
    assert "not an id" in found[IDS[0]]
    assert ("Another." in found[IDS[0]], "Another." in found[IDS[1]]) == (False, True)
    assert words_given(render_entries("Head.", entries), IDS[1:]).keys() == {IDS[1]}


def test_the_words_of_an_orientation_are_its_lines() -> None:
    lines = ["Head", "Notes:", "- 2026-03-04 user: One. [0123456789abcdef]", "- undated user: Two. [012345]", "More"]
    text = "\n".join(lines)
    assert words_given(text, IDS) == {IDS[0]: "- 2026-03-04 user: One. [0123456789abcdef]"}


def test_an_id_is_cited_in_full_or_by_a_beginning_that_one_has() -> None:
    one, other = IDS
    assert find_cited_ids(f"as {one} says", IDS) == {one}
    assert find_cited_ids(f"({one[:16]}) and [{other[:16]}].", IDS) == {one, other}
    assert find_cited_ids(one[:12], IDS) == set()
    assert find_cited_ids(one[:12], [one]) == {one}
    assert find_cited_ids(one[:11], [one]) == set()
    assert find_cited_ids(f"x{one} {one}x {one}0 {one.upper()}", [one]) == set()


@pytest.mark.parametrize(
    ("message", "is_cited"),
    [
        ("Since cart totals are rounded *half up*, as the tax office wants it, I changed it.", True),
        ("CART TOTALS ARE ROUNDED HALF UP, AS THE TAX office says", True),
        ("Totals are rounded half up.", False),
        ("As the tax office wants it, in", False),
        ("", False),
    ],
)
def test_words_are_cited_where_enough_of_them_stand_in_a_row(message: str, is_cited: bool) -> None:
    assert find_quoted_ids(message, {"a": runs(RULE)}, frozenset()) == ({"a"} if is_cited else set())


def test_what_the_person_said_is_not_cited() -> None:
    assert find_quoted_ids(RULE, {"a": runs(RULE)}, runs(f"Is it true that {RULE}")) == set()


@pytest.mark.parametrize("words", ["it is as it was and as it will be for you", "a b"])
def test_words_that_say_nothing_are_no_citation(words: str) -> None:
    assert runs(words) == frozenset()


@pytest.mark.parametrize(
    ("call", "reads"),
    [
        (ToolCall("mcp__palazzo__read", "mcp__palazzo__read\nid: x"), True),
        (ToolCall("Bash", "Bash\ncommand: palazzo show 0123"), True),
        (ToolCall("Bash", "Bash\ncommand: palazzo forget 0123"), False),
        (ToolCall("mcp__palazzo__forget", "mcp__palazzo__forget\nid: x"), False),
        (ToolCall("Bash", "Bash\ncommand: git show 0123"), False),
    ],
)
def test_an_id_is_fetched_by_a_call_that_reads_it(call: ToolCall, reads: bool) -> None:
    assert reads_by_id(call) is reads


@pytest.mark.parametrize(
    ("call", "files"),
    [
        (ToolCall("Read", "Read\nfile_path: /home/dev/acme/deploy.yaml"), {"/home/dev/acme/deploy.yaml"}),
        (ToolCall("Edit", "Edit\nreplace_all: false\nfile_path: a/b.py\nold_string: c/d.py"), {"a/b.py"}),
        (ToolCall("Write", "Write\nfile_path: a.py\ncontent:\npath: other.py\n"), {"a.py"}),
        (ToolCall("Bash", "Bash\ncommand: sed -n '1,20p' ./src/a.py | head\ndescription: Look at b.py"), {"src/a.py"}),
        (ToolCall("exec_command", "exec_command\ncmd: cat tokens.env > out/x"), {"tokens.env", "out/x"}),
        (ToolCall("apply_patch", "apply_patch\n*** Update File: src/a.py\n+++ b.py"), {"src/a.py"}),
        (ToolCall("Grep", "Grep\npattern: x\npath: src/a.py"), set()),
        (ToolCall("mcp__x__read", "mcp__x__read\npath: src/a.py"), set()),
        (ToolCall("Bash", "Bash\ncommand: ls -1"), set()),
    ],
)
def test_a_call_opens_the_files_that_it_reads_or_changes(call: ToolCall, files: set[str]) -> None:
    assert find_opened_files(call) == files


@pytest.mark.parametrize(
    ("words", "file", "is_touched"),
    [
        (RULE, "/home/dev/api/src/cart/total.py", True),
        (RULE, "src/cart/total.py", True),
        (RULE, "total.py", True),
        ("see total.py:12", "/home/dev/api/src/cart/total.py", True),
        ("see `./cart/total.py`.", "src/cart/total.py", True),
        (RULE, "/home/dev/api/src/order/total.py", False),
        (RULE, "/home/dev/api/src/cart/subtotal.py", False),
        ("see total.pyc", "total.py", False),
        ("see README.md", "/home/dev/api/README.md", False),
        ("see docs/README.md", "/home/dev/api/docs/README.md", True),
        ("nothing", "/", False),
    ],
)
def test_a_file_is_touched_where_its_name_says_which_one_it_is(words: str, file: str, is_touched: bool) -> None:
    assert is_about_files([file], DeliveredItem("a", words)) is is_touched


def test_a_file_that_something_is_anchored_to_needs_no_mention() -> None:
    given = DeliveredItem("a", "Totals are rounded.", ("src/cart.py:3-9", "README.md"))
    assert is_about_files(["/home/dev/api/src/cart.py"], given)
    assert not is_about_files(["/home/dev/api/README.md"], given)


@pytest.mark.parametrize("piece", ["a", "a.", "a/", "./", "~", "- [0123456789ab] "])
def test_what_repeats_without_an_end_is_read_in_one_pass(piece: str) -> None:
    """Were it not, this would not end."""
    text = piece * 100_000
    find_opened_files(ToolCall("Bash", f"Bash\ncommand: {text}"))
    words_given(text, IDS)
    runs(text)
    assert is_about_files(["x/total.py"], DeliveredItem("a", f"{text} total.py"))
