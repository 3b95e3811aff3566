"""Write `reference.json`: what the published weights make of some forty texts, in float32.

    python tests/index/make_reference.py WHEEL_OR_SAFETENSORS

The forward pass is spelled out here in NumPy, sharing neither the graph nor the runtime with what ships, so that a
mistake in `tools/build_model.py` cannot hide in both. Vectors are stored as base64 of little-endian float32.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.build_model import SOURCE_SHA256, read_safetensors, read_source

Array = NDArray[Any]
LAYERS, HEADS, MAX_TOKENS = 6, 12, 256

TEXTS = [
    "What did we decide about the retry budget?",
    "We capped retries at three per request, because the queue doubled during the outage in March.",
    "Which database did the team choose for reporting?",
    "Decision: PostgreSQL 16 for reporting, mostly for window functions and JSON_TABLE.",
    "When is the design review with Mira?",
    "Mira moved the design review to Thursday at ten.",
    "How do I run only the failing tests?",
    "pytest --last-failed reruns only the tests that failed last time.",
    "Why is the build slow on macOS?",
    "The macOS build spends four minutes in code signing; caching the notarisation ticket halves it.",
    "What is the user's favourite language?",
    "She says she prefers Rust for services and Python for everything that touches data.",
    "where is the session token validated",
    "def validate_session(token: str) -> User:\n    claims = jwt.decode(token, KEY, algorithms=['RS256'])\n",
    "Error: ECONNREFUSED 127.0.0.1:5432",
    "psycopg.OperationalError: connection to server at localhost, port 5432 failed: Connection refused",
    "Traceback (most recent call last):\n  File \"app.py\", line 12, in <module>\nKeyError: 'tenant_id'",
    "SELECT user_id, count(*) FROM events WHERE at > now() - interval '7 days' GROUP BY 1 ORDER BY 2 DESC;",
    "const useDebounce = (value, ms) => { const [v, set] = useState(value); return v; };",
    'fn main() -> Result<(), Box<dyn Error>> { println!("{}", std::env::args().count()); Ok(()) }',
    "diff --git a/src/cache.py b/src/cache.py\n-    ttl = 60\n+    ttl = 3600\n",
    '{"name": "palazzo", "version": "0.1.0", "dependencies": {"left-pad": "^1.3.0"}}',
    "| id | name | total |\n|---|---|---|\n| 1 | Ada | 42 |\n| 2 | Grace | 17 |",
    "# Deployment\n\n1. Tag the release.\n2. Wait for CI.\n3. Run `make deploy ENV=prod`.\n",
    "src/components/Checkout/PaymentForm.test.tsx",
    "https://example.org/docs/api/v2/users?limit=50&cursor=eyJpZCI6MTB9",
    "a3f5c1d9e8b74c2f9d0e6b1a5c8f7e2d4b3a1c0f",
    "2024-11-03T08:15:42Z WARN [worker-7] lag=1843ms partition=12 offset=998231",
    "Wir haben beschlossen, die Migration erst nach dem Quartalsende zu fahren.",
    "La réunion de lundi est reportée à mercredi, même heure, même salle.",
    "我们决定把缓存的过期时间改成一个小时。",
    "Мы перенесли выпуск на пятницу из-за ошибки в платежах.",
    "🎉 shipped! 🚀🚀 thanks everyone 🙏",
    "ok",
    "?",
    "",
    "The cat sat on the mat while the rain drummed on the old tin roof.",
    "My grandmother's recipe needs two eggs, a little nutmeg and a lot of patience.",
    "She ran the Vienna marathon in three hours and forty minutes despite a sore knee.",
    "Interest rates rose by a quarter of a point, and the bond market hardly noticed.",
    "Remember to always write the changelog entry before opening a pull request. " * 30,
    "The memory palace is a technique: place what you want to remember in rooms you know well, then walk. " * 4,
]


def main(weights: Path) -> None:
    source = read_source(weights)
    tensors = read_safetensors(source["model.safetensors"])
    tokenizer = Tokenizer.from_str(source["tokenizer.json"].decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    entries = [
        {"text": text, "vector": base64.b64encode(forward(tensors, tokenizer.encode(text).ids)).decode()}
        for text in TEXTS
    ]
    document = {"weights_sha256": SOURCE_SHA256["model.safetensors"], "entries": entries}
    path = Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def forward(tensors: dict[str, Array], ids: list[int]) -> bytes:
    """Return one text's unit vector, (384,) float32, as bytes; computed in float64."""
    w = {name: tensor.astype(np.float64) for name, tensor in tensors.items() if tensor.size < 10**7}
    words = tensors["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    places = w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(w, "embeddings.LayerNorm", words + places + w["embeddings.token_type_embeddings.weight"][0])
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        attended = attention(w, layer + "attention.self.", x)
        x = norm(w, layer + "attention.output.LayerNorm", x + dense(w, layer + "attention.output.dense", attended))
        wide = gelu(dense(w, layer + "intermediate.dense", x))
        x = norm(w, layer + "output.LayerNorm", x + dense(w, layer + "output.dense", wide))
    mean = x.mean(axis=0)
    unit: Array = mean / np.linalg.norm(mean)
    return unit.astype("<f4").tobytes()


def attention(w: dict[str, Array], name: str, x: Array) -> Array:
    query, key, value = (
        dense(w, name + part, x).reshape(len(x), HEADS, -1).transpose(1, 0, 2) for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[2])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed: Array = (shares @ value).transpose(1, 0, 2).reshape(x.shape)
    return mixed


def dense(w: dict[str, Array], name: str, x: Array) -> Array:
    product: Array = x @ w[name + ".weight"].T + w[name + ".bias"]
    return product


def norm(w: dict[str, Array], name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return scaled * w[name + ".weight"] + w[name + ".bias"]


def gelu(x: Array) -> Array:
    result: Array = x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    return result


if __name__ == "__main__":
    main(Path(sys.argv[1]))
