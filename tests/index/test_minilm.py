"""The bundled model: the shipped files make what the published weights make."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from palazzo.errors import EmbedderUnavailable
from palazzo.index import minilm
from palazzo.index.minilm import DATA, GRAPH, SHA256, MiniLM, damaged_files

Vectors = NDArray[np.float32]


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLM]:
    opened = MiniLM()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def reference() -> tuple[list[str], Vectors]:
    """Texts and their float32 vectors, as `make_reference.py` wrote them."""
    entries = json.loads(Path(__file__).with_name("reference.json").read_text("utf-8"))["entries"]
    vectors = [np.frombuffer(base64.b64decode(entry["vector"]), "<f4") for entry in entries]
    return [entry["text"] for entry in entries], np.array(vectors)


@pytest.fixture(scope="module")
def shipped(model: MiniLM, reference: tuple[list[str], Vectors]) -> Vectors:
    return model.embed(reference[0])


def nearest(vectors: Vectors) -> NDArray[np.intp]:
    """For each vector, the others from the most to the least similar."""
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -np.inf)
    return np.argsort(-similar, axis=1)


def test_vectors_are_close_to_the_published_weights(reference: tuple[list[str], Vectors], shipped: Vectors) -> None:
    cosines = (reference[1] * shipped).sum(axis=1)
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.97


def test_neighbours_are_those_of_the_published_weights(reference: tuple[list[str], Vectors], shipped: Vectors) -> None:
    wanted, found = nearest(reference[1])[:, :2], nearest(shipped)[:, 0]
    first, second = ((reference[1] * reference[1][column]).sum(axis=1) for column in wanted.T)
    agree = wanted[:, 0] == found
    assert agree[first - second > 0.05].all()
    assert agree.mean() >= 0.9


def test_a_question_finds_its_answer(model: MiniLM, reference: tuple[list[str], Vectors]) -> None:
    """The reference opens with seven questions, each followed by its answer."""
    texts = reference[0]
    vectors = model.embed(texts)
    for question in range(0, 14, 2):
        others = [row for row in range(len(texts)) if row % 2 or row > 13]
        best = max(others, key=lambda row: float(vectors[question] @ vectors[row]))
        assert texts[best] == texts[question + 1]


def test_vectors_repeat_to_the_bit(model: MiniLM, reference: tuple[list[str], Vectors], shipped: Vectors) -> None:
    for _ in range(3):
        assert np.array_equal(model.embed(reference[0]), shipped)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_vectors_do_not_depend_on_threads(reference: tuple[list[str], Vectors], shipped: Vectors, threads: int) -> None:
    assert np.array_equal(MiniLM(threads).embed(reference[0]), shipped)


def test_vectors_are_the_same_in_another_process(reference: tuple[list[str], Vectors], shipped: Vectors) -> None:
    code = (
        "import sys, json; from palazzo.index.minilm import MiniLM;"
        "sys.stdout.buffer.write(MiniLM(1).embed(json.load(sys.stdin)).tobytes())"
    )
    texts = json.dumps(reference[0]).encode()
    run = subprocess.run([sys.executable, "-c", code], input=texts, capture_output=True, check=True)
    assert run.stdout == shipped.tobytes()
    assert run.stderr == b""


def test_256_tokens_are_read(model: MiniLM) -> None:
    """254 words of one token each, and the model's two marks."""
    full = model.embed_query("cat " * 254)
    assert np.array_equal(model.embed_query("cat " * 255), full)
    assert not np.array_equal(model.embed_query("cat " * 253), full)


def test_what_the_tokenizer_drops_counts_as_nothing(model: MiniLM) -> None:
    nothing = model.embed_query("")
    for text in ("\0", "\ud800", "\ufffd", " \t\n"):
        assert np.array_equal(model.embed_query(text), nothing)
    assert np.array_equal(model.embed_query("be\0fore\udfff"), model.embed_query("before"))


def test_the_marks_of_the_model_in_a_text_do_no_harm(model: MiniLM) -> None:
    assert np.linalg.norm(model.embed_query("[SEP] [PAD] [CLS]" * 200)) == pytest.approx(1, abs=1e-5)


def test_the_shipped_files_are_those_released() -> None:
    assert damaged_files() == []
    notice = (DATA / "NOTICE").read_text("utf-8")
    assert all(digest in notice and name in notice for name, digest in SHA256.items())


def test_the_id_names_the_variant_and_the_files(model: MiniLM) -> None:
    name, _, fingerprint = model.id.partition("/")
    assert name == Path(GRAPH).stem
    assert int(fingerprint, 16)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped files in a place where they may be damaged."""
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    monkeypatch.setattr(minilm, "DATA", folder)
    return folder


@pytest.mark.parametrize("name", SHA256)
def test_a_missing_file_is_a_clear_error(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert damaged_files() == [name]
    with pytest.raises(EmbedderUnavailable, match="reinstall palazzo"):
        MiniLM()


@pytest.mark.parametrize("name", SHA256)
def test_a_file_cut_short_is_a_clear_error(copy: Path, name: str) -> None:
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    assert damaged_files() == [name]
    with pytest.raises(EmbedderUnavailable, match="reinstall palazzo"):
        MiniLM()


def test_a_flipped_bit_is_found(copy: Path) -> None:
    path = copy / "minilm-l6-v2-int7.weights"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert damaged_files() == [path.name]


def test_files_that_are_links_load(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shipped: Vectors, reference: tuple[list[str], Vectors]
) -> None:
    """As some installers leave them: each file a link into a cache."""
    links = tmp_path / "links"
    links.mkdir()
    for name in SHA256:
        try:
            (links / name).symlink_to(copy / name)
        except OSError:
            pytest.skip("links need a privilege here")
    monkeypatch.setattr(minilm, "DATA", links)
    assert np.array_equal(MiniLM().embed(reference[0][:3]), shipped[:3])
