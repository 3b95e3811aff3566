"""A service that does not come up: the person of a session hears of it once, with what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.daemon.hook_machine import Machine, eventually

from palazzo import __version__, paths
from palazzo.client import offline_hook, rpc, service_address, startup

SESSION = json.dumps({"session_id": "s-1"}).encode()


@pytest.fixture
def runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("r")  # a socket's path is short
    monkeypatch.setattr(service_address, "_PLACE", str(place))
    return place


@pytest.fixture
def variables(tmp_path: Path, runtime: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def where(variables: dict[str, str]) -> rpc.Address:
    return rpc.address(rpc.chosen_palace(None, variables), variables)


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Services that were started, none of which comes up."""
    found: list[str] = []
    monkeypatch.setattr(rpc, "start", lambda where, variables: found.append(where.palace))
    return found


def answered(
    variables: dict[str, str], event: str = "SessionStart", host: str = "claude-code", said: bytes = SESSION
) -> object:
    return json.loads(offline_hook.answer(host, event, said, None, variables))


def test_a_service_that_may_be_on_its_way_is_not_told_of(
    variables: dict[str, str], moment: list[float], started: list[str]
) -> None:
    assert answered(variables) == {}
    moment[0] += 9
    assert answered(variables) == {}
    assert len(started) == 2


def test_one_that_never_came_up_is_told_of_once_a_session(
    variables: dict[str, str], moment: list[float], started: list[str]
) -> None:
    assert answered(variables, "Stop") == {}
    moment[0] += 11
    assert answered(variables, "Stop") == {}  # nobody reads a line there
    told = answered(variables)
    assert isinstance(told, dict)
    assert list(told) == ["systemMessage"]
    assert "does not run (it ends immediately after its start)" in told["systemMessage"]
    assert "'palazzo service start'" in told["systemMessage"]
    assert answered(variables) == {}
    assert answered(variables, "UserPromptSubmit") == {}
    assert list(answered(variables, "session-start", "pi", b'{"session": "s-2"}')) == ["tell"]  # type: ignore[call-overload]
    assert answered(variables, "sessionStart", "copilot", b'{"sessionId": "s-3"}') == {}


def test_one_that_fails_is_started_again_after_a_while_and_not_by_every_hook(
    variables: dict[str, str], moment: list[float], started: list[str]
) -> None:
    for seconds in (0, 11, 1, 1, 30, 40, 1):
        moment[0] += seconds
        answered(variables)
    assert len(started) == 3


def test_one_that_serves_is_trusted_again(
    variables: dict[str, str], where: rpc.Address, moment: list[float], started: list[str]
) -> None:
    answered(variables)
    startup.came_up(where, variables)
    moment[0] += 3_600  # it was idle, and ended
    assert answered(variables) == {}


def test_where_none_may_be_started_the_reason_is_told(variables: dict[str, str], runtime: Path) -> None:
    Path(rpc.address("/p.db", variables).directory).write_text("no directory")
    told = answered(variables)
    assert isinstance(told, dict)
    assert str(runtime) in told["systemMessage"]
    assert answered(variables) == {}


def test_where_nothing_can_be_noted_nothing_is_told(variables: dict[str, str], runtime: Path, tmp_path: Path) -> None:
    Path(rpc.address("/p.db", variables).directory).write_text("no directory")
    (tmp_path / "state").write_text("no directory")
    assert answered(variables) == {}


def test_who_wants_no_service_is_not_told_of_it(variables: dict[str, str], started: list[str]) -> None:
    assert answered({**variables, "PALAZZO_SERVICE": "off"}) == {}
    assert started == []


def test_a_hook_that_waited_in_vain_says_so_once_a_session(variables: dict[str, str], started: list[str]) -> None:
    for session, is_shown in (("s-1", True), ("s-1", False), ("s-2", True)):
        payload = json.dumps({"session_id": session}).encode()
        answer = json.loads(offline_hook.answer("codex", "UserPromptSubmit", payload, None, variables, has_waited=True))
        assert ("did not answer in time" in answer.get("systemMessage", "")) is is_shown
    assert len(started) == 1


def test_of_hooks_that_run_together_one_starts_the_service(variables: dict[str, str], started: list[str]) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        assert answered(variables, event) == {}
    assert len(started) == 1


# --- which installation ------------------------------------------------------------------------------------


def test_a_service_is_started_by_the_interpreter_and_the_code_of_its_client(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], where: rpc.Address, tmp_path: Path
) -> None:
    spawned: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(rpc, "_spawn", lambda command, environment: spawned.append((command, environment)))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "other" / "bin" / "python3"))
    rpc.start(where, {**variables, "PATH": "/usr/bin", "PYTHONPATH": "lib"})
    ((command, environment),) = spawned
    assert command[0] == str(tmp_path / "other" / "bin" / "python3")
    assert environment["PYTHONPATH"].split(":")[0] == str(Path(rpc.__file__).parents[2])


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("lib/python{}/site-packages", True),
        ("local/lib/python{}/dist-packages", True),
        ("local/lib/python{}/site-packages", False),
        ("share/venv/lib/python{}/site-packages", False),
        ("lib/python2.7/site-packages", False),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="other directories")
def test_where_an_interpreter_finds_packages_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, found: bool
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python3"))
    assert paths.has_packages(str(tmp_path / place.format(f"{sys.version_info[0]}.{sys.version_info[1]}"))) is found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the script is another")
def test_the_service_of_an_installation_in_a_prefix_is_that_installation(tmp_path: Path) -> None:
    package = tmp_path / "prefix" / "lib" / "python" / "site-packages" / "palazzo"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rpc.__file__).parents[1], package, ignore=ignored)
    version = package / "__init__.py"
    version.write_text(version.read_text().replace(__version__, f"{__version__}.post9"))
    machine = Machine(tmp_path / "home", tmp_path)
    variables = {**machine.variables, "PATH": "/nowhere"}
    command = [sys.executable, "-I", "-S", "-E", str(package / "__main__.py"), "hook", "claude-code", "SessionStart"]
    subprocess.run(command, input=b"{}", env=variables, cwd=tmp_path, capture_output=True, check=True)
    eventually(lambda: machine.pid() is not None)
    stream, greeting = rpc.greet(machine.where, {"want": "state", "any": True})
    stream.close()
    assert greeting["version"] == f"{__version__}.post9"
    stream, _ = rpc.greet(machine.where, {"want": "stop", "any": True})
    while stream.read() is not None:  # until it has ended
        pass
    stream.close()
