"""The viewer in the service: opened by a client, closed when unused, and there again after the service was killed."""

from __future__ import annotations

import os
import signal
import socket
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.daemon.conftest import User, wait_until

from palazzo.daemon import viewer_host
from palazzo.daemon.engine import Engine
from palazzo.daemon.viewer_host import ViewerHost
from palazzo.errors import PalazzoError
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.service.service_state import log_file
from palazzo.features.upkeep.contract import DoctorRequest, StatusRequest
from palazzo.features.upkeep.doctor import doctor
from palazzo.features.upkeep.status import status
from palazzo.features.viewer.contract import ViewRequest, ViewResult
from palazzo.features.viewer.open_viewer import view
from palazzo.operations.context import Context


def opened(user: User, **values: object) -> ViewResult:
    """Open the viewer as a person does, without a browser."""
    user.palace.parent.mkdir(exist_ok=True)
    with Context(user.palace, user.home, user.variables) as context:
        remember(context, RememberRequest("The gateway listens on 8443.", wing="api", room="ports"))
        result = view(context, ViewRequest(no_browser=True, **values))  # type: ignore[arg-type]
    user.pid()
    return result


def read(address: str, cookie: str = "") -> tuple[int, str, str]:
    """Return status, cookie and text of a page."""
    request = urllib.request.Request(address, headers={"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            cookie = str(answer.headers.get("Set-Cookie", "")).partition(";")[0]
            return answer.status, cookie, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, "", error.read().decode()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_view_opens_pages_of_the_palace(user: User) -> None:
    result = opened(user, port=free_port())
    status, cookie, _ = read(result.link)
    assert status == 200
    status, _, text = read(f"http://127.0.0.1:{result.port}/?q=gateway", cookie)
    assert status == 200
    assert "The <mark>gateway</mark> listens on 8443." in text


def test_the_next_link_is_of_the_same_viewer(user: User) -> None:
    first, second = opened(user, port=free_port()), opened(user)
    assert first.port == second.port
    assert first.link != second.link


def test_a_port_in_use_is_named(user: User) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        with pytest.raises(PalazzoError, match=f"Cannot listen at 127.0.0.1:{port}"):
            opened(user, port=port)


def test_a_page_goes_on_after_its_service_was_killed(user: User) -> None:
    result = opened(user, port=free_port())
    _, cookie, _ = read(result.link)
    state_file = Path(user.address().socket).with_suffix(".viewer")
    wait_until(state_file.exists)
    assert stat.S_IMODE(state_file.stat().st_mode) == 0o600
    assert cookie.partition("=")[2] not in state_file.read_text()
    os.kill(user.pid(), signal.SIGKILL)
    user.caller().close()  # the next client starts a service

    def answers() -> bool:
        try:
            return read(f"http://127.0.0.1:{result.port}/", cookie)[0] == 200
        except OSError:
            return False

    wait_until(answers)


def test_a_page_whose_port_was_taken_meanwhile_is_said_to_be_lost(user: User) -> None:
    result = opened(user, port=free_port())
    read(result.link)
    wait_until(Path(user.address().socket).with_suffix(".viewer").exists)
    os.kill(user.pid(), signal.SIGKILL)
    sentence = f"another program listens at their port, {result.port}, now"
    with (
        listening_at(result.port),
        Context(user.palace, user.home, user.variables) as context,
    ):
        user.caller().close()  # the next client starts a service
        wait_until(lambda: status(context, StatusRequest()).service.viewer_trouble != "")
        (finding,) = (entry for entry in doctor(context, DoctorRequest()).findings if entry.name == "viewer")
        assert not finding.ok
        assert sentence in finding.detail
        assert log_file(user.palace, user.variables).read_text().count(sentence) == 1
        again = view(context, ViewRequest(no_browser=True))
        assert sentence in again.notice
        assert again.port != result.port
        assert read(again.link)[0] == 200
        assert status(context, StatusRequest()).service.viewer_trouble == ""
        assert view(context, ViewRequest(no_browser=True)).notice == ""


def listening_at(port: int) -> socket.socket:
    """Another program's socket; it waits until the system gives the port."""
    sockets: list[socket.socket] = []

    def takes() -> bool:
        try:
            sockets.append(socket.create_server(("127.0.0.1", port)))
        except OSError:
            return False
        return True

    wait_until(takes)
    return sockets[0]


def test_a_viewer_that_nobody_looks_at_is_closed(tmp_path: Path, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.palace.parent.mkdir()
    endpoint = user.address()
    Path(endpoint.directory).mkdir(mode=0o700, exist_ok=True)
    engine = Engine(user.palace)
    host = ViewerHost(endpoint, engine)
    answer = host.answer({"port": free_port(), "surroundings": {}})
    address = f"http://127.0.0.1:{answer['port']}/"
    assert read(address)[0] == 403
    host.close_if_idle()
    assert host.is_open
    monkeypatch.setattr(viewer_host, "IDLE_SECONDS", 0.0)
    host.close_if_idle()
    assert not host.is_open
    with pytest.raises(OSError, match="refused"):
        read(address)
    assert list(Path(endpoint.directory).glob(f"{Path(endpoint.socket).stem}.[hv]*")) == []
    engine.close()


def test_an_agents_shell_gets_no_right_of_a_person(user: User) -> None:
    """The variables of the shell that asked for a link go with it, and are not kept for a later service."""
    user.palace.parent.mkdir()
    endpoint = user.address()
    Path(endpoint.directory).mkdir(mode=0o700, exist_ok=True)
    engine = Engine(user.palace)
    host = ViewerHost(endpoint, engine)
    surroundings = {"cwd": str(user.home), "variables": {"CLAUDECODE": "1"}}
    answer = host.answer({"port": free_port(), "surroundings": surroundings})
    read(answer["link"])
    host.close_if_idle()
    assert '"visitors": {}' in Path(endpoint.socket).with_suffix(".viewer").read_text()
    host.close()
    engine.close()
