"""Commands beside a service: the same answers with it and without, and what `service`, `status` and `doctor` say."""

from __future__ import annotations

import json
import plistlib
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import User, is_alive, made_user, wait_until
from tests.faces.cli.command import Command, Ran

from palazzo import locks
from palazzo.client import rpc


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """Somebody with a few notes, and a service that runs."""
    for user in made_user(tmp_path_factory.mktemp("owner") / "a home"):
        with user.caller() as caller:
            for text in ("The deploy listens on port 8443.", "Retries double after a failure.", "The cat sleeps."):
                assert "result" in caller.call("remember", {"text": text, "kind": "decision"})
            wait_until(lambda: caller.call("search", {"query": "port"})["result"]["index"] == "ready", 60)
        yield user


Palazzo = Callable[..., Ran]


@pytest.fixture
def palazzo(capsys: pytest.CaptureFixture[str]) -> Palazzo:
    """The command, as a user runs it: `palazzo(user, "search", "port", PALAZZO_SERVICE="off")`."""

    def run(user: User, *arguments: str, **variables: str) -> Ran:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**user.variables, "NO_COLOR": "1", **variables}.items():
                patch.setenv(name, value)
            patch.chdir(user.home)
            return Command(capsys)("--palace", str(user.palace), *arguments)

    return run


def same_both_ways(palazzo: Palazzo, user: User, *arguments: str) -> Ran:
    """Run a command with the service and without, and compare."""
    before = int(user.greet("state")["state"]["calls"])
    warm = palazzo(user, *arguments)
    assert int(user.greet("state")["state"]["calls"]) == before + 1
    alone = palazzo(user, *arguments, PALAZZO_SERVICE="off")
    assert int(user.greet("state")["state"]["calls"]) == before + 1
    assert (warm.code, _timeless(warm.out), warm.error) == (alone.code, _timeless(alone.out), alone.error)
    return warm


def _timeless(out: str) -> Any:
    """What was written, but for how long it took."""
    if out.startswith("{"):
        document = json.loads(out)
        document.pop("took_ms", None)
        return document
    return [line for line in out.splitlines() if " ms" not in line]


def test_a_search_is_the_same_with_a_service_and_without(palazzo: Palazzo, owner: User) -> None:
    assert "8443" in same_both_ways(palazzo, owner, "search", "which port does the deploy listen on").out
    found = json.loads(same_both_ways(palazzo, owner, "search", "port", "--json").out)["hits"][0]["id"]
    assert "8443" in same_both_ways(palazzo, owner, "show", found).out
    assert same_both_ways(palazzo, owner, "show", "abcdef01", "--json").code == 2
    assert same_both_ways(palazzo, owner, "search", "port", "--wing", "nowhere").code == 2
    assert "Memory on" in same_both_ways(palazzo, owner, "wake-up").out


def test_a_search_without_a_service_starts_one_for_the_next(palazzo: Palazzo, user: User) -> None:
    palazzo(user, "remember", "The port is 8443.", PALAZZO_SERVICE="off")
    assert "8443" in palazzo(user, "search", "port").out
    wait_until(lambda: Path(user.address().socket).exists())
    user.pid()
    assert "8443" in palazzo(user, "search", "port").out
    assert user.greet("state")["state"]["calls"] == 1


def test_a_search_of_no_palace_starts_nothing(palazzo: Palazzo, user: User) -> None:
    assert palazzo(user, "search", "port").code == 1
    assert not Path(user.address().lock).exists()


def test_a_service_is_started_looked_at_and_stopped(palazzo: Palazzo, user: User) -> None:
    assert "No service is running" in palazzo(user, "service", "status").out
    started = json.loads(palazzo(user, "service", "start", "--json").out)
    pid = started["service"]["pid"]
    user.started.add(pid)
    assert started["started"]
    told = json.loads(palazzo(user, "service", "status", "--json").out)
    assert told["service"]["pid"] == pid
    assert told["service"]["address"] == user.address().socket
    assert str(pid) in palazzo(user, "service", "status").out
    with user.caller() as caller:
        caller.call("remember", {"text": "so that there is a palace"})
    status = json.loads(palazzo(user, "status", "--json").out)["service"]
    assert status == {"running": True, "pid": pid, "viewer_trouble": ""}
    stop_command = ("service", "stop", "--json")
    assert json.loads(palazzo(user, *stop_command).out) == {"stopped": True, "pid": pid, "former_pids": []}
    wait_until(lambda: not is_alive(pid))
    assert json.loads(palazzo(user, *stop_command).out) == {"stopped": False, "pid": None, "former_pids": []}
    assert json.loads(palazzo(user, "status", "--json").out)["service"] == {
        "running": False,
        "pid": None,
        "viewer_trouble": "",
    }


def test_doctor_says_what_keeps_a_service_from_running(palazzo: Palazzo, user: User) -> None:
    def told() -> dict[str, Any]:
        found = json.loads(palazzo(user, "doctor", "--json").out)["findings"]
        return next(one for one in found if one["name"] == "service")

    assert told()["ok"]
    rpc.make_directory(user.address())
    with locks.try_lock(user.address().lock) or pytest.fail("it is free"):
        assert not told()["ok"]
    Path(user.address().lock).unlink()
    assert told()["ok"]


def test_the_units_run_this_palace(palazzo: Palazzo, owner: User) -> None:
    systemd = palazzo(owner, "service", "status", "--print-unit", "systemd").out
    (line,) = [line for line in systemd.splitlines() if line.startswith("ExecStart=")]
    command = shlex.split(line.removeprefix("ExecStart="))
    launchd = plistlib.loads(palazzo(owner, "service", "start", "--print-unit", "launchd").out.encode())
    assert launchd["ProgramArguments"] == command
    assert command[0] == sys.executable
    assert command[-1] == str(owner.palace.resolve())


def test_a_unit_that_comes_second_ends_at_once(owner: User) -> None:
    command = [sys.executable, "-P", "-m", "palazzo.daemon.service", "--stay", str(owner.palace)]
    assert subprocess.run(command, env=owner.variables, check=False, timeout=30).returncode == 0
    owner.pid()


def test_a_service_goes_on_with_what_was_restored(palazzo: Palazzo, owner: User) -> None:
    file = owner.home / "backup.db"
    before = json.loads(palazzo(owner, "backup", str(file), "--json").out)
    with owner.caller() as caller:
        pid = owner.pid()
        assert "result" in caller.call("remember", {"text": "The heron came after the backup."})
        assert caller.call("search", {"query": "heron"})["result"]["hits"]
        restored = json.loads(palazzo(owner, "restore", str(file), "--yes", "--json").out)
        assert restored["restored"]["items"] == before["items"]
        hits = caller.call("search", {"query": "heron"})["result"]["hits"]
        assert not [hit for hit in hits if "heron" in hit["text"]]
        assert "result" in caller.call("remember", {"text": "The otter came after the restore."})
        assert caller.call("search", {"query": "otter"})["result"]["hits"]
        assert owner.pid() == pid
    assert json.loads(palazzo(owner, "verify", "--json").out)["ok"]
    assert json.loads(palazzo(owner, "status", "--json").out)["items"] == before["items"] + 1
