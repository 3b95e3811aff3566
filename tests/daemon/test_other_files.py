"""No service is started for a file that is no palace, whoever asks for one, and none for a home without a palace."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.daemon.hook_machine import Machine
from tests.faces.cli.command import SOURCES

from palazzo.client import palace_file, rpc
from palazzo.errors import ServiceUnavailable
from palazzo.store import palace_opening


def run(machine: Machine, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "palazzo", *arguments]
    environment = {**machine.variables, "PYTHONPATH": SOURCES}
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        cwd=machine.project,
        timeout=120,
        check=False,
    )


def foreign_file(machine: Machine, kind: str) -> Path:
    path = machine.project / "notes.db"
    if kind == "text":
        path.write_text("hello\n")
    elif kind == "long text":
        path.write_text("root:x:0:0:root:/root:/bin/bash\n" * 1000)
    elif kind == "SQLite":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE bookmark (url TEXT)")
        connection.executemany("INSERT INTO bookmark VALUES (?)", [("https://example.org" * 20,)] * 99)
        connection.commit()
        connection.close()
    else:
        os.mkfifo(path)
    return path


@pytest.mark.parametrize("kind", ["text", "long text", "SQLite", "pipe"])
def test_no_command_starts_a_service_for_another_file(machine: Machine, kind: str) -> None:
    path = foreign_file(machine, kind)
    for arguments in (["search", "anything"], ["status"], ["service", "start"], ["wake-up"]):
        assert run(machine, *arguments, "--palace", str(path)).returncode == 1
    event = {**machine.payload(prompt="what did we decide about the retries?"), "session_id": "s-1"}
    answer = run(machine, "hook", "claude-code", "prompt", "--palace", str(path), stdin=json.dumps(event))
    assert f"The file {path} is not a palace, so no service is started for it" in answer.stdout
    address = rpc.address(str(path), machine.variables)
    assert not rpc.is_starting(address)
    assert not Path(address.lock).exists()
    with pytest.raises(ServiceUnavailable):
        rpc.start(address, machine.variables)


def test_a_palace_a_new_one_and_one_whose_mark_is_in_its_log_are_served(machine: Machine) -> None:
    assert palace_file.can_be_palace(str(machine.palace))  # where none is yet
    machine.note("Retries double after each failure.")
    assert palace_file.can_be_palace(str(machine.palace))
    empty = machine.project / "empty.db"
    empty.touch()
    assert palace_file.can_be_palace(str(empty))
    foreign = foreign_file(machine, "SQLite")
    assert not palace_file.can_be_palace(str(foreign))
    Path(f"{foreign}-wal").touch()
    assert palace_file.can_be_palace(str(foreign))
    assert palace_opening.APPLICATION_ID.to_bytes(4) == palace_file._APPLICATION


def test_doctor_leaves_no_service_where_there_is_no_palace(machine: Machine) -> None:
    program = machine.home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 1.2.3\n")
    program.chmod(0o755)
    machine.variables["PATH"] = f"{program.parent}:{machine.variables['PATH']}"
    assert run(machine, "install", "claude-code", "--yes").returncode == 0
    assert "claude-code" in run(machine, "doctor").stdout
    assert not machine.palace.exists()
    assert not rpc.is_starting(machine.where)
