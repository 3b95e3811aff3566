"""Compare search by tokens, search without tokens and the baselines on a public data set, with bootstrap intervals.

    python benchmarks/public_sets.py locomo|longmemeval FILE [--limit QUESTIONS] [--seed N] [--json]

It files and asks as `palazzo bench` does, twice: as explicit searches are asked, and with `rerank = off`. Intervals
are 95 %, over 2,000 samples of the questions. "Ahead" is search by tokens less the better baseline of that measure,
question by question; "gained" is search by tokens less search without.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap import bootstrap_interval
from benchmarks.measuring import Row, report

from palazzo import paths
from palazzo.bench import DATA_SETS, figures, retrieval
from palazzo.bench.baselines import WAYS
from palazzo.bench.cases import Case
from palazzo.bench.measures import percentile
from palazzo.features.bench.bench import read_cases
from palazzo.features.search.scratch_search import SearchRunner
from palazzo.index.embedder_choice import EmbedderSpec, open_embedder

SHOWN = {
    "locomo": (("session", "recall@5"), ("session", "recall@10"), ("turn", "recall@10"), ("turn", "ndcg@10"),
               ("turn", "any@10")),
    "longmemeval": (("session", "any@1"), ("session", "any@5"), ("session", "recall@5")),
}  # fmt: skip
"""The measures of each data set, by level."""
Results = Sequence[retrieval.QuestionResult]


def main(arguments: Sequence[str] | None = None) -> int:
    """File the data set, ask its questions with and without tokens, and print a row for each measure."""
    parser = argparse.ArgumentParser(description="Search on a public data set, beside the baselines.")
    parser.add_argument("name", choices=sorted(DATA_SETS))
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=int, help="ask this many questions, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    cases = retrieval.sample_cases(read_cases(given.name, given.file), given.limit, given.seed, shared=False)
    by_tokens, without = (_ask(cases, stages) for stages in ((), ("tokens",)))
    rows = [compare(by_tokens, without, level, name) for level, name in SHOWN[given.name]]
    report(f"{given.name}: {len(by_tokens)} questions", rows, given.json)
    times: list[Row] = [
        {"search": name, **{f"p{share}": round(percentile([one.took_ms for one in results], share / 100), 1)
                            for share in (50, 95)}}
        for name, results in (("by tokens", by_tokens), ("without", without))
    ]  # fmt: skip
    report("Milliseconds of a search", times, given.json)
    return 0


def _ask(cases: Sequence[Case], stages: tuple[str, ...]) -> Results:
    """File the cases and ask them without some stages; return the questions that the data set's evaluation counts."""
    plan = retrieval.Plan(
        SearchRunner(stages),
        partial(open_embedder, EmbedderSpec(threads=1)),
        paths.cache_directory(os.environ) / "embeddings",
    )
    return figures.select_scored(retrieval.run(cases, plan, lambda what, done, total: None).results)


def compare(by_tokens: Results, without: Results, level: str, name: str) -> Row:
    """Return the row of a measure: means in percent with intervals, and differences in points with intervals."""
    ours = _values(by_tokens, level, name)
    plain = _values(without, level, name)
    baselines = {way: _values(by_tokens, level, name, way) for way in WAYS}
    better = max(baselines.values(), key=sum)
    return {
        "measure": f"{level} {name}",
        "by tokens": _mean(ours),
        "without tokens": _mean(plain),
        **{way: _mean(values) for way, values in baselines.items()},
        "ahead": _mean([own - other for own, other in zip(ours, better, strict=True)]),
        "gained": _mean([own - other for own, other in zip(ours, plain, strict=True)]),
    }


def _values(results: Results, level: str, name: str, way: str = retrieval.OURS) -> list[float]:
    return [row[name] for row in figures.rows(results, level, way)]


def _mean(values: Sequence[float]) -> str:
    return f"{100 * sum(values) / max(len(values), 1):.1f} ({bootstrap_interval(values)})"


if __name__ == "__main__":
    sys.exit(main())
