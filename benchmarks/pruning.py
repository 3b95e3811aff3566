"""Measure what pruning the keyword query costs: LoCoMo filed among 100,000 foreign drawers, with it and without.

    python benchmarks/make_palace.py 100000
    python benchmarks/pruning.py LOCOMO.json [--palace 100000] [--questions 700] [--json]

Turns are filed as messages of different authors, a drawer each, beside the palace's own drawers (in a copy of
it). Questions are asked over everything, by keyword alone: the palace's vectors are synthetic, and real ones
would hide what the keyword list lost. Recall is the share of a question's evidence turns among the first ten
drawers, and of its evidence sessions among those of the first fifty, five best sessions counted.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.make_palace import palace_path
from benchmarks.measuring import CACHE, Row, median, milliseconds, report

from palazzo.archive import door, identity
from palazzo.archive.door import Filing
from palazzo.archive.guarding import Guard
from palazzo.model import Micros, Part, Place, Source
from palazzo.palace import Palace
from palazzo.recall import search as recall
from palazzo.recall.keywords import POSTINGS_BUDGET
from palazzo.recall.query import Query

BUDGETS = (float("inf"), POSTINGS_BUDGET, 25_000)
TURNS, SESSIONS = 10, 5
LOOKED_AT = 50


@dataclass(frozen=True)
class Question:
    """A question and the (conversation, turn) pairs that answer it."""

    text: str
    evidence: frozenset[tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask all questions under each budget, in turns."""
    parser = argparse.ArgumentParser(description="Measure what pruning the keyword query costs.")
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--palace", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, default=CACHE)
    parser.add_argument("--questions", type=int, default=700)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    conversations = json.loads(given.locomo.read_text("utf-8"))
    path = given.directory / f"locomo-among-{given.palace}" / "palace.db"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(palace_path(given.directory, given.palace), path)
    with Palace.open(path) as palace:
        turns = _file(palace, conversations)
        asked = [question for each in conversations for question in _questions(each)][: given.questions]
        rows = measure(palace, turns, asked)
    report(
        f"Pruning: LoCoMo ({len(turns):,} turns) among {given.palace:,} drawers, {len(asked)} questions",
        rows,
        given.json,
    )
    return 0


def measure(palace: Palace, turns: dict[str, tuple[str, str]], asked: Sequence[Question]) -> list[Row]:
    """Return recall and milliseconds for each budget."""
    taken: dict[float, list[float]] = {budget: [] for budget in BUDGETS}
    found: dict[float, list[tuple[float, float]]] = {budget: [] for budget in BUDGETS}
    for question in asked:
        query = Query(question.text, limit=LOOKED_AT, budget=1_000_000)
        for budget in BUDGETS:
            hits: list[tuple[str, str]] = []

            def ask(budget: float = budget, query: Query = query, hits: list[tuple[str, str]] = hits) -> None:
                with palace.database.snapshot() as connection:
                    answer = recall.search(connection, query, None, None, postings_budget=budget)
                hits.extend(turns.get(hit.drawer.spans[0].item, ("", "")) for hit in answer.hits)

            taken[budget].append(milliseconds(ask))
            found[budget].append(_recalled(hits, question.evidence))
    return [
        {
            "postings budget": "all" if budget == float("inf") else f"{budget:,.0f}",
            "turn R@10, %": round(100 * _mean([turn for turn, _ in found[budget]]), 2),
            "session R@5, %": round(100 * _mean([session for _, session in found[budget]]), 2),
            "p50 ms": round(median(taken[budget]), 1),
        }
        for budget in BUDGETS
    ]


def _recalled(hits: Sequence[tuple[str, str]], evidence: frozenset[tuple[str, str]]) -> tuple[float, float]:
    turns = len(evidence & set(hits[:TURNS])) / len(evidence)
    wanted = {_session(turn) for turn in evidence}
    best = list(dict.fromkeys(_session(hit) for hit in hits))[:SESSIONS]
    return turns, len(wanted & set(best)) / len(wanted)


def _session(turn: tuple[str, str]) -> tuple[str, str]:
    return turn[0], turn[1].partition(":")[0]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


def _file(palace: Palace, conversations: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """File every turn that is not there yet; return (conversation, turn) by item id."""
    turns: dict[str, tuple[str, str]] = {}
    for conversation in conversations:
        name = str(conversation["sample_id"])
        source = Source(("locomo", name), "bench", f"bench:locomo/{name}", name, name)
        filings = []
        for n, (turn, at) in enumerate(_turns(conversation["conversation"])):
            text = turn["text"] + (f" [shares a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else "")
            item = identity.positioned_id(source.key, "", n, text)
            turns[item] = name, turn["dia_id"]
            parts = (Part("text", 0, len(text)),)
            filings.append(
                Filing(item, text, "message", "user", author=turn["speaker"], parts=parts, ordinal=n, created_at=at)
            )
        with palace.database.transaction() as connection:
            door.file(
                connection,
                source,
                Place(name, "talk"),
                door.prepare(filings, Guard.of(palace.database)),
                palace.clock(),
            )
    return turns


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[dict[str, str], Micros]]:
    number = 1
    while f"session_{number}_date_time" in conversation:
        said = conversation[f"session_{number}_date_time"]
        moment = datetime.strptime(said, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in conversation.get(f"session_{number}", []):
            yield turn, Micros(int(moment.timestamp() * 1e6))
        number += 1


def _questions(conversation: dict[str, Any]) -> Iterator[Question]:
    name = str(conversation["sample_id"])
    known = {turn["dia_id"] for turn, _ in _turns(conversation["conversation"])}
    for asked in conversation["qa"]:
        named = {
            f"D{int(session)}:{int(turn)}"
            for evidence in asked.get("evidence") or []
            for session, turn in re.findall(r"D:?(\d+):(\d+)", evidence)
        }
        if named & known:
            yield Question(asked["question"], frozenset((name, turn) for turn in named & known))


if __name__ == "__main__":
    sys.exit(main())
