"""What `palazzo sync` prints."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Command


def test_a_dry_run_says_would_and_a_status_fits_a_terminal(palazzo: Command, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    palazzo("remember", "The vault opens at seven.", "--wing", "shop")
    palazzo("sync", "init", str(tmp_path / "there"), "--name", "t")
    palazzo("sync", "now")
    palazzo("erase", "--match", "seven", "--even-most", "--yes")
    told = palazzo("sync", "push", "--dry-run").out
    assert "All would be told anew, and what stands there removed." in told
    lines = palazzo("sync", "status").out.splitlines()
    assert any(line.strip().startswith("pushed 2") for line in lines)
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
