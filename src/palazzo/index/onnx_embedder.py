"""Embedders whose model is an ONNX graph on this machine: one run a text, on the CPU, without a network.

A model has two graphs that share one file of weights. The first gives a text's vector; the second, which is loaded at
the first request for token states, gives the same vector and these. `tools/build_model.py` makes such graphs.

Each text is a run of its own. In a batch, the activations of all texts share one quantisation scale, so a text's vector
would depend on its neighbours (cosine down to 0.983 in the prototype). Batches would be faster, by 8 to 50 % depending
on the machine's other load (`benchmarks/embedder.py`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.index.embedder import TokenStates, well_formed
from palazzo.onnx_runtime import load_onnxruntime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

VECTORS = "sentence_embedding"
# Tokenising is linear in the whole text, and a pasted log can have a hundred megabytes. 256 tokens are about
# 1,000 characters of prose or code; only runs of blanks or words over a hundred letters come near this.
MAX_CHARACTERS = 16_384
ONLY_FATAL = 4  # ONNX Runtime's log level: what goes wrong is raised, and a hook's stderr stays clean


@frozen
class OnnxModel:
    """The files of a model and what they give. `package` is what to install again if they are damaged."""

    graph: Path
    states_graph: Path
    states_sha256: str | None
    """The hash of the second graph, which is checked before it is loaded; None for a graph that is being measured."""
    tokenizer: Path
    dimension: int
    max_tokens: int
    package: str


class OnnxEmbedder:
    """An `Embedder` that runs an `OnnxModel`. `threads` is the number of texts that run at once; it changes no vector.

    A text of which the tokenizer leaves nothing gets the vector of the model's special tokens alone.

    Raises EmbedderUnavailable when ONNX Runtime, the tokenizer or the model files cannot be loaded.
    """

    def __init__(self, name: str, model: OnnxModel, threads: int) -> None:
        self.id, self.dimension, self.max_tokens = name, model.dimension, model.max_tokens
        self._model, self._threads = model, threads
        self._session: Any = open_session(model.graph, model.package)
        self._has_states, self._lock = False, threading.Lock()
        self._tokenizer = open_tokenizer(model.tokenizer, model.max_tokens, model.package)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), np.float32)
        # The longest first: the last that runs, alone, is short.
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        if self._threads == 1 or len(texts) == 1:
            for row in order:
                vectors[row] = self.embed_query(texts[row])
            return vectors
        with ThreadPoolExecutor(self._threads, thread_name_prefix="palazzo-embed") as pool:
            for row, vector in zip(order, pool.map(lambda row: self.embed_query(texts[row]), order), strict=True):
                vectors[row] = vector
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        tokens = self._tokenizer.encode(well_formed(text[:MAX_CHARACTERS])).ids
        ids = np.array([tokens], np.int32)
        (vectors,) = self._open().run([VECTORS], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        vector: NDArray[np.float32] = vectors[0]
        return vector

    def embed_tokens(self, text: str) -> TokenStates:
        """Return the states of the tokens.

        The graph for it is loaded at the first call, and from then on also makes the vectors.
        """
        import numpy as np

        text = well_formed(text[:MAX_CHARACTERS])
        encoding = self._tokenizer.encode(text)
        ids = np.array([encoding.ids], np.int32)
        vectors, states = self._open_states().run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        spans = encoding.offsets
        places = [n for n, (start, end) in enumerate(spans) if start < end]
        words = [n for n in places if any(map(str.isalnum, text[slice(*spans[n])]))]
        chosen = words or places or [0]
        rows = states[0][chosen]
        return TokenStates(vectors[0], [spans[n] for n in chosen], rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def close(self) -> None:
        with self._lock:
            self._session = None

    def _open(self) -> Any:
        session = self._session
        if session is None:
            raise EmbedderUnavailable("This embedder was closed; open a new one.")
        return session

    def _open_states(self) -> Any:
        with self._lock:
            session = self._open()
            if not self._has_states:
                model = self._model
                if model.states_sha256 is not None and not has_hash(model.states_graph, model.states_sha256):
                    raise EmbedderUnavailable(
                        f"{model.states_graph.name} is missing or damaged; reinstall {model.package}."
                    )
                session = self._session = open_session(model.states_graph, model.package)
                self._has_states = True
            return session


def open_session(graph: Path, package: str = "palazzo", cores: int = 1) -> Any:
    """Return an ONNX Runtime session on the CPU, which logs nothing and reports nothing.

    A run uses one core: two runs at once take 9 % less processor time than two cores for each in turn.
    """
    onnxruntime = load_onnxruntime()
    onnxruntime.set_default_logger_severity(ONLY_FATAL)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ONLY_FATAL
    options.intra_op_num_threads = cores
    options.inter_op_num_threads = 1
    # By default threads burn a core while they wait for each other. On two cores shared with other work that
    # halved throughput (17 texts a second against 34), doubled the processor time per text and nearly tripled
    # the p95 of a query; in the best rounds, when the cores were free, it was 5 to 8 % faster.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        # Resolved because the weights are looked for beside the graph, and some installers link single files.
        return onnxruntime.InferenceSession(str(graph.resolve()), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's exceptions share no base of their own
        raise EmbedderUnavailable(
            f"The embedding model {graph.name} cannot be loaded ({error}); reinstall {package}."
        ) from error


def open_tokenizer(path: Path, max_tokens: int, package: str = "palazzo") -> Tokenizer:
    """Return a model's tokenizer: cut at `max_tokens`, no padding, whatever its file says."""
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(path.read_text("utf-8"))
    except Exception as error:  # a damaged file is a bare Exception of tokenizers
        raise EmbedderUnavailable(f"The tokenizer cannot be loaded ({error}); reinstall {package}.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def has_hash(path: Path, expected: str) -> bool:
    """Return whether the file exists and has this SHA-256."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == expected
    except OSError:
        return False
