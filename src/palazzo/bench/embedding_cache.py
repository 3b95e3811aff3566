"""Embedding cache: an embedder that stores its vectors on disk, so that an interrupted benchmark can continue."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from palazzo import paths
from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.index.embedder import Embedder, TokenEmbedder, TokenStates

_HASH = 16
_AT_ONCE = 64
"""Texts between two writes: the most that an interruption can lose."""
_UNIT = 0.01
"""Maximum deviation of a vector's length from one. A record left empty by a lost disk block is computed again."""


@frozen
class _Record:
    file: int
    start: int


class CachingEmbedder:
    """Wraps an embedder, and closes it. `made` and `reused` count texts.

    The directory contains files of records, each with a text's hash and its vector. A process reads all files and adds
    its own file, so several processes may work at once. A record left incomplete by a kill is at the end of a file to
    which no process appends again.
    """

    def __init__(self, embedder: Embedder, directory: Path) -> None:
        self._embedder = embedder
        self.id, self.dimension, self.max_tokens = embedder.id, embedder.dimension, embedder.max_tokens
        self.made = self.reused = 0
        self._size = _HASH + 4 * embedder.dimension
        self._own = directory / hashlib.sha256(embedder.id.encode()).hexdigest()[:16]
        self._known: dict[bytes, _Record] = {}
        self._files: list[BinaryIO] = []
        self._writing: BinaryIO | None = None
        self._lock = threading.Lock()
        paths.make_private_directory(self._own)
        for path in sorted(self._own.glob("*.vectors")):
            self._read(path)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the texts' vectors; compute those that are not known."""
        parts = [self._embed_batch(texts[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Call the wrapped embedder: a query's time is measured."""
        return self._embedder.embed_query(text)

    def embed_tokens(self, text: str) -> TokenStates:
        """Call the wrapped embedder, if its model tells token states."""
        if not isinstance(self._embedder, TokenEmbedder):
            raise EmbedderUnavailable(f"{self.id} has no token states.")
        return self._embedder.embed_tokens(text)

    def close(self) -> None:
        """Close the files and the wrapped embedder."""
        for stream in [*self._files, *([self._writing] if self._writing else [])]:
            stream.close()
        self._files, self._known, self._writing = [], {}, None
        self._embedder.close()

    def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest() for text in texts]
        with self._lock:
            vectors_by_key = {
                key: vector for key in dict.fromkeys(keys) if (vector := self._read_vector(key)) is not None
            }
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors_by_key}
            if new:
                vectors = np.asarray(self._embedder.embed(list(new.values())), np.float32)
                vectors_by_key.update(zip(new, vectors, strict=True))
                self._keep(list(new), vectors)
            self.made, self.reused = self.made + len(new), self.reused + len(texts) - len(new)
        return np.stack([vectors_by_key[key] for key in keys])

    def _read_vector(self, key: bytes) -> NDArray[np.float32] | None:
        record = self._known.get(key)
        if record is None:
            return None
        stream = self._files[record.file]
        stream.seek(record.start + _HASH)
        vector = np.frombuffer(stream.read(self._size - _HASH), np.float32)
        return vector if abs(float(np.linalg.norm(vector)) - 1) < _UNIT else None

    def _keep(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        if self._writing is None:
            path = self._own / f"{time.time_ns()}-{os.getpid()}.vectors"
            self._writing = path.open("xb", buffering=0)
            self._files.append(path.open("rb"))
        start = self._writing.tell()
        self._writing.write(b"".join(key + vector.tobytes() for key, vector in zip(keys, vectors, strict=True)))
        for n, key in enumerate(keys):
            self._known[key] = _Record(len(self._files) - 1, start + n * self._size)

    def _read(self, path: Path) -> None:
        stream = path.open("rb")
        self._files.append(stream)
        for start in range(0, path.stat().st_size - self._size + 1, self._size):
            stream.seek(start)
            self._known[stream.read(_HASH)] = _Record(len(self._files) - 1, start)
