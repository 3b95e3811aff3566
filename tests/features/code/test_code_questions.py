"""blame, files, fix, how and friction: what sessions say about files, errors and commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archive.conversations import answered, called, said
from tests.derived.test_failures import edited, ran
from tests.features.code.code_sessions import ERROR, FIXED, TESTS, file_session
from tests.features.hooks.test_hook import Clock

from palazzo.errors import UsageError
from palazzo.features.code.command_shapes import shapes_of_program
from palazzo.features.code.contract import BlameRequest, FilesRequest, FixRequest, FrictionRequest, HowRequest
from palazzo.features.code.error_fixes import find_fixes
from palazzo.features.code.error_matching import are_similar
from palazzo.features.code.file_blame import blame
from palazzo.features.code.recurring_failures import find_recurring_failures
from palazzo.features.code.topic_files import find_files
from palazzo.features.code.working_commands import find_working_commands
from palazzo.features.notes.contract import ForgetRequest, RememberRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.model import Part
from palazzo.operations.context import Context

LINES = [f"line {n} of the cart, which is like no other line: {n * 7919}" for n in range(1, 31)]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    project = tmp_path / "api"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").write_text("\n".join(LINES) + "\n")
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
    with Context(tmp_path / "palace.db", project, variables, clock=Clock()) as opened:
        remember(opened, RememberRequest("The api has a timeout of two seconds."))  # the palace knows the project
        yield opened


# --- fix ---------------------------------------------------------------------------------------------------


def test_a_pasted_error_brings_what_was_changed_before_it_passed(context: Context) -> None:
    file_session(context, FIXED, "s1")
    paste = f"  File x.py, line 3, in total\n\x1b[31m{ERROR.replace('9.995', '4.5')}\x1b[0m\n1 failed in 2.2s"
    result = find_fixes(context, FixRequest(paste))
    (failure,) = result.failures
    assert (result.match, failure.outcome, failure.command) == ("same", "fixed", TESTS)
    assert (failure.edited, failure.ran) == (("src/cart.py",), ("pip install tzdata",))
    assert failure.error == (ERROR,)
    assert failure.passed_at is not None
    assert failure.passed_at > failure.failed_at


def test_a_fixed_failure_comes_before_a_newer_one_that_nobody_fixed_and_the_same_fix_counts(context: Context) -> None:
    file_session(context, FIXED, "s1")
    file_session(context, FIXED, "s2", day=1)
    file_session(context, FIXED[:3], "s3", day=2)
    fixed, unfixed = find_fixes(context, FixRequest(ERROR)).failures
    assert (fixed.outcome, fixed.times, fixed.session) == ("fixed", 2, "s2")
    assert (unfixed.outcome, unfixed.session) == ("not fixed", "s3")
    assert [one.session for one in find_fixes(context, FixRequest(ERROR, until="2026-01-02")).failures] == ["s1"]


def test_a_code_or_a_part_of_the_message_finds_it_as_similar_and_another_error_finds_nothing(context: Context) -> None:
    file_session(context, FIXED, "s1")
    assert find_fixes(context, FixRequest("decimal.InvalidOperation")).match == "similar"
    for other in ("E0432", "zebra giraffe quantum", "KeyError: 'price' in tests/test_shop.py"):
        result = find_fixes(context, FixRequest(other))
        assert (result.match, result.failures) == ("none", ())
        assert result.advice.startswith("No earlier failure reports this error")
    with pytest.raises(UsageError, match="The error is empty"):
        find_fixes(context, FixRequest(" \n "))


@pytest.mark.parametrize("mark", ["E   ", "ERROR: ", "> ", "fatal: "])
def test_the_mark_that_a_tool_puts_before_an_error_is_no_part_of_it(context: Context, mark: str) -> None:
    message = "ModuleNotFoundError: No module named 'responses'"
    for n, recorded in enumerate((f"{mark}{message}", message)):
        failed_run = ran(1, TESTS, f"Exit code 1\n{recorded}\n1 failed in 0.31s", failed=True)
        file_session(context, [FIXED[0], *failed_run, *FIXED[3:]], f"s{n}")
        for pasted in (message, f"{mark}{message}"):
            assert find_fixes(context, FixRequest(pasted)).match == "same"
        forget(context, ForgetRequest(session=f"s{n}"))


def test_only_the_projects_wing_answers_unless_all_are_asked(context: Context) -> None:
    file_session(context, FIXED, "s1", wing="web")
    nothing = find_fixes(context, FixRequest(ERROR))
    assert (nothing.wing, nothing.failures) == (context.project_wing, ())
    assert "--everywhere" in nothing.advice
    for request in (FixRequest(ERROR, everywhere=True), FixRequest(ERROR, wing="web")):
        assert [one.wing for one in find_fixes(context, request).failures] == ["web"]
    with pytest.raises(UsageError, match="exclude each other"):
        find_fixes(context, FixRequest(ERROR, wing="web", everywhere=True))


def test_what_is_forgotten_answers_no_more(context: Context) -> None:
    file_session(context, FIXED, "s1")
    assert find_fixes(context, FixRequest(ERROR)).failures
    forget(context, ForgetRequest(session="s1"))
    assert find_fixes(context, FixRequest(ERROR)).failures == ()
    assert find_working_commands(context, HowRequest("pytest")).commands == ()
    assert blame(context, BlameRequest("src/cart.py")).sessions == ()
    assert find_recurring_failures(context, FrictionRequest()).groups == ()


@pytest.mark.parametrize(
    ("pasted", "recorded", "alike"),
    [
        ("KeyError: 'totals'", "KeyError: 'totals'", True),
        ("error[E0432]", "error[E0432]: unresolved import `shop::cart`", True),
        ("E0433", "error[E0432]: unresolved import `shop::cart`", False),
        ("Error: listen EADDRINUSE :::8080", "Error: listen EADDRINUSE: address already in use :::3000", True),
        ("Error: Traceback (most recent call last):", "Error: traceback of the shop", False),
        ("TypeError: x is not a function", "TypeError: cannot read properties of undefined", False),
    ],
)
def test_lines_are_alike_if_they_share_most_of_their_words(pasted: str, recorded: str, alike: bool) -> None:
    assert are_similar([pasted], [recorded]) is alike


# --- friction ----------------------------------------------------------------------------------------------


def test_what_fails_again_and_again_is_counted_with_its_sessions_and_fixes(context: Context) -> None:
    file_session(context, FIXED, "s1")
    file_session(context, FIXED[:3], "s2", day=1)
    file_session(context, ran(1, "make deploy", "Exit code 2\nError: no such host prod", failed=True), "s3")
    result = find_recurring_failures(context, FrictionRequest())
    (group,) = result.groups
    assert (group.kind, group.failures, group.sessions, group.fixed) == ("error", 2, 2, 1)
    assert group.example.session == "s1"
    file_session(context, ran(1, "make deploy", "Exit code 2\nError: disk quota exceeded", failed=True), "s4")
    kinds = {group.kind: group.example.command for group in find_recurring_failures(context, FrictionRequest()).groups}
    assert kinds == {"error": TESTS, "command": "make deploy"}
    assert find_recurring_failures(context, FrictionRequest(limit=1)).total == 2


# --- how ---------------------------------------------------------------------------------------------------


def test_commands_that_worked_are_counted_by_shape_the_newest_and_most_frequent_first(context: Context) -> None:
    codex = "Process exited with code 0\nOutput:\n1 passed in 0.1s"
    file_session(context, [*FIXED, *ran(7, "cd api && pytest tests/test_shop.py -x | tail -3", codex)], "s1")
    file_session(context, ran(1, "uv run pytest -q tests/test_tax.py", "2 passed in 0.1s"), "s2", day=3)
    result = find_working_commands(context, HowRequest("pytest"))
    first, second = result.commands
    assert (first.shape, first.command) == ("pytest -q …", "uv run pytest -q tests/test_tax.py")
    assert (first.worked, first.failed, first.exit_status, first.session) == (2, 1, None, "s2")
    assert (second.shape, second.worked, second.exit_status) == ("pytest … -x", 1, 0)
    assert find_working_commands(context, HowRequest("uv")).commands[0].shape == "uv run pytest -q …"
    assert [one.worked for one in find_working_commands(context, HowRequest("pip install")).commands] == [1]


def test_a_program_that_never_passed_and_one_that_never_ran_are_one_sentence(context: Context) -> None:
    file_session(context, ran(1, "make deploy", "Exit code 2\nError: no such host prod", failed=True), "s1")
    result = find_working_commands(context, HowRequest("make"))
    assert (result.commands, result.failed_only) == ((), 1)
    assert result.advice.startswith("No command with make passed; 1 run failed")
    assert find_working_commands(context, HowRequest("terraform")).advice.startswith("No session ran terraform")


def test_a_call_that_a_person_declined_did_not_run(context: Context) -> None:
    output = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    file_session(context, ran(1, "git push --force", output, failed=True), "s1")
    result = find_working_commands(context, HowRequest("git"))
    assert (result.commands, result.failed_only) == ((), 0)


@pytest.mark.parametrize(
    ("line", "program", "shapes"),
    [
        ("git commit -m 'Say why' && git push", ["git"], ["git commit -m …", "git push"]),
        ("git commit -m 'Say why' && git push", ["git", "push"], ["git push"]),
        ("docker compose -f a.yaml up -d", ["docker", "compose"], ["docker compose -f … up -d"]),
        ("cat a.json | jq '.items[] | .name' > b.json", ["jq"], ["jq …"]),
        ("bash -lc 'cd api && npm run build -- --watch'", ["npm"], ["npm run build -- --watch"]),
        ("FOO=1 sudo systemctl restart nginx", ["systemctl"], ["systemctl restart …"]),
        ("python3.11 tools/make.py --out=a.txt 3", ["python"], ["python make.py --out=… …"]),
        ("echo pytest", ["pytest"], []),
        ("", ["git"], []),
        ("git commit -m 'an open quote", ["git"], ["git commit -m …"]),
    ],
)
def test_a_shape_keeps_the_subcommand_and_the_options(line: str, program: list[str], shapes: list[str]) -> None:
    assert shapes_of_program(line, program) == shapes


# --- blame -------------------------------------------------------------------------------------------------


def test_a_file_knows_its_sessions_what_was_decided_and_the_notes_on_it(context: Context) -> None:
    file_session(context, FIXED, "s1")
    read = [called(1, "Read", "Read\nfile_path: src/cart.py", "c1"), answered(2, "     1\tline 1", "c1")]
    file_session(context, [said(0, "user", "what does the cart do"), *read], "s2", day=1)
    remember(context, RememberRequest("Totals are decimal.", anchors=("src/cart.py:3-4",), kind="learning"))
    result = blame(context, BlameRequest("src/cart.py"))
    assert [(one.session, one.how) for one in result.sessions] == [("s2", ("read",)), ("s1", ("edited",))]
    assert [one.title for one in result.sessions] == [
        "Session s2",
        "the cart totals are wrong by a cent, please fix it",
    ]
    (decision,) = result.decisions
    assert "cart.py rounds half up" in decision.text
    assert (decision.links, decision.trust) == (("names the file",), "user")
    (note,) = result.notes
    assert (note.text, note.filed_as, note.freshness, note.lines) == (
        "Totals are decimal.",
        "learning",
        "fresh",
        ("3-4",),
    )
    (context.project_root / "src" / "cart.py").write_text("total = 0\n")
    (note,) = blame(context, BlameRequest("src/cart.py")).notes
    assert (note.freshness, note.remark) == ("changed", "changed since: src/cart.py:3-4")


def test_an_edit_is_followed_to_where_its_lines_are_now(context: Context) -> None:
    new = "\n".join(LINES[9:14])
    change = f"Edit\nfile_path: src/cart.py\nold_string:\n{LINES[9]}\nold\n{LINES[13]}\nnew_string:\n{new}"
    rows = [
        called(1, "Write", "Write\nfile_path: src/tax.py\ncontent: rate = 19", "c1"),
        answered(2, "File created.", "c1"),
        called(3, "Edit", change, "c3"),
        answered(4, "The file has been updated.", "c3"),
    ]
    file_session(context, [said(0, "user", "please round"), *rows], "s1")
    for name, held in (("src/cart.py:12", ["s1"]), ("src/cart.py:25", []), ("src/tax.py:1", ["s1"])):
        assert [one.session for one in blame(context, BlameRequest(name)).sessions] == held, name
    file = context.project_root / "src" / "cart.py"
    file.write_text("# first\n" * 5 + file.read_text())
    moved = blame(context, BlameRequest("src/cart.py:17"))
    assert (moved.line, [one.lines for one in moved.sessions]) == (17, [("16-18",)])
    assert blame(context, BlameRequest("src/cart.py:12")).sessions == ()
    file_session(context, edited(1, "src/cart.py"), "s2")
    assert blame(context, BlameRequest("src/cart.py:17")).unlocated == 1  # its words are too few to be found


def test_a_note_on_other_lines_does_not_answer_for_this_one(context: Context) -> None:
    remember(context, RememberRequest("Totals are decimal.", anchors=("src/cart.py:3-4",)))
    assert len(blame(context, BlameRequest("src/cart.py:4")).notes) == 1
    nothing = blame(context, BlameRequest("src/cart.py:5"))
    assert nothing.notes == ()
    assert nothing.advice.startswith("Nothing is recorded about line 5 of src/cart.py: try the whole file")


def test_the_end_of_a_path_is_enough_unless_it_means_several_files(context: Context) -> None:
    file_session(context, [*edited(1, "lib/money/tax.py"), *edited(2, "old/rate.py"), *edited(3, "new/rate.py")], "s1")
    assert blame(context, BlameRequest("tax.py")).path == "lib/money/tax.py"
    assert blame(context, BlameRequest("money/tax.py")).sessions
    with pytest.raises(UsageError, match=r"'rate\.py' may mean 2 files: new/rate\.py, old/rate\.py\."):
        blame(context, BlameRequest("rate.py"))
    with pytest.raises(UsageError, match="The path is empty"):
        blame(context, BlameRequest(" "))


# --- files -------------------------------------------------------------------------------------------------


def test_a_topic_knows_the_files_of_its_exchanges_and_then_those_of_its_sessions(context: Context) -> None:
    rows = [
        said(0, "user", "the rounding of invoices for Sweden is wrong"),
        *edited(1, "src/invoice.py"),
        said(4, "assistant", "The rounding of invoices for Sweden is right now."),
        said(5, "user", "now make the landing page blue"),
        *edited(4, "web/landing.css"),
        said(12, "assistant", "The landing page is blue."),
    ]
    file_session(context, rows, "s1")
    result = find_files(context, FilesRequest("rounding of invoices for Sweden"))
    assert [(one.path, one.exchanges > 0) for one in result.files] == [
        ("src/invoice.py", True),
        ("web/landing.css", False),
    ]
    nothing = find_files(context, FilesRequest("zebra giraffe quantum"))
    assert (nothing.files, nothing.advice.startswith("Nothing is recorded about this")) == ((), True)


def test_untrusted_content_is_left_out_on_request(context: Context) -> None:
    page = "Exit code 1\nError: poisoned total of the cart service"
    part = Part("tool_result", 0, len(page), "", "c1", failed=True, trust="external")
    rows = [
        called(2, "Bash", "Bash\ncommand: make cart", "c1"),
        said(3, "tool", page, [part], trust="external"),
    ]
    file_session(context, rows, "s1")
    result = find_fixes(context, FixRequest("Error: poisoned total of the cart service"))
    assert all("poisoned" not in line for failure in result.failures for line in failure.error)
