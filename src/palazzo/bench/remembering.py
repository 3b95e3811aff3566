"""An embedder that remembers on disk what it has embedded, so that an interrupted benchmark goes on where it was."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palazzo import paths
from palazzo.embed import Embedder

_HASH = 16


class Remembering:
    """Wraps an embedder. The file is records of a hash and a vector; several processes may append to it."""

    def __init__(self, embedder: Embedder, directory: Path) -> None:
        self._embedder = embedder
        self._size = _HASH + 4 * embedder.dimension
        paths.make_private_directory(directory)
        self._file = directory / f"{hashlib.sha256(embedder.id.encode()).hexdigest()[:16]}.vectors"
        self._known: dict[bytes, NDArray[np.float32]] = {}
        if self._file.exists():
            data = self._file.read_bytes()
            for start in range(0, len(data) - self._size + 1, self._size):
                record = data[start : start + self._size]
                self._known[record[:_HASH]] = np.frombuffer(record[_HASH:], dtype=np.float32)

    @property
    def id(self) -> str:
        """The wrapped embedder's."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """The wrapped embedder's."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """The wrapped embedder's."""
        return self._embedder.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the texts' vectors, making those that are not known."""
        keys = [hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=_HASH).digest() for t in texts]
        new = [n for n, key in enumerate(keys) if key not in self._known]
        if new:
            made = self._embedder.embed([texts[n] for n in new])
            with self._file.open("ab", buffering=0) as stream:
                for n, vector in zip(new, made, strict=True):
                    self._known[keys[n]] = vector
                    stream.write(keys[n] + vector.astype(np.float32).tobytes())
        return np.stack([self._known[key] for key in keys]) if keys else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Ask the wrapped embedder: a question's time is measured."""
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """Close the wrapped embedder."""
        self._embedder.close()
