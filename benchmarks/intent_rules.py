"""How well prompts that ask for the past are recognised: `python benchmarks/intent_rules.py [--misses] [--json]`.

Of each half of `benchmarks/intent`: how many of those that ask are recognised, how many others are taken for such, how
many topics have the words that they must have, and how long a prompt takes. `--misses` prints what went wrong in the
half that patterns are made on, never of the other.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.intent.prompts import Prompt, read_prompts
from benchmarks.measuring import Row, percentile, report

from palazzo.injection.intent import intent

ROUNDS = 5


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="print what went wrong in the dev half")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    prompts = read_prompts()
    rows = [judge([one for one in prompts if one.split == half], half) for half in ("dev", "held-out")]
    report("Prompts that ask for the past", rows, arguments.json)
    if arguments.misses:
        for one in prompts:
            if one.split == "dev" and (trouble := wrong(one)):
                print(f"{trouble}: {one.text!r}")


def judge(prompts: Sequence[Prompt], half: str) -> Row:
    """Return one half's figures, in percent and microseconds."""
    asking = [one for one in prompts if one.asks]
    found = [one for one in asking if intent(one.text)]
    true = [one for one in found if has_topic(one)]
    row: Row = {"half": half, "asking": len(asking), "recognised, %": 100 * len(found) / len(asking)}
    row["topic right, %"] = 100 * len(true) / len(found)
    taken = 0
    for kind in ("ordinary", "sounds like it"):
        others = [one for one in prompts if one.kind == kind]
        false = sum(intent(one.text) is not None for one in others)
        row |= {kind: len(others), f"{kind}: taken, %": 100 * false / len(others)}
        taken += false
    row["all others taken, %"] = 100 * taken / (len(prompts) - len(asking))
    row["precision, %"] = 100 * len(found) / (len(found) + taken)
    times = sorted(took(one.text) for one in prompts)
    row |= {"p50 µs": percentile(times, 0.5), "p99 µs": percentile(times, 0.99)}
    return row


def has_topic(prompt: Prompt) -> bool:
    """Whether the topic has the words that it must have; a session as a whole has none."""
    seen = intent(prompt.text)
    if seen is None:
        return False
    topic = seen.topic.casefold()
    return all(word.casefold() in topic for word in prompt.topic) if prompt.topic else seen.is_whole


def wrong(prompt: Prompt) -> str:
    """Say what is wrong with what is found of a prompt, if anything."""
    seen = intent(prompt.text)
    if prompt.asks and seen is None:
        return "missed"
    if not prompt.asks and seen is not None:
        return f"taken ({prompt.kind}), topic {seen.topic!r}"
    return "" if not prompt.asks or has_topic(prompt) else f"topic {seen.topic if seen else ''!r}"


def took(text: str) -> float:
    """Return how long a prompt takes, in microseconds, the best of a few."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        intent(text)
        best = min(best, time.perf_counter() - began)
    return best * 1e6


if __name__ == "__main__":
    main()
