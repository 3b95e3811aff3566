"""Programs of others that tests run: one process of tests at a time fetches them, into a cache that all share."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from palazzo.locks import try_lock

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
LOCK = Path.home() / ".cache" / "palazzo-tests" / "fetching"
_thread_lock = threading.RLock()
_depth = 0


def fetching(fetch: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let no other process of tests look into the cache while `fetch` looks into it and completes it."""

    @functools.wraps(fetch)
    def run(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        global _depth
        with _thread_lock:
            if _depth:
                return fetch(*arguments, **named)
            LOCK.parent.mkdir(parents=True, exist_ok=True)
            while (lock := try_lock(LOCK)) is None:
                time.sleep(0.2)
            _depth = 1
            try:
                with lock:
                    return fetch(*arguments, **named)
            finally:
                _depth = 0

    return run
