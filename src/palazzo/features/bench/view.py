"""Terminal output of benchmark figures."""

from __future__ import annotations

from collections.abc import Mapping

from palazzo.bench.summaries import Means, Share
from palazzo.features.bench.contract import BenchResult, GuardBench, OwnBench, RetrievalBench
from palazzo.features.screen import INDENT, Screen
from palazzo.text.count_phrases import count_noun

_MB = 1_000_000
_BRIEF = (("session", "recall@5"), ("session", "recall@10"), ("turn", "recall@10"), ("turn", "ndcg@10"))
"""The measures shown for subsets of the questions: as many as fit into a terminal of 80 columns."""


def bench(screen: Screen, result: BenchResult) -> None:
    """Show the figures as tables."""
    if isinstance(result, RetrievalBench):
        _retrieval(screen, result)
    elif isinstance(result, OwnBench):
        _own(screen, result)
    elif isinstance(result, GuardBench):
        _guard(screen, result)


def _guard(screen: Screen, result: GuardBench) -> None:
    for n, table in enumerate(result.tables):
        if n:
            screen.gap()
        screen.say((table.title, "bold"))
        names = tuple(table.rows[0]) if table.rows else ()
        numbers = tuple(at for at, name in enumerate(names) if not isinstance(table.rows[0][name], str))
        rows = [
            tuple(f"{row[name]:,}" if at in numbers else str(row[name]) for at, name in enumerate(names))
            for row in table.rows
        ]
        screen.table(names, rows, right=numbers)


def _retrieval(screen: Screen, result: RetrievalBench) -> None:
    place_text = "in one palace" if result.shared else "one palace each"
    exclusions = f", without {', '.join(result.without)}" if result.without else ""
    screen.say(
        (f"{result.dataset}: {count_noun(result.questions, 'question')}, {place_text}{exclusions}", "bold"),
        ", in percent",
    )
    ways = list(result.baselines)
    header = ("", "session", "±", *ways, "turn", "±", *ways)
    rows = [
        (
            name,
            *(_percent(result.session[name]), _percent(result.margin.session[name])),
            *(_percent(result.baselines[way].session[name]) for way in ways),
            *(_percent(result.turn[name]), _percent(result.margin.turn[name])),
            *(_percent(result.baselines[way].turn[name]) for way in ways),
        )
        for name in result.session
    ]
    screen.table(header, rows, right=range(1, len(header)))
    screen.gap()
    subset_shares = {"with unanswerable": result.with_unanswerable, "without unanswerable": result.without_unanswerable}
    _shares(screen, "questions", result.by_type | subset_shares)
    if result.by_case:
        screen.gap()
        _shares(screen, "conversation", result.by_case)
    screen.gap()
    screen.table(("", ""), [((name, "dim"), value) for name, value in _facts(result)])


def _shares(screen: Screen, title: str, shares: Mapping[str, Share]) -> None:
    header = (title, "of", *(f"{level}\n{name}" for level, name in _BRIEF))
    rows = [
        (name, f"{share.questions:,}", *(_percent(_level(share, level)[measure]) for level, measure in _BRIEF))
        for name, share in shares.items()
    ]
    screen.table(header, rows, right=range(1, len(header)))


def _level(share: Share, level: str) -> Means:
    return share.session if level == "session" else share.turn


def _facts(result: RetrievalBench) -> list[tuple[str, str]]:
    ingest, latency = result.ingest, result.latency_ms
    process_note = f", {result.jobs} parallel processes" if result.jobs > 1 else ""
    facts = [
        ("search", f"p50 {latency['p50']:,.1f} ms, p95 {latency['p95']:,.1f} ms{process_note}"),
        (
            "filing",
            f"{ingest.drawers:,} drawers, {ingest.bytes / _MB:,.2f} MB of text in {ingest.seconds:,.1f} s "
            f"({ingest.drawers_per_second:,.0f} per second), {ingest.disk_bytes / _MB:,.1f} MB on disk",
        ),
        (
            "vectors",
            f"{ingest.embedding_seconds:,.1f} s; {ingest.embedded:,} texts embedded, {ingest.reused:,} from the cache",
        ),
    ]
    if result.unanswerable.questions:
        share, of = result.unanswerable.nothing_returned, result.unanswerable.questions
        facts.append(("no answer", f"no results for {_percent(share)} % of {of:,} questions without an answer"))
    return facts


def _own(screen: Screen, result: OwnBench) -> None:
    questions = f"{count_noun(result.questions, 'question')} made from {count_noun(result.drawers, 'drawer')}"
    screen.say(
        (f"{questions} (seed {result.seed})", "bold"), ": how often the source of a question was found, in percent"
    )
    names = list(result.found)
    rows = [
        (kind, f"{entry.questions:,}", *(_percent(entry.found[name]) for name in names))
        for kind, entry in result.by_kind.items()
    ]
    rows.append(("all", f"{result.questions:,}", *(_percent(result.found[name]) for name in names)))
    screen.table(("made from", "of", *names), rows, right=range(1, len(names) + 2))
    screen.say((f"search: p50 {result.latency_ms['p50']:,.1f} ms, p95 {result.latency_ms['p95']:,.1f} ms", "dim"))
    if result.note:
        screen.say((result.note, "yellow"))
    elif result.index == "building":
        screen.say(("Vectors are still being computed: new text was searched by keyword only.", "yellow"))
    for entry in result.examples:
        screen.gap()
        place = f"found at rank {entry.rank}" if entry.rank else "not found"
        screen.say((entry.question, "bold"), f"  ({entry.kind}) {place}")
        for above in entry.above:
            screen.say(f"{INDENT}{above.score:.2f}  ", (above.title, "cyan"), f"  {above.text}")


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
