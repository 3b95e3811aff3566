"""LoCoMo filed among many foreign drawers: what the neighbours cost, and what pruning the keyword query costs.

    python benchmarks/make_palace.py 100000
    python benchmarks/locomo_among.py LOCOMO.json [--palace 100000] [--questions 300] [--seed 1] [--json]

The conversations are mined into a copy of that palace, by the path of `palazzo bench locomo --shared`, and asked over
everything. Each question is asked under every postings budget in turn, by all stages and by keyword alone, so rows are
of one run. Foreign vectors are synthetic and lie nowhere near a question: by vector LoCoMo has no neighbours, and the
rows by keyword alone are those that show all that pruning loses. `pruned` is the share of questions whose words have
more postings than the budget allows, `other hits` of those whose hits differ from what all postings bring.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, percentile, report
from benchmarks.synthetic import SyntheticVectors

from palazzo.bench import locomo
from palazzo.bench.cases import Case, Question
from palazzo.bench.embedding_cache import CachingEmbedder
from palazzo.bench.haystack import Haystack
from palazzo.bench.json_dataset import load
from palazzo.bench.measures import mean, measure
from palazzo.bench.retrieval import DEPTH, file_into, sample_cases
from palazzo.index import keyword_candidates
from palazzo.index import search_pipeline as recall
from palazzo.index.embedder import Embedder
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder
from palazzo.index.keyword_candidates import POSTINGS_BUDGET
from palazzo.index.query import Query, understand
from palazzo.index.vector_index import VectorIndex
from palazzo.palace import Palace

BUDGETS = (float("inf"), POSTINGS_BUDGET, POSTINGS_BUDGET // 4, POSTINGS_BUDGET // 20)
"""The smaller ones show where pruning begins to cost: few questions have more postings here than the budget allows."""
STAGES = {"all": frozenset[str](), "keywords": frozenset(["vectors"])}


def main(arguments: Sequence[str] | None = None) -> int:
    """File LoCoMo among the drawers of a palace, and ask."""
    parser = argparse.ArgumentParser(description="Measure what foreign drawers and pruning cost.")
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--palace", type=int, default=100_000, help="how many foreign drawers")
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--questions", type=int, default=300, help="drawn by chance")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    cases = sample_cases(locomo.read(load(given.locomo)), given.questions, given.seed, shared=True)
    haystack = Haystack(cases)
    path = given.directory / f"locomo-among-{given.palace}" / "palace.db"
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir(parents=True)
    shutil.copy(palace_path(given.directory, given.palace), path)
    model = open_embedder(EmbedderSpec())
    kept = given.directory / "embeddings" / hashlib.sha256(model.id.encode()).hexdigest()[:16]
    with closing(CachingEmbedder(Among(model), kept)) as embedder:
        filed = file_into(path, haystack, embedder, lambda what, done, total: None)
        rows = measure_all(path, cases, haystack, embedder)
    report(
        f"LoCoMo ({filed.drawers:,} drawers) among {given.palace:,} foreign drawers, in percent",
        rows,
        given.json,
        questions=len(_questions(cases)),
        seed=given.seed,
    )
    return 0


class Among:
    """The real model's vectors, under the name that a palace of synthetic ones knows: both are in one index."""

    def __init__(self, embedder: Embedder) -> None:
        if embedder.dimension != SyntheticVectors.dimension:
            raise SystemExit(f"{embedder.id} has {embedder.dimension} dimensions, not {SyntheticVectors.dimension}.")
        self.id, self.dimension, self.max_tokens = SyntheticVectors.id, embedder.dimension, embedder.max_tokens
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's vectors."""
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the model's vector of a question."""
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """Close the model."""
        self._embedder.close()


@dataclass
class Tried:
    """What one way of asking brought."""

    turns: list[dict[str, float]] = field(default_factory=list)
    sessions: list[dict[str, float]] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    hits: list[tuple[str, ...]] = field(default_factory=list)


def measure_all(path: Path, cases: Sequence[Case], haystack: Haystack, embedder: Embedder) -> list[Row]:
    """Ask every question in each way, in turns; return a row for each way."""
    tried = {(stages, budget): Tried() for stages in STAGES for budget in BUDGETS}
    with Palace.open(path, "read", lambda: embedder) as palace:
        _, index = palace._ready()  # a budget is no option of a search that people run
        asked = _questions(cases)
        postings: list[int] = []
        for n, (case, question) in enumerate([asked[0], *asked]):  # the first time the index is loaded
            for (stages, budget), one in tried.items():
                took, turns, sessions = _ask(palace, index, embedder, haystack, question, STAGES[stages], budget)
                if n:
                    one.took.append(took)
                    one.hits.append(tuple(turns))
                    one.turns.append(measure(turns, haystack.wanted_turns(case, question)))
                    one.sessions.append(measure(sessions, haystack.wanted_sessions(case, question)))
            if n:
                postings.append(_postings(palace, question))
            print(f"\r{n} of {len(asked)} questions ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [
        _row(stages, budget, one, postings, tried[stages, BUDGETS[0]].hits) for (stages, budget), one in tried.items()
    ]


def _postings(palace: Palace, question: Question) -> int:
    """Return in how many drawers the words of a question are, counted with repetitions."""
    with palace.database.snapshot() as connection:
        return sum(keyword_candidates.find(connection, understand(Query(question.text)), [], 1).frequencies.values())


def _questions(cases: Sequence[Case]) -> list[tuple[Case, Question]]:
    return [(case, question) for case in cases for question in case.questions if question.turns]


def _ask(
    palace: Palace,
    index: VectorIndex,
    embedder: Embedder,
    haystack: Haystack,
    question: Question,
    without: frozenset[str],
    budget: float,
) -> tuple[float, list[str], list[str]]:
    answers: list[recall.Answer] = []

    def search() -> None:
        query = Query(question.text, limit=DEPTH, budget=1_000_000, disabled_stages=without)
        with palace.database.snapshot() as connection:
            answers.append(recall.search(connection, query, index, embedder, postings_budget=budget))

    took = milliseconds(search)
    drawers = [hit.drawer for hit in answers[0].hits]
    turns = dict.fromkeys(haystack.turn(span.item) for drawer in drawers for span in drawer.spans)
    return took, list(turns), list(dict.fromkeys(haystack.session(drawer.source.session_id) for drawer in drawers))


def _row(stages: str, budget: float, tried: Tried, postings: Sequence[int], whole: Sequence[tuple[str, ...]]) -> Row:
    other = [mine != theirs for mine, theirs in zip(tried.hits, whole, strict=True)]
    turns, sessions = mean(tried.turns), mean(tried.sessions)
    return {
        "stages": stages,
        "postings budget": "all" if budget == float("inf") else f"{budget:,.0f}",
        "pruned": round(100 * sum(number > budget for number in postings) / len(postings), 1),
        "other hits": round(100 * sum(other) / len(other), 1),
        "session recall@5": sessions["recall@5"],
        "session recall@10": sessions["recall@10"],
        "turn recall@10": turns["recall@10"],
        "turn any@10": turns["any@10"],
        "turn ndcg@10": turns["ndcg@10"],
        "p50 ms": round(median(tried.took), 1),
        "p95 ms": round(percentile(tried.took, 0.95), 1),
    }


if __name__ == "__main__":
    sys.exit(main())
