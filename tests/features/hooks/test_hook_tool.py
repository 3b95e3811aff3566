"""Around a tool's call: what is noted about a file that is opened, and what mended a command that fails again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.archive import conversations
from tests.archive.test_erasing import erase
from tests.derived.test_failures import ERROR, SESSION, TESTS, edited, ran, used
from tests.features.hooks.test_hook import START, Clock, injections

from palazzo.archive.ingest import NewItem
from palazzo.features.hooks.contract import HookRequest, HookResult, ToolCall
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.tasks.contract import RemindRequest
from palazzo.features.tasks.remind import remind
from palazzo.model import ItemId, Place, Source
from palazzo.operations.context import Context
from palazzo.store import place_rows

FIXTURES = Path(__file__).parents[2] / "fixtures"
CLAUDE = FIXTURES / "claude-code"
TURNS = CLAUDE / "e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl"
TOOLS = CLAUDE / "2.1.330" / "fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl"
PAYLOADS = FIXTURES / "hooks" / "claude-code"
FAILURE = HookRequest(
    "claude-code",
    "tool-failure",
    "s-9",
    tool=ToolCall("Bash", "command", {"command": TESTS}, error=f"Exit code 1\n{ERROR.replace('9.995', '4.5')}"),
)
PASSED = replace(FAILURE, event="post-tool", tool=ToolCall("Bash", "command", {"command": TESTS}, output="1 passed"))
RULE = "Cart totals are rounded half up, as the tax office wants it."
Ask = Callable[[HookRequest], HookResult]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    project = tmp_path / "api"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").write_text("total = 0\n" * 9)
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC", "PALAZZO_MIN_MESSAGES": "1"}
    with Context(tmp_path / "palace.db", project, variables, clock=clock) as opened:
        remember(opened, RememberRequest("The api has a timeout of two seconds."))  # the palace knows the project
        yield opened


@pytest.fixture
def ask(context: Context) -> Ask:
    return lambda request: hook(context, request)


def learned(context: Context, rows: list[NewItem] = SESSION, session: str = "s1", wing: str = "") -> None:
    """File a session as its transcript would bring it, and read what failed in it."""
    source = Source(("session", session), "claude-code", f"file:///{session}.jsonl", session, "A session")
    place = Place(wing or context.project_wing, "sessions")
    conversations.file_rows(context.writing(), rows, source=source, place=place)
    context.writing().follow_failures()


def read_file(event: str = "post-tool", path: str = "src/cart.py") -> HookRequest:
    return replace(FAILURE, event=event, tool=ToolCall("Read", "read", {"file_path": path}, output="total = 0"))  # type: ignore[arg-type]


# --- failures ----------------------------------------------------------------------------------------------


def test_an_error_that_comes_back_brings_what_mended_it(context: Context, ask: Ask) -> None:
    learned(context)
    answer = ask(FAILURE)
    assert answer.reason == "it failed before"
    assert answer.inject.startswith("<palazzo-memory>\n")
    for words in ("2026-01-01", TESTS, ERROR, "edited src/cart.py", "ran `pip install tzdata`", "minutes later"):
        assert words in answer.inject
    assert "README.md" not in answer.inject
    (kept,) = injections(context, "s-9")
    assert (kept.text, len(kept.parts)) == (answer.inject, 1)


def test_the_command_that_fails_again_brings_it_whatever_it_says(context: Context, ask: Ask) -> None:
    learned(context)
    tool = ToolCall("Bash", "command", {"command": f"cd api && python -m {TESTS}"}, error="Error: no such fixture 'db'")
    assert "edited src/cart.py" in ask(replace(FAILURE, tool=tool)).inject


def test_a_command_that_says_it_failed_is_a_failure_whatever_its_exit_code(context: Context, ask: Ask) -> None:
    learned(context)
    tool = ToolCall("Bash", "command", {"command": f"{TESTS} | tail -3"}, output=ERROR)
    assert "edited src/cart.py" in ask(replace(FAILURE, event="post-tool", tool=tool)).inject


def test_an_edited_file_is_named_from_the_root_of_its_project(context: Context, ask: Ask) -> None:
    """Also where the project lay then. What lies elsewhere stays as it was named, and so does what was quoted."""
    with context.writing().database.transaction() as connection:
        place_rows.file_project(connection, context.project.identity, context.project_wing, "/srv/api")
    for n, (file, shown) in enumerate(
        [
            (str(context.project_root / "src" / "cart.py"), "src/cart.py"),
            ("/srv/api/lib/cart.py", "lib/cart.py"),
            ("/etc/api.conf", "/etc/api.conf"),
            (f"{context.project_root}-old/cart.py", f"{context.project_root}-old/cart.py"),
        ]
    ):
        error = f"Exit code 1\nKeyError: 'cart-{'wxyz'[n] * 9}' in /srv/api/lib/cart.py"
        rows = [*ran(1, TESTS, error, failed=True), *edited(2, file), *ran(3, TESTS, "1 passed in 0.30s")]
        rows = [replace(row, id=ItemId(f"{100 * n + m:032x}")) for m, row in enumerate(rows)]
        learned(context, rows, session=f"s{n}")
        told = ask(
            replace(FAILURE, session=f"s-{n}", tool=ToolCall("Bash", "command", {"command": "make"}, error=error))
        )
        assert f"edited {shown}." in told.inject
        assert "in /srv/api/lib/cart.py" in told.inject


def test_what_was_mended_in_the_same_way_twice_is_told_once(context: Context, ask: Ask) -> None:
    learned(context)
    again = [replace(row, id=ItemId(f"{n:032x}")) for n, row in enumerate(SESSION)]
    learned(context, again, session="s2")
    assert ask(FAILURE).inject.count("edited src/cart.py") == 1


def test_it_is_told_once_in_an_epoch(context: Context, ask: Ask) -> None:
    learned(context)
    ask(replace(START, session="s-9"))
    assert ask(FAILURE).inject
    assert ask(FAILURE).inject == ""
    ask(replace(START, session="s-9", beginning="compact"))
    assert ask(FAILURE).inject


def test_what_another_project_learned_is_not_told(context: Context, ask: Ask) -> None:
    learned(context, wing="web")
    assert ask(FAILURE).inject == ""


def test_what_fails_again_and_again_is_not_answered_each_time(context: Context, ask: Ask, clock: Clock) -> None:
    for _ in range(3):
        ask(FAILURE)
    learned(context)
    assert ask(FAILURE).inject == ""
    clock.go_on()
    assert ask(FAILURE).inject


def test_what_passes_in_between_has_not_failed_again_and_again(context: Context, ask: Ask) -> None:
    for _ in range(3):
        ask(FAILURE)
    assert ask(PASSED).inject == ""
    learned(context)
    assert ask(FAILURE).inject


def test_the_session_s_own_failures_are_not_handed_back_to_it(context: Context, ask: Ask) -> None:
    learned(context, session="s-9")
    assert ask(FAILURE).inject == ""
    assert ask(replace(FAILURE, session="s-10")).inject


def test_what_looks_like_our_fence_in_an_error_is_escaped(context: Context, ask: Ask) -> None:
    line = "FAILED in </palazzo-memory> of the renderer"
    learned(context, [*ran(1, TESTS, line, failed=True)])
    tool = replace(FAILURE.tool or ToolCall("Bash"), error=line)
    assert ask(replace(FAILURE, tool=tool)).inject.count("</palazzo-memory>") == 1


def test_an_erase_takes_the_text_that_quotes_what_it_takes(context: Context, ask: Ask) -> None:
    learned(context)
    ask(FAILURE)
    erase(context.writing(), "tzdata")
    assert injections(context, "s-9")[0].text is None


@pytest.mark.parametrize(
    "tool",
    [
        None,
        ToolCall("Bash", "command"),
        ToolCall("Bash", "command", {"command": ""}, error=""),
        ToolCall("Bash", "command", {"command": 7}, error="Error: \ud800"),
        ToolCall("Bash", "command", {"command": "(((' \0"}, error="\0" * 9),
        ToolCall("Bash", "command", {"command": TESTS}, error="The user doesn't want to proceed with this tool use."),
        ToolCall("Edit", "edit", {"file_path": "x"}, error="String to replace not found in file."),
        ToolCall("Read", "read", {"file_path": "\0"}),
        ToolCall("Read", "read", {"file_path": 3}),
        ToolCall("Read", "read", {"file_path": "/nowhere/../..//x\n"}),
    ],
)
@pytest.mark.parametrize("event", ["tool-failure", "post-tool"])
def test_of_what_is_no_failure_and_no_file_nothing_is_said(
    context: Context, ask: Ask, tool: ToolCall | None, event: str
) -> None:
    learned(context)
    assert ask(replace(FAILURE, event=event, tool=tool)).inject == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(("line", "never"), [(f"{TESTS}; git push", False), ("git push", True)])
def test_that_it_never_passed_is_said_only_where_that_is_known(
    context: Context, ask: Ask, line: str, never: bool
) -> None:
    learned(context, [*SESSION[:2], *ran(2, line, "done")])
    text = ask(FAILURE).inject
    assert ERROR in text
    assert ("did not pass later" in text) is never


def test_errors_of_real_sessions_come_back(context: Context, ask: Ask, tmp_path: Path) -> None:
    """Two sessions of Claude Code, captured by its own hook, and the payload that its hook of a failure gets."""
    history = tmp_path / ".claude" / "projects" / "-home-dev-acme"
    history.mkdir(parents=True)
    for transcript in (TURNS, TOOLS):
        held_at = re.search(r'"cwd":\s*"([^"]+)"', transcript.read_text("utf-8"))
        assert held_at is not None
        path = history / transcript.name
        path.write_text(transcript.read_text("utf-8").replace(held_at[1], str(context.cwd)), "utf-8")
        ask(HookRequest("claude-code", "stop", transcript.stem, str(context.cwd), str(path)))
    context.writing().follow_failures()
    payload = json.loads((PAYLOADS / "PostToolUseFailure.Bash.json").read_text("utf-8"))
    told = ToolCall("Bash", "command", payload["tool_input"], error=payload["error"])
    answer = ask(replace(FAILURE, tool=told))
    assert "E   AssertionError: expected 200 got 503" in answer.inject
    assert "did not pass later" in answer.inject
    error = 'Exit code 1\nFAILED tests/test_cart.py::test_discount_rounding - assert Decimal("1.5") == Decimal("2")'
    told = ToolCall("Bash", "command", {"command": "pytest"}, error=error)
    assert "FAILED tests/test_cart.py::test_discount_rounding" in ask(replace(FAILURE, tool=told)).inject


# --- files -------------------------------------------------------------------------------------------------


def test_a_file_that_is_read_brings_the_notes_that_are_anchored_to_it(context: Context, ask: Ask) -> None:
    remember(context, RememberRequest(RULE, anchors=("src/cart.py:3-9",)))
    remember(context, RememberRequest("Something else altogether.", anchors=("src",)))
    answer = ask(read_file())
    assert RULE in answer.inject
    assert "Something else" not in answer.inject
    assert answer.reason == "a file is opened"
    assert ask(read_file(path=str(context.cwd / "src" / "cart.py"))).inject == ""  # it was told
    assert ask(replace(read_file(path=str(context.cwd / "src" / "cart.py")), session="s-10")).inject


def test_a_file_that_is_read_brings_the_reminders_that_wait_for_it(context: Context, ask: Ask) -> None:
    remind(context, RemindRequest("Split the cart's file in two.", file="src/cart.py"))
    remind(context, RemindRequest("Something for another file.", file="src/other.py"))
    answer = ask(read_file())
    assert "Split the cart's file in two." in answer.inject
    assert "another file" not in answer.inject


def test_another_project_s_file_of_the_same_name_brings_nothing(context: Context, ask: Ask) -> None:
    remember(context, RememberRequest(RULE, anchors=("src/cart.py",), wing="web"))
    assert ask(read_file()).inject == ""


def test_a_forgotten_note_is_not_told(context: Context, ask: Ask) -> None:
    (drawer,) = remember(context, RememberRequest(RULE, anchors=("src/cart.py",))).drawers
    context.writing().forget([str(drawer)])
    assert ask(read_file()).inject == ""


def test_before_a_call_nothing_is_said_unless_it_is_asked_for(context: Context, ask: Ask, tmp_path: Path) -> None:
    remember(context, RememberRequest(RULE, anchors=("src/cart.py",)))
    assert (ask(read_file("pre-tool")).inject, ask(read_file("pre-tool")).reason) == ("", "off")
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "PALAZZO_EVENTS_PRE_TOOL": "on"}
    with Context(context.palace_path, context.cwd, variables) as other:
        assert RULE in hook(other, read_file("pre-tool")).inject


# --- calls that are no commands ----------------------------------------------------------------------------

UNREAD = "File has not been read yet. Read it first before writing to it."
EDITED = {"file_path": "/srv/api/src/cart.py", "old_string": "a", "new_string": "b"}


@pytest.mark.parametrize(
    ("tool", "rows"),
    [
        (
            ToolCall("Edit", "edit", EDITED, error=f"<tool_use_error>{UNREAD}</tool_use_error>"),
            [
                *used(1, "Edit", "file_path: src/cart.py\nold_string: a", UNREAD, failed=True),
                *used(2, "Read", "file_path: src/cart.py", "1\ta"),
                *used(3, "Edit", "file_path: src/cart.py\nold_string: a", "The file has been updated."),
            ],
        ),
        (
            ToolCall("mcp_db_query", "other", {"sql": "SELECT 2"}, error="MCP error: relation missing"),
            [
                *used(
                    1, "mcp__db__query", "sql: SELECT 1 FROM cart", "MCP error: relation is missing", True, "external"
                ),
                *used(3, "mcp__db__query", "sql: SELECT 1 FROM shop.cart", "1 row", trust="external"),
            ],
        ),
    ],
)
def test_a_call_that_fails_again_brings_what_mended_it_and_no_word_from_outside(
    context: Context, ask: Ask, tool: ToolCall, rows: list[NewItem]
) -> None:
    learned(context, rows)
    told = ask(replace(FAILURE, tool=tool)).inject
    wanted = ("`Edit file_path: src/cart.py` failed:", f"> {UNREAD}", "ran `Read file_path: src/cart.py`")
    if tool.name != "Edit":
        wanted = (
            "`mcp__db__query sql: SELECT 1 FROM cart` failed",
            "as `mcp__db__query sql: SELECT 1 FROM shop.cart`",
            "",
        )
        assert "relation" not in told
    for words in ("2026-01-01", *wanted):
        assert words in told


@pytest.mark.parametrize(
    "tool", [ToolCall("Edit", "edit", EDITED, output="updated"), ToolCall("mcp_x_y", output="Error: 3 hits")]
)
def test_after_a_call_that_did_not_fail_nothing_is_said(context: Context, ask: Ask, tool: ToolCall) -> None:
    learned(context)
    assert ask(replace(FAILURE, event="post-tool", tool=tool)).inject == ""
