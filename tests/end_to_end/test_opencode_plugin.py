"""opencode's plugin by itself: its types, strictly, and its own tests, with programs that crash and hang."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.end_to_end import programs
from tests.test_script import ROOT

pytestmark = pytest.mark.slow

PLUGIN = ROOT / "integrations" / "opencode"
PATIENCE = 240


def run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]


def test_it_is_well_typed(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(programs.typescript(), target_is_directory=True)
    (tmp_path / "tests").mkdir()
    for name in ("palazzo.ts", "package.json", "tsconfig.json", "tests/palazzo.test.ts"):
        (tmp_path / name).write_text((PLUGIN / name).read_text())
    compiler = tmp_path / "node_modules" / "typescript" / "bin" / "tsc"
    run(programs.node_of("typescript"), str(compiler), "--project", ".", cwd=tmp_path)


def test_its_own_tests_pass() -> None:
    run(programs.node_of("node"), "--test", str(PLUGIN / "tests" / "palazzo.test.ts"), cwd=PLUGIN)
