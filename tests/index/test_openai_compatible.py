"""What goes over the wire to an embedding server, and what happens when it misbehaves."""

from __future__ import annotations

import json
import socket

import numpy as np
import pytest
from tests.index.embedding_server import SERVED_DIMENSION, Answer, EmbeddingServer

from palazzo.errors import EmbedderUnavailable, TextRefused
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.index.openai_compatible import FIRST_PAUSE, LONGEST_PAUSE, TEXTS_PER_REQUEST, TRIES, OpenAICompatible


class Pauses(list[float]):
    """A clock that remembers how long it was told to wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def client(server: EmbeddingServer, pauses: Pauses | None = None, **options: object) -> OpenAICompatible:
    settings = {"base_url": server.url, "model": "tiny", "pause": Pauses() if pauses is None else pauses}
    return OpenAICompatible(**{**settings, **options})  # type: ignore[arg-type]


def served(*vectors: list[float] | None) -> Answer:
    entries = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Answer(body=json.dumps({"data": entries}).encode())


def test_the_request_is_openai_s(server: EmbeddingServer) -> None:
    client(server, api_key="sk-secret").embed(["one", "two"])
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "tiny", "input": ["one", "two"], "encoding_format": "float"}
    assert request.headers["Authorization"] == "Bearer sk-secret"
    assert request.headers["Content-Type"] == "application/json"


def test_without_a_key_none_is_sent(server: EmbeddingServer) -> None:
    client(server).embed(["one"])
    assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        ("", "/v1/embeddings"),
        ("/", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/v1/", "/v1/embeddings"),
        ("/api/v3", "/api/v3/embeddings"),
        ("/v1/embeddings", "/v1/embeddings"),
        ("/openai?api-version=1", "/openai/embeddings?api-version=1"),
    ],
)
def test_the_address_is_completed(server: EmbeddingServer, suffix: str, path: str) -> None:
    client(server, base_url=server.url.removesuffix("/v1") + suffix).embed(["one"])
    assert server.requests[0].path == path


def test_many_texts_go_in_batches_and_come_back_in_order(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(2 * TEXTS_PER_REQUEST + 1)]
    vectors = client(server).embed(texts)
    assert [len(request.body["input"]) for request in server.requests] == [TEXTS_PER_REQUEST] * 2 + [1]
    assert np.array_equal(vectors[70], client(server).embed_query("text 70"))


def test_the_id_names_host_model_and_dimension(server: EmbeddingServer) -> None:
    host = f"127.0.0.1:{server.server_address[1]}"
    with_password = server.url.replace("http://", "http://me:pass@")
    assert client(server).id == f"openai:{host}/tiny/{SERVED_DIMENSION}"
    assert client(server, base_url=with_password, dimension=5).id == f"openai:{host}/tiny/5"


def test_a_known_dimension_is_not_asked_for(server: EmbeddingServer) -> None:
    assert client(server, dimension=SERVED_DIMENSION).dimension == SERVED_DIMENSION
    assert server.requests == []


def test_another_dimension_than_the_first_is_refused(server: EmbeddingServer) -> None:
    embedder = client(server)
    embedder.embed(["one"])
    server.scripted = [served([1.0, 2.0])]
    with pytest.raises(EmbedderUnavailable, match="2 dimensions instead of 8"):
        embedder.embed(["two"])


def test_another_dimension_than_configured_is_refused(server: EmbeddingServer) -> None:
    with pytest.raises(EmbedderUnavailable, match="8 dimensions instead of 5"):
        client(server, dimension=5).embed(["one"])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_refusal_is_tried_again_with_growing_pauses(server: EmbeddingServer, status: int) -> None:
    pauses = Pauses()
    server.scripted = [Answer(status), Answer(status)]
    assert client(server, pauses).embed(["one"]).shape == (1, SERVED_DIMENSION)
    assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE]


def test_retry_after_is_kept_to_within_reason(server: EmbeddingServer) -> None:
    pauses = Pauses()
    server.scripted = [
        Answer(429, headers={"Retry-After": "3"}),
        Answer(429, headers={"Retry-After": "86400"}),
        Answer(429, headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}),
    ]
    client(server, pauses).embed(["one"])
    assert pauses == [3, LONGEST_PAUSE, 4 * FIRST_PAUSE]


def test_a_lasting_refusal_ends(server: EmbeddingServer) -> None:
    server.scripted = [Answer(503)] * 9
    with pytest.raises(EmbedderUnavailable, match=f"still answered 503 after {TRIES} tries; try again later"):
        client(server).embed(["one"])
    assert len(server.requests) == TRIES


def test_an_answer_cut_off_is_asked_for_again(server: EmbeddingServer) -> None:
    server.scripted = [Answer(body=b'{"data": [', cut_off=True)]
    assert client(server).embed(["one"]).shape == (1, SERVED_DIMENSION)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(401), r"refused the API key \(401\); set the embedder's api_key"),
        (Answer(403), r"refused the API key \(403\)"),
        (Answer(404), r"no model tiny at http://.* \(404\); check base_url and model"),
        (Answer(400, b"input\n is too long"), r"400: input is too long\); check"),
        (Answer(200, b"<html>hello</html>"), "did not answer as an OpenAI-compatible"),
        (Answer(200, b"\xff\xfe\x00"), "did not answer as an OpenAI-compatible"),
        (Answer(200, b"[]"), "did not answer as an OpenAI-compatible"),
        (Answer(200, b'{"error": "no"}'), "did not answer as an OpenAI-compatible"),
        (Answer(200, b'{"data": [{"index": 0, "embedding": ["x"]}]}'), "did not answer as an OpenAI-compatible"),
        (served([1.0], [2.0]), "one vector per text"),
        (served(), "one vector per text"),
        (served([]), "zero or not finite"),
        (served([0.0, 0.0]), "zero or not finite"),
        (Answer(200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), "zero or not finite"),
        (served([1e300, 1.0]), "zero or not finite"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_in_one_sentence(server: EmbeddingServer, answer: Answer, said: str) -> None:
    server.scripted = [answer]
    with pytest.raises(EmbedderUnavailable, match=said) as caught:
        client(server, api_key="sk-secret").embed(["one"])
    assert len(server.requests) == 1
    assert "\n" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_key_follows_no_redirect(server: EmbeddingServer, status: int) -> None:
    server.scripted = [Answer(status, headers={"Location": server.url + "/elsewhere"})]
    with pytest.raises(EmbedderUnavailable, match=r"redirects to http://.*/elsewhere; set"):
        client(server, api_key="sk-secret").embed(["one"])
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_not_waited_for() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        pauses = Pauses()
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(EmbedderUnavailable, match=r"cannot be reached .*; start it, or correct"):
            OpenAICompatible(url, "tiny", pause=pauses).embed(["one"])
        assert pauses == []


def test_this_machine_is_not_reached_through_a_proxy(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert client(server).embed(["one"]).shape == (1, SERVED_DIMENSION)


@pytest.mark.parametrize("url", ["", "localhost:11434", "file:///etc/passwd", "http://", "http://[::1", "http://a:b"])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(EmbedderUnavailable, match="set the embedder's base_url"):
        OpenAICompatible(url, "tiny")


def test_a_model_must_be_named() -> None:
    with pytest.raises(EmbedderUnavailable, match="set the embedder's model"):
        open_embedder(EmbedderSpec(kind="openai", base_url="http://localhost:1"))


def test_a_spec_does_not_print_its_key() -> None:
    assert "sk-secret" not in repr(EmbedderSpec(kind="openai", api_key="sk-secret"))


@pytest.mark.parametrize(
    ("answer", "is_of_a_text"),
    [
        (Answer(400, b"too long"), True),
        (Answer(413), True),
        (Answer(422), True),
        (served([0.0, 0.0, 0.0]), True),
        (Answer(401), False),
        (Answer(404), False),
        (Answer(body=b"[]"), False),
    ],
)
def test_what_may_be_due_to_the_text_is_told_from_what_is_not(
    server: EmbeddingServer, answer: Answer, is_of_a_text: bool
) -> None:
    server.scripted.append(answer)
    with pytest.raises(EmbedderUnavailable) as error_info:
        client(server).embed(["one"])
    assert isinstance(error_info.value, TextRefused) == is_of_a_text
