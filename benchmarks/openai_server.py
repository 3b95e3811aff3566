"""Serve a MiniLM graph on loopback as OpenAI's `/v1/embeddings`, so that a peer embeds with the same weights.

    python tools/build_model.py --variant fp32 --out DIR
    python benchmarks/openai_server.py DIR/minilm-l6-v2-fp32.onnx [--port N] [--threads N]

Prints the port, then answers until it is stopped. A request's texts are one batch, or several of similar length
when they are many, because that is the fastest a peer can get. Use it with the float32 graph: integer vectors
depend on their batch. Request bodies need `Content-Length`. Standard library and what Palazzo itself depends on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palazzo.index.embedder import well_formed
from palazzo.index.minilm import DATA, DIMENSION, MAX_TOKENS, TOKENIZER
from palazzo.index.onnx_embedder import open_session, open_tokenizer

MODEL = "all-MiniLM-L6-v2"
TOKENS_PER_RUN = 4096  # padding included; the prototype's value, not tuned


class BatchingModel:
    """MiniLM on many texts at once, padded to the longest of a run."""

    def __init__(self, graph: Path, threads: int) -> None:
        self._session = open_session(graph, cores=threads)
        self._tokenizer = open_tokenizer(DATA / TOKENIZER, MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Return vectors (len(texts), 384) and how many tokens were read."""
        tokens = [self._tokenizer.encode(well_formed(text)).ids for text in texts]
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for rows in runs(tokens):
            ids, mask = padded([tokens[row] for row in rows])
            vectors[rows] = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors, sum(map(len, tokens))


def runs(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group row numbers by length, each group within TOKENS_PER_RUN once padded."""
    rows: list[int] = []
    for row in sorted(range(len(tokens)), key=lambda row: len(tokens[row])):
        if rows and len(tokens[row]) * (len(rows) + 1) > TOKENS_PER_RUN:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def padded(tokens: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return ids and mask, both (rows, longest)."""
    shape = len(tokens), max(map(len, tokens))
    ids, mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for row, part in enumerate(tokens):
        ids[row, : len(part)] = part
        mask[row, : len(part)] = 1
    return ids, mask


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, model: BatchingModel) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.model = model


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open, as a real server does
    server: Server

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self.answer(404, {"error": {"message": f"nothing at {self.path}"}})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/embeddings":
            self.answer(404, {"error": {"message": f"nothing at {self.path}"}})
            return
        try:
            asked = json.loads(content)["input"]
            texts = [asked] if isinstance(asked, str) else [str(text) for text in asked]
        except (ValueError, KeyError, TypeError) as error:
            self.answer(400, {"error": {"message": f"no input: {error!r}"}})
            return
        vectors, tokens = self.server.model.embed(texts)
        data = [
            {"object": "embedding", "index": row, "embedding": vector} for row, vector in enumerate(vectors.tolist())
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self.answer(200, {"object": "list", "model": MODEL, "data": data, "usage": usage})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Serve a MiniLM graph as an OpenAI-compatible embedding server.")
    parser.add_argument("graph", type=Path, help="an .onnx file made by tools/build_model.py")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--threads", type=int, default=2, help="cores for one run (default: 2)")
    chosen = parser.parse_args(arguments)
    server = Server(chosen.port, BatchingModel(chosen.graph, chosen.threads))
    print(server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
