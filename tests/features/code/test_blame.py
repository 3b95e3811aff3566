"""blame: which edit wrote a line of today's file, and how decisions are connected with a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.archive.conversations import answered, called, said
from tests.features.code.code_sessions import file_session
from tests.features.hooks.test_hook import Clock

from palazzo.archive.ingest import NewItem
from palazzo.features.code.contract import BlameRequest, BlameResult
from palazzo.features.code.decision_links import Identifiers, identifier_links, name_links
from palazzo.features.code.file_blame import blame
from palazzo.features.notes.contract import ForgetRequest, RememberRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.model import Part
from palazzo.operations.context import Context

WRAP = "def wrap(text, width, break_long_words=False):"
FILE = f"import re\n\n\n{WRAP}\n    return None\n\n# end\ndef other():\n    return None\n"


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    project = tmp_path / "api"
    (project / "src").mkdir(parents=True)
    (project / "src" / "text.py").write_text(FILE)
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
    with Context(tmp_path / "palace.db", project, variables, clock=Clock()) as opened:
        remember(opened, RememberRequest("The api has a timeout of two seconds."))  # the palace knows the project
        yield opened


def edit_call(old: str, new: str) -> str:
    return f"Edit\nfile_path: src/text.py\nold_string:\n{old}\nnew_string:\n{new}"


def replaced(n: int, old: str, new: str, failed: bool = False) -> list[NewItem]:
    call = called(n, "Edit", edit_call(old, new), f"c{n}")
    output = "String to replace not found." if failed else "The file has been updated."
    return [call, said(n + 1, "tool", output, [Part("tool_result", 0, len(output), "", f"c{n}", failed)])]


def written(n: int, text: str) -> list[NewItem]:
    call = called(n, "Write", f"Write\nfile_path: src/text.py\ncontent:\n{text}", f"c{n}")
    return [call, answered(n + 1, "The file has been written.", f"c{n}")]


def patched(n: int, *lines: str) -> list[NewItem]:
    body = "\n".join(["*** Begin Patch", "*** Update File: src/text.py", "@@", *lines, "*** End Patch"])
    return [called(n, "apply_patch", f"apply_patch\n{body}", f"c{n}"), answered(n + 1, "Done!", f"c{n}")]


def at_once(failed_call: str, call: str) -> list[NewItem]:
    """One message with two calls, of which the first fails."""
    text = f"{failed_call}\n{call}"
    places = ("c1", 0, len(failed_call)), ("c2", len(failed_call) + 1, len(text))
    calls = [Part("tool_call", start, end, "Edit", name) for name, start, end in places]
    results = [
        said(n, "tool", "Done!", [Part("tool_result", 0, 5, "", name, failed)])
        for n, name, failed in ((2, "c1", True), (3, "c2", False))
    ]
    return [said(1, "assistant", text, calls), *results]


def beside(path: str, *lines: str) -> list[str]:
    """The lines of a patch that change another file."""
    return [f"*** Update File: {path}", "@@", *lines]


def line_4(context: Context) -> BlameResult:
    return blame(context, BlameRequest("src/text.py:4"))


def origins(result: BlameResult) -> list[tuple[str, str, str]]:
    return [(view.session, view.certainty, view.reason) for view in result.sessions if view.certainty]


OLD = "def wrap(text, width):"
SURE, WHOLE = ("s1", "sure", "wrote this line"), ("s1", "likely", "wrote the whole file, with this line")
PART = ("s1", "likely", "changed a part of this line")
LATER: list[tuple[str, Sequence[NewItem]]] = [
    ("nothing", []),
    ("a failed edit", replaced(1, OLD, WRAP, failed=True)),
    ("a failed edit beside another", at_once(edit_call(OLD, WRAP), edit_call("# one", "# two"))),
    ("an edit of another file", patched(1, "-# one", "+# two", *beside("src/other.py", f"-{OLD}", f"+{WRAP}"))),
    ("an edit that repeats the line", replaced(1, f"import re\n\n\n{WRAP}", f"import os\n\n\n{WRAP}")),
    ("a file that has the line already", written(1, FILE)),
]


@pytest.mark.parametrize("first", [replaced(1, OLD, f"  {WRAP}  "), patched(1, f"-{OLD}", f"+{WRAP}")])
@pytest.mark.parametrize(("name", "later"), LATER)
def test_a_line_is_attributed_to_the_edit_that_wrote_it(
    context: Context, first: list[NewItem], name: str, later: list[NewItem]
) -> None:
    file_session(context, [said(0, "user", "please wrap"), *first], "s1")
    if later:
        file_session(context, [said(0, "user", "please go on"), *later], "s2", day=1)
    result = line_4(context)
    assert origins(result)[0] == SURE, name
    assert (result.line_text, result.unattributed) == (WRAP, "")


def test_an_edit_before_the_line_was_removed_is_not_its_origin(context: Context) -> None:
    file_session(context, replaced(1, OLD, WRAP), "s2")
    file_session(context, replaced(1, WRAP, OLD), "s3", day=1)
    assert line_4(context).unattributed == "no recorded edit wrote it"
    file_session(context, replaced(1, OLD, WRAP), "s1", day=2)
    assert origins(line_4(context))[0] == SURE


def test_of_a_written_file_it_is_likely_that_it_wrote_the_line(context: Context) -> None:
    file_session(context, written(1, FILE), "s1")
    assert origins(line_4(context)) == [WHOLE]


def test_of_a_short_line_it_is_likely_which_edit_wrote_it(context: Context) -> None:
    file_session(context, replaced(1, "import os", "import re"), "s1")
    result = blame(context, BlameRequest("src/text.py:1"))
    assert (origins(result), result.line_text) == ([("s1", "likely", "wrote this line")], "import re")


def test_of_an_edit_within_the_line_it_is_likely_that_it_wrote_the_line(context: Context) -> None:
    call = "Edit\nfile_path: src/text.py\nold_string: width):\nnew_string: width, break_long_words=False):"
    file_session(context, [called(1, "Edit", call, "c1"), *replaced(1, "", "")[1:]], "s1")
    result = line_4(context)
    assert (origins(result), result.line_text) == ([PART], "")  # the rest of the line may be a secret


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (2, "it is empty"),
        (5, "the file has 2 lines like it"),
        (7, "it is too short to be recognised"),
        (10, "the file has only 9 lines"),
    ],
)
def test_a_line_that_its_text_does_not_identify_says_so(context: Context, line: int, reason: str) -> None:
    file_session(context, written(1, FILE), "s1")
    result = blame(context, BlameRequest(f"src/text.py:{line}"))
    assert (result.unattributed, result.line_text) == (reason, "")
    assert origins(result) == [("s1", "weak", "wrote the whole file")]


def test_a_line_that_is_there_twice_and_a_file_that_is_not_here_say_so(context: Context) -> None:
    nothing = blame(context, BlameRequest("src/text.py:9999"))
    assert nothing.advice.startswith("Nothing is recorded about line 9,999 of src/text.py (the file has only 9 lines):")
    file = context.project_root / "src" / "text.py"
    file.write_text(f"{WRAP}\n{WRAP}\n")
    file_session(context, replaced(1, OLD, WRAP), "s1")
    assert blame(context, BlameRequest("src/text.py:2")).unattributed == "the file has 2 lines like it"
    file.unlink()
    assert line_4(context).unattributed == "no such file of the current project can be read"


def test_the_text_of_a_line_that_no_session_wrote_is_not_shown(context: Context) -> None:
    file = context.project_root / "src" / "text.py"
    file.write_text(FILE.replace(WRAP, "PASSWORD = 'a secret that nobody recorded'"))
    file_session(context, written(1, FILE), "s1")
    result = line_4(context)
    assert (result.line_text, result.unattributed) == ("", "no recorded edit wrote it")


def test_a_session_whose_words_were_forgotten_wrote_nothing(context: Context) -> None:
    file_session(context, replaced(1, OLD, WRAP), "s1")
    forget(context, ForgetRequest(session="s1"))
    assert line_4(context).unattributed == "no recorded edit wrote it"


def test_an_edit_of_which_a_part_was_forgotten_wrote_nothing(context: Context) -> None:
    filler = "".join(f"# a comment about {n * 7919}, which makes the call longer than one drawer\n" for n in range(90))
    file_session(context, written(1, FILE + filler), "s1")
    (writer,) = line_4(context).sessions
    assert writer.reason == "wrote the whole file, with this line"
    forget(context, ForgetRequest(ids=(writer.drawer,)))
    assert line_4(context).unattributed == "no recorded edit wrote it"


# --- decisions ---------------------------------------------------------------------------------------------

CONVERSATION = [
    said(0, "user", "Please wrap long words. Decision: wrap breaks words only with break_long_words."),
    *replaced(1, OLD, WRAP),
    said(3, "assistant", "I decided to leave the default at False because templates depend on it."),
    said(4, "user", "We decided: src/text.py is the only place that wraps."),
    said(5, "assistant", "Understood."),
    said(6, "user", "We decided that break_long_words is not for templates."),
    said(7, "assistant", "Understood."),
    said(8, "user", "We decided: db/text.py is generated from the schema."),
]


def test_decisions_say_how_they_are_connected_with_the_file_the_closest_first(context: Context) -> None:
    file_session(context, CONVERSATION, "s1")
    links = [(view.text.split()[-1], view.links) for view in blame(context, BlameRequest("src/text.py")).decisions]
    assert links == [
        ("break_long_words.", ("names `break_long_words`", "in the same exchange as an edit")),
        ("wraps.", ("names the file",)),
        ("templates.", ("names `break_long_words`",)),
        ("it.", ("in the same exchange as an edit",)),
    ]


def test_of_a_line_the_decisions_are_those_of_its_edit_and_those_that_name_what_it_has(context: Context) -> None:
    file_session(context, CONVERSATION, "s1")
    decisions = line_4(context).decisions
    assert [view.text.split()[-1] for view in decisions] == ["break_long_words.", "templates.", "it."]


def test_decisions_with_a_weak_connection_are_few(context: Context) -> None:
    words = ["tabs", "blanks", "dots", "dashes", "commas"]
    chosen = "".join(f"We decided to keep the {word} as they are. " for word in words)
    file_session(context, [said(0, "user", f"Please wrap. {chosen}"), *replaced(1, OLD, WRAP)], "s1")
    assert len(blame(context, BlameRequest("src/text.py")).decisions) == 3


@pytest.mark.parametrize(
    ("text", "path", "label"),
    [
        ("cart.py rounds half up", "src/cart.py", "names the file"),
        ("./src/cart.py rounds", "src/cart.py", "names the file"),
        ("/srv/shop/src/Cart.py rounds", "src/cart.py", "names the file"),
        ("lib/cart.py rounds", "src/cart.py", ""),
        ("mysrc/cart.py rounds", "src/cart.py", ""),
        ("my-cart.py rounds", "src/cart.py", ""),
        ("the gateway port is 8443", "gateway.yaml", "names gateway"),
        ("gateway.json is generated", "gateway.yaml", ""),
        ("the cart is slow", "src/cart.py", ""),
    ],
)
def test_a_decision_names_a_file_by_its_name_or_its_stem(text: str, path: str, label: str) -> None:
    assert [link.label for link in name_links(text, path)] == ([label] if label else [])


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("use half_up and roundHalf, and never raise_all", "names `half_up`, `roundHalf`"),
        ("`retry` is called twice", "names `retry`"),
        ("retry() is called twice", "names `retry`"),
        ("retry it twice", ""),
    ],
)
def test_an_ordinary_word_is_an_identifier_only_if_it_is_set_off(text: str, label: str) -> None:
    identifiers = Identifiers(frozenset(["half_up", "roundHalf"]), frozenset(["retry"]))
    assert [link.label for link in identifier_links(text, identifiers)] == ([label] if label else [])
