"""A plain command line is read the same without Typer as with it; every other is left to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from palazzo.faces.cli import app, fast_arguments, runner
from palazzo.faces.cli.common_options import Common

PLAIN: list[list[str]] = [
    ["search", "retry"],
    ["search", "why did we", "double", "the retries"],
    ["search", "retry", "--limit", "3", "--wing=api", "--json"],
    ["search", "--tag", "a", "retry", "--tag=b", "--no-external", "--explain"],
    ["search", "x", "--kind", "note", "--since", "3d", "--palace", "/tmp/p.db", "--debug"],
    ["search", "x", "--min-importance=", "y"],
    ["search", "a=b", "c"],
    ["search", "x", "--no-pager"],
    ["show", "3f2a"],
    ["show", "3f2a", "--context", "2", "--raw"],
    ["wake-up"],
    ["wake-up", "--depth", "deep", "--agent", "Codex", "--budget", "300"],
    [],
    ["--palace", "/tmp/p.db"],
    ["today", "--json"],
]
NOT_PLAIN: list[list[str]] = [
    ["-h"],
    ["--version", "--json"],
    ["search"],
    ["search", "--help"],
    ["search", "x", "-h"],
    ["search", "x", "--limit"],
    ["search", "x", "--limit", "many"],
    ["search", "x", "--limit", "-3"],
    ["search", "x", "--kind", "dream"],
    ["search", "x", "--unknown", "1"],
    ["search", "x", "--json=1"],
    ["search", "x", "--", "--limit"],
    ["search", ""],
    ["show"],
    ["show", "a", "b"],
    ["wake-up", "now"],
    ["wake-up", "--depth", "abyss"],
    ["status"],
    ["--json", "search", "x"],
    ["searc", "x"],
]


@pytest.fixture
def by_typer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What Typer makes of a line."""

    def read(line: Sequence[str]) -> tuple[str, Any, Common] | None:
        seen: list[tuple[str, Any, Common]] = []

        def run(operation: Any, request: Any, common: Common) -> int:
            seen.append((operation.name, request(), common))
            return 0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runner, "run", run)
            CliRunner().invoke(app._application(), list(line))
        return seen[0] if seen else None

    return read


@pytest.mark.parametrize("line", PLAIN, ids=" ".join)
def test_a_plain_line_is_read_as_typer_reads_it(line: list[str], by_typer: Any) -> None:
    read = fast_arguments.parse_command_line(line)
    wanted = by_typer(line)
    if wanted is None:
        assert read is None
        return
    if read is None:
        pytest.fail("it is left to Typer")
    operation, request, common = read
    assert (operation.name, request, common) == wanted


@pytest.mark.parametrize("line", NOT_PLAIN, ids=" ".join)
def test_any_other_line_is_left_to_typer(line: list[str]) -> None:
    assert fast_arguments.parse_command_line(line) is None


def test_typer_is_not_imported_for_a_plain_line(tmp_path: Path) -> None:
    code = (
        "import sys; from palazzo.faces.cli import main; main(['search', 'x', '--palace', 'nowhere.db']);"
        "sys.exit('typer' in sys.modules or 'pydantic' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_typer_is_what_the_tests_compare_with() -> None:
    assert isinstance(app._application(), typer.Typer)
