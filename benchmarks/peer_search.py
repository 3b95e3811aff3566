"""What `peer_suite.py` asks: Palazzo, a plain FTS5 and vector index, and MemPalace 3.11.0, filled with the same files.

Owns how each is filled and asked; `peer_deja_vu.py` and `peer_basic_memory.py` do the same for two more. All embed with
the bundled model: the others get its vectors from `served_embedder`, one text at a time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from benchmarks.coding_suite import Surroundings
from benchmarks.docs_search import PASSAGE, pages, passages
from benchmarks.openai_server import Server
from benchmarks.peer_corpora import LabelledCorpus, ShownHit, messages
from benchmarks.peer_mempalace import Peer, end_leftovers, install_peer, mine
from numpy.typing import NDArray

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.index.embedder import Embedder
from palazzo.palace import Palace
from palazzo.sources import mining_run
from palazzo.sources.mining_report import MineRequest
from palazzo.store.plain_index import PlainIndex

DEPTH = 5
"""The hits that each is asked for: what an agent gets unless it asks for more."""
PATIENCE = 3_600.0
"""Seconds within which a peer must be filled and asked."""
_RANK = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""
_CANDIDATES = 50
_ASK_MEMPALACE = f"""
import json, sys
from mempalace.searcher import search_memories
def hits(text): return search_memories(text, sys.argv[1], n_results={DEPTH}).get("results", [])
print(json.dumps([[[hit["source_path"], hit["text"]] for hit in hits(text)] for text in json.load(sys.stdin)]))
"""
"""Run by MemPalace's Python: prints the files and texts of its hits for each question."""


Answers = list[list[ShownHit]]
"""The hits for each question, best first."""


def source_name(path: str, corpus: LabelledCorpus) -> str:
    """Return the name by which questions know a file: a page's path below `docs/`, or a transcript's session."""
    _, below, page = path.partition(f"{corpus.directory}/docs/")
    return page if below else Path(path).stem


def ask_palazzo(corpus: LabelledCorpus, scratch: Path, embedder: Embedder) -> Answers:
    """Mine the corpus into a new palace, and ask over everything, as `palazzo search` does."""
    palace_file = scratch / "palace.db"
    paths = tuple(path for path in (corpus.transcripts, corpus.documents) if path is not None)
    with Palace.open(palace_file, embedder=lambda: embedder) as palace:
        for path in paths:
            mining_run.mine(palace.database, palace.clock, MineRequest((path,), policy="all"))
        palace.embed_pending()
    with Surroundings(palace_file, embedder) as context:
        answers = [search(context, SearchRequest(question.text, limit=DEPTH)).hits for question in corpus.questions]
    return [[ShownHit(source_name(hit.source.uri, corpus), hit.text) for hit in hits] for hits in answers]


class PlainBaseline:
    """FTS5's BM25 and the model's vectors over messages and passages of 1,500 characters, fused by their ranks."""

    def __init__(self, corpus: LabelledCorpus, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages = list(_plain_passages(corpus))
        texts = [passage.text for passage in self._passages]
        self._words = PlainIndex(texts)
        self._vectors = np.concatenate([embedder.embed(texts[n : n + 64]) for n in range(0, len(texts), 64)])

    def ask(self, question: str) -> list[ShownHit]:
        """Return the best passages."""
        by_vector = np.argsort(-(self._vectors @ self._embedder.embed_query(question)), kind="stable")[:_CANDIDATES]
        scores: dict[int, float] = {}
        for ranked in (self._words.rank(question, _CANDIDATES), by_vector.tolist()):
            for rank, row in enumerate(ranked, 1):
                scores[row] = scores.get(row, 0.0) + 1 / (_RANK + rank)
        best = sorted(scores, key=lambda row: (-scores[row], row))[:DEPTH]
        return [self._passages[row] for row in best]


def _plain_passages(corpus: LabelledCorpus) -> Iterator[ShownHit]:
    for transcript in sorted(corpus.transcripts.rglob("*.jsonl")) if corpus.transcripts else ():
        for _, text in messages(transcript):
            yield from (ShownHit(transcript.stem, part) for part in passages(text, PASSAGE))
    for page in pages(corpus.documents) if corpus.documents else ():
        text = page.read_text("utf-8", "replace")
        yield from (ShownHit(source_name(str(page), corpus), part) for part in passages(text, PASSAGE))


def ask_plain(corpus: LabelledCorpus, scratch: Path, embedder: Embedder) -> Answers:
    """Index the corpus plainly, and ask."""
    baseline = PlainBaseline(corpus, embedder)
    return [baseline.ask(question.text) for question in corpus.questions]


def ask_mempalace(corpus: LabelledCorpus, scratch: Path, venv: Path, url: str) -> Answers:
    """Mine the corpus into a MemPalace, transcripts as conversations and pages as a project, and ask it.

    Its miner does not read `.rst`, so it gets copies of these pages that end in `.txt`.
    """
    peer = Peer(install_peer(venv), scratch / "mempalace", url)
    peer.home.mkdir(parents=True)
    deadline = time.monotonic() + PATIENCE
    try:
        if corpus.transcripts is not None:
            mine(peer, corpus.transcripts, "convos", deadline)
        if corpus.documents is not None:
            mine(peer, _readable_copies(corpus, scratch / "copies" / "docs"), "projects", deadline)
        asked = [str(peer.python), "-c", _ASK_MEMPALACE, str(peer.palace)]
        found = last_json(asked, peer.environment, json.dumps([question.text for question in corpus.questions]))
    finally:
        end_leftovers(peer)
    copies, originals = f"{scratch / 'copies'}/", f"{corpus.directory}/"

    def original(path: str) -> str:
        return path.replace(copies, originals).replace(".rst.txt", ".rst")

    return [[ShownHit(source_name(original(path), corpus), text) for path, text in hits] for hits in found]


def _readable_copies(corpus: LabelledCorpus, target: Path) -> Path:
    assert corpus.documents is not None
    for page in pages(corpus.documents):
        copy = target / page.relative_to(corpus.documents)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, f"{copy}.txt" if page.suffix == ".rst" else copy)
    return target


def last_json(command: Sequence[str], environment: dict[str, str], given: str) -> list[list[list[str]]]:
    """Return what a peer printed in its last line. Raises `RuntimeError` with the end of its errors if it failed."""
    run = subprocess.run(
        command, env=environment, input=given, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    if run.returncode:
        raise RuntimeError(f"{command[0]} could not be asked:\n{run.stderr[-2000:]}")
    lines: list[list[list[str]]] = json.loads(run.stdout.strip().splitlines()[-1])
    return lines


class _ServedModel:
    """The embedder in the form that `openai_server.Server` expects."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._lock = embedder, threading.Lock()

    def embed(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        with self._lock:
            return self._embedder.embed(texts), 0


@contextmanager
def served_embedder(embedder: Embedder) -> Iterator[str]:
    """Serve an embedder on loopback as OpenAI's `/v1/embeddings`; yield the address without a path."""
    server = Server(0, _ServedModel(embedder))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
