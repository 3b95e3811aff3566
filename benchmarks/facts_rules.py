"""Precision and recall of the rules on the labels in `benchmarks/facts`: `python benchmarks/facts_rules.py`.

Prints figures of both halves and of the third set of pairs (`more`), by kind. `--misses` prints the cases that rules
are made on, the dev half's and the third set's, never others.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.facts.labels import (
    KINDS,
    MORE_CONTRADICTIONS,
    PREDICATES,
    Conflict,
    Fact,
    Pair,
    Passage,
    half,
    read_pairs,
    read_passages,
    same,
)

from palazzo.knowledge.compared_text import tell
from palazzo.knowledge.contradictions import Contradiction, contradictions
from palazzo.knowledge.rules.claim import Candidate, candidate
from palazzo.knowledge.text_claims import read_claims


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print what went wrong, but of the held-out half")
    parser.add_argument("--half", choices=("dev", "more", "held-out"))
    arguments = parser.parse_args()
    for name in ("dev", "more", "held-out"):
        if arguments.half not in (None, name):
            continue
        told = arguments.misses and name != "held-out"
        if name == "more":
            judge_pairs(name, read_pairs(MORE_CONTRADICTIONS), told)
        else:
            judge_pairs(name, [pair for pair in read_pairs() if half(pair.id) == name], told)
            judge_passages(name, told)


def judge_pairs(name: str, pairs: Sequence[Pair], told: bool) -> None:
    found, missed, false = Counter[str](), Counter[str](), Counter[str]()
    for pair in pairs:
        reported = list(
            contradictions(tell(pair.earlier.text, pair.earlier.role), tell(pair.later.text, pair.later.role))
        )
        hit = pair.conflict is not None and any(matches(one, pair.conflict) for one in reported)
        wrong = [one for one in reported if not allowed(one, pair)]
        if pair.conflict is not None:
            (found if hit else missed)[pair.conflict.kind] += 1
        for one in wrong:
            false[one.kind] += 1
        if told and (wrong or (pair.conflict and not hit)):
            print(pair.id, "MISSED" if pair.conflict and not hit else "", pair.conflict or "none")
            for one in wrong:
                print("    FALSE", one.kind, "|", one.subject, "|", one.old, "->", one.new)
    print(
        f"contradictions, {name}: precision {share(found.total(), false.total())},"
        f" recall {share(found.total(), missed.total())}"
    )
    for kind in KINDS:
        print(f"  {kind:8} found {found[kind]:3} missed {missed[kind]:3} false {false[kind]:3}")


def allowed(one: Contradiction, pair: Pair) -> bool:
    return any(matches(one, each) for each in ((pair.conflict, *pair.also) if pair.conflict else ()))


def matches(one: Contradiction, label: Conflict) -> bool:
    if label.kind == "boolean" and one.kind == "boolean":
        return bool(set(one.subject.casefold().split()) & set(label.subject.casefold().split()))
    if not same(one.old, label.old):
        return False
    return label.new is None or (one.new is not None and same(one.new, label.new))


def judge_passages(name: str, told: bool) -> None:
    found, missed, false = Counter[str](), Counter[str](), Counter[str]()
    for passage in (passage for passage in read_passages() if half(passage.id) == name):
        made = [candidate(claim) for claim in read_claims(passage.text, passage.role)]
        proposed = list(dict.fromkeys(one for one in made if one is not None))
        for fact in passage.facts:
            hit = any(says(one, fact, passage) for one in proposed)
            (found if hit else missed)[fact.predicate] += 1
            if told and not hit:
                print(passage.id, "MISSED", fact)
        for one in proposed:
            also = (*passage.facts, *passage.also)
            if not any(says(one, fact, passage) for fact in also) and (one.subject, one.predicate) != (
                "project",
                "uses",
            ):
                false[one.predicate] += 1
                if told:
                    print(passage.id, "FALSE", one, "|", passage.text[:90].replace("\n", " "))
    print(
        f"suggestions, {name}: precision {share(found.total(), false.total())},"
        f" recall {share(found.total(), missed.total())}"
    )
    for predicate in PREDICATES:
        print(f"  {predicate:13} found {found[predicate]:3} missed {missed[predicate]:3} false {false[predicate]:3}")


def says(one: Candidate, fact: Fact, passage: Passage) -> bool:
    if one.predicate != fact.predicate:
        return False
    if fact.predicate == "decided":
        return same(one.object, fact.object) or one.object in passage.text
    return same(one.subject, fact.subject) and same(one.object, fact.object)


def share(good: int, bad: int) -> str:
    return f"{good}/{good + bad} = {good / max(good + bad, 1):.3f}"


if __name__ == "__main__":
    main()
