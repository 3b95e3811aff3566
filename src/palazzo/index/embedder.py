"""The interface between Palazzo and whatever turns text into vectors.

This package defines the contract and nothing else: `minilm` is the model that ships with Palazzo, `openai_compatible` a
server that the user chose, and `embedder_choice.open_embedder` selects one. Importing this package loads neither NumPy
nor ONNX Runtime; opening an embedder does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from palazzo.text.surrogates import well_formed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedder", "TokenEmbedder", "TokenStates", "well_formed"]


class Embedder(Protocol):
    """Converts texts to vectors of length one, so that a dot product is a cosine.

    A vector depends only on its own text: not on the other texts in a call, the number of requests, or the thread.
    Every string has a vector: an empty one, one with NUL, one with lone surrogates (read as `well_formed` writes them),
    or one that is longer than the model reads. Every method may be called from several threads.

    Raises `palazzo.errors.EmbedderUnavailable` when no vector can be made, and after `close`.
    """

    @property
    def id(self) -> str:
        """Return model, variant and fingerprint: two embedders with the same id make the same vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of every vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are read, including the model's special tokens; the rest is ignored."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a float32 array (len(texts), dimension) whose rows have length one, in the order given."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector (dimension,) to search with."""
        ...

    def close(self) -> None:
        """Release the model or the connection. Closing twice is allowed."""
        ...


class TokenStates(NamedTuple):
    """A text as the model read it: its vector, and the places and states of its tokens without punctuation."""

    vector: NDArray[np.float32]
    """The vector that `embed_query` returns."""
    spans: list[tuple[int, int]]
    """Where each token begins and ends, in code points of the text as `well_formed` writes it."""
    states: NDArray[np.float32]
    """(tokens, dimension); every row has length one, and there is at least one."""


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder whose model also returns the states of a text's tokens."""

    def embed_tokens(self, text: str) -> TokenStates:
        """Return the states of the tokens that the model reads.

        Raises EmbedderUnavailable if they cannot be made, although vectors can, and after `close`.
        """
        ...
