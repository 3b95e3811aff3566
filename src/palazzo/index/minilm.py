"""The embedding model that ships with Palazzo: all-MiniLM-L6-v2, 7-bit weights, ONNX Runtime.

This module runs the shipped files. `tools/build_model.py` describes how they are made, and why they use seven bits and
a separate weights file. It needs neither network nor a cache directory.

Each text is a run of its own. In a batch, the activations of all texts share one quantisation scale, so a text's vector
would depend on its neighbours (cosine down to 0.983 in the prototype). Batches would be faster, by 8 to 50 % depending
on the machine's other load (`benchmarks/embedder.py`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import TokenStates, well_formed
from palazzo.onnx_runtime import load_onnxruntime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DATA = Path(__file__).parent / "data"
GRAPH, TOKENIZER, VECTORS = "minilm-l6-v2-int7.onnx", "tokenizer.json", "sentence_embedding"
SHA256 = {
    GRAPH: "08345512f23412af2ac474d0f81dc7249978f338436725d5f93c5cce5411fb83",
    "minilm-l6-v2-int7.weights": "64cce74b00f8b9d8a0740a552ed1148cf4c2905a7075ca8717288779ad1a5fa5",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

STATES_GRAPH = "minilm-l6-v2-int7-states.onnx"
STATES_SHA256 = "dcd8231230ad6c39beb4e73c4131b621343f0d417f931b638f89017a2d82566c"
"""The same graph with one more output, the states of all tokens. Its vectors are those of `GRAPH`, bit for bit, and it
is not part of the fingerprint.
"""

DIMENSION = 384
MAX_TOKENS = 256  # what the model card says; the tokenizer file itself says 128
# Tokenising is linear in the whole text, and a pasted log can have a hundred megabytes. 256 tokens are about
# 1,000 characters of prose or code; only runs of blanks or words over a hundred letters come near this.
MAX_CHARACTERS = 16_384

FINGERPRINT = hashlib.sha256(repr((sorted(SHA256.items()), MAX_TOKENS, MAX_CHARACTERS)).encode()).hexdigest()
ONLY_FATAL = 4  # ONNX Runtime's log level: what goes wrong is raised, and a hook's stderr stays clean


class MiniLM:
    """The bundled `Embedder`. `threads` is the number of cores that one run may use; it does not change the vectors.

    The tokenizer drops NUL and other control characters. A text with nothing left gets the vector of the model's two
    special tokens alone.

    Raises EmbedderUnavailable when ONNX Runtime, the tokenizer or the model files cannot be loaded.
    """

    id = f"minilm-l6-v2-int7/{FINGERPRINT[:12]}"
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self, threads: int = 2, graph: Path | None = None) -> None:
        """Load the shipped graph, or, for measurements, another one made by `tools/build_model.py`."""
        if graph is not None:
            self.id = f"file:{graph.name}"
        self._session: Any = open_session(graph or DATA / GRAPH, threads)
        self._graph, self._threads = graph, threads
        self._has_states, self._lock = False, threading.Lock()
        self._tokenizer = open_tokenizer()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
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
                if self._graph is None and not has_hash(DATA / STATES_GRAPH, STATES_SHA256):
                    raise EmbedderUnavailable(f"{STATES_GRAPH} is missing or damaged; reinstall palazzo.")
                graph = self._graph or DATA / GRAPH
                session = self._session = open_session(graph.with_stem(f"{graph.stem}-states"), self._threads)
                self._has_states = True
            return session


def open_session(graph: Path, threads: int) -> Any:
    """Return an ONNX Runtime session on the CPU, which logs nothing and reports nothing."""
    onnxruntime = load_onnxruntime()
    onnxruntime.set_default_logger_severity(ONLY_FATAL)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ONLY_FATAL
    options.intra_op_num_threads = threads
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
            f"The embedding model {graph.name} cannot be loaded ({error}); reinstall palazzo."
        ) from error


def open_tokenizer() -> Tokenizer:
    """Return the model's tokenizer: cut at MAX_TOKENS, no padding (the file pads every text to 128)."""
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str((DATA / TOKENIZER).read_text("utf-8"))
    except Exception as error:  # a damaged file is a bare Exception of tokenizers
        raise EmbedderUnavailable(f"The tokenizer cannot be loaded ({error}); reinstall palazzo.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def damaged_files() -> list[str]:
    """Return the names of shipped files that are missing or not as released; takes a tenth of a second."""
    released = {**SHA256, STATES_GRAPH: STATES_SHA256}
    return [name for name, expected in released.items() if not has_hash(DATA / name, expected)]


def has_hash(path: Path, expected: str) -> bool:
    """Return whether the file exists and has this SHA-256."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == expected
    except OSError:
        return False
