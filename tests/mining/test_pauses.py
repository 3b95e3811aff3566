"""What was said while it was paused is left out when its transcript is read later, and nothing else of it."""

from __future__ import annotations

import pytest

from palazzo.model import Micros
from palazzo.sources.formats import Message, Noise, Row
from palazzo.sources.pause_gaps import without_pauses

PAUSES = [(Micros(10), Micros(20)), (Micros(30), Micros(40))]


def row(n: int, at: int | None) -> Row:
    content = Noise("host's own") if at is None else Message(f"m{n}", "user", created_at=Micros(at))
    return Row(n, b"x", content)


@pytest.mark.parametrize(
    ("times", "left"),
    [
        ([5, 12, 25, 35, 45], [0, 2, 4]),
        ([9, 10, 19, 20], [0, 3]),
        ([5, None, 12, None, None, 25, None], [0, 1, 5, 6]),
        ([None, None, 12, 25], [3]),
        ([None, 5, 12], [0, 1]),
        ([None, None], [0, 1]),
        ([25, 12, 25], [0, 2]),
        ([], []),
    ],
)
def test_rows_belong_to_the_time_of_the_message_before_them(times: list[int | None], left: list[int]) -> None:
    rows = [row(n, at) for n, at in enumerate(times)]
    assert [one.position for one in without_pauses(iter(rows), PAUSES)] == left
    assert list(without_pauses(iter(rows), ())) == rows
