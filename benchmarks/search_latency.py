"""Time searches, warm, through the whole pipeline: within one wing and over everything.

    python benchmarks/make_palace.py 100000
    python benchmarks/search_latency.py 1000 10000 100000 [--queries 300] [--background] [--json]

A number names a palace that `make_palace.py` made; a path names any palace whose vectors are synthetic. Every
question is embedded by the bundled model; its time is in the figures and stands apart beside them. (The model's
vector is then replaced by a synthetic one, since the palace's are.) In the same run: a bare FTS5 query for the
same words, an exact float32 scan in NumPy, and the pipeline without pruning, with the share of its ten best
that pruning kept; and the pipeline with the best candidates compared token by token, for a question whose
passages were not compared before, and for the same one asked again. Garbage is collected as in the service.
Processor times are of the whole process, and say more than wall times on a machine that others use. `--background`
times the same while another process embeds and commits in the palace.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.make_palace import MEASURED_WING, Library, palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, private_mb, report, resident_mb, spread
from benchmarks.synthetic import DIMENSION, SyntheticVectors

from palazzo import garbage_collection
from palazzo.index import passage_embedding
from palazzo.index import search_pipeline as recall
from palazzo.index.embedder import TokenStates
from palazzo.index.keyword_candidates import POSTINGS_BUDGET
from palazzo.index.lexicon import Lexicon
from palazzo.index.minilm import MiniLM
from palazzo.index.query import Query, understand
from palazzo.index.vector_index import VectorIndex
from palazzo.palace import Palace
from palazzo.store import change_log, vector_rows
from palazzo.text.word_forms import match_expression, terms

Work = Callable[[Query], object]
WARM_UP = 20
COMPARED = 100
"""Queries of which the ten best are compared with and without pruning."""
SCANNED = 40
"""Queries of the exact scan: at a million each reads more than two gigabytes."""
HITS = 10


class TimedEmbedder(SyntheticVectors):
    """Runs the bundled model on each text, for its time, and answers with the synthetic vector."""

    def __init__(self, threads: int = 1) -> None:
        super().__init__()
        self._model = MiniLM(threads)
        self.taken: list[float] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text, and note the milliseconds."""
        self.taken.append(milliseconds(lambda: self._model.embed(texts)))
        return super().embed(texts)

    def embed_tokens(self, text: str) -> TokenStates:
        """Return the model's token states, with the synthetic vector."""
        return self._model.embed_tokens(text)._replace(vector=SyntheticVectors.embed(self, [text])[0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Time every palace named."""
    parser = argparse.ArgumentParser(description="Time searches, warm, through the whole pipeline.")
    parser.add_argument("palaces", nargs="+", help="a number of drawers, or a path")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--background", action="store_true", help="also while another process embeds")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--embed-in", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.embed_in:
        return _embed_until_ended(given.embed_in)
    texts = list(questions(Library.read(given.directory), given.queries, given.seed))
    for named in given.palaces:
        path = palace_path(given.directory, int(named)) if named.isdecimal() else Path(named)
        rows = measure(path, texts, given.background)
        report(f"Search, warm: {path.parent.name}", rows, given.json)
    return 0


def questions(library: Library, count: int, seed: int) -> Iterator[str]:
    """Yield questions of 3 to 10 words: runs of a text's words, scattered ones, identifiers, quoted phrases.

    Each has two words at least that are no stop words, as what a person asks has.
    """
    rng = random.Random(seed)
    while count:
        passages, names = rng.choices(library.topics, library.weights)[0]
        words = rng.choice(passages).split()
        if len(words) < 12:
            continue
        length = rng.randint(3, 10)
        first = rng.randrange(len(words) - length)
        run = " ".join(words[first : first + length])
        scattered = " ".join(rng.sample(words, min(length, 6)))
        phrase = f'"{" ".join(words[first : first + 2])}" {" ".join(rng.sample(words, 2))}'
        chosen = rng.choices((run, scattered, f"{rng.choice(names)} {scattered}", phrase), (5, 2, 1.5, 1.5))[0]
        if len(terms(chosen)) > 1:
            count -= 1
            yield chosen


def measure(path: Path, texts: Sequence[str], background: bool) -> list[Row]:
    """Return a row for each way of asking; times in milliseconds."""
    embedder = TimedEmbedder()
    garbage_collection.collect_seldom()
    with Palace.open(path, "read", embedder=lambda: embedder) as palace:
        opening = milliseconds(lambda: palace.search(Query(texts[0])))
        palace.warm_up()  # reads what the file of vectors does not have, as the service does
        garbage_collection.exempt_loaded_objects()
        memory: Row = {"MB resident": round(resident_mb()), "of it private": round(private_mb())}
        index = palace._index
        assert index is not None
        everywhere = [Query(text) for text in texts]
        in_wing = [Query(text, wing=MEASURED_WING) for text in texts]
        scopes = {f"one wing ({_drawers(palace, MEASURED_WING):,})": in_wing}
        scopes[f"everything ({_drawers(palace, None):,}; {len(index):,} vectors)"] = everywhere
        ways = {"whole pipeline": palace.search, "bare FTS5": _bare(palace)}
        by_tokens: Work = lambda query: palace.search(replace(query, rerank=True))  # noqa: E731
        ways |= {"by tokens": by_tokens, "by tokens, again": by_tokens}
        ways["without pruning"] = _search(palace, index, embedder, float("inf"))
        rows = []
        for scope, asked in scopes.items():
            rows += _timed(scope, ways, asked, embedder)
        rows[0] |= {**memory, "s to load": round(opening / 1000, 2)}
        if background:
            with _embedding_in(path):
                for scope, asked in scopes.items():
                    rows += _timed(f"{scope}, embedding beside", {"whole pipeline": palace.search}, asked, embedder)
        for scope, asked in scopes.items():
            rows.append({"scope": scope, "what": "pruning", **_kept(palace, index, asked[:COMPARED])})
        rows.append({"scope": "everything", "what": "exact float32 scan", **spread(_scans(index))})
    return rows


def _timed(scope: str, ways: dict[str, Work], asked: Sequence[Query], embedder: TimedEmbedder) -> list[Row]:
    """Ask every question in every way, in turns; the first questions warm up and do not count."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    embedding: dict[str, list[float]] = {name: [] for name in ways}
    processor: dict[str, list[float]] = {name: [] for name in ways}
    for query in (*asked[:WARM_UP], *asked):
        for name, way in ways.items():
            embedder.taken.clear()
            began = time.process_time()
            taken[name].append(milliseconds(lambda way=way, query=query: way(query)))  # type: ignore[misc]
            processor[name].append(1000 * (time.process_time() - began))
            embedding[name].append(sum(embedder.taken))
    rows: list[Row] = []
    for name, all_taken in taken.items():
        row: Row = {"scope": scope, "what": name, **spread(all_taken[WARM_UP:])}
        row |= spread(processor[name][WARM_UP:], "processor ms")
        if any(embedding[name]):
            row["of it embedding, p50"] = round(median(embedding[name][WARM_UP:]), 2)
        rows.append(row)
    return rows


def _search(palace: Palace, index: VectorIndex, embedder: SyntheticVectors, budget: float) -> Work:
    lexicon = Lexicon()

    def ask(query: Query) -> recall.Answer:
        with palace.database.snapshot() as connection:
            return recall.search(connection, query, index, embedder, postings_budget=budget, lexicon=lexicon)

    return ask


def _bare(palace: Palace) -> Work:
    """The fifty best by BM25 for any of the words, in the wing by a join, as an application would write it."""
    sql = (
        "SELECT k.rowid FROM keyword k{join} WHERE keyword MATCH ?{where}"
        " ORDER BY bm25(keyword, 1.0, 0.4, 0.0) LIMIT 50"
    )
    joined = " JOIN drawer d ON d.id = k.rowid JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"

    def ask(query: Query) -> list[object]:
        understood = understand(query)
        matched = match_expression(understood.terms, understood.phrases)
        with palace.database.snapshot() as connection:
            if query.wing is None:
                return list(connection.execute(sql.format(join="", where=""), (matched,)))
            bound = (matched, query.wing)
            return list(connection.execute(sql.format(join=joined, where=" AND w.name = ?"), bound))

    return ask


def _kept(palace: Palace, index: VectorIndex, asked: Sequence[Query]) -> Row:
    """Return which share of the ten best without pruning is there with it."""
    synthetic = SyntheticVectors()
    pruned = _search(palace, index, synthetic, POSTINGS_BUDGET)
    whole = _search(palace, index, synthetic, float("inf"))
    shares, firsts = [], []
    for query in asked:
        wider = replace(query, limit=HITS, budget=100_000)
        expected, found = _ids(whole(wider)), _ids(pruned(wider))
        if expected:
            shares.append(len(set(expected) & set(found)) / len(expected))
            firsts.append(expected[0] == found[0])
    mean = sum(shares) / max(len(shares), 1)
    return {"top 10 kept, %": round(100 * mean, 1), "first kept, %": round(100 * sum(firsts) / max(len(firsts), 1), 1)}


def _ids(answer: object) -> list[str]:
    assert isinstance(answer, recall.Answer)
    return [hit.drawer.id for hit in answer.hits]


def _scans(index: VectorIndex) -> list[float]:
    """Time the exact scan of the same vectors in float32: one matrix product and the fifty greatest."""
    matrix = index._codes.vectors(np.arange(index._size))[:-1]
    rng = np.random.default_rng(3)
    asked = rng.standard_normal((SCANNED, DIMENSION), dtype=np.float32)
    return [milliseconds(lambda q=q: np.argpartition(-(matrix @ q), 50)[:50]) for q in asked]  # type: ignore[misc]


def _drawers(palace: Palace, wing: str | None) -> int:
    sql = (
        "SELECT count(*) FROM drawer d JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
        " WHERE retired_at IS NULL AND (?1 IS NULL OR w.name = ?1)"
    )
    with palace.database.snapshot() as connection:
        return int(next(connection.execute(sql, (wing,)))[0])


# --- embedding beside ------------------------------------------------------------------------------------


@contextmanager
def _embedding_in(path: Path) -> Iterator[None]:
    """Let another process embed in the palace, at the lowest priority and on one thread, as the service does."""
    command = [sys.executable, __file__, "0", "--embed-in", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def _embed_until_ended(path: Path) -> int:
    """Drop some vectors and make them anew, again and again; they come out the same."""
    import os

    os.nice(19)
    embedder = TimedEmbedder(threads=1)
    with Palace.open(path, embedder=lambda: embedder) as palace:
        while True:
            with palace.database.transaction() as connection:
                row = passage_embedding.adopt(connection, embedder)
                newest = vector_rows.newest_passage(connection)
                chosen = [max(1, newest - n) for n in range(2000)]
                connection.executemany(
                    "DELETE FROM vector WHERE embedder = ? AND hash = (SELECT hash FROM passage WHERE id = ?)",
                    ((row, passage) for passage in chosen),
                )
                connection.executemany("INSERT OR IGNORE INTO pending VALUES(?)", ((passage,) for passage in chosen))
                change_log.append(connection, "vector+", chosen)
            print("embedding", flush=True)
            palace.embed_pending()
            time.sleep(0)


if __name__ == "__main__":
    sys.exit(main())
