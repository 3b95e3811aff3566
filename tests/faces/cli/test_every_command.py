"""Every command of the reference, run with --json, on a terminal, piped, and with a wrong argument.

A command that is not in `ARGUMENTS` is run with a made-up word for each required argument, so a new command is tested
from its first day on.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from tests.faces.cli.command import Command, Ran

from palazzo.faces.cli import command_table, main
from palazzo.operations import registry
from palazzo.operations.operation import describe_fields

RUNS_LONG = ("watch", "bench", "selftest", "mcp", "service start")
"""Commands that run until interrupted, for minutes, or on their own: only their wrong arguments are tried."""
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "mine": ("docs",),
    "feed": ("--dry-run",),
    "search": ("port",),
    "show": ("ID",),
    "remember": ("Another note.",),
    "update-drawer": ("ID", "A better note."),
    "event wait": ("--timeout-ms", "1"),
    "forget": ("ID", "--dry-run"),
    "erase": ("ID", "--dry-run"),
    "check-duplicate": ("The grey cat sleeps on the router.",),
    "restore": ("latest", "--dry-run"),
    "doctor": ("--no-canaries",),
    "export": ("out.jsonl",),
    "kg add": ("api", "listens on", "8443"),
    "kg query": ("api",),
    "tag": ("list",),
    "diary write": ("codex", "Moved the retries."),
    "diary read": ("codex",),
    "todo add": ("Renew the certificate",),
    "remind": ("Call the host", "--at", "tomorrow"),
    "reminders": ("all",),
    "checkpoint": ('{"items": [{"content": "From a checkpoint."}]}',),
    "wing rename": ("shop", "store"),
    "room rename": ("shop/docs", "pages"),
    "tunnel add": ("shop/docs", "shop/notes"),
    "tunnel follow": ("shop/docs",),
    "traverse": ("shop/docs",),
    "token add": ("laptop",),
    "pause": ("1h",),
    "instructions": ("search",),
    "install": ("codex", "--project", "--dry-run"),
    "uninstall": ("codex", "--dry-run"),
    "settings": ("get", "redact"),
    "completion": ("bash",),
    "help": ("search",),
}
NOT_HERE = {"restore": 2, "doctor": 1}
"""Exit codes of commands that have nothing to work on here."""
COMMANDS = [
    " ".join(words)
    for words in [
        *map(registry.split_command_name, registry.FEATURES),
        *(tuple(name.split()) for name in command_table.LOCAL_COMMANDS),
    ]
]


@pytest.fixture(scope="module")
def shop_palace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A palace with a note, made once; and the note's id."""
    palace = tmp_path_factory.mktemp("shop") / "palace.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(palace.parent))
        patch.setenv("PALAZZO_SERVICE", "off")
        patch.chdir(palace.parent)
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        patch.setattr(sys, "stdout", output)
        arguments = ["remember", "The deploy service listens on port 8443.", "--wing", "shop", "--room", "docs"]
        assert main([*arguments, "--palace", str(palace), "--json"]) == 0
        arguments = ["remember", "The grey cat sleeps on the router.", "--wing", "shop", "--room", "notes"]
        assert main([*arguments, "--palace", str(palace)]) == 0
    output.flush()
    note = json.JSONDecoder().raw_decode(output.buffer.getvalue().decode())[0]
    return palace, note["id"]


@pytest.fixture
def note_id(home: Path, shop_palace: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of that palace in this test's home, and no input; returns the id of the note in it."""
    source, note = shop_palace
    place = home / ".local" / "share" / "palazzo"
    place.mkdir(parents=True)
    for file in source.parent.glob("palace.db*"):
        shutil.copy(file, place / file.name)
    (home / "shop" / "docs" / "a.md").write_text("# A\n\nThe port is 8443.\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    monkeypatch.setenv("PALAZZO_PAGER", "cat")
    monkeypatch.setenv("COLUMNS", "80")
    return note


def words_of(command: str, note_id: str) -> list[str]:
    """The command with arguments that it accepts."""
    words = command.split()
    if command in ARGUMENTS:
        return [*words, *(note_id if argument == "ID" else argument for argument in ARGUMENTS[command])]
    loaded = command_table.load_command(words)
    assert loaded is not None
    required = [field for field in describe_fields(loaded.request) if field.about.positional and field.is_required]
    return [*words, *(made_up(field.type) for field in required)]


def made_up(kind: Any) -> str:
    return str(get_args(kind)[0]) if get_origin(kind) is Literal else "nothing"


def check_json(ran: Ran) -> None:
    """A result is one document on standard output; an error is one on the last line of standard error."""
    assert ran.code in (0, 1, 2), ran.error
    assert "Traceback" not in ran.error
    if ran.out:
        json.loads(ran.out)
        assert ran.code != 2
        return
    error = json.loads(ran.error.splitlines()[-1])["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["message"].endswith((".", "?", "!"))
    assert error["hint"] is None or error["hint"]
    assert ran.code in (1, 2)


def check_text(ran: Ran) -> None:
    assert ran.code in (0, 1, 2), ran.error
    assert "Traceback" not in ran.error + ran.out
    assert ran.out or ran.error
    if ran.code == 2:
        assert ran.error.startswith("palazzo: ")
        assert ran.error.count("\n") == 1


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in RUNS_LONG])
def test_a_command_answers_as_json_on_a_terminal_and_in_a_pipe(
    palazzo: Command, note_id: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = words_of(command, note_id)
    as_json = palazzo(*words, "--json")
    check_json(as_json)
    if command in ARGUMENTS:
        assert as_json.code == NOT_HERE.get(command, 0), as_json.error + as_json.out
    if command == "statusline":  # it writes past Python's standard output, in time
        return
    check_text(palazzo(*words))  # captured, which is no terminal
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    check_text(palazzo(*words))


@pytest.mark.parametrize("command", [*COMMANDS, *registry.GROUPS])
def test_a_wrong_argument_is_told_in_a_sentence_or_as_json(palazzo: Command, note_id: str, command: str) -> None:
    words = [*command.split(), "--no-such-option"]
    ran = palazzo(*words)
    if command == "statusline":  # it never fails, whatever a host gives it
        assert ran.code == 0
        return
    check_text(ran)
    assert (ran.code, ran.out) == (2, "")
    as_json = palazzo(*words, "--json")
    check_json(as_json)
    assert (as_json.code, as_json.out) == (2, "")
    error = json.loads(as_json.error)["error"]
    assert error["kind"] == "usage"
    assert error["hint"] == f"See 'palazzo help {command}'."


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        (("fly", "--json"), "usage", 2),
        (("search", "--json"), "usage", 2),
        (("search", "port", "--kind", "song", "--json"), "usage", 2),
        (("search", "port", "--wing", "nowhere", "--json"), "no_such_place", 2),
        (("show", "0123456789abcdef", "--json"), "not_found", 2),
        (("search", "port", "--palace", "none.db", "--json"), "palace_missing", 1),
        (("forget", "ID", "--json"), "usage", 2),
        (("help", "fly", "--json"), "not_found", 2),
        (("mcp", "--print-config", "fly", "--json"), "usage", 2),
        (("--json", "show", "zzzz"), "not_found", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_error_has_a_kind(palazzo: Command, note_id: str, arguments: Sequence[str], kind: str, code: int) -> None:
    ran = palazzo(*(note_id if argument == "ID" else argument for argument in arguments))
    check_json(ran)
    assert (ran.code, ran.out, json.loads(ran.error)["error"]["kind"]) == (code, "", kind)


def test_a_problem_in_a_settings_file_is_a_warning_beside_the_document(
    palazzo: Command, home: Path, note_id: str
) -> None:
    (home / ".config" / "palazzo").mkdir(parents=True)
    (home / ".config" / "palazzo" / "config.toml").write_text("save_interval = 'often'\n")
    ran = palazzo("status", "--json")
    json.loads(ran.out)
    assert "save_interval" in json.loads(ran.error)["warning"]["message"]
