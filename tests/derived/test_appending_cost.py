"""An exchange at the end of a session costs as much as at its beginning, counted in steps of SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from tests.archive.conversations import answered, called, file_rows, fresh_palace, said

from palazzo.archive.ingest import NewItem

_BATCH, _STEP = 200, 4


def _talk(n: int) -> list[NewItem]:
    return [said(n, "user", f"question {n} about the pool"), said(n + 1, "assistant", f"answer {n} about the pool")]


def _commands(n: int) -> list[NewItem]:
    command = replace(called(n + 1, "Bash", '{"command": "pytest -q"}', f"c{n}"), meta={"cwd": "/home/dev/pool"})
    return [said(n, "user", f"test {n} again"), command, answered(n + 2, f"{n} passed", f"c{n}")]


def _count_steps(exchange: Callable[[int], Sequence[NewItem]], rows: int) -> int:
    """Return the hundreds of steps that SQLite takes to file an exchange behind so many rows."""
    steps = 0

    def tick() -> bool:
        nonlocal steps
        steps += 1
        return False

    with fresh_palace() as palace:
        filings = [item for n in range(0, rows, _STEP) for item in exchange(n)]
        file_rows(palace, filings, _BATCH)
        file_rows(palace, exchange(rows))
        with palace.database.transaction() as connection:
            connection.raw.set_progress_handler(tick, 100)
        file_rows(palace, exchange(rows + _STEP))
        return steps


@pytest.mark.parametrize("exchange", [_talk, _commands])
def test_an_exchange_costs_the_same_behind_ten_times_as_many(exchange: Callable[[int], Sequence[NewItem]]) -> None:
    assert _count_steps(exchange, 2_000) <= 1.5 * _count_steps(exchange, _BATCH)
