"""Conversations written as each host writes them come back as they were, at once and while the file grows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palazzo.hosts.claude_code.transcript import LOCAL_AGENT_SESSIONS, ClaudeCode
from palazzo.hosts.claude_desktop.transcript import ClaudeDesktop
from palazzo.hosts.codex.codex_rollouts import Codex
from palazzo.hosts.copilot_cli.transcript import Copilot
from palazzo.hosts.droid.transcript import Droid
from palazzo.hosts.gemini_cli.transcript import Gemini
from palazzo.hosts.kiro.transcript import KiroSessions
from palazzo.hosts.pi.transcript import Pi
from palazzo.hosts.qwen_code.transcript import QwenCode
from palazzo.hosts.windsurf.transcript import Windsurf
from palazzo.sources.formats import Feeder, Row, Unreadable

from . import hosts
from .told import EVERY_DAY, SLOW, Turn, heard, hold, spoken, turns

Writer = Callable[[list[Turn], int], bytes]

WRITERS: dict[str, tuple[Feeder, Writer]] = {
    "claude-code": (ClaudeCode(), hosts.claude_code),
    "claude-desktop": (ClaudeDesktop(), hosts.claude_code),
    "codex": (Codex(), hosts.codex),
    "pi": (Pi(), hosts.pi),
    "gemini": (Gemini(), hosts.gemini),
    "gemini-text": (Gemini(), hosts.gemini_text),
    "copilot": (Copilot(), hosts.copilot),
    "droid": (Droid(), hosts.droid),
    "qwen": (QwenCode(), hosts.qwen),
    "kiro": (KiroSessions(), hosts.kiro),
    "kiro-engine-2": (KiroSessions(), hosts.kiro_engine_2),
    "windsurf": (Windsurf(), hosts.windsurf),
}
each = pytest.mark.parametrize("name", WRITERS)
each_growing = pytest.mark.parametrize("name", [name for name in WRITERS if name != "gemini-text"])


def read(feeder: Feeder, data: bytes, start: int = 0) -> list[Row]:
    stream = BytesIO(data)
    stream.seek(start)
    return list(feeder.rows(stream, start))


def check(feeder: Feeder, writer: Writer, told: list[Turn], directory: Path, way: int) -> None:
    data = writer(told, way)
    folder = directory / LOCAL_AGENT_SESSIONS if feeder.kind == "claude-desktop" else directory
    assert feeder.recognises(folder / "session.jsonl", data[: 64 * 1024])
    rows = read(feeder, data)
    assert b"".join(row.raw for row in rows) == data
    assert not [row for row in rows if isinstance(row.content, Unreadable)]
    assert heard(rows) == spoken(told)


@each
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    hold(partial(check, *WRITERS[name]), tmp_path, EVERY_DAY)


@pytest.mark.slow
@each
def test_what_is_written_is_read_back_a_thousand_times(name: str, tmp_path: Path) -> None:
    hold(partial(check, *WRITERS[name]), tmp_path, SLOW)


def grows(name: str, examples: int) -> None:
    """Read a file at arbitrary sizes, each time from where the last read ended."""
    feeder, writer = WRITERS[name]

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(told=turns, way=st.integers(0, 1_000_000), cuts=st.lists(st.floats(0, 1), max_size=3))
    def in_pieces(told: list[Turn], way: int, cuts: list[float]) -> None:
        data = writer(told, way)
        seen: list[Row] = []
        for size in sorted(int(cut * len(data)) for cut in [*cuts, 1.0]):
            start = seen[-1].position + len(seen[-1].raw) if seen else 0
            seen += read(feeder, data[:size], start) if size >= start else []
        assert b"".join(row.raw for row in seen) == data
        assert heard(seen) == spoken(told)
        whole = read(feeder, data)
        ended = [row for row in seen if row.raw.strip()]  # the end of a line may come later, as a row of its own
        assert [(row.position, row.content, row.title) for row in ended] == [
            (row.position, row.content, row.title) for row in whole
        ]

    in_pieces()


@each_growing
def test_a_file_that_grows_is_read_as_if_at_once(name: str) -> None:
    grows(name, EVERY_DAY // 2)


@pytest.mark.slow
@each_growing
def test_a_file_that_grows_is_read_as_if_at_once_a_thousand_times(name: str) -> None:
    grows(name, SLOW)


@each_growing
def test_a_last_line_that_is_still_being_written_waits(name: str) -> None:
    feeder, writer = WRITERS[name]
    told = [Turn("user", "first", 1_795_293_302_613), Turn("assistant", "second", 1_795_293_302_614)]
    data = writer(told, 0)
    last = data.rindex(b"\n", 0, -1) + 1
    before = read(feeder, data[:last])
    for size in range(last, len(data) - 1):
        assert read(feeder, data[:size]) == before
