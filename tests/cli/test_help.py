"""Help and version, and that starting is cheap: what a command does not need is not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import Command, environment

from palazzo import __version__
from palazzo.operations import registry
from palazzo.operations.operation import request_fields


def test_the_version_is_printed(palazzo: Command) -> None:
    assert palazzo("--version").out == f"palazzo {__version__}\n"
    assert palazzo("-V").out == palazzo("--palace", "x", "--version").out


def test_help_names_every_command(palazzo: Command) -> None:
    ran = palazzo("--help")
    assert ran.code == 0
    for name in registry.MODULES:
        assert registry.split_command_name(name)[0] in ran.out


@pytest.mark.parametrize("name", registry.MODULES)
def test_every_command_shows_its_help_and_every_option(
    palazzo: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ran = palazzo(*registry.split_command_name(name), "--help")
    assert ran.code == 0
    for field in request_fields(registry.operation(name).request):
        named = f"--{field.name.replace('_', '-')}"
        shown = field.about.option or (field.name.upper() if field.about.positional else named)
        assert (shown in ran.out) is not field.about.hidden
    for shared in ("--palace", "--json", "--debug"):
        assert shared in ran.out


@pytest.mark.parametrize(
    ("typed", "meant"), [(["serch"], "search"), (["kg", "ad"], "add"), (["diary", "raed"], "read")]
)
def test_a_command_that_is_mistyped_is_answered_with_what_is_near(
    palazzo: Command, typed: list[str], meant: str
) -> None:
    ran = palazzo(*typed)
    assert (ran.code, f"Did you mean '{meant}'" in ran.error) == (2, True)


def test_help_breaks_lines_by_the_screen_alone(palazzo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = palazzo("install", "--help").out
    assert "{TARGET} [DIR]" in shown
    assert "MCP server, and a few lines in CLAUDE.md \n or AGENTS.md. Existing content stays, in its order;" in shown
    assert "--dry-run <bool>" not in " ".join(shown.split())


def imported(home: Path, *arguments: str) -> set[str]:
    """The modules that a command imports."""
    program = (
        "import sys; from palazzo.faces.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, env=environment({}), cwd=home, check=True
    )
    return set(done.stderr.decode().split())


def test_the_version_needs_neither_typer_nor_the_engine(home: Path) -> None:
    found = imported(home, "--version")
    assert not {"typer", "rich", "apsw", "numpy", "palazzo.palace", "palazzo.operations"} & found


def test_settings_need_no_palace_and_no_model(home: Path) -> None:
    assert not {"apsw", "numpy", "onnxruntime"} & imported(home, "settings", "get", "redact", "--json")


def test_json_needs_no_rich(home: Path, shop: Path) -> None:
    assert not {"rich.table", "onnxruntime"} & imported(home, "status", "--json")


def test_a_search_without_vectors_loads_no_model(home: Path, shop: Path) -> None:
    assert "onnxruntime" not in imported(home, "search", "port", "--json")


def test_what_does_not_search_needs_no_numpy(home: Path, shop: Path) -> None:
    for arguments in (["status"], ["wake-up"], ["remember", "a note"], ["show", "abcdef"]):
        assert "numpy" not in imported(home, *arguments, "--json")
