"""What every Embedder promises, run against each implementation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import assert_type

import numpy as np
import pytest
from tests.index.embedding_server import EmbeddingServer

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import Embedder, well_formed
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder

TEXTS = [
    "We chose PostgreSQL because the reports need window functions.",
    "def retry(call, times=3): ...",
    "Wir haben die Frist auf Freitag verschoben.",
    "ship it",
]
AWKWARD = {
    "empty": "",
    "blank": " \n\t ",
    "NUL": "before\0after",
    "only NUL": "\0",
    "lone high surrogate": "cut \ud83d",
    "lone low surrogate": "\ude00 cut",
    "surrogate pair": "\ud83d\ude00",
    "emoji": "👩‍👩‍👧 🏛️",
    "right to left": "שלום עולם \u202e abc",
    "one endless word": "a" * 100_000,
    "far too long": "memory " * 50_000,
    "the model's own marks": "[CLS] [SEP] [MASK] [PAD]",
    "noncharacters": "\uffff\ufffe\U0010ffff",
}


@pytest.fixture(params=["bundled", "openai", "granite"])
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer) -> Iterator[Embedder]:
    specs = {
        "bundled": EmbedderSpec(),
        "openai": EmbedderSpec(kind="openai", base_url=server.url, model="hash"),
        "granite": EmbedderSpec(kind="granite"),
    }
    if request.param == "granite" and find_spec("palazzo_granite") is None:
        pytest.skip("palazzo-granite is not installed (tools/build_granite.py builds it)")
    opened = open_embedder(specs[request.param])
    assert_type(opened, Embedder)
    yield opened
    opened.close()


def test_one_unit_row_per_text_in_order(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.array_equal(embedder.embed([text])[0], vector)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.dimension)
    assert vectors.dtype == np.float32


def test_a_query_is_one_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query(TEXTS[0])
    assert vector.shape == (embedder.dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    first = embedder.embed(TEXTS)
    assert np.array_equal(embedder.embed(TEXTS[::-1])[::-1], first)
    assert np.array_equal(embedder.embed(TEXTS * 40)[-len(TEXTS) :], first)


def test_threads_may_share_it(embedder: Embedder) -> None:
    alone = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for together in pool.map(embedder.embed, [TEXTS] * 8):
            assert np.array_equal(together, alone)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_string_has_a_vector(embedder: Embedder, text: str) -> None:
    vector = embedder.embed_query(text)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(vector, embedder.embed_query(well_formed(text)))


def test_the_end_of_a_long_text_is_not_read(embedder: Embedder) -> None:
    long = "memory " * 10_000
    assert np.array_equal(embedder.embed_query(long), embedder.embed_query(long + "and a different end"))


def test_it_is_named_and_measured(embedder: Embedder) -> None:
    assert embedder.id.isprintable()
    assert embedder.id == embedder.id.strip()
    assert embedder.dimension > 0
    assert embedder.max_tokens > 0


def test_once_closed_it_says_so(embedder: Embedder) -> None:
    embedder.close()
    embedder.close()
    with pytest.raises(EmbedderUnavailable, match="open a new one"):
        embedder.embed(["late"])
    with pytest.raises(EmbedderUnavailable, match="open a new one"):
        embedder.embed_query("late")


def test_well_formed_joins_pairs_and_replaces_lone_surrogates() -> None:
    assert well_formed("plain é 😀") == "plain é 😀"
    assert well_formed("\ud83d\ude00") == "😀"
    assert well_formed("a\ud83db\ude00") == "a\ufffdb\ufffd"


def test_importing_the_package_loads_no_model_library() -> None:
    """A hook pays for NumPy (60 ms) only when it embeds."""
    code = (
        "import sys, palazzo.index.embedder_choice; print(*({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
