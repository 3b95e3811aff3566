"""Measure what Palazzo's search finds for coding agents: 398 questions among 20,000 foreign drawers.

    python benchmarks/coding_suite.py [--distractors 20000] [--split dev|second|held-out|unseen|all] [--without STAGE]…
    python benchmarks/coding_suite.py --check       # only whether each question says truly what it gives away
    python benchmarks/coding_suite.py --prompts     # also what ordinary prompts find, which ask for nothing past

The corpus (`coding/corpus`: hand-written sessions of three services, a captured one, this repository's documents and
history; and the sessions of nine other projects in `digests/sessions`) is mined into a copy of the distractors' palace,
whose vectors are real and kept in $PALAZZO_BENCHMARKS. Questions go through the `search` operation, over everything. An
answer is right where the drawer holds the gold's words in the gold's source, or where what the hit shows does. Beside
it: bare FTS5 BM25 and bare vectors over the same drawers. Tune on `dev` and `second` only: misses of the other parts
are shown only where one is asked for by name, and `all` does not ask the unseen part.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bootstrap import bootstrap_interval
from benchmarks.coding.distractors import remembering
from benchmarks.coding.filing import DEPTH, Plain, file_corpus, right_drawers
from benchmarks.coding.questions import (
    QUESTIONS,
    SECOND,
    TYPES,
    UNSEEN,
    Question,
    Stems,
    overlap,
    read_prompts,
    read_questions,
    split,
)
from benchmarks.measuring import Row, machine, percentile, report, spread, table

from palazzo.bench.measures import mean, measure
from palazzo.features.search.contract import HitView, SearchRequest, SearchResult
from palazzo.features.search.search import search
from palazzo.index.embedder import Embedder
from palazzo.model import Micros
from palazzo.operations.context import Context

NOW = Micros(1_790_812_800_000_000)
"""When the questions are asked: 1 October 2026, after the last session."""
PARTS = ("dev", "second", "held-out", "unseen")
TUNED = ("dev", "second")
PLENTY = 1_000_000
PROJECTS = ("harbor-web", "kestrel", "tally", "palazzo")
HITS = ("hits", "hits from its project")
"""Ways that count hits of up to two drawers, five at most; the others count drawers."""
OURS = ("palazzo", "from its project", "from another", *HITS)
SHOWN = ("any@1", "any@5", "any@10", "mrr")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the drawers found by each way, which of them are right, and how long ours took.

    `shown` are hits of ours that show the gold's words without being its drawer: a window may reach beyond one.
    """

    question: Question
    right: frozenset[str]
    shown: frozenset[str]
    found: dict[str, list[str]]
    hits: tuple[HitView, ...]
    took_ms: float
    is_refused: bool
    """Whether nothing was found, or only what is marked as uncertain."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all questions and print the figures."""
    given = _arguments().parse_args(arguments)
    questions = choose_questions(given.split)
    if given.check:
        return check(questions)
    with tempfile.TemporaryDirectory(prefix="palazzo-coding-") as scratch:
        embedder = remembering(kind=given.embedder)
        palace = file_corpus(Path(scratch), given.distractors, embedder, _told)
        with Surroundings(palace, embedder) as context:
            asked = ask(context, questions, embedder, tuple(given.without))
            prompted = best_scores(context, read_prompts(), given.split) if given.prompts else []
            with context.reading().database.snapshot() as connection:
                ((drawers,),) = connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL")
    title = f"Coding suite: {len(asked)} questions ({given.split}) among {drawers:,} drawers"
    if given.json:
        report(title, figures(asked) + unanswered(asked) + prompted, as_json=True)
        return 0
    print(f"{title}\n" + "  ".join(f"{name}: {value}" for name, value in machine().items()))
    for rows in (
        figures(asked),
        by(asked, "type"),
        by(asked, "overlap"),
        unanswered(asked),
        [latency(asked)],
        prompted,
    ):
        print(f"\n{table(rows)}" if rows else "")
    print(misses([one for one in asked if one.question.split in (given.split, *TUNED)]))
    return 0


def choose_questions(part: str) -> list[Question]:
    """Return the questions of a part; `all` is all but the unseen part, whose file is read only for its own name."""
    if part == "unseen":
        return read_questions(UNSEEN)
    return [one for path in (QUESTIONS, SECOND) for one in read_questions(path) if part in ("all", one.split)]


def check(questions: Iterable[Question]) -> int:
    """Print the share of answerable questions that give nothing away; 1 where one says it untruly."""
    stems, answerable = Stems(), [one for one in questions if one.golds]
    told = {one.id: overlap(one, stems) for one in answerable}
    wrong = [one.id for one in answerable if told[one.id] != one.overlap]
    bare = sum(value == "none" for value in told.values())
    print(f"{bare} of {len(told)} answerable questions ({bare / len(told):.0%}) share no stem with their answer.")
    if wrong:
        print(f"Their `overlap` is not true: {', '.join(wrong)}")
    return int(bool(wrong))


class Surroundings(Context):
    """A caller in the scratch palace, with the run's own embedder, at a fixed time, in the project `at`, if any."""

    at: str | None = None

    def __init__(self, palace: Path, embedder: Embedder) -> None:
        variables = {"PALAZZO_SERVICE": "off", "HOME": str(palace.parent)}
        super().__init__(palace=palace, cwd=palace.parent, variables=variables, clock=lambda: NOW)
        self._own = embedder

    @property
    def home(self) -> str | None:
        """The wing of the project that is asked from."""
        return self.at

    def open_embedder(self, threads: int = 1) -> Embedder:
        """The run's, whatever the settings say."""
        return self._own


def ask(
    context: Surroundings, questions: Sequence[Question], embedder: Embedder, without: tuple[str, ...]
) -> list[Asked]:
    """Ask each question in each way. The first is asked twice: it loads the vectors, and has no figure."""
    with context.reading().database.snapshot() as connection:
        right, plain = right_drawers(connection, questions), Plain(connection, embedder)
    search(context, SearchRequest(questions[0].text))
    asked = []

    def find(text: str) -> SearchResult:
        return search(context, SearchRequest(text, limit=DEPTH, budget=PLENTY, drawers=True, without=without))

    for question in questions:
        began = time.perf_counter()
        found = find(question.text)
        took = (time.perf_counter() - began) * 1000
        ways = {"palazzo": [hit.id for hit in found.hits]}
        ways |= {way: list(ranked) for way, ranked in plain.rank(question.text).items()}
        stretched = {"hits": find_stretches(context, question.text, without)}
        if right[question.id]:
            context.at = palace_wing(context, right[question.id])
            ways["from its project"] = [hit.id for hit in find(question.text).hits]
            stretched["hits from its project"] = find_stretches(context, question.text, without)
            context.at = next(wing for wing in PROJECTS if wing != context.at)
            ways["from another"] = [hit.id for hit in find(question.text).hits]
            context.at = None
        ways |= {way: _answering_ids(hits, right[question.id]) for way, hits in stretched.items()}
        shown = frozenset(
            hit.id
            for hit in (*found.hits, *(hit for hits in stretched.values() for hit in hits))
            if any(gold.words in hit.text for gold in question.golds)
        )
        asked.append(
            Asked(
                question,
                frozenset(right[question.id]),
                shown,
                ways,
                found.hits,
                took,
                found.uncertain or not found.hits,
            )
        )
    return asked


def find_stretches(context: Context, text: str, without: tuple[str, ...]) -> tuple[HitView, ...]:
    """Return the hits as a person or an agent gets them: of up to two drawers each, within the default budget."""
    return search(context, SearchRequest(text, without=without)).hits


def _answering_ids(hits: Iterable[HitView], right: Collection[str]) -> list[str]:
    """Return an id for each hit: of its drawer that answers, if there is one."""
    return [next((part.id for part in hit.parts if part.id in right), hit.id) for hit in hits]


def palace_wing(context: Context, drawers: Iterable[str]) -> str:
    """Return the wing of the first of these drawers."""
    return context.reading().drawer(min(drawers)).place.wing


def figures(asked: Sequence[Asked]) -> list[Row]:
    """Return a row for each way and half."""
    halves = [half for half in PARTS if any(one.question.split == half for one in asked)]
    return [
        _row({"way": way, "half": half}, [one for one in asked if one.question.split == half], way)
        for half in halves
        for way in (*OURS, "bm25", "vectors")
    ]


def by(asked: Sequence[Asked], field: str) -> list[Row]:
    """Return a row for each type or overlap class, for our search alone."""
    of: Callable[[Asked], str | None] = lambda one: getattr(one.question, field)  # noqa: E731
    classes = TYPES[:-1] if field == "type" else ("none", "some")
    return [_row({field: each}, [one for one in asked if of(one) == each], "palazzo") for each in classes]


def _row(head: Row, asked: Iterable[Asked], way: str) -> Row:
    answerable = [one for one in asked if one.right]
    measures = [measure(one.found[way], _wanted(one, way)) for one in answerable]
    means = mean(measures)
    shown = {name: round(means.get(name) or 0.0, 1) for name in SHOWN}
    intervals = {f"{name} 95 %": bootstrap_interval([each.get(name) or 0.0 for each in measures]) for name in SHOWN[:2]}
    return {**head, "questions": len(answerable), **shown, **intervals}


def _wanted(one: Asked, way: str) -> frozenset[str]:
    return one.right | one.shown if way in OURS else one.right


def unanswered(asked: Sequence[Asked]) -> list[Row]:
    """Return, for each half, how many questions that nobody answered find nothing, and how far the scores reach."""
    rows: list[Row] = []
    for half in PARTS:
        best = [_best(one.hits) for one in asked if not one.right and one.question.split == half]
        known = [_best(one.hits) for one in asked if one.right and one.question.split == half]
        if best:
            rows.append(
                {
                    "unanswerable": half,
                    "questions": len(best),
                    "nothing found, %": round(100 * sum(score == 0 for score in best) / len(best), 1),
                    "answerable, nothing found, %": round(100 * sum(score == 0 for score in known) / len(known), 1),
                    "refused or uncertain, %": _refused(one for one in asked if not one.right and _is_in(one, half)),
                    "answerable, refused or uncertain, %": _refused(one for one in asked if _is_found(one, half)),
                    "best score p50": percentile(best, 0.5),
                    "p80": percentile(best, 0.8),
                    "answerable p20": percentile(known, 0.2),
                    "answerable p50": percentile(known, 0.5),
                }
            )
    return rows


def _refused(asked: Iterable[Asked]) -> float:
    refused = [one.is_refused for one in asked]
    return round(100 * sum(refused) / len(refused), 1) if refused else 0.0


def _is_in(one: Asked, half: str) -> bool:
    return one.question.split == half


def _is_found(one: Asked, half: str) -> bool:
    """Return whether one of the five best drawers answers, so that to refuse it is a loss."""
    return _is_in(one, half) and bool(set(one.found["palazzo"][:5]) & _wanted(one, "palazzo")) and bool(one.right)


def best_scores(context: Context, prompts: Sequence[str], half: str) -> list[Row]:
    """Return how high ordinary prompts score, by half."""
    rows: list[Row] = []
    for each in ("dev", "held-out"):
        chosen = [one for one in prompts if split(one) == each and half in ("all", each)]
        best = [_best(search(context, SearchRequest(one)).hits) for one in chosen]
        if best:
            shares = {f"p{share:.0%}"[:-1]: percentile(best, share) for share in (0.5, 0.9, 0.95)}
            rows.append({"prompts": each, "number": len(best), "found something": sum(map(bool, best)), **shares})
    return rows


def _best(hits: Sequence[HitView]) -> float:
    return hits[0].score if hits else 0.0


def latency(asked: Sequence[Asked]) -> Row:
    """Return percentiles of our search."""
    return {"search": f"{DEPTH} hits", **spread([one.took_ms for one in asked])}


def misses(asked: Iterable[Asked]) -> str:
    """Return what was not answered by the first hit, and what came first instead, for reading."""
    lines = ["", "Not first:"]
    for one in asked:
        ranked, wanted = one.found["palazzo"], _wanted(one, "palazzo")
        if one.right and not (ranked and ranked[0] in wanted):
            rank = next((n for n, drawer in enumerate(ranked, 1) if drawer in wanted), None)
            first = _line(one.hits[0]) if one.hits else "nothing found"
            lines.append(
                f"{one.question.id} [{one.question.type}, rank {rank or '–'}] {one.question.text}\n    {first}"
            )
    lines += ["", "Answered, though nobody said:"]
    lines += [f"{one.question.id} {one.question.text}\n    {_line(one.hits[0])}" for one in asked if _invented(one)]
    return "\n".join(lines)


def _invented(one: Asked) -> bool:
    return not one.right and bool(one.hits)


def _line(hit: HitView) -> str:
    return f"{hit.score:.2f} {hit.wing}/{hit.room} {hit.kind}: {' '.join(hit.text.split())[:110]}"


def _told(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,} vectors", end="\n" if done >= total else "", file=sys.stderr, flush=True)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure what search finds for coding agents.")
    parser.add_argument("--distractors", type=int, default=20_000, help="foreign drawers; 0: the corpus alone")
    parser.add_argument("--split", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--embedder", choices=("bundled", "granite"), default="bundled", help="what makes the vectors")
    parser.add_argument("--without", action="append", default=[], help="a stage or signal to leave out")
    parser.add_argument("--prompts", action="store_true", help="also ask ordinary prompts")
    parser.add_argument("--check", action="store_true", help="only check the labels")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
