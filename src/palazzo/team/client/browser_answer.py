"""The listener on this machine to which a provider sends the browser back, with a code (RFC 8252, section 7.3).

It has a random port of 127.0.0.1, and accepts one answer: to the sign-on that it was made for, by its `state`. Another
page that guesses the port is refused, and changes nothing. No text of the provider is put into a page.
"""

from __future__ import annotations

import hmac
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from palazzo.frozen_class import frozen
from palazzo.team.protocol import CALLBACK

_PATIENCE = 10.0
"""Seconds that a connection may stay silent."""
_LONGEST_CODE = 4_096
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Palazzo</title>
<body style="font-family: sans-serif; margin: 3em"><h1>Palazzo</h1><p>{}</p></body></html>
"""
_ANSWERED_PAGE = "The provider has answered. You can close this page; the terminal says how it went."
_FOREIGN_PAGE = "This is no answer to the sign-on that Palazzo waits for. Nothing has changed."


@frozen
class BrowserAnswer:
    """What the provider answered: a code, or an error."""

    code: str
    error: str


class Listener:
    """Waits for one answer with this state. Close it, or use `with`."""

    def __init__(self, state: str, issuer: str) -> None:
        self._state, self._issuer = state, issuer
        self._answers: queue.Queue[BrowserAnswer] = queue.Queue()
        listener = self

        class Handler(_Handler):
            owner = listener

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}{CALLBACK}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="palazzo-sign-on")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> BrowserAnswer | None:
        """Return the answer; None if there is none within this time."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def read(self, path: str) -> BrowserAnswer | None:
        """Return what a request says; None if it does not belong to this sign-on."""
        parts = urlsplit(path)
        try:
            values = parse_qs(parts.query, max_num_fields=20)
        except ValueError:
            return None
        if parts.path != CALLBACK or any(len(texts) > 1 for texts in values.values()):
            return None
        state, code, error, issuer = (values.get(name, [""])[0] for name in ("state", "code", "error", "iss"))
        is_own = hmac.compare_digest(state.encode("utf-8", "replace"), self._state.encode())
        is_from_issuer = issuer in ("", self._issuer)  # RFC 9207: another provider's code is not for this one
        if not (is_own and is_from_issuer and (code or error) and len(code) <= _LONGEST_CODE):
            return None
        return BrowserAnswer(code, error)

    def accept(self, answer: BrowserAnswer) -> None:
        """Take an answer for `wait`."""
        self._answers.put(answer)


class _Handler(BaseHTTPRequestHandler):
    owner: Listener
    timeout = _PATIENCE
    server_version, sys_version = "Palazzo", ""

    def do_GET(self) -> None:
        """Take the provider's answer, and say in the browser that it came."""
        answer = self.owner.read(self.path)
        page = _PAGE.format(_FOREIGN_PAGE if answer is None else _ANSWERED_PAGE).encode()
        self.send_response(400 if answer is None else 200)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": str(len(page)),
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "Connection": "close",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(page)
        finally:
            if answer is not None:
                self.owner.accept(answer)

    def log_message(self, *_: Any) -> None:
        """Write nothing: a request has the code in it."""
