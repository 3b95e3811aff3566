"""An embedding server that the user chose, called through OpenAI's `/v1/embeddings` (Ollama, llama.cpp, vLLM, OpenAI).

This module implements the wire protocol: request, retries, checks of the response. Standard library only. The contract
is "Create embeddings" in OpenAI's API reference. This is one of the few places where Palazzo uses a network, and it
does so only when the user's own settings name a server.
"""

from __future__ import annotations

import ipaddress
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from palazzo.errors import EmbedderUnavailable, TextRefused
from palazzo.index.embedder import well_formed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS_PER_REQUEST = 64
TIMEOUT = 60.0  # seconds without an answer; a cold local server loads its model first
TRIES = 4
FIRST_PAUSE = 0.5  # seconds, doubled after each try
LONGEST_PAUSE = 20.0  # seconds; a server may ask for more in Retry-After, and is then asked again too early
WORTH_RETRYING = {408, 425, 429, 500, 502, 503, 504}
_TEXT_REFUSALS = {400, 413, 422}
"""Status codes that the text may cause, for example by its length."""

# A remote tokenizer is unknown, so this is an assumption, not a measurement: BERT-like models read 512 tokens, and
# a token of English is about four characters (OpenAI's rule of thumb). Other scripts need more tokens; a server
# that refuses instead of cutting will say so.
MAX_TOKENS = 512
MAX_CHARACTERS = 4 * MAX_TOKENS


class OpenAICompatible:
    """An `Embedder` behind HTTP. The dimension is read from the first answer and is fixed from then on.

    Texts are cut to MAX_CHARACTERS. NUL is sent as a space, because servers written in C stop reading there, and a
    blank text as one space, because OpenAI refuses an empty one.

    Raises EmbedderUnavailable, with one sentence that says what to do, for an invalid address, a server that does not
    answer or refuses, and answers of the wrong shape.
    """

    max_tokens = MAX_TOKENS

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dimension: int | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Store the settings without connecting. With a `dimension`, answers of another dimension are refused."""
        address = parse_address(base_url)
        if not model:
            raise EmbedderUnavailable("No embedding model is set; set the embedder's model.")
        self.host = address.netloc.rpartition("@")[2]
        self.model = model
        self._url = embeddings_url(address)
        self._api_key = api_key
        self._dimension = dimension
        self._pause = pause
        self._open = build_opener(address)
        self._closed = False

    @property
    def id(self) -> str:
        return f"openai:{self.host}/{self.model}/{self.dimension}"

    @property
    def dimension(self) -> int:
        """Return the length of every vector; ask the server if nothing has been embedded yet."""
        return self._dimension or self.embed_query("dimension").shape[0]

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if self._closed:
            raise EmbedderUnavailable("This embedder was closed; open a new one.")
        batches = [self._embed_batch([sendable(text) for text in batch]) for batch in in_batches(texts)]
        return np.concatenate(batches) if batches else np.empty((0, self.dimension), np.float32)

    def close(self) -> None:
        self._closed = True

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        answer = self._post({"model": self.model, "input": texts, "encoding_format": "float"})
        vectors = read_vectors(answer, len(texts), self.host)
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise EmbedderUnavailable(
                f"{self.host} returned {vectors.shape[1]} dimensions instead of {self._dimension}; check that it "
                f"still serves the model {self.model}."
            )
        return vectors

    def _post(self, body: dict[str, Any]) -> bytes:
        """Return the answer's body; retry after temporary refusals."""
        wait = FIRST_PAUSE
        for remaining in reversed(range(TRIES)):
            try:
                with self._open(self._request(body), timeout=TIMEOUT) as response:
                    content: bytes = response.read()
                    return content
            except urllib.error.HTTPError as error:
                with error:
                    if error.code in _TEXT_REFUSALS:
                        raise TextRefused(self._refusal(error)) from error
                    if error.code not in WORTH_RETRYING or not remaining:
                        raise EmbedderUnavailable(self._refusal(error)) from error
                    self._pause(min(asked_pause(error) or wait, LONGEST_PAUSE))
            except (OSError, HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                if isinstance(reason, ConnectionRefusedError) or not remaining:
                    raise EmbedderUnavailable(
                        f"The embedding server {self.host} cannot be reached ({reason}); start it, or correct the"
                        " embedder's base_url."
                    ) from error
                self._pause(wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")

    def _request(self, body: dict[str, Any]) -> urllib.request.Request:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "palazzo"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        return urllib.request.Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - http(s) only

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        """Return what an HTTP status means for the person who configured the server."""
        if error.code in {401, 403}:
            return f"{self.host} refused the API key ({error.code}); set the embedder's api_key."
        if error.code == 404:
            return f"{self.host} has no model {self.model} at {self._url} (404); check base_url and model."
        if 300 <= error.code < 400:
            target = error.headers.get("Location", "elsewhere")
            return f"{self.host} redirects to {target}; set the embedder's base_url to the final address."
        if error.code in WORTH_RETRYING:
            return f"{self.host} still answered {error.code} after {TRIES} tries; try again later."
        detail = " ".join(error.read(2_000).decode("utf-8", "replace").split())[:200]
        return f"{self.host} refused the request ({error.code}: {detail}); check the embedder's model and settings."


def parse_address(base_url: str) -> SplitResult:
    """Return the parts of an http(s) address. Raises EmbedderUnavailable for anything else."""
    try:
        address = urlsplit(base_url)
        usable = address.scheme in {"http", "https"} and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise EmbedderUnavailable(
            f"'{base_url}' is not the address of an embedding server; set the embedder's base_url to one like "
            "http://localhost:11434/v1."
        )
    return address


def embeddings_url(address: SplitResult) -> str:
    """Return the URL for the request: a bare host gets /v1/embeddings, a path is completed, a full one is kept."""
    path = address.path.rstrip("/") or "/v1"
    if not path.endswith("/embeddings"):
        path += "/embeddings"
    return address._replace(path=path, fragment="").geturl()


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses to follow redirects: urllib would send the API key to the target of the redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


def build_opener(address: SplitResult) -> Callable[..., Any]:
    """Return urllib's `open`, using the user's proxy except for this machine."""
    handlers: list[urllib.request.BaseHandler] = [NoRedirects()]
    if is_loopback(address.hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers).open


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def asked_pause(error: urllib.error.HTTPError) -> float | None:
    """Return the seconds in Retry-After; its other form, a date, counts as absent."""
    retry_after = error.headers.get("Retry-After", "")
    return float(retry_after) if retry_after.isdecimal() else None


def in_batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in batches that one request may carry."""
    for start in range(0, len(texts), TEXTS_PER_REQUEST):
        yield texts[start : start + TEXTS_PER_REQUEST]


def sendable(text: str) -> str:
    """Return the text in a form that any server accepts: cut to size, valid Unicode, never blank."""
    cut = well_formed(text[:MAX_CHARACTERS]).replace("\0", " ")
    return cut if cut.strip() else " "


def read_vectors(answer: bytes, count: int, host: str) -> NDArray[np.float32]:
    """Return the vectors of an answer in the requested order, each scaled to length one."""
    import numpy as np

    try:
        entries = sorted(json.loads(answer)["data"], key=lambda entry: entry["index"])
        vectors = np.array([entry["embedding"] for entry in entries], np.float64)
        in_order = [entry["index"] for entry in entries] == list(range(count))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise EmbedderUnavailable(
            f"{host} did not answer as an OpenAI-compatible embedding server; check the embedder's base_url."
        ) from error
    if not in_order or vectors.ndim != 2:
        raise EmbedderUnavailable(f"{host} did not return one vector per text; check the embedder's model.")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise TextRefused(f"{host} returned vectors that are zero or not finite; check the embedder's model.")
    unit_vectors: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit_vectors
