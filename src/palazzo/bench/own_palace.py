"""How well search finds the content of the user's own palace again, without labels: rules generate each question.

    heading      a section's heading, with the headings above it if it occurs elsewhere too; expected: that section
    first turn   the first sentence of a session; expected: the drawers that contain it
    identifier   a name, path or code that at most three drawers contain; expected: those drawers

Such questions share their words with the expected drawers. They show what search loses, not how well it understands.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from palazzo.archive.archive_reader import read_drawer
from palazzo.bench.measures import percentile
from palazzo.bench.summaries import ReturnRates
from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.store import items, keyword_table, question_samples
from palazzo.store.database import Connection
from palazzo.text import word_forms

KINDS = ("heading", "first turn", "identifier")
PLACES = (1, 5, 10)
DEPTH = 10
"""Number of hits that are requested."""
LEAST_DRAWERS = 30
"""Minimum number of drawers. With fewer, any target is among the first ten by chance too often to be informative."""
RARE = 3
"""Maximum number of drawers that may contain an identifier, or a session's first sentence."""
_TRIES = 20
"""Number of drawers or sessions that are examined for each requested question."""
_LEAST_WORDS, _LONGEST = 3, 300
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|[。！？]|$)", re.MULTILINE)
_NAME = re.compile(r"(?<![\w./-])[A-Za-z][\w./-]{4,62}\w(?![\w/-])")
_IDENTIFIER_PATTERN = re.compile(r"[0-9_/]|[a-z][A-Z]|\w\.\w")


class Hit(Protocol):
    """The attributes of a hit that are needed."""

    @property
    def id(self) -> str:
        """Return the drawer's id."""
        ...

    @property
    def title(self) -> str:
        """Return the title of the drawer or of its source."""
        ...

    @property
    def score(self) -> float:
        """Return the score that search shows."""
        ...

    @property
    def text(self) -> str:
        """Return the exact words."""
        ...


Ask = Callable[[str], Sequence[Hit]]
"""Searches for a question and returns `DEPTH` hits."""


@frozen
class Probe:
    """A generated question, and the ids of the drawers from which it was generated."""

    kind: str
    question: str
    origins: frozenset[str]


@frozen
class ProbeResult:
    """A probe, the rank of its origin (None: not among the hits), the hits, and the time taken."""

    probe: Probe
    rank: int | None
    hits: tuple[Hit, ...]
    took_ms: float


def probes(connection: Connection, limit: int, seed: int) -> tuple[int, list[Probe]]:
    """Return the number of drawers, and about `limit` questions, a third of each kind if there are enough.

    They are the same for the same palace and seed. Raises PalazzoError when the palace is too small.
    """
    live = question_samples.live_drawers(connection)
    if len(live) < LEAST_DRAWERS:
        raise PalazzoError(
            f"The palace has {len(live)} drawers, and every query returns ten of them among its first ten results: "
            f"index more with 'palazzo mine' until there are {LEAST_DRAWERS}."
        )
    kind_limit = -(-limit // len(KINDS))
    draw = random.Random(seed)  # noqa: S311 - the same questions each time are wanted
    questions: list[Probe] = []
    for source in (_headings(connection, draw), _first_turns(connection, draw), _identifiers(connection, draw, live)):
        questions.extend(_take_probes(source, kind_limit, _TRIES * kind_limit))
    if not questions:
        raise PalazzoError(
            "No questions can be generated from this palace: it has no headings, no sessions and no identifiers."
        )
    return len(live), questions


def ask_all(probes: Sequence[Probe], ask: Ask, report: Callable[[int, int], None]) -> list[ProbeResult]:
    """Ask every question."""
    results = []
    for count, probe in enumerate(probes, 1):
        began = time.perf_counter()
        hits = tuple(ask(probe.question))
        took = (time.perf_counter() - began) * 1000
        rank = next((n for n, hit in enumerate(hits, 1) if hit.id in probe.origins), None)
        results.append(ProbeResult(probe, rank, hits, took))
        report(count, len(probes))
    return results


def measure_returns(results: Sequence[ProbeResult]) -> ReturnRates:
    """Return how often the drawers of origin were found."""
    ranks = [result.rank for result in results]
    shares: dict[str, float | None] = {f"found@{k}": _percent([bool(r and r <= k) for r in ranks]) for k in PLACES}
    return ReturnRates(len(ranks), shares | {"mrr": _percent([1 / r if r else 0.0 for r in ranks])})


def latency(results: Sequence[ProbeResult]) -> dict[str, float]:
    """Return p50 and p95 of the search times, in milliseconds."""
    took = [result.took_ms for result in results]
    return {name: round(percentile(took, part), 2) for name, part in (("p50", 0.5), ("p95", 0.95))}


def worst(results: Sequence[ProbeResult], number: int) -> list[ProbeResult]:
    """Return questions whose origin was not the first hit; those whose origin was not found come first."""
    misses = [result for result in results if result.rank != 1]
    return sorted(misses, key=lambda one: -(one.rank or DEPTH + 1))[:number]


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * sum(values) / len(values), 2) if values else None


def _take_probes(source: Iterator[Probe | None], number: int, tries: int) -> list[Probe]:
    """Take this many distinct questions from a source, in at most `tries` attempts."""
    probes_by_question: dict[str, Probe] = {}
    for _, probe in zip(range(tries), source, strict=False):
        if probe is not None and probe.origins:
            probes_by_question.setdefault(probe.question, probe)
        if len(probes_by_question) == number:
            break
    return list(probes_by_question.values())


def _headings(connection: Connection, draw: random.Random) -> Iterator[Probe | None]:
    """Ask for a heading as it stands if it is unique, otherwise together with all the headings above it."""
    all_titles = question_samples.section_titles(connection)
    heading_counts = Counter(_last(title) for title, _ in all_titles)
    titles = [title for title, sources in all_titles if sources == 1]
    draw.shuffle(titles)
    for title in titles:
        heading = _last(title)
        is_unique = heading_counts[heading] == 1 and len(word_forms.terms(heading)) >= _LEAST_WORDS
        asks = heading if is_unique else title
        enough = len(word_forms.terms(asks)) >= _LEAST_WORDS
        yield Probe("heading", asks, question_samples.drawers_titled(connection, title)) if enough else None


def _last(title: str) -> str:
    return title.rpartition(" › ")[2]


def _first_turns(connection: Connection, draw: random.Random) -> Iterator[Probe | None]:
    turns = question_samples.first_turns(connection)
    draw.shuffle(turns)
    for item in turns:
        text = items.read_texts(connection, [item])[item].lstrip()
        sentence = (_SENTENCE.match(text) or [""])[0].strip()
        if (
            len(sentence) > _LONGEST
            or len(word_forms.terms(sentence)) < _LEAST_WORDS
            or sentence.startswith(("<", "/"))
        ):
            yield None
            continue
        holders = _find_holders(connection, sentence)
        own = question_samples.drawers_of(connection, item)
        yield Probe("first turn", sentence, own | holders) if own and len(holders) <= RARE else None


def _identifiers(connection: Connection, draw: random.Random, live: list[int]) -> Iterator[Probe | None]:
    rows = list(live)
    draw.shuffle(rows)
    for row in rows:
        text = read_drawer(connection, row).text
        names = sorted({name for name in _NAME.findall(text) if _IDENTIFIER_PATTERN.search(name)})
        name = draw.choice(names) if names else ""
        holders = _find_holders(connection, name) if name else frozenset()
        yield Probe("identifier", name, holders) if 0 < len(holders) <= RARE else None


def _find_holders(connection: Connection, phrase: str) -> frozenset[str]:
    """Return the drawers with these words in this order, at most one more than the limit for rare phrases."""
    matches = keyword_table.matches(connection, word_forms.match_expression([], [phrase]), [], RARE + 1)
    return question_samples.ids_of(connection, (row for row, _ in matches))
