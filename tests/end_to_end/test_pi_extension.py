"""The extension of pi by itself: its types, against those of the real pi, and its own tests, by Node."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.end_to_end import programs
from tests.test_script import ROOT

pytestmark = pytest.mark.slow

EXTENSION = ROOT / "integrations" / "pi"
VERSIONS = programs.PI_VERSIONS if os.environ.get("PALAZZO_PI_TYPES") == "all" else programs.PI_VERSIONS[:1]
PATIENCE = 300


@pytest.mark.parametrize("version", VERSIONS)
def test_its_types_are_those_of_pi_strictly(tmp_path: Path, version: str) -> None:
    packages, pi = programs.typescript(), programs.pi_package(version)
    shutil.copytree(EXTENSION, tmp_path / "pi")
    modules = tmp_path / "node_modules"
    for name, there in (
        ("@types/node", packages / "@types" / "node"),
        ("undici-types", packages / "undici-types"),
        (programs.PI, pi),
    ):
        (modules / name).parent.mkdir(parents=True, exist_ok=True)
        (modules / name).symlink_to(there)
    node = programs.node_of(programs.PI)
    command = [node, str(packages / "typescript" / "bin" / "tsc"), "--noEmit", "--strict", "--project", "pi"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_its_own_tests_pass() -> None:
    node = programs.node_of(programs.PI)
    tests = sorted(map(str, (EXTENSION / "tests").glob("*.test.ts")))
    around = {**os.environ, "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [node, "--test", *tests], env=around, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout[-5_000:]
