"""The embedding model that ships with Palazzo: all-MiniLM-L6-v2, 7-bit weights.

`tools/build_model.py` describes how its files are made, and why they use seven bits and a separate weights file. It
needs neither network nor a cache directory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from palazzo.index.onnx_embedder import MAX_CHARACTERS, OnnxEmbedder, OnnxModel, has_hash

DATA = Path(__file__).parent / "data"
GRAPH, TOKENIZER = "minilm-l6-v2-int7.onnx", "tokenizer.json"
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

FINGERPRINT = hashlib.sha256(repr((sorted(SHA256.items()), MAX_TOKENS, MAX_CHARACTERS)).encode()).hexdigest()


class MiniLM(OnnxEmbedder):
    """The bundled `Embedder`."""

    id = f"minilm-l6-v2-int7/{FINGERPRINT[:12]}"

    def __init__(self, threads: int = 2, graph: Path | None = None) -> None:
        """Load the shipped graph, or, for measurements, another one made by `tools/build_model.py`."""
        model = OnnxModel(
            graph=graph or DATA / GRAPH,
            states_graph=DATA / STATES_GRAPH if graph is None else graph.with_stem(f"{graph.stem}-states"),
            states_sha256=STATES_SHA256 if graph is None else None,
            tokenizer=DATA / TOKENIZER,
            dimension=DIMENSION,
            max_tokens=MAX_TOKENS,
            package="palazzo",
        )
        super().__init__(type(self).id if graph is None else f"file:{graph.name}", model, threads)


def damaged_files() -> list[str]:
    """Return the names of shipped files that are missing or not as released; takes a tenth of a second."""
    released = {**SHA256, STATES_GRAPH: STATES_SHA256}
    return [name for name, expected in released.items() if not has_hash(DATA / name, expected)]
