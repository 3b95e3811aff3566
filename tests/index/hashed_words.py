"""An embedder without a model: a bag of words, each hashed to a direction. Texts that share words are near."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class HashedWords:
    """An `Embedder` that is a function of a text's words alone. `fails_after` texts it stops, as a killed one does."""

    max_tokens = 1_000_000

    def __init__(self, name: str = "hashed-words", dimension: int = 96) -> None:
        self.id, self.dimension = f"{name}/{dimension}", dimension
        self.embedded: list[str] = []
        self.closed = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of length one for each text."""
        self.embedded.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        return self._vector(text)

    def close(self) -> None:
        """Nothing is held; remember that it was called."""
        self.closed = True

    def _vector(self, text: str) -> NDArray[np.float32]:
        total = np.full(self.dimension, 1e-3, dtype=np.float64)
        for word in re.findall(r"\w+", text.lower()):
            seed = int.from_bytes(hashlib.blake2b(f"{self.id} {word}".encode(), digest_size=8).digest())
            total += np.random.default_rng(seed).standard_normal(self.dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)
