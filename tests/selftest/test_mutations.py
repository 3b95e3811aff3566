"""The selftest can fail: each of eleven faults that are put into a copy of the product is found, and none without them.

A patch names the fault in its first line and the suite that must find it in its second.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.reliability.sizes import FACTOR

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted((Path(__file__).parent / "mutations").glob("*.patch"))
TRIED = PATCHES if FACTOR >= 1 else PATCHES[::3][:3]
"""A patch takes minutes, so the size of everyday CI tries three of them; `PALAZZO_RELIABILITY=1` tries all."""
CONTROL = (
    "faults kg 'power loss, writes lost'",
    "faults erase 'delete failed'",
    "faults restore 'delete failed'",
    "bits",
)

pytestmark = pytest.mark.slow


def suite_of(patch: Path) -> list[str]:
    """Return the arguments of the suite that must find the fault."""
    line = patch.read_text(encoding="utf-8").splitlines()[1]
    assert line.startswith("suite: ")
    return shlex.split(line.removeprefix("suite: "))


def run_suite(package: Path, directory: Path, suite: list[str]) -> dict[str, Any]:
    """Run a suite of the package in `package`; return its counts."""
    directory.mkdir()
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("suite_run.py")), str(directory), *suite],
        env={"PATH": os.environ["PATH"], "HOME": str(directory), "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


def test_there_are_eleven_patches() -> None:
    assert len(PATCHES) == 11


@pytest.mark.parametrize("patch", TRIED, ids=lambda patch: patch.stem)
def test_a_fault_that_was_put_in_is_found(patch: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    shutil.copytree(ROOT / "src", package)  # with what Python has compiled: a thousand modules take ten seconds
    subprocess.run(
        ["git", "apply", str(patch)],
        cwd=package,
        check=True,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)},
    )
    counts = run_suite(package, tmp_path / "run", suite_of(patch))
    assert counts["lost"] + counts["doubled"] > 0, counts


@pytest.mark.parametrize("suite", CONTROL)
def test_without_a_fault_the_same_suites_find_nothing(suite: str, tmp_path: Path) -> None:
    counts = run_suite(ROOT / "src", tmp_path / "run", shlex.split(suite))
    assert counts["why"] == []
    assert counts["doubled"] == 0
    assert counts["runs"] > 0
