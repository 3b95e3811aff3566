"""The public table is run in parts: what is in the file is not run again, and what was cut off is."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from tests.faces.cli.command import SOURCES

from palazzo.features.selftest.fault_suite import STEPS

TOOL = Path(__file__).parents[2] / "tools" / "selftest_table.py"
NOTHING = ("--kills", "0", "--flips", "0", "--writer-runs", "0", "--minutes", "0", "--no-faults")


def run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool with a home of its own."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(path.parent), "PYTHONPATH": SOURCES}
    command = [sys.executable, str(TOOL), str(path), *NOTHING, "--directory", str(path.parent), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)


def part(seed: int, lost: int = 0) -> str:
    """Return the line of a part that flipped 500 bits."""
    row = {"suite": "bits", "runs": 500, "acknowledged": 500, "present": 500 - lost, "lost": lost, "doubled": 0}
    row |= {"detected": 400, "repaired": 200, "seconds": 9.6, "failures": ["export: served"] * lost}
    arguments = ["--bits", "500", "--seed", str(seed)]
    about = {"seed": seed, "file_system": "ext4", "mount_options": "rw", "versions": {"palazzo": "1"}}
    return json.dumps({"arguments": arguments, "rows": [row], **about})


def test_parts_that_are_there_are_summed_and_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    path.write_text(part(1) + "\n" + part(2) + "\n")
    ran = run(path, "--flips", "1000")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[1].split() == ["bits", "2", "1,000", "1,000", "1,000", "0", "0", "800", "400", "19"]
    assert "Seeds 1 to 2; ext4 (rw); palazzo 1." in ran.stdout


def test_faults_are_a_part_for_each_operation(tmp_path: Path) -> None:
    table = runpy.run_path(str(TOOL))
    options = Namespace(kills=0, flips=0, writer_runs=0, minutes=0, part_kills=1, part_flips=1, seed=7, faults=True)
    assert [part.arguments for part in table["parts"](options)] == [
        ("--faults", "--operation", name, "--seed", str(7 + n)) for n, name in enumerate(STEPS)
    ]


def test_a_loss_in_a_part_is_said(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    path.write_text(part(1) + "\n" + part(2, lost=1) + "\n")
    ran = run(path, "--flips", "1000")
    assert ran.returncode == 1
    assert "export: served" in ran.stdout


@pytest.mark.slow
def test_a_part_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    path.write_text('{"arguments": ["--bits", "2", "--se')
    ran = run(path, "--flips", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "part 1 of 1: --bits 2 --seed 1" in ran.stderr
    assert "bits" in ran.stdout
    assert run(path, "--flips", "2").stderr == ""
