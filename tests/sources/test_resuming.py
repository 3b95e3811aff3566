"""A read that continues where this process stopped gives the same rows as one that replays the rows before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from palazzo.hosts.gemini_cli import transcript as gemini
from palazzo.hosts.pi import transcript as pi
from palazzo.sources.formats import Feeder, Row
from palazzo.sources.formats.resume_context import ResumeStates

from .host_samples import sessions_of

CASES = [
    *((pi.Pi(), pi._TREES, path) for path in sessions_of("pi")),
    *((gemini.Gemini(), gemini._HISTORIES, path) for path in sessions_of("gemini") if path.suffix == ".jsonl"),
]


def rows_from(feeder: Feeder, path: Path, start: int) -> list[Row]:
    with path.open("rb") as stream:
        stream.seek(start)
        return list(feeder.rows(stream, start))


@pytest.mark.parametrize(("feeder", "states", "session"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_a_read_goes_on_from_what_this_process_remembers(
    feeder: Feeder, states: ResumeStates[Any], session: Path, tmp_path: Path
) -> None:
    lines = session.read_bytes().splitlines(keepends=True)
    path, middle, end = tmp_path / session.name, b"".join(lines[: len(lines) // 2]), b"".join(lines)
    path.write_bytes(middle)
    rows_from(feeder, path, 0)
    path.write_bytes(end)
    states_before = dict(states._states)
    resumed_rows = rows_from(feeder, path, len(middle))
    states._states.clear()
    replayed_rows = rows_from(feeder, path, len(middle))
    assert resumed_rows == replayed_rows
    assert len(middle) in {key[2] for key in states_before}
    if not end.endswith(b"\n"):
        return
    # what does not end as the file did when it was read is another file
    path.write_bytes(end[:-2] + b" \n")
    with path.open("rb") as stream:
        assert states.take(stream, len(end)) is None
