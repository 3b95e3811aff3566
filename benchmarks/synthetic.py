"""Synthetic vectors: a function of a text's hash, clustered as real ones are, for palaces too large to embed.

Embedding a million texts takes hours, so `make_palace.py` records these instead. Recall is never measured on
them, only time and memory. Their geometry is that of sentence vectors as far as a scan
can tell: unit length, clusters with a cosine of about 0.6 inside and 0 between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384
CLUSTERS = 512
_POOL = 1 << 14
_CENTRE_SHARE = 0.77
"""Length of a vector along its cluster's centre: two of one cluster have a cosine of its square, 0.6."""


class SyntheticVectors:
    """An `Embedder` that reads no model: equal texts get equal vectors, on every machine with this NumPy."""

    id = "synthetic-clusters/1"
    dimension = DIMENSION
    max_tokens = 256

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self._centres = _unit(rng.standard_normal((CLUSTERS, DIMENSION), dtype=np.float32))
        self._pool = rng.standard_normal((_POOL, DIMENSION), dtype=np.float32) / np.float32(DIMENSION**0.5)

    def of_hashes(self, hashes: Sequence[bytes]) -> NDArray[np.float32]:
        """Return (n, DIMENSION) unit vectors for the 16-byte hashes of texts."""
        numbers = np.frombuffer(b"".join(hashes), dtype="<u4").reshape(len(hashes), 4)
        noise = _unit(self._pool[numbers[:, 1] % _POOL] + self._pool[numbers[:, 2] % _POOL])
        centres = self._centres[numbers[:, 0] % CLUSTERS]
        return _unit(_CENTRE_SHARE * centres + np.float32((1 - _CENTRE_SHARE**2) ** 0.5) * noise)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text."""
        return self.of_hashes([_hash(text) for text in texts]) if texts else np.empty((0, DIMENSION), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def close(self) -> None:
        """Nothing to let go of."""


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
