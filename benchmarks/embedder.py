"""Measure the bundled embedder: start, throughput, query latency, memory.

    python benchmarks/embedder.py [--fp32 DIR/minilm-l6-v2-fp32.onnx] [--rounds N] [--json]

The float32 graph comes from `python tools/build_model.py --variant fp32 --out DIR`. Every figure is the median of
several rounds, and a round visits every graph before the next one begins, so that a slow spell of the machine
falls on all alike. Texts are of exactly 240 tokens; each round embeds other ones. Memory is read from /proc and
missing where there is none.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from palazzo.index.embedder import Embedder
from palazzo.index.minilm import DATA, GRAPH, MiniLM

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.openai_server import BatchingModel

Row = dict[str, float]
SOURCE = Path(__file__).resolve().parents[1] / "src"
QUERY = "what did we decide about the retry budget of worker {}?"
QUERIES_PER_ROUND = 60
TEXTS_PER_ROUND = 64
# Each is one token of the model's vocabulary.
WORDS = [
    "server",
    "cache",
    "index",
    "query",
    "branch",
    "commit",
    "table",
    "error",
    "search",
    "memory",
    "build",
    "test",
    "release",
    "data",
    "user",
    "key",
]
TOKENS = 240
THREADS = 2

START = (
    "from pathlib import Path; from palazzo.index.minilm import MiniLM;"
    "model = MiniLM({threads}, Path({graph!r})); model.embed_query('what did we decide?');"
    "status = Path('/proc/self/status');"
    "print(status.read_text() if status.exists() else '')"
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the bundled embedder.")
    parser.add_argument("--fp32", type=Path, help="float32 graph to compare with")
    parser.add_argument("--rounds", type=int, default=7, help="default: 7")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args(arguments)
    graphs = {"bundled": DATA / GRAPH} | ({"fp32": chosen.fp32} if chosen.fp32 else {})
    rows = measure(graphs, chosen.rounds)
    print(json.dumps(rows, indent=1) if chosen.json else table(rows))
    return 0


def measure(graphs: dict[str, Path], rounds: int) -> dict[str, Row]:
    """Return the median of every figure, by graph; `python + NumPy` is an interpreter that imports NumPy."""
    # Starts come first: an open session's threads would spin beside the processes being timed.
    starts: dict[str, list[Row]] = {name: [] for name in ("python + NumPy", *graphs)}
    for _ in range(rounds + 1):
        starts["python + NumPy"].append({"start_ms": milliseconds(lambda: run("import numpy"))})
        for name, graph in graphs.items():
            starts[name].append(start(graph))
    opened = {name: (MiniLM(THREADS, graph), BatchingModel(graph, THREADS)) for name, graph in graphs.items()}
    works: dict[str, list[Row]] = {name: [] for name in graphs}
    for number in range(rounds + 1):
        for name, (alone, batching) in opened.items():
            works[name].append(latency(alone, number) | throughput(alone, batching, number))
    return {name: medians(rows) | medians(works.get(name, [])) for name, rows in starts.items()}


def medians(rows: Sequence[Row]) -> Row:
    """Return the median of each figure; the first round, which warms files and caches, does not count."""
    return {figure: statistics.median(row[figure] for row in rows[1:]) for figure in (rows[0] if rows else {})}


def start(graph: Path) -> Row:
    """Time a fresh process from its start to its end, one query embedded, and read its memory."""
    said = ""

    def embed_once() -> None:
        nonlocal said
        said = run(START.format(threads=THREADS, graph=str(graph)))

    row = {"start_ms": milliseconds(embed_once)}
    memory = {line.split(":")[0]: line.split()[1] for line in said.splitlines() if line.startswith("Rss")}
    if memory:
        row["private_mb"] = int(memory["RssAnon"]) / 1024
        row["mapped_mb"] = int(memory["RssFile"]) / 1024
    return row


def latency(embedder: Embedder, seed: int) -> Row:
    queries = [QUERY.format(seed * 1000 + number) for number in range(QUERIES_PER_ROUND)]
    taken = sorted(milliseconds(partial(embedder.embed_query, query)) for query in queries)
    return {"query_p50_ms": statistics.median(taken), "query_p95_ms": taken[int(len(taken) * 0.95)]}


def throughput(embedder: Embedder, batching: BatchingModel, seed: int) -> Row:
    """Return texts a second, one per run and batched."""
    texts = texts_of_240_tokens(seed)
    alone = milliseconds(lambda: embedder.embed(texts))
    batched = milliseconds(lambda: batching.embed(texts))
    return {"alone_per_s": 1000 * len(texts) / alone, "batched_per_s": 1000 * len(texts) / batched}


def texts_of_240_tokens(seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=TOKENS - 2)) for _ in range(TEXTS_PER_ROUND)]


def run(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def table(rows: dict[str, Row]) -> str:
    titles = {
        "start_ms": "process start to end, one vector, ms",
        "private_mb": "of it, private memory, MB",
        "mapped_mb": "of it, mapped files, MB",
        "query_p50_ms": "query p50, ms",
        "query_p95_ms": "query p95, ms",
        "alone_per_s": f"texts of {TOKENS} tokens, one per run, /s",
        "batched_per_s": "the same, batched, /s",
    }
    lines = [f"{'':40}" + "".join(f"{name:>16}" for name in rows)]
    for figure, title in titles.items():
        cells = (f"{row[figure]:16.1f}" if figure in row else f"{'–':>16}" for row in rows.values())
        lines.append(f"{title:40}" + "".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
