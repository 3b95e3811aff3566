"""A real embedding server on loopback that can be told to misbehave."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SERVED_DIMENSION = 8


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; `body` as it goes over the wire, `cut_off` to hang up half-way."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut_off: bool = False


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class EmbeddingServer(ThreadingHTTPServer):
    """Answers like OpenAI's endpoint: a vector per text, made of the text's hash, last text first.

    Answers put into `scripted` are given out first, one per request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []
        self.scripted: list[Answer] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(Request(self.path, dict(self.headers), body))
        answer = self.server.scripted.pop(0) if self.server.scripted else Answer(body=vectors_of(body["input"]))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body) + (100 if answer.cut_off else 0)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        pass


def vectors_of(texts: list[str]) -> bytes:
    vectors = [[byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:SERVED_DIMENSION]] for text in texts]
    entries = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": entries[::-1]}).encode()
