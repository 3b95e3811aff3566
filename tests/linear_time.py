"""Whether a function's time grows in proportion to its text, measured so that a busy machine does not matter."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_ROUNDS = 8
_MOST_GROWTH = 10
"""The most that four times the text may take, in times of the text: linear work takes 4, quadratic 16."""


def assert_linear(function: Callable[[str], object], text: str, spare: float, what: str) -> None:
    """Fail unless four times a text takes at most ten times as long, with `spare` seconds for what is constant.

    The least of several measurements is taken on either side: other programs can only lengthen one. Only this thread's
    time counts: a thread that an earlier test left behind may work in bursts, which a short measurement falls between
    and a long one never does. The same holds for what earlier tests left on the heap: a long text makes the garbage
    collector walk through all of it (0.4 s after a thousand tests), a short one seldom does, so it is frozen.
    """
    small: list[float] = []
    large: list[float] = []
    gc.freeze()
    try:
        for _ in range(_ROUNDS):
            small.append(_seconds(function, text))
            large.append(_seconds(function, text * 4))
            if min(large) <= _MOST_GROWTH * min(small) + spare:
                return
    finally:
        gc.unfreeze()
    raise AssertionError(
        f"{what} takes more than linear time: seconds for {len(text)} characters "
        f"{[round(seconds, 3) for seconds in small]}, for four times as many {[round(seconds, 3) for seconds in large]}"
    )


def _seconds(function: Callable[[str], object], text: str) -> float:
    begun = time.thread_time()
    function(text)
    return time.thread_time() - begun
