"""export and import, as they are typed."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment


def program(home: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = [sys.executable, "-m", "palazzo.faces.cli", *arguments, "--debug"]
    done = subprocess.run(
        command, input=given, capture_output=True, cwd=home / "shop", env=environment({}), check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_palace_goes_into_another_through_a_file_and_through_a_pipe(home: Path, shop: Path, palazzo: Command) -> None:
    other, path = str(home / "other" / "palace.db"), home / "export.jsonl"
    assert f"to {path}." in palazzo("export", str(path)).out
    told = program(home, "export", "-")
    assert told == path.read_bytes()
    program(home, "import", "-", "--palace", other, "--trust", "user", given=gzip.compress(told))
    second_import = palazzo("import", str(path), "--palace", other, "--trust", "user")
    assert second_import.code == 0
    assert "here already" in second_import.out
    hits = palazzo.json("search", "we chose SQLite", "--palace", other)["hits"]
    assert hits[0]["text"] == "We chose SQLite because it needs no server."


def test_pages_are_counted(home: Path, shop: Path, palazzo: Command) -> None:
    said = palazzo("export", "--format", "markdown", str(home / "pages"))
    assert said.code == 0
    assert "pages with" in said.out
    assert (home / "pages" / "shop" / "animals").is_dir()


def test_an_export_to_standard_output_and_json_are_not_mixed(shop: Path, palazzo: Command) -> None:
    ran = palazzo("export", "-", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "name a file" in ran.error
    assert palazzo("export", "-", "--format", "markdown").code == 2


def test_a_damaged_export_is_one_sentence(home: Path, shop: Path, palazzo: Command) -> None:
    path = home / "export.jsonl"
    palazzo("export", str(path))
    path.write_bytes(path.read_bytes()[:-200])
    ran = palazzo("import", str(path), "--palace", str(home / "other" / "palace.db"))
    assert (ran.code, ran.out, ran.error.count("\n")) == (1, "", 1)
    assert "was the file truncated?" in ran.error
    assert not (home / "other").exists()


@pytest.mark.usefixtures("interruptible_children")
def test_who_stops_an_export_leaves_no_half_of_one(home: Path, shop: Path) -> None:
    (home / "out").mkdir()
    slow = (
        "import sys, time; from palazzo.sync import record_lines; to_line = record_lines.to_line\n"
        "record_lines.to_line = lambda record: (print('writing', flush=True), time.sleep(0.05), to_line(record))[2]\n"
        "from palazzo.faces.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", slow, "export", str(home / "out" / "export.jsonl")]
    with subprocess.Popen(
        command, cwd=home / "shop", env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert b"Stopped" in said
    assert b"kept" not in said
    assert list((home / "out").iterdir()) == []
