"""Fifteen means fifteen messages of the human, in what each host really wrote, however it grows."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.sources import opencode_samples

from palazzo.features.hooks.contract import HookRequest, HookResult
from palazzo.features.hooks.hook import hook
from palazzo.operations.context import Context

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXPECTED = json.loads((FIXTURES / "claude-code" / "EXPECTED-18-turns.json").read_text("utf-8"))
TURNS: list[str] = [turn["user"] for turn in EXPECTED]


@dataclass(frozen=True)
class Recorded:
    """A transcript as a host wrote it, where it lies in a home directory, and how many messages a human sent in it."""

    host: str
    fixture: str
    place: str
    humans: int

    @property
    def path(self) -> Path:
        return FIXTURES / self.fixture


CLAUDE = ".claude/projects/-home-dev-acme"
PI = ".pi/agent/sessions/--home-dev-acme--"
WITH_18_TURNS = [
    Recorded("claude-code", "claude-code/e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl", CLAUDE, 18),
    Recorded(
        "codex",
        "codex/0.169.0-18-turns/rollout-2026-11-21T21-06-11-01a1ffee-52ac-72b3-935c-f18368c51b2f.jsonl",
        ".codex/sessions",
        18,
    ),
    Recorded("pi", "pi/0.87.1/2026-11-21T21-05-26-366Z_01a1ffed-a35d-767c-ab05-5d320791099a.jsonl", PI, 18),
]
SHORTER = [
    # a sub-agent, a compaction with its summary, and the echo of `/compact`
    Recorded("claude-code", "claude-code/2.1.330/fe532e01-9804-438f-a6da-df3ae7e1b7a7.jsonl", CLAUDE, 5),
    Recorded(
        "codex",
        "codex/0.169.0-compaction/rollout-2026-11-21T20-56-57-01a1ffe5-e11a-75f1-a591-964f2c67a7fd.jsonl",
        ".codex/sessions",
        2,
    ),
    Recorded(
        "codex",
        "codex/0.169.0/rollout-2026-11-21T21-00-54-01a1ffe9-7e49-7971-83b4-a2cdeadd0a30.jsonl",
        ".codex/sessions",
        4,
    ),
    # the older generation's rows
    Recorded(
        "codex",
        "codex/0.44.0/rollout-2026-11-21T21-00-46-01a1ffe9-5f2e-7ae2-9152-a6d0f4ad6d34.jsonl",
        ".codex/sessions",
        4,
    ),
    # what an extension put in, and a compaction
    Recorded("pi", "pi/0.99.1/2026-11-21T20-26-51-750Z_01a1ffca-51e5-77c3-b770-2a6cac1d47f0.jsonl", PI, 5),
    # a branch that was given up
    Recorded("pi", "pi/0.87.1/2026-11-21T21-08-05-864Z_01a1fff0-1268-743b-8852-95d4dbcdeb10.jsonl", PI, 5),
    Recorded(
        "gemini-cli",
        "gemini/0.61.0/chats/session-2026-11-21T21-03-12a4bcd7.jsonl",
        ".gemini/tmp/0123/chats",
        2,
    ),
    Recorded(
        "copilot",
        "copilot/82d0ee14-4119-4576-b6f0-a99a5a7d0eb6/events.jsonl",
        ".copilot/session-state/82d0ee14-4119-4576-b6f0-a99a5a7d0eb6",
        2,
    ),
]


class Home:
    """A home directory in which a host writes a transcript, and a palace that is told of each stop."""

    def __init__(self, directory: Path, recorded: Recorded) -> None:
        self.directory, self.recorded = directory, recorded
        self.transcript = directory / recorded.place / recorded.path.name
        self.transcript.parent.mkdir(parents=True)
        (directory / "work").mkdir()

    def palace(self, interval: int = 15, mode: str = "ask") -> Context:
        """The palace of these settings, as a hook that runs here opens it."""
        variables = {
            "HOME": str(self.directory),
            "PALAZZO_SERVICE": "off",
            "PALAZZO_MIN_MESSAGES": "1",
            "PALAZZO_SAVE_INTERVAL": str(interval),
            "PALAZZO_SAVE_MODE": mode,
        }
        return Context(self.directory / f"{interval}-{mode}.db", self.directory / "work", variables)

    def asks(self, states: Iterator[bytes], interval: int = 15, mode: str = "ask", session: str = "") -> list[int]:
        """Return at which states of the transcript (from 1) a save was asked for."""
        found = []
        with self.palace(interval, mode) as context:
            for n, state in enumerate(states, 1):
                self.transcript.write_bytes(state)
                request = HookRequest(self.recorded.host, "stop", session or "s-1", transcript=str(self.transcript))
                if hook(context, request).ask:
                    found.append(n)
        return found


def after_each_turn(whole: bytes) -> Iterator[bytes]:
    """A transcript as it is when a turn has ended: up to the row before the first that has the next prompt."""
    rows = whole.splitlines(keepends=True)
    begins = [next(n for n, row in enumerate(rows) if has(row, turn)) for turn in TURNS]
    for end in [*begins[1:], len(rows)]:
        yield b"".join(rows[:end])


def has(row: bytes, turn: str) -> bool:
    said = json.dumps(turn, ensure_ascii=False)[1:-1]
    return said.encode() in row or json.dumps(turn)[1:-1].encode() in row


@pytest.mark.parametrize("recorded", WITH_18_TURNS, ids=lambda one: one.host)
def test_a_save_is_asked_for_at_the_fifteenth_message_and_at_no_other(tmp_path: Path, recorded: Recorded) -> None:
    home = Home(tmp_path, recorded)
    assert home.asks(after_each_turn(recorded.path.read_bytes())) == [15]


@pytest.mark.parametrize("recorded", SHORTER, ids=lambda one: f"{one.host}-{one.humans}")
def test_nothing_but_a_human_s_messages_counts(tmp_path: Path, recorded: Recorded) -> None:
    home, whole = Home(tmp_path, recorded), recorded.path.read_bytes()
    assert home.asks(iter([whole]), recorded.humans) == [1]
    assert home.asks(iter([whole]), recorded.humans + 1) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recorded", "mode"),
    [*((recorded, "ask") for recorded in [*WITH_18_TURNS, *SHORTER]), (WITH_18_TURNS[0], "silent")],
    ids=lambda value: value if isinstance(value, str) else f"{value.host}-{value.humans}",
)
def test_it_is_the_same_wherever_a_stop_comes_between_two_rows(tmp_path: Path, recorded: Recorded, mode: str) -> None:
    home = Home(tmp_path, recorded)
    rows = recorded.path.read_bytes().splitlines(keepends=True)
    interval = 15 if recorded.humans == len(TURNS) else recorded.humans
    asked = home.asks((b"".join(rows[:n]) for n in range(1, len(rows) + 1)), interval, mode)
    if mode == "silent":
        assert asked == []
        return
    (at,) = asked
    if recorded.humans == len(TURNS):  # the fifteenth is there, and the sixteenth is not
        heard = [any(has(row, turn) for row in rows[:at]) for turn in TURNS]
        assert heard == [True] * 15 + [False] * 3


# --- a transcript that is not written yet when its turn ends --------------------------------------------------


def fifteenth(home: Home, later: float | None) -> HookResult:
    """Tell of fourteen turns, then of the fifteenth, whose rows come `later` by so many seconds, or not at all."""
    states = list(after_each_turn(home.recorded.path.read_bytes()))[:15]
    assert home.asks(iter(states[:14])) == []
    with home.palace() as context:
        said, transcript = EXPECTED[14]["assistant_final"], str(home.transcript)
        request = HookRequest(home.recorded.host, "stop", "s-1", transcript=transcript, last_message=said)
        coming = threading.Timer(later or 0, home.transcript.write_bytes, [states[14]])
        if later is not None:
            coming.start()
        try:
            return hook(context, request)
        finally:
            if later is not None:
                coming.join()


@pytest.mark.parametrize("recorded", WITH_18_TURNS, ids=lambda one: one.host)
def test_the_fifteenth_message_counts_though_the_host_writes_it_a_moment_later(
    tmp_path: Path, recorded: Recorded
) -> None:
    assert fifteenth(Home(tmp_path, recorded), 0.1).ask


def test_what_does_not_come_is_read_later_and_asked_for_then(tmp_path: Path) -> None:
    home = Home(tmp_path, WITH_18_TURNS[0])
    told = fifteenth(home, None)
    assert not told.ask
    assert told.again == (home.transcript,)


# --- a database --------------------------------------------------------------------------------------------

OPENCODE = Recorded("opencode", "opencode/1.18.33-18-turns.db.zst", ".local/share/opencode", 18)


def test_of_a_database_only_the_session_counts_in_which_a_turn_ended(tmp_path: Path) -> None:
    home = Home(tmp_path, OPENCODE)
    home.transcript = home.transcript.with_name("opencode.db")
    session = session_of(tmp_path)
    assert home.asks(grown(tmp_path, [13, 14, 15, 18]), session=session) == [3]
    assert home.asks(grown(tmp_path, [18]), mode="silent", session=session) == []


def test_a_sub_agent_s_session_has_no_human(tmp_path: Path) -> None:
    home = Home(tmp_path, OPENCODE)
    home.transcript = opencode_samples.unpack("1.18.33.db", home.transcript.parent)
    found = apsw.Connection(str(home.transcript))
    sessions = found.execute("SELECT id, parent_id FROM session")
    children = {name: parent is not None for name, parent in sessions}
    found.close()
    assert sorted(children.values()) == [False, False, True]
    whole = home.transcript.read_bytes()
    for name, is_child in children.items():
        assert bool(home.asks(iter([whole]), 1, session=name)) is not is_child


def session_of(tmp_path: Path) -> str:
    database = apsw.Connection(str(opencode_samples.unpack("1.18.33-18-turns.db", tmp_path, "whole.db")))
    ((name,),) = database.execute("SELECT id FROM session")
    database.close()
    return str(name)


def grown(tmp_path: Path, turns: list[int]) -> Iterator[bytes]:
    """The database as it was when each of these turns had ended."""
    whole = opencode_samples.unpack("1.18.33-18-turns.db", tmp_path, "whole.db")
    ended = tmp_path / "ended.db"
    for n in turns:
        shutil.copy(whole, ended)
        database = apsw.Connection(str(ended))
        sent = [
            at
            for (at,) in database.execute(
                "SELECT time_created FROM message WHERE data ->> 'role' = 'user' ORDER BY time_created"
            )
        ]
        for at in sent[n : n + 1]:
            database.execute(
                "DELETE FROM part WHERE message_id IN (SELECT id FROM message WHERE time_created >= ?)", (at,)
            )
            database.execute("DELETE FROM message WHERE time_created >= ?", (at,))
            database.execute("UPDATE session SET time_updated = ?", (at - 1,))
        database.close()
        yield ended.read_bytes()


# --- what stands in a person's place and is nobody's -------------------------------------------------------


def row(n: int, content: Any, **fields: Any) -> bytes:
    said = {
        "type": "user",
        "uuid": f"{n:08d}-0000-4000-8000-000000000000",
        "parentUuid": None,
        "sessionId": "s-1",
        "cwd": "/home/dev/acme",
        "timestamp": f"2026-11-21T{10 + n // 60}:{n % 60:02d}:00.000Z",
        "message": {"role": "user", "content": content},
        **fields,
    }
    return json.dumps(said).encode() + b"\n"


NOBODYS: list[tuple[Any, dict[str, Any]]] = [
    ([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}], {}),
    ("<command-name>/cost</command-name>", {}),
    ("<local-command-stdout>Total cost: $0.10</local-command-stdout>", {}),
    ("<bash-stdout>main.py</bash-stdout><bash-stderr></bash-stderr>", {}),
    ("Caveat: the messages below were generated by the user.", {"isMeta": True}),
    ("This session is being continued from a previous one.", {"isCompactSummary": True}),
    ("<system-reminder>Your todo list is empty.</system-reminder>", {}),
    ("<palazzo-memory>a sample; search for more</palazzo-memory>", {}),
    ("Stop hook feedback:\nPalazzo memory checkpoint after 15 messages.", {}),
    ("Palazzo memory checkpoint after 15 messages. What was said is kept already.", {}),
    ("Find out how retries are configured.", {"isSidechain": True}),
    ("[Request interrupted by user]", {}),
]


def test_what_nobody_said_does_not_bring_a_save_nearer(tmp_path: Path) -> None:
    home = Home(tmp_path, Recorded("claude-code", "none.jsonl", CLAUDE, 0))
    whole = b""
    states = []
    for n in range(1, 5):
        whole += row(20 * n, f"Message {n} of a person, of which there are four.")
        for at, (content, fields) in enumerate(NOBODYS, 20 * n + 1):
            whole += row(at, content, **fields)
        states.append(whole)
    assert home.asks(iter(states), 3) == [3]
