"""A service that does not come up: the person of a session hears of it once, with what to do."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from palazzo import alone, client, starting

SESSION = json.dumps({"session_id": "s-1"}).encode()


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    return {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def where(variables: dict[str, str]) -> client.Address:
    return client.address(client.chosen_palace(None, variables), variables)


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Services that were started, none of which comes up."""
    found: list[str] = []
    monkeypatch.setattr(client, "start", lambda where, variables: found.append(where.palace))
    return found


def answered(
    variables: dict[str, str], event: str = "SessionStart", host: str = "claude-code", said: bytes = SESSION
) -> object:
    return json.loads(alone.answer(host, event, said, None, variables))


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
    assert "does not run (it ends as soon as it is started)" in told["systemMessage"]
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
    variables: dict[str, str], where: client.Address, moment: list[float], started: list[str]
) -> None:
    answered(variables)
    starting.came_up(where, variables)
    moment[0] += 3_600  # it was idle, and ended
    assert answered(variables) == {}


def test_where_none_may_be_started_the_reason_is_told(variables: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run" / "palazzo").write_text("no directory")
    told = answered(variables)
    assert isinstance(told, dict)
    assert str(tmp_path / "run" / "palazzo") in told["systemMessage"]
    assert answered(variables) == {}


def test_where_nothing_can_be_noted_nothing_is_told(variables: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run" / "palazzo").write_text("no directory")
    (tmp_path / "state").write_text("no directory")
    assert answered(variables) == {}


def test_who_wants_no_service_is_not_told_of_it(variables: dict[str, str], started: list[str]) -> None:
    assert answered({**variables, "PALAZZO_SERVICE": "off"}) == {}
    assert started == []


def test_a_line_and_words_for_the_model_are_one_answer(variables: dict[str, str], where: client.Address) -> None:
    starting._write(starting._note(where, variables), "failed", 0, [])
    both = alone._with_line("codex", SESSION, alone.written("codex", "é"), "line", where, variables)
    assert json.loads(both) == {**json.loads(alone.written("codex", "é")), "systemMessage": "line"}


# --- which installation ------------------------------------------------------------------------------------


def test_a_service_is_started_by_the_interpreter_and_the_code_of_its_client(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], where: client.Address, tmp_path: Path
) -> None:
    spawned: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(client, "_spawn", lambda command, environment: spawned.append((command, environment)))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "other" / "bin" / "python3"))
    client.start(where, {**variables, "PATH": "/usr/bin", "PYTHONPATH": "lib"})
    ((command, environment),) = spawned
    assert command[0] == str(tmp_path / "other" / "bin" / "python3")
    assert environment["PYTHONPATH"].split(":")[0] == str(Path(client.__file__).parents[1])
