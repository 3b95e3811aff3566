"""Whatever a file or a message of others holds, its parser returns something or refuses it in a sentence; none crashes.

Each target gets `PALAZZO_FUZZ_SECONDS` seconds of inputs near its corpus (1 in everyday runs, 4 in slow ones), from a
seed (`PALAZZO_SEED`). An input that was once a crash belongs into `corpus/`, so that it is tried first in each run.
`python -m tests.fuzz.coverage_report` prints how much of its parser each target reaches.
The regular expressions that meet such text are measured elsewhere (`tests/security`, `tests/linear_time.py`).
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter

import pytest
from tests.fuzz.mutator import Mutator
from tests.fuzz.targets import TARGETS
from tests.reliability.sizes import SEED

from palazzo.errors import PalazzoError
from palazzo.store.page_file import UnreadablePage
from palazzo.sync.field_codecs import BadRecord

SECONDS = float(os.environ.get("PALAZZO_FUZZ_SECONDS", "0"))
LONGEST = 5.0
"""Seconds of this thread that one input may take: a parser of these sizes takes milliseconds."""
REFUSALS = (PalazzoError, BadRecord, UnreadablePage)


def fuzz(name: str, seconds: float) -> Counter[str]:
    """Run a target for so many seconds; return how its inputs ended."""
    corpus = list(TARGETS[name].inputs())
    mutator = Mutator(corpus, random.Random(f"{SEED} {name}"))
    ends: Counter[str] = Counter()
    with TARGETS[name].open() as target:
        waiting, until = list(corpus), time.monotonic() + seconds
        while waiting or time.monotonic() < until:
            data = waiting.pop() if waiting else mutator.next()
            began = time.thread_time()
            try:
                target(data)
                ends["read"] += 1
            except REFUSALS as refusal:
                ends[type(refusal).__name__] += 1
            except BaseException as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {error}; input: {data[:2000]!r}") from error
            assert time.thread_time() - began < LONGEST, f"{name}: {len(data)} bytes: {data[:2000]!r}"
    return ends


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_refuses_or_reads(name: str) -> None:
    ends = fuzz(name, SECONDS or 1.0)
    assert ends["read"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_refuses_or_reads_for_longer(name: str) -> None:
    ends = fuzz(name, SECONDS or 4.0)
    print(f"{name}: {sum(ends.values())} inputs, {dict(ends)}")
    assert ends["read"] > 0
