"""A git repository over HTTP, as hosts have them: git's own server program, behind a password."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.sync.shared import Place, git

from palazzo.errors import RemoteUnusable
from palazzo.model import Micros
from palazzo.sync import segment_sequence, segments
from palazzo.sync.remotes import Remote
from palazzo.sync.remotes.remote_factory import open_remote, resolve
from palazzo.sync.segments import Head, Series

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="these tests push with git")]

PASSWORD = "heron"
DEVICE = "a" * 32


class Hub(ThreadingHTTPServer):
    """Serves the repositories of a directory to whoever has the password."""

    daemon_threads = True

    def __init__(self, directory: Path) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.directory = directory
        self.answers: int | None = None
        """The status that it answers whatever it is asked, if it does."""
        self.answers_posts: int | None = None

    def url(self, who: str = f"me:{PASSWORD}@") -> str:
        return f"http://{who}127.0.0.1:{self.server_address[1]}/there"


class Asked(BaseHTTPRequestHandler):
    """One request, handed to `git http-backend` as CGI has it (RFC 3875)."""

    server: Hub

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self.server.answers = self.server.answers_posts or self.server.answers
        length = self.headers.get("Content-Length")
        self._answer(self.rfile.read(int(length)) if length else self._chunks())

    def _chunks(self) -> bytes:
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _answer(self, given: bytes) -> None:
        if self.server.answers is not None:
            self.send_error(self.server.answers)
            return
        known = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {known}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="hub"')
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        about = {
            "GIT_PROJECT_ROOT": str(self.server.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "me",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(given)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH": os.environ["PATH"],
        }
        said = subprocess.run(["git", "http-backend"], env=about, input=given, capture_output=True, check=True).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *given: object) -> None:  # noqa: A002 - as it is called there
        return


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place("git", tmp_path)
    git("config", "http.receivepack", "true", cwd=place.there)
    return place


@pytest.fixture
def hub(place: Place) -> Iterator[Hub]:
    with Hub(place.directory) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def remote(hub: Hub, url: str, cache: str = "cache") -> Remote:
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "no_proxy": "127.0.0.1"}
    return open_remote(resolve(url, hub.directory), hub.directory / cache, variables)


def told(remote: Remote, *lines: bytes, head: Head | None = None) -> Head | None:
    series = Series.continue_from("c" * 32, DEVICE, head)
    written = segments.write(lines, series, lambda: Micros(5))
    return remote.push(written, expected=head, ready=lambda _: None)


def test_what_is_pushed_over_http_is_read_over_http(hub: Hub) -> None:
    one, other = remote(hub, hub.url()), remote(hub, hub.url(), "other")
    assert one.introduce(b"{}") == b"{}"
    head = told(one, os.urandom(900_000).hex().encode(), b"2")  # more than git sends in one piece
    head = told(one, b"3", head=head)
    there = other.look()
    assert (there.about, there.heads[DEVICE]) == (b"{}", head)
    opened = segment_sequence.follow(
        lambda name: other.read(DEVICE, name), there.names[DEVICE], there.heads[DEVICE], None, "c" * 32
    )
    assert [line for some in opened for line in some.lines][1:] == [b"2", b"3"]


@pytest.mark.parametrize("who", ["", "me:wrong@"])
def test_without_the_right_password_it_is_one_sentence_without_the_wrong_one(hub: Hub, who: str) -> None:
    with pytest.raises(RemoteUnusable, match=r"git has no access to .*: set up its credentials") as refused:
        remote(hub, hub.url(who)).look()
    assert "wrong" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "sentence"), [(404, "There is no git repository"), (503, "503"), (403, "git has no access to")]
)
def test_what_a_server_refuses_is_one_sentence(hub: Hub, status: int, sentence: str) -> None:
    one = remote(hub, hub.url())
    head = told(one, b"1")
    hub.answers = status
    for attempt in (one.look, lambda: told(one, b"2", head=head)):
        with pytest.raises(RemoteUnusable, match=sentence) as refused:
            attempt()
        assert "\n" not in str(refused.value)
        assert PASSWORD not in str(refused.value)
    hub.answers = None
    assert told(one, b"2", head=head) is not None


def test_a_fetch_that_fails_on_its_way_costs_no_cache(hub: Hub) -> None:
    one, other = remote(hub, hub.url()), remote(hub, hub.url(), "other")
    head = told(one, b"1")
    other.look()
    told(one, b"2", head=head)
    kept = {path for path in (hub.directory / "other").rglob("*") if path.is_file()}
    hub.answers_posts = 500
    with pytest.raises(RemoteUnusable):
        other.look()
    hub.answers = hub.answers_posts = None
    assert kept <= set((hub.directory / "other").rglob("*"))
    assert other.look().heads[DEVICE].n == 2


def test_a_server_that_is_not_there_is_one_sentence(hub: Hub) -> None:
    url = hub.url()
    hub.shutdown()
    hub.server_close()
    with pytest.raises(RemoteUnusable, match="cannot be reached: check the network"):
        remote(hub, url).look()


def test_a_repository_that_takes_no_pushes_is_one_sentence_and_is_still_read(hub: Hub, place: Place) -> None:
    told(remote(hub, hub.url()), b"1")
    git("config", "http.receivepack", "false", cwd=place.there)
    one = remote(hub, hub.url(), "other")
    assert one.look().heads[DEVICE].n == 1
    with pytest.raises(RemoteUnusable, match="git has no access to"):
        told(one, b"2", head=one.look().heads[DEVICE])
