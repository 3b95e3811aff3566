"""The seam between Palazzo and whatever turns text into vectors.

Owns the contract, nothing else: `minilm` is the model that ships, `openai_compatible` a server the user chose,
`choose.open_embedder` picks one. Importing this package loads neither NumPy nor ONNX Runtime; opening does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder", "well_formed"]


class Embedder(Protocol):
    """Turns texts into vectors of length one, so that a dot product is a cosine.

    A vector depends on its own text alone: not on its neighbours in a call, nor on how often or from which
    thread it is asked for. Any string has a vector: empty, with NUL, with lone surrogates (read as
    `well_formed` writes them) or longer than the model reads. Every method may be called from several threads.

    Raises `palazzo.errors.EmbedderUnavailable` when no vector can be made, and after `close`.
    """

    @property
    def id(self) -> str:
        """Model, variant and fingerprint: two embedders with one id make the same vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How much of a text is read, in tokens of the model, its own marks included; the rest is ignored."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a float32 array (len(texts), dimension) whose rows have length one, in the order given."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector (dimension,) to search with."""
        ...

    def close(self) -> None:
        """Let go of the model or connection. Closing twice is allowed."""
        ...


def well_formed(text: str) -> str:
    """Return `text` as Unicode that can be encoded: surrogate pairs joined, lone surrogates as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
