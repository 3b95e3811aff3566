"""One service for one palace and user, whatever environment starts and looks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.conftest import User, is_alive, wait_until

from palazzo.client import rpc, service_address
from palazzo.operations.context import Context
from palazzo.operations.operation import Operation
from palazzo.operations.registry import operation

AS_BEFORE = """
import os, sys
from palazzo.client import rpc as client, service_address as rendezvous
from palazzo.daemon import service
client.address = lambda palace, variables: rendezvous.former_addresses(palace, variables)[0]
service.Service._end_former = lambda self: None
os._exit(service.main([sys.argv[1]]))
"""
"""A service that listens below XDG_RUNTIME_DIR, as those of earlier versions did."""


def variables_without(variables: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in variables.items() if key != name}


def test_who_lost_the_variable_meets_the_service_that_others_started(user: User) -> None:
    with user.caller():
        pid = user.pid()
        contexts = (
            variables_without(user.variables, "XDG_RUNTIME_DIR"),
            {**user.variables, "TMPDIR": str(user.runtime)},
        )
        for variables in contexts:
            stream, answer = rpc.greet(rpc.address(str(user.palace), variables), {"want": "state"})
            stream.close()
            assert answer["pid"] == pid
            command = [sys.executable, "-P", "-m", "palazzo.daemon.service", str(user.palace)]
            second = subprocess.run(command, env=variables, capture_output=True, timeout=60)
            assert (second.returncode, second.stderr) == (0, b"")  # it ends at once: the right is taken
        assert user.pid() == pid


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="needs a directory of another user")
def test_another_user_who_takes_the_place_cannot_keep_a_service_from_being_used(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_address, "_PLACE", str(tmp_path))
    monkeypatch.setattr(service_address, "_home", lambda: "/tmp/home")
    place = tmp_path / f"palazzo-{os.getuid()}"
    assert rpc.address(str(user.palace), user.variables).directory == str(place)
    place.mkdir()
    os.chown(place, 65_534, 65_534)
    socket_path = rpc.address(str(user.palace), user.variables)
    assert socket_path.directory == "/tmp/home/.cache/palazzo-run"
    place.rmdir()
    place.symlink_to("/tmp")
    os.chown(place, 65_534, 65_534, follow_symlinks=False)
    assert rpc.address(str(user.palace), user.variables).directory == socket_path.directory


@pytest.fixture
def former(user: User) -> Iterator[int]:
    """The process of a service of an earlier version."""
    process = subprocess.Popen([sys.executable, "-P", "-c", AS_BEFORE, str(user.palace)], env=user.variables)
    user.started.add(process.pid)
    (address, *_) = service_address.former_addresses(str(user.palace), user.variables)
    try:
        wait_until(lambda: Path(address.socket).exists() or process.poll() is not None, 30)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def run_operation(user: User, name: str) -> object:
    with Context(user.palace, user.home, user.variables) as context:
        named_operation: Operation[object, object] = operation(name)
        return named_operation.run(context, named_operation.request())


def test_a_service_at_an_earlier_address_is_seen_and_stopped(user: User, former: int) -> None:
    status = run_operation(user, "service_status")
    assert not status.service.running  # type: ignore[attr-defined]
    assert [service.pid for service in status.former_services] == [former]  # type: ignore[attr-defined]
    findings = run_operation(user, "doctor").findings  # type: ignore[attr-defined]
    (report,) = [report for report in findings if report.name == "service" and not report.ok]
    assert str(former) in report.detail
    assert report.mend == "palazzo service stop"
    result = run_operation(user, "service_stop")
    assert (result.stopped, result.pid, result.former_pids) == (True, None, (former,))  # type: ignore[attr-defined]
    wait_until(lambda: not is_alive(former))


def test_a_service_ends_those_at_earlier_addresses(user: User, former: int) -> None:
    with user.caller():
        wait_until(lambda: not is_alive(former))
        assert user.pid() != former
