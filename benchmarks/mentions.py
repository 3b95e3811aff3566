"""Precision and recall of what is found to be mentioned: `python benchmarks/mentions.py`.

Prints figures of both halves of `benchmarks/entities`, by kind. `--misses` prints what went wrong in the half that
rules are made on, never of the other. `--speed` says how long reading takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.entities.passages import KINDS, Passage, read_passages

from palazzo.text.text_mentions import mentions

ROUNDS = 20


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print what went wrong, of the dev half")
    parser.add_argument("--half", choices=("dev", "held-out"))
    parser.add_argument("--speed", action="store_true", help="print how many passages are read in a second")
    arguments = parser.parse_args()
    passages = read_passages()
    for name in ("dev", "held-out"):
        if arguments.half in (None, name):
            judge([one for one in passages if one.split == name], name, arguments.misses and name == "dev")
    if arguments.speed:
        speed(passages)


def judge(passages: list[Passage], name: str, told: bool) -> None:
    """Print precision and recall of one half: a form counts once in a passage."""
    found, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    for passage in passages:
        wanted = {one.text: one for one in passage.mentions}
        seen = dict.fromkeys((one.text, one.kind) for one in mentions(passage.text, passage.role))
        right = {text for text, kind in seen if text in wanted and kind in wanted[text].kinds}
        for text, kind in seen:
            if text in right:
                found[kind] += 1
            elif not any(text in each for each in passage.either):
                wrong[kind] += 1
                if told:
                    print(f"{passage.id}: WRONG {kind} {text}")
        for text, mention in wanted.items():
            if text not in right:
                missed[mention.kinds[0]] += 1
                if told:
                    print(f"{passage.id}: MISSED {mention.kinds[0]} {text}")
    print(f"{name}: {line(found.total(), wrong.total(), missed.total())}")
    for kind in KINDS:
        print(f"  {kind:11} {line(found[kind], wrong[kind], missed[kind])}")


def line(found: int, wrong: int, missed: int) -> str:
    precision, recall = found / max(1, found + wrong), found / max(1, found + missed)
    return f"precision {precision:.3f}  recall {recall:.3f}  ({found} found, {wrong} wrong, {missed} missed)"


def speed(passages: list[Passage]) -> None:
    """Print how quickly texts are read: passages are about as long as a short message."""
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        for passage in passages:
            mentions(passage.text, passage.role)
    seconds = time.perf_counter() - begun
    size = sum(len(one.text) for one in passages) * ROUNDS
    print(
        f"{len(passages) * ROUNDS / seconds:,.0f} passages, {size / seconds / 1000:,.0f} thousand characters a second"
    )


if __name__ == "__main__":
    main()
