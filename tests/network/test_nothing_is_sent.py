"""Nothing is sent or looked up, and no file is written outside Palazzo's own directories.

A whole day of use runs in a network of its own, where each packet is seen. Without the namespaces that this needs (on
other systems than Linux, or where the kernel refuses them) the tests are skipped; with PALAZZO_CI on Linux they fail.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.network import sandbox, session
from tests.network.sandbox import Packet, Report

pytestmark = pytest.mark.slow

IDLE_SECONDS = 40.0
"""How long the service is up. In 45 seconds ONNX Runtime looked its host up three times."""
OWN = re.compile(r"/tmp/palazzo-\d+/|{home}/\.(?:local/share|local/state|cache|config)/palazzo/")
"""Palazzo's directories where no variable names others; the first is for sockets where no system gives one."""
INSTALLED_FILES = (".claude.json", ".claude/settings.json", ".claude/CLAUDE.md")
"""What `palazzo install claude-code` says that it writes, below the home."""


def run(tmp_path: Path, *program: str) -> Report:
    """Run a Python program in a sandbox; skip the test where there can be none."""
    scratch, home = tmp_path / "scratch", tmp_path / "home"
    scratch.mkdir()
    home.mkdir(exist_ok=True)
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has namespaces")
    command = sandbox.command(scratch, home, [sys.executable, *program])
    process = subprocess.run(command, cwd=sandbox.ROOT, capture_output=True, text=True)
    if not process.stdout:
        reason = f"no network and mount namespaces can be made here: {process.stderr.strip()[-300:]}"
        pytest.fail(reason) if os.environ.get("PALAZZO_CI") else pytest.skip(reason)
    report = json.loads(process.stdout)
    assert report["code"] == 0, process.stderr[-4000:]
    return Report(0, [Packet(**packet) for packet in report["packets"]], report["written_paths"])


def foreign(paths: list[str], home: Path) -> list[str]:
    """The files that are neither Palazzo's own nor what `install` is told to write, nor compiled Python."""
    own, installed_paths = (
        re.compile(OWN.pattern.format(home=re.escape(str(home)))),
        {str(home / name) for name in INSTALLED_FILES},
    )
    return [
        path for path in paths if not own.match(path) and path not in installed_paths and "/__pycache__/" not in path
    ]


def test_the_sandbox_sees_every_packet_look_up_and_file(tmp_path: Path) -> None:
    report = run(tmp_path, "-m", "tests.network.intruder")
    destinations = {(packet.destination, packet.port, packet.name) for packet in report.packets}
    expected = {("203.0.113.7", 9, ""), ("127.0.0.53", 53, "local.example")}
    expected.add((sandbox.NAME_SERVER, 53, "telemetry.example"))
    if Path("/proc/sys/net/ipv6").is_dir():
        expected.add(("2001:db8:1::7", 443, ""))
    assert expected <= destinations
    home = tmp_path / "home"
    intruding_files = [f"{home}/.cache/Microsoft/deviceid", "/etc/hosts", "/run/left", "/var/tmp/left"]
    assert sorted(foreign(report.written_paths, home)) == sorted(intruding_files)


def test_a_day_of_use_sends_nothing_and_writes_only_where_it_may(tmp_path: Path) -> None:
    home = tmp_path / "home"
    session.prepare(home)
    report = run(tmp_path, "-m", "tests.network.session", str(IDLE_SECONDS))
    assert report.packets == []
    assert foreign(report.written_paths, home) == []
    assert {str(home / name) for name in INSTALLED_FILES} <= set(report.written_paths)
