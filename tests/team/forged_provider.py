"""An identity provider in the test's own process, whose every answer and token a test may forge."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

CLIENT = "palazzo"
Body = bytes | dict[str, Any]


@cache
def rsa_key() -> Any:
    """A key for all tests of a process: to make one takes a while."""
    return rsa.generate_private_key(65537, 2048)


def _new_key(algorithm: str) -> Any:
    is_curve = algorithm == "ES256"
    return ec.generate_private_key(ec.SECP256R1()) if is_curve else ed25519.Ed25519PrivateKey.generate()


@dataclass
class ForgedProvider:
    """Its address, its keys by id, and answers by path: a body, or several to be sent one after another."""

    issuer: str
    keys: dict[str, tuple[str, Any]] = field(default_factory=dict)
    answers: dict[str, tuple[int, list[Body]]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def add_key(self, key_id: str, algorithm: str = "ES256") -> None:
        self.keys[key_id] = (algorithm, rsa_key() if algorithm == "RS256" else _new_key(algorithm))

    def answer(self, path: str, *bodies: Body, status: int = 200) -> None:
        """Answer a path so, the last body from then on."""
        self.answers[path] = (status, list(bodies))

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(asked == path for asked, _ in self.requests)

    def sign(self, claims: dict[str, Any], key_id: str = "first", headers: dict[str, Any] | None = None) -> str:
        algorithm, key = self.keys[key_id]
        return jwt.encode(claims, key, algorithm, {"kid": key_id, **(headers or {})})

    def claims(self, nonce: str | None = None, **changes: Any) -> dict[str, Any]:
        """The claims of a good ID token, with changes; a change to None leaves one out."""
        now = int(time.time())
        good = {"iss": self.issuer, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 300, "nonce": nonce}
        email = {"email": "ada@example.org", "email_verified": True}
        return {name: value for name, value in {**good, **email, **changes}.items() if value is not None}

    def respond(self, path: str) -> tuple[int, Body]:
        if path in self.answers:
            status, bodies = self.answers[path]
            return status, bodies.pop(0) if len(bodies) > 1 else bodies[0]
        if path == "/.well-known/openid-configuration":
            names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "device_authorization_endpoint")
            paths = ("/authorize", "/token", "/keys", "/device")
            return 200, {"issuer": self.issuer, **dict(zip(names, (self.issuer + part for part in paths), strict=True))}
        if path == "/keys":
            return 200, {"keys": [self._public(key_id) for key_id in self.keys]}
        return 404, {"error": "not_found"}

    def _public(self, key_id: str) -> dict[str, Any]:
        algorithm, key = self.keys[key_id]
        values = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
        return {**values, "kid": key_id, "use": "sig"}


@contextmanager
def forging() -> Iterator[ForgedProvider]:
    provider = ForgedProvider("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            form = {name: values[0] for name, values in parse_qs(self.rfile.read(size).decode()).items()}
            provider.requests.append((self.path, form))
            status, body = provider.respond(self.path)
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            with suppress(OSError):  # who asked may have read enough
                self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
