"""An embedder whose tokens are words: the state of a word is its direction, so two words match if they are the same."""

from __future__ import annotations

import re

import numpy as np
from tests.index.hashed_words import HashedWords

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import TokenStates


class WordedTokens(HashedWords):
    """A `TokenEmbedder`. `read` are the texts whose tokens were asked for; it has those of `states_left` more texts."""

    def __init__(self, name: str = "worded-tokens", dimension: int = 96) -> None:
        super().__init__(name, dimension)
        self.read: list[str] = []
        self.states_left: int | None = None

    def embed_tokens(self, text: str) -> TokenStates:
        """Return a row for each word; of a text without words, one row for its vector."""
        if self.states_left is not None:
            if not self.states_left:
                raise EmbedderUnavailable("The graph of the token states is missing.")
            self.states_left -= 1
        self.read.append(text)
        words = list(re.finditer(r"\w+", text))
        states = [self._vector(word[0]) for word in words] or [self._vector(text)]
        return TokenStates(self._vector(text), [word.span() for word in words] or [(0, 0)], np.stack(states))
