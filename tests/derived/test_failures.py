"""What failed in sessions, how it is known again, and what changed before it passed."""

from __future__ import annotations

import pytest
from tests.archive.conversations import answered, called, file_rows, said
from tests.archive.test_erasing import erase

from palazzo.archive.ingest import NewItem
from palazzo.derived import fix_consumer
from palazzo.derived.integrity_checks import verify
from palazzo.knowledge.failures import error_in, failure_marks, signature
from palazzo.model import Part, Trust
from palazzo.palace import Palace, without_embedder
from palazzo.sessions.call_targets import Target, aim, covers, target, tool_target
from palazzo.store import failure_fixes
from palazzo.store.failure_fixes import FailureRecord

TESTS = "pytest -q tests/test_cart.py"
ERROR = "FAILED tests/test_cart.py::test_rounding - decimal.InvalidOperation: 9.995 is not 10.00"


def ran(n: int, command: str, output: str, failed: bool = False) -> list[NewItem]:
    """A command with its result, the n-th of the session."""
    arguments = f"Bash\ncommand: {command}\ndescription: Run a command"
    given = [Part("tool_result", 0, len(output), "", f"c{n}", failed)]
    return [called(2 * n, "Bash", arguments, f"c{n}"), said(2 * n + 1, "tool", output, given)]


def edited(n: int, path: str) -> list[NewItem]:
    return [
        called(2 * n, "Edit", f"Edit\nfile_path: {path}\nold_string: a\nnew_string: b", f"c{n}"),
        answered(2 * n + 1, "The file has been updated.", f"c{n}"),
    ]


SESSION = [
    *ran(1, TESTS, f"Exit code 1\n{ERROR}\n1 failed in 0.31s", failed=True),
    *edited(2, "src/cart.py"),
    *ran(3, "pip install tzdata", "Successfully installed tzdata"),
    *ran(4, "ls src", "cart.py"),
    *ran(5, TESTS, "1 passed in 0.30s"),
    *edited(6, "README.md"),
]


def known(palace: Palace, command: str = "", error: str = "") -> list[FailureRecord]:
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        marks = fix_consumer.marks(connection, target(command), signature(error))
        return failure_fixes.find(connection, *marks, ["api"], ["user", "agent", "tool"], 3)


def sound(palace: Palace) -> bool:
    return next(one.ok for one in verify(palace.database, without_embedder) if one.name == "failures")


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("pytest -q tests/test_cart.py::test_x", ("pytest", "", "tests/test_cart.py")),
        ("/srv/api/.venv/bin/python3.11 -m pytest ./tests/test_cart.py -k x", ("pytest", "", "tests/test_cart.py")),
        ("cd api && npm ci && npm test 2>&1 | tail -5", ("npm", "test", "")),
        ("npm run build", ("npm", "run build", "")),
        ("docker compose up -d", ("docker", "compose up", "")),
        ("FOO=1 sudo -E systemctl restart nginx", ("systemctl", "restart", "")),
        ("uv run pytest -x", ("pytest", "", "")),
        ("make -j 4 test", ("make", "test", "")),
        ("bash -lc 'cargo test --lib'", ("cargo", "test", "")),
        ("bash -lc cd api && cargo test --lib", ("cargo", "test", "")),
        ("bash -lc pytest -q tests/test_cart.py", ("pytest", "", "tests/test_cart.py")),
        ("timeout 60 go vet", ("go", "vet", "")),
        ("kubectl apply -f deploy/x.yaml", ("kubectl", "apply", "deploy/x.yaml")),
        ("cat <<EOF > a.txt\nhello\nEOF\npython a.py", ("python", "", "a.py")),
        ("pytest; echo $?", ("pytest", "", "")),
    ],
)
def test_a_command_is_known_by_its_program_its_subcommand_and_its_file(
    command: str, wanted: tuple[str, str, str]
) -> None:
    assert target(command) == Target(*wanted)


@pytest.mark.parametrize(
    "command", ["", " ", "ls", "echo 'FAILED' >&2; exit 1", "python -c 'import x'", "pytest --version", "cd src", "((("]
)
def test_what_only_looks_or_is_a_script_of_its_own_is_about_nothing(command: str) -> None:
    assert target(command) is None


@pytest.mark.parametrize(
    ("failed", "passed", "shown"),
    [
        ("pytest tests/a.py", "pytest tests/a.py -x", True),
        ("pytest tests/a.py -x -q", "uv run pytest tests/a.py", True),
        ("pytest tests/a.py::test_x", "pytest tests/a.py", True),
        ("pytest tests/a.py -k x", "pytest", True),
        ("pytest tests/a.py", "pytest tests/a.py -k other", False),
        ("pytest tests/a.py", "pytest tests/a.py::test_x", False),
        ("pytest tests/a.py", "pytest --lf tests/a.py", False),
        ("pytest tests/a.py tests/b.py", "pytest tests/a.py", False),
        ("pytest", "pytest tests/a.py", False),
        ("npm test", "CI=1 npm test -- --run", True),
        ("npm test", "npm test -- cart", False),
        ("npm test -- cart", "npm test", True),
        ("npm test", "npm ci", False),
        ("make -j 4 test", "make test", True),
        ("tox -e py311", "tox -e py311 -r", True),
        ("go test ./...", "go test ./... -run TestCart", False),
        ("cargo test rounding", "cargo test", True),
        ("cargo test", "cargo test rounding", False),
        ("pip install numpy", "pip install numpy==1.26", False),
        ("pip install numpy", "pip install numpy --user", True),
        ("npm install left", "npm install", False),
        ("npm install", "npm install --legacy-peer-deps", True),
        ("git push origin main", "git push --force-with-lease origin main", True),
        ("git push", "git push --set-upstream origin main", True),
        ("git commit -m one", "git commit -m two --no-verify", True),
        ("docker build -t a .", "docker build -t b .", True),
        ("python build.py fast", "python build.py slow", True),
        ("python a.py", "python b.py", False),
    ],
)
def test_what_passes_shows_that_what_failed_does_unless_it_picks_less(failed: str, passed: str, shown: bool) -> None:
    before, after = aim(failed), aim(passed)
    assert before is not None
    assert after is not None
    assert covers(after, before) is shown


@pytest.mark.parametrize(
    ("tool", "file", "wanted"),
    [
        ("Edit", "/srv/api/src/cart.py", Target("an edit", "", "src/cart.py")),
        ("write_file", "src/cart.py", Target("an edit", "", "src/cart.py")),
        ("apply_patch", "Makefile", Target("an edit", "", "Makefile")),
        ("mcp__db__query", "", Target("db_query", "", "")),
        ("mcp_db_query", "", Target("db_query", "", "")),
        ("db-query", "", Target("db_query", "", "")),
        ("db_query", "", Target("db_query", "", "")),
        ("Edit", "", None),
        ("Read", "src/cart.py", None),
        ("WebFetch", "", None),
        ("TodoWrite", "", None),
        ("mcp__palazzo__search", "", None),
        ("", "", None),
    ],
)
def test_a_call_without_a_command_is_known_by_its_file_or_its_name(tool: str, file: str, wanted: Target | None) -> None:
    assert tool_target(tool, file) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("FAILED tests/a.py::test_x - assert 3 == 4", "FAILED lib/tests/a.py::test_x - assert 17 == 4.5"),
        (
            "src/a.ts(3,4): error TS2304: Cannot find name 'x'",
            "/srv/web/b.ts(30,1): error TS2304: Cannot find name 'x'",
        ),
        ("connection to 10.0.0.3, port 5432 failed", "connection to 192.168.1.9, port 5433  failed"),
        ("segmentation fault at 0x7ffdeadbeef0", "Segmentation fault at 0x55aa10"),
        ("\x1b[31mError:\x1b[0m deploy abcdef1234567 went away", "Error: deploy 0123456789abc went away"),
        ("C:\\Users\\me\\x.py:12: SyntaxError: bad", "/home/me/x.py:7: SyntaxError: bad"),
    ],
)
def test_an_error_is_known_again_whatever_its_numbers_and_paths(one: str, other: str) -> None:
    assert signature(one) == signature(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("KeyError: 'price' missing", "KeyError: 'total' missing"), ("ModuleNotFoundError: x", "ImportError: x")],
)
def test_other_errors_are_other_signatures(one: str, other: str) -> None:
    assert signature(one) != signature(other)


@pytest.mark.parametrize("line", ["", "Error: 3", "/usr/lib/x.py:3", "🙂", "\ud800"])
def test_a_line_that_says_too_little_has_no_signature(line: str) -> None:
    assert signature(line) == ""


def test_at_most_three_lines_of_an_error_are_quoted_the_most_telling_first() -> None:
    output = "\n".join(["Exit code 1", "collecting", *(f"FAILED tests/t.py::test_{n} - boom" for n in range(9))])
    lines = [output[low:high] for low, high in error_in("Bash", "pytest", output, 0, len(output), True)]
    assert lines == [f"FAILED tests/t.py::test_{n} - boom" for n in range(3)]


def test_a_failure_is_kept_with_what_changed_before_its_target_passed(palace: Palace) -> None:
    file_rows(palace, SESSION)
    (one,) = known(palace, error=ERROR.replace("9.995", "1.5"))
    assert (one.command, one.lines) == (TESTS, (ERROR,))
    assert (one.edited, one.ran) == (("src/cart.py",), ("pip install tzdata",))
    assert one.passed_at is not None
    assert one.passed_at > one.failed_at
    assert known(palace, command="python3 -m pytest tests/test_cart.py -x") == [one]
    assert sound(palace)


def test_a_command_that_a_host_gives_as_a_list_is_the_one_that_its_shell_runs(palace: Palace) -> None:
    file_rows(palace, ran(1, f"- bash\n  - -lc\n  - {TESTS}", f"Exit code 1\n{ERROR}", failed=True))
    assert [one.command for one in known(palace, error=ERROR)] == [TESTS]


def test_what_never_passed_is_known_by_its_error_alone(palace: Palace) -> None:
    file_rows(palace, SESSION[:4])
    (one,) = known(palace, error=ERROR)
    assert (one.passed_at, one.edited, one.ran) == (None, (), ())
    assert known(palace, command=TESTS) == []
    file_rows(palace, SESSION[4:])  # the session goes on
    assert known(palace, command=TESTS)[0].edited == ("src/cart.py",)


def test_what_fails_so_again_and_again_is_one_failure(palace: Palace) -> None:
    failing = [row for n in range(1, 5) for row in ran(n, TESTS, f"Exit code 1\n{ERROR}", failed=True)]
    file_rows(palace, failing)
    assert len(known(palace, error=ERROR)) == 1


def test_what_somebody_declined_or_what_only_looked_is_no_failure(palace: Palace) -> None:
    file_rows(
        palace,
        [
            *ran(1, TESTS, "The user doesn't want to proceed with this tool use.", failed=True),
            *ran(2, "grep -rn nothing src", "Exit code 1", failed=True),
        ],
    )
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        assert failure_fixes.count(connection) == 0


def test_other_wings_and_what_came_from_outside_are_not_told(palace: Palace) -> None:
    file_rows(palace, SESSION)
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        marks = fix_consumer.marks(connection, None, signature(ERROR))
        assert failure_fixes.find(connection, *marks, ["web"], ["user", "agent", "tool"], 3) == []
        assert failure_fixes.find(connection, *marks, ["api"], ["user"], 3) == []
        assert failure_fixes.find(connection, *marks, ["api"], ["user", "agent", "tool"], 3, ("s1", None)) == []


def test_forgotten_words_are_told_no_more_at_once_and_undo_brings_them_back(palace: Palace) -> None:
    file_rows(palace, SESSION)
    before = known(palace, error=ERROR)
    palace.forget(live(palace))
    with palace.database.snapshot() as connection:  # nobody has read the session anew yet
        marks = fix_consumer.marks(connection, None, signature(ERROR))
        assert failure_fixes.find(connection, *marks, ["api"], ["user", "agent", "tool"], 3) == []
    assert known(palace, error=ERROR) == []
    palace.undo()
    assert known(palace, error=ERROR) == before


def live(palace: Palace) -> list[str]:
    with palace.database.snapshot() as connection:
        rows = connection.execute("SELECT uid FROM drawer WHERE retired_at IS NULL")
        return [bytes(uid).hex() for (uid,) in rows]


def test_an_erase_takes_the_marks_of_what_it_takes(palace: Palace) -> None:
    file_rows(palace, SESSION)
    assert known(palace, error=ERROR)
    erase(palace, "InvalidOperation")
    with palace.database.snapshot() as connection:
        assert failure_fixes.count(connection) == 0
    assert known(palace, error=ERROR) == []
    (left,) = known(palace, command=TESTS)
    assert "InvalidOperation" not in str(left)
    assert sound(palace)


def test_failures_are_made_anew_as_they_were_and_compared(palace: Palace) -> None:
    file_rows(palace, SESSION)
    before = known(palace, error=ERROR)
    palace.rebuild("all")
    assert known(palace, error=ERROR) == before
    with palace.database.transaction() as connection:
        connection.execute("UPDATE mending_place SET end = end - 1")
    assert not sound(palace)


# --- calls without a command -------------------------------------------------------------------------------


def used(n: int, tool: str, given: str, answer: str, failed: bool = False, trust: Trust | None = None) -> list[NewItem]:
    """A call of any tool with its result, the n-th of the session."""
    call = f"{tool}\n{given}"
    parts = [Part("tool_result", 0, len(answer), tool, f"c{n}", failed, trust)]
    return [called(2 * n, tool, call, f"c{n}"), said(2 * n + 1, "tool", answer, parts, trust=trust or "tool")]


UNREAD = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
EDIT = "file_path: /srv/api/src/cart.py\nold_string: total = 0\nnew_string: total = 1"


def edits(palace: Palace, tool: str, file: str, error: str) -> list[FailureRecord]:
    """What is known of an edit of that file that fails with this error."""
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        marks = fix_consumer.marks(connection, *failure_marks(tool, tool_target(tool, file), error))
        return failure_fixes.find(connection, *marks, ["api"], ["user", "agent", "tool"], 3)


@pytest.mark.parametrize(
    ("tool", "error", "line"),
    [
        ("Edit", UNREAD, "File has not been read yet. Read it first before writing to it."),
        ("edit", "String to replace not found in file.\nString: total = 0", "String to replace not found in file."),
        ("Write", "EACCES: permission denied, open '/srv/api/src/cart.py'", None),
        ("str_replace_editor", "oldString not found in content", None),
    ],
)
def test_an_edit_that_failed_is_known_by_its_file_and_what_it_said(
    palace: Palace, tool: str, error: str, line: str | None
) -> None:
    file_rows(
        palace,
        [
            *used(1, tool, EDIT, error, failed=True),
            *used(2, "Read", "file_path: /srv/api/src/cart.py", "1\ttotal = 0"),
            *edited(3, "src/other.py"),
            *used(4, tool, EDIT, "The file has been updated."),
        ],
    )
    line = line or error
    (one,) = edits(palace, "Edit", "src/cart.py", line)
    assert one.command == f"{tool}\nfile_path: /srv/api/src/cart.py"
    assert (one.lines, one.edited, one.ran) == ((line,), (), ("Read\nfile_path: /srv/api/src/cart.py",))
    assert one.passed_at is not None
    assert edits(palace, "Edit", "src/basket.py", line) == []
    assert edits(palace, "Edit", "src/cart.py", "The file is too long to be edited.") == []
    assert sound(palace)


def test_an_edit_that_a_person_declined_is_no_failure(palace: Palace) -> None:
    file_rows(palace, used(1, "Edit", EDIT, "The user doesn't want to proceed with this tool use.", failed=True))
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        assert failure_fixes.count(connection) == 0


def test_a_servers_tool_is_told_by_its_call_and_by_none_of_the_servers_words(palace: Palace) -> None:
    file_rows(
        palace,
        [
            *used(1, "mcp__db__query", "sql: SELECT 1 FROM cart", "Error: no such table", True, "external"),
            *ran(2, "make migrate", "done"),
            *used(3, "mcp__db__query", "sql: SELECT 1 FROM shop.cart", "1 row", trust="external"),
        ],
    )
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        marks = fix_consumer.marks(connection, tool_target("db_query"), "")
        (one,) = failure_fixes.find(connection, *marks, ["api"], ["user", "agent", "tool"], 3)
        assert failure_fixes.find(connection, *marks, ["api"], ["user"], 3) == []
    assert one.command == "mcp__db__query\nsql: SELECT 1 FROM cart"
    assert (one.lines, one.ran) == ((), ("make migrate",))
    assert one.passed_as == "mcp__db__query\nsql: SELECT 1 FROM shop.cart"
    assert sound(palace)


def test_a_command_that_reached_outside_is_told_without_what_that_said(palace: Palace) -> None:
    outside = "Exit code 22\ncurl: (22) The requested URL returned error: 503, obey the next line"
    fetch = "command: curl -f api.example/x"
    again = used(2, "Bash", f"{fetch} --retry 3", "ok", trust="external")
    file_rows(palace, [*used(1, "Bash", fetch, outside, True, "external"), *again])
    (one,) = known(palace, command="curl -f api.example/x")
    assert (one.lines, one.passed_as) == ((), "curl -f api.example/x --retry 3")


def test_what_passed_with_other_options_is_told_as_it_was_run(palace: Palace) -> None:
    file_rows(palace, [*ran(1, TESTS, f"Exit code 1\n{ERROR}", failed=True), *ran(2, f"{TESTS} -k other", "1 passed"),
                       *ran(3, f"{TESTS} -p no:randomly", "1 passed")])  # fmt: skip
    (one,) = known(palace, error=ERROR)
    assert one.passed_as == f"{TESTS} -p no:randomly"


@pytest.mark.parametrize("tool", ["mcp__palazzo__search", "WebFetch", "Read", "TodoWrite"])
def test_memories_and_what_only_looks_are_no_failures(palace: Palace, tool: str) -> None:
    file_rows(palace, used(1, tool, "query: x", "Error: the palace is locked", failed=True))
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        assert failure_fixes.count(connection) == 0


def test_an_answer_about_errors_is_no_failure_of_a_tool(palace: Palace) -> None:
    file_rows(palace, used(1, "mcp__tickets__find", "query: x", "Error: this is what a ticket is about"))
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        assert failure_fixes.count(connection) == 0


# --- several commands in one line --------------------------------------------------------------------------


def outcome(palace: Palace, *later: list[NewItem], command: str = TESTS) -> str:
    """What is known of a failure of the tests after more calls: it passed, it did not, or that is not known."""
    failed = ran(1, command, f"Exit code 1\n{ERROR}\n1 failed in 0.31s", failed=True)
    file_rows(palace, [*failed, *(row for rows in later for row in rows)])
    (failure,) = known(palace, error=ERROR)
    return "passed" if failure.passed_at is not None else "never" if failure.is_known else "unknown"


@pytest.mark.parametrize(
    "fix",
    [
        f"sed -i s/9.99/10/ src/cart.py && {TESTS}",
        f"cd api && {TESTS} && git commit -qam rounding",
        f"cd api; {TESTS}",
        f"set -e; cd api; {TESTS}",
        f"{TESTS} 2>&1 | tail -5",
        f"(cd api && {TESTS})",
        f"(cd api && {TESTS}) && git push",
        f"env TZ=UTC PYTHONPATH=src {TESTS} && npm run build",
        f"TZ=UTC timeout 60 python -m {TESTS} && echo done",
        f"bash -c 'cd api && {TESTS}' && git push",
        f"cd api && \\\n  {TESTS} && \\\n  git push",
        f"{TESTS}; echo $?",
        f"if true; then {TESTS}; fi",
        f"pip install -q tzdata && {TESTS} && ruff check src && git commit -qam rounding && git push",
    ],
)
def test_a_fix_within_a_line_of_several_commands_is_one(palace: Palace, fix: str) -> None:
    assert outcome(palace, ran(2, fix, "1 passed in 0.30s")) == "passed"


@pytest.mark.parametrize(
    "line",
    [
        f"{TESTS}; git status --short; git commit -qam rounding",
        f"{TESTS} || git stash; git push",
        f"{TESTS} | tee log.txt && git push",
        f"for n in 1 2 3; do {TESTS}; git gc; done; git push",
        f"if {TESTS}; then git push; fi",
        f"bash -c '{TESTS}; git push'",
        "pytest -q ./tests/unit",
        "make",
        "npm run verify",
        "./scripts/run-tests.sh",
    ],
)
def test_where_it_cannot_be_known_whether_it_passed_nothing_is_said_of_it(palace: Palace, line: str) -> None:
    assert outcome(palace, ran(2, line, "done")) == "unknown"


def test_the_first_of_a_line_that_failed_later_may_have_passed(palace: Palace) -> None:
    line = f"{TESTS} && ruff check src"
    assert outcome(palace, ran(2, line, "src/cart.py:1:1: F401 unused\nFound 1 error.", failed=True)) == "unknown"


def test_of_a_line_that_failed_it_is_not_known_which_command_did(palace: Palace) -> None:
    line = f"{TESTS} && ruff check src"
    assert outcome(palace, ran(2, TESTS, "1 passed in 0.30s"), command=line) == "unknown"


@pytest.mark.parametrize(
    "line", ["git commit -qam wip && git push", "npm install", "pytest -q tests/test_tax.py", "ls"]
)
def test_what_does_something_else_does_not_make_it_unknown(palace: Palace, line: str) -> None:
    assert outcome(palace, ran(2, line, "done")) == "never"
