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
import yaml
from tests.faces.cli.command import environment

from palazzo.faces.cli.argument_parser import parse

PAGES = Path(__file__).resolve().parents[1] / "docs" / "how-to"
RECIPES = (
    "export-and-import",
    "feed-on-a-timer",
    "move-to-another-machine",
    "questions-about-code",
    "run-a-team-server",
    "run-in-a-container",
    "set-up-a-new-machine",
    "shell-completion",
    "team",
    "uninstall",
    "use-another-embedder",
)
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|&& |\| |<\()palazzo ([^#&|>)\n]+)", re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return [words for named, words in _BLOCK.findall(text) if named == language]


def commands(*pages: str) -> list[str]:
    shells = [block for page in pages for language in ("", "sh", "json") for block in blocks(page, language)]
    return sorted({found.strip().rstrip('",') for block in shells for found in _COMMAND.findall(block)})


def test_commands_of_the_recipes_exist_with_their_options() -> None:
    typed = commands(*RECIPES)
    assert len(typed) > 8
    for line in typed:
        assert parse(shlex.split(line)).command is not None, line  # else it raises, with what is wrong


@pytest.mark.parametrize("page", RECIPES)
def test_what_a_shell_is_given_parses(page: str) -> None:
    for script in (*blocks(page, ""), *blocks(page, "sh")):
        if script.startswith("$ "):
            continue  # a command with its answer
        shell = "bash" if "<(" in script else "sh"
        ran = subprocess.run([shell, "-n"], input=script.encode(), capture_output=True, timeout=20, check=False)
        assert (ran.returncode, ran.stderr) == (0, b""), script


def test_what_a_team_server_is_deployed_with_has_commands_that_exist() -> None:
    deploy = PAGES.parents[1] / "deploy"
    services = yaml.safe_load((deploy / "compose.yaml").read_text())["services"]
    typed = [service["command"] for service in services.values() if "command" in service]
    typed += re.findall(r"palazzo (team purge [^;]+);", services["purge"]["entrypoint"])
    for template in (deploy / "helm/palazzo-team/templates").glob("*.yaml"):
        for line in re.findall(r"args: (\[.*\])", template.read_text()):
            typed.append(shlex.join(json.loads(re.sub(r"{{.*?}}", '"30"', line))))
    assert len(typed) >= 7
    for line in typed:
        assert parse(shlex.split(line)).command is not None, line


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
