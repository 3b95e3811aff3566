"""`palazzo mcp --http` as people start it: what it says, what it never says, and how it ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment
from tests.faces.mcp.http_palace import HELLO, JSON
from tests.faces.mcp.http_served import PATIENCE, Address

from palazzo.daemon import http_server
from palazzo.faces.http.http_socket import bound
from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.http_endpoint import HttpServer
from palazzo.faces.mcp.http_log import Discreet
from palazzo.faces.mcp.stdio_server import in_a_thread
from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import token_rows

WORDS = "heliotrope"
"""A word that must be nowhere but in the palace and in answers."""


def test_it_serves_until_it_is_told_to_end_and_writes_no_words_and_no_secrets(tmp_path: Path) -> None:
    palace = tmp_path / "palace.db"
    with Palace.open(palace) as opened, opened.database.transaction() as connection:
        secret = token_rows.issue(connection, b"laptop's", "laptop", "write", Micros(1))
    variables = {"HOME": str(tmp_path), "PALAZZO_PALACE": str(palace), "PALAZZO_SERVICE": "off"}
    process = subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "mcp", "--http", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(variables), text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"at http://127\.0\.0\.1:(\d+)/mcp", said)
        assert found, said
        assert str(palace) in said
        server, headers = Address(int(found[1])), {**JSON, "Authorization": f"Bearer {secret}"}

        def post(method: str, params: object, **more: str) -> int:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            told = server.request("POST", f"/mcp?{WORDS}", {**headers, **more}, body)
            if "mcp-session-id" in told.headers:
                headers["Mcp-Session-Id"] = told.headers["mcp-session-id"]
            return told.status

        assert post("initialize", HELLO) == 200
        assert post("tools/call", {"name": "remember", "arguments": {"text": f"The {WORDS} blooms."}}) == 200
        assert post("tools/call", {"name": "search", "arguments": {"query": WORDS}}) == 200
        assert post("tools/call", {"name": WORDS, "arguments": {WORDS: WORDS}}) == 200
        assert post("tools/call", {"name": "read", "arguments": {"id": WORDS}}) == 200
        assert post(WORDS, {}) == 200
        assert post("ping", {}, Authorization=f"Bearer {secret}{WORDS}") == 401
        assert post("ping", {}, Host=f"{WORDS}.com") == 421
        assert post("ping", {}, **{"Mcp-Session-Id": WORDS}) == 404
        assert server.request("GET", f"/{WORDS}?{secret}", headers).status == 404
        server.exchange(f"{WORDS} {secret}\r\n\r\n".encode())
        with server.connect() as stream:  # one that is open does not keep it
            told = {**headers, "Host": server.name}
            stream.sendall("\r\n".join(["GET /mcp HTTP/1.1", *map(": ".join, told.items()), "", ""]).encode())
            assert stream.recv(65_536).startswith(b"HTTP/1.1 200")
            process.send_signal(signal.SIGTERM)
            out, rest = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == (0 if os.name == "posix" else 1)
    assert out == ""
    for hidden in (WORDS, secret, secret[8:20], headers["Mcp-Session-Id"]):
        assert hidden not in rest
    with Palace.open(palace, "read") as opened, opened.database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM drawer"))[0] == 1


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, without a palace."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PALAZZO_SERVICE", "off")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["0.0.0.0:0"], "palazzo token add"),
        (["127.0.0.1:0"], "palazzo token add"),
        (["nonsense:99999"], "highest is 65535"),
        (["--", "-1"], "does not resolve to an address of this machine"),
        (["127.0.0.1:0", "--profile", "x"], "Unknown profile 'x'; profiles: palazzo"),
        (["127.0.0.1:0", "--toolset", "x"], "Unknown toolset 'x'; toolsets: core"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert http_server.main(arguments) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert told in said
    assert not (home / ".local").exists()  # nothing is made by looking


def test_a_name_in_the_settings_that_is_none_is_said(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALAZZO_HTTP_HOSTS", "http://x")
    assert http_server.main(["127.0.0.1:0"]) == 2
    assert "http.hosts" in capsys.readouterr().err


def test_an_address_is_for_http_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Command(capsys)("mcp", "127.0.0.1:0")
    assert (ran.code, "--http" in ran.error) == (2, True)


def logged(message: str, *arguments: object, error: Exception | None = None) -> str:
    """What is written of a record."""
    where = (type(error), error, error.__traceback__) if error else None
    return Discreet().format(logging.LogRecord("mcp.x", logging.ERROR, __file__, 1, message, arguments, where))


def test_of_what_libraries_log_only_the_form_is_written() -> None:
    assert "tool %s failed" in logged("tool %s failed", WORDS)
    try:
        raise ValueError(WORDS)
    except ValueError as error:
        for told in (logged("tool %s failed", WORDS, error=error), logged(f"the {WORDS} crashed", error=error)):
            assert "ValueError" in told
            assert Path(__file__).name in told
            assert WORDS not in told
    assert WORDS not in logged(f"Task exception was never retrieved\nfuture: {WORDS}")


def test_who_starts_it_is_told_that_http_is_not_encrypted(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    around = Surroundings(tmp_path, {"HOME": str(tmp_path)}, path)
    with Palace.open(path) as open_palace, open_palace.database.transaction() as connection:
        token_rows.issue(connection, b"laptop's", "laptop", "read", Micros(1))

    def warnings(address: str) -> str:
        with contextlib.closing(bound(address)) as listening:
            server = HttpServer(listening, "palazzo", "core", around, in_a_thread)
            try:
                return " ".join(server.warnings())
            finally:
                server.close()

    assert warnings("127.0.0.1:0") == ""
    assert "not encrypted" in warnings("0.0.0.0:0")
