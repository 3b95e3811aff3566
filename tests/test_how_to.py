"""What the how-to pages tell people to write and to type: files that parse, commands and options that exist."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests.cli.command import environment

from palazzo.faces.cli.app import Commands

PAGES = Path(__file__).resolve().parents[1] / "docs" / "how-to"
RECIPES = (
    "export-and-import",
    "feed-on-a-timer",
    "move-to-another-machine",
    "run-in-a-container",
    "set-up-a-new-machine",
    "uninstall",
)
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|&& )palazzo ([^#&|>\n]+)", re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return [words for named, words in _BLOCK.findall(text) if named == language]


def commands() -> list[str]:
    shells = [block for page in RECIPES for language in ("", "sh", "json") for block in blocks(page, language)]
    return sorted({found.strip().rstrip('",') for block in shells for found in _COMMAND.findall(block)})


def test_commands_of_the_recipes_exist_with_their_options() -> None:
    typed = commands()
    assert len(typed) > 8
    for line in typed:
        words, group = shlex.split(line), Commands(name="palazzo")
        command = group.get_command(typer.Context(group), words[0])
        assert command is not None, line
        command.make_context(words[0], words[1:])  # an option that is not there ends it with what is wrong


@pytest.mark.parametrize("page", RECIPES)
def test_what_a_shell_is_given_parses(page: str) -> None:
    for script in (*blocks(page, ""), *blocks(page, "sh")):
        ran = subprocess.run(["sh", "-n"], input=script.encode(), capture_output=True, timeout=20, check=False)
        assert (ran.returncode, ran.stderr) == (0, b""), script


def test_the_dev_container_and_the_launch_agent_parse() -> None:
    [container] = (json.loads(block) for block in blocks("run-in-a-container", "json"))
    assert all("type=volume" in mount for mount in container["mounts"])
    [agent] = (plistlib.loads(block.encode()) for block in blocks("feed-on-a-timer", "xml"))
    assert agent["ProgramArguments"][1:] == ["feed", "--wait"]


def program_in(home: Path) -> None:
    """Put `palazzo` where the recipes have it."""
    program = home / ".local" / "bin" / "palazzo"
    program.parent.mkdir(parents=True)
    sources = shlex.quote(environment({})["PYTHONPATH"])
    python = shlex.quote(sys.executable)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={sources} PALAZZO_SERVICE=off exec {python} -m palazzo.faces.cli "$@"\n')
    program.chmod(0o755)


@pytest.mark.slow
def test_cron_runs_the_line_with_the_variables_that_it_has(tmp_path: Path) -> None:
    program_in(tmp_path)
    [line] = blocks("feed-on-a-timer", "crontab")
    *times, command = line.strip().split(maxsplit=5)
    assert all(re.fullmatch(r"[\d*/,-]+", one) for one in times)
    variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    ran = subprocess.run(["/bin/sh", "-c", command], env=variables, capture_output=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this machine")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    program_in(tmp_path)
    service, timer = blocks("feed-on-a-timer", "ini")
    for name, text in (("palazzo-feed.service", service), ("palazzo-feed.timer", timer)):
        (tmp_path / name).write_text(text.replace("%h", str(tmp_path)))
    variables = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path)}
    units = [str(tmp_path / "palazzo-feed.timer"), str(tmp_path / "palazzo-feed.service")]
    ran = subprocess.run(
        ["systemd-analyze", "--user", "verify", *units], env=variables, capture_output=True, timeout=120, check=False
    )
    ours = [line for line in ran.stderr.decode().splitlines() if "palazzo" in line]
    assert (ran.returncode, ours) == (0, [])
