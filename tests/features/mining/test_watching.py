"""What changes is read while it is watched, whatever befalls one of the sources."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import apsw
import pytest
import watchfiles
from tests.fidelity import hosts, kept
from tests.fidelity.told import Turn
from tests.sources.opencode_samples import START, Writer, text

from palazzo.features.mining import file_events, source_watch
from palazzo.features.mining.contract import WatchEvent
from palazzo.features.mining.source_watch import SourceWatcher
from palazzo.operations import pause_state
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

PATIENCE = 60.0
"""Seconds after which a test gives up on what should take one or two."""


def said(number: int, text: str) -> str:
    """A row of Claude Code's."""
    row = {
        "type": "user" if number % 2 else "assistant",
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": "5e551017-0000-4000-8000-000000000000",
        "timestamp": "2026-11-21T20:39:00.629Z",
        "cwd": "/home/dev/acme",
        "isSidechain": False,
        "message": {"role": "user" if number % 2 else "assistant", "content": text},
    }
    return json.dumps(row) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    return home


@pytest.fixture
def variables(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PALAZZO_SERVICE": "off", "PATH": os.environ["PATH"]}


@pytest.fixture
def transcript(home: Path) -> Path:
    path = home / ".claude" / "projects" / "-home-dev-acme" / "5e551017-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(said(number, f"word number {number}") for number in range(4)))
    return path


class Watcher:
    """A watcher in a thread of its own, and what it tells."""

    def __init__(self, home: Path, variables: dict[str, str], *paths: Path) -> None:
        self.told: list[WatchEvent] = []
        self._events: SimpleQueue[WatchEvent] = SimpleQueue()
        self._stop = threading.Event()
        self._palace, self._variables, self._home = home / "palace" / "palace.db", variables, home
        self._thread = threading.Thread(target=self._run, args=(paths,))

    def open(self) -> Context:
        return Context(palace=self._palace, cwd=self._home / "work", variables=self._variables)

    def _run(self, paths: tuple[Path, ...]) -> None:
        with self.open() as context:
            SourceWatcher(context, self._events.put, paths).run(self._stop)

    def start(self) -> None:
        self._thread.start()
        self.until("caught-up")

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        while not self._events.empty():
            self.told.append(self._events.get())

    def until(self, event: str, of: Callable[[WatchEvent], bool] = lambda event: True) -> WatchEvent:
        """Wait for an event."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                self.told.append(self._events.get(timeout=1))
            except Empty:
                continue
            if self.told[-1].event == event and of(self.told[-1]):
                return self.told[-1]
        raise AssertionError(f"no event '{event}' among {self.told}")

    def finds(self, words: str) -> bool:
        with self.open() as context:
            verb = operation("search")
            found: Any = verb.run(context, verb.request(query=words))
            return any(words in hit.text for hit in found.hits)


@contextmanager
def watch(home: Path, variables: dict[str, str], *paths: Path) -> Iterator[Watcher]:
    watcher = Watcher(home, variables, *paths)
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()


def test_while_it_is_paused_nothing_is_read(home: Path, variables: dict[str, str], transcript: Path) -> None:
    watcher = Watcher(home, variables)
    with watcher.open() as context:
        context.writing()
        pause_state.begin(context, None)
        watcher.start()
        with transcript.open("a") as file:
            file.write(said(4, "word number 4"))
        watcher.stop()
        assert not watcher.finds("word number 4")
        assert sum(event.items for event in watcher.told) == 0
        pause_state.end(context)
    after = Watcher(home, variables)
    after.start()
    after.stop()
    assert after.finds("word number 4")


def test_a_session_is_findable_as_it_goes_on_and_after_it_is_deleted(
    home: Path, variables: dict[str, str], transcript: Path
) -> None:
    with watch(home, variables) as watcher:
        assert watcher.finds("word number 3")
        with transcript.open("a") as file:
            file.write(said(5, "the zebra crossed at noon"))
        read = watcher.until("read")
        assert (read.uris, read.items) == ((transcript.as_uri(),), 1)
        assert watcher.finds("zebra crossed")
        transcript.unlink()
        other = transcript.with_name("5e551018-0000-4000-8000-000000000000.jsonl")
        other.write_text("".join(said(n, f"another {n}").replace("5e551017", "5e551018") for n in range(4)))
        watcher.until("read")
        assert watcher.finds("zebra crossed")


def test_a_database_is_read_as_its_log_grows(home: Path, variables: dict[str, str]) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    writer = Writer(path)
    writer.session("ses_1")
    for number in range(3):
        writer.message("ses_1", "user", START + number, [text(f"question {number}")])
    with watch(home, variables) as watcher:
        assert watcher.finds("question 2")
        size = path.stat().st_size
        writer.message("ses_1", "user", START + 9, [text("the zebra crossed at noon")])
        assert path.stat().st_size == size
        watcher.until("read")
        assert watcher.finds("zebra crossed")
    writer.close()


def test_documents_of_a_project_that_was_read_before_are_read_as_they_change(
    home: Path, variables: dict[str, str]
) -> None:
    project = home / "shop"
    (project / "docs").mkdir(parents=True)
    (project / ".gitignore").write_text("build/\n")
    (project / "docs" / "deploy.md").write_text("# Deploying\n\nPort 8443.\n")
    watcher = Watcher(home, variables)
    with watcher.open() as context:
        verb = operation("mine")
        verb.run(context, verb.request((project,)))
    with watch(home, variables) as watcher:
        (project / "docs" / "deploy.md").write_text("# Deploying\n\nThe port is 9443 now.\n")
        assert watcher.until("read").uris == (project.as_uri(),)
        assert watcher.finds("port is 9443 now")
        (project / "build").mkdir()
        (project / "build" / "made.md").write_text("# Made\n\nThis is a build product.\n")
        (project / "plans").mkdir()
        (project / "plans" / "next.md").write_text("# Next\n\nThe zebra crossed at noon.\n")
        watcher.until("read")
        assert watcher.finds("zebra crossed at noon")
        (project / "plans" / "later.md").write_text("# Later\n\nThe okapi slept.\n")
        watcher.until("read")
        assert watcher.finds("okapi slept")
        assert not watcher.finds("build product")


def test_a_history_that_appears_later_is_noticed(
    home: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_watch, "_LOOK_ROUND", 0.3)
    extra = home / "notes"
    extra.mkdir()
    with watch(home, variables, extra) as watcher:
        day = home / ".claude" / "projects" / "-home-dev-acme"
        day.mkdir(parents=True)
        path = day / "5e551017-0000-4000-8000-000000000000.jsonl"
        path.write_text("".join(said(number, f"word number {number}") for number in range(4)))
        assert watcher.until("found").uris == ((home / ".claude" / "projects").as_uri(),)
        watcher.until("read")
        with path.open("a") as file:
            file.write(said(5, "the zebra crossed at noon"))
        watcher.until("read")
        assert watcher.finds("zebra crossed")
        (extra / "today.md").write_text("# Today\n\nThe okapi slept.\n")
        watcher.until("read", lambda event: "notes" in event.uris[0])
        assert watcher.finds("okapi slept")


def test_a_source_that_fails_is_told_of_once_and_costs_no_other(
    home: Path, variables: dict[str, str], transcript: Path
) -> None:
    broken = home / ".local" / "share" / "opencode" / "opencode.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\x00" + b"\x00" * 500)
    with watch(home, variables) as watcher:
        for number in range(5, 8):
            broken.write_bytes(b"SQLite format 3\x00" + b"\x00" * (500 + number))
            with transcript.open("a") as file:
                file.write(said(number, f"the zebra crossed at {number}"))
            watcher.until("read")
        assert watcher.finds("zebra crossed at 7")
    failed = [event for event in watcher.told if event.event == "failed"]
    assert [event.uris for event in failed] == [(broken.as_uri(),)]


def test_where_the_system_tells_nothing_changes_are_looked_for(
    home: Path, variables: dict[str, str], transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_events, "_LOOK_EVERY", 0.2)

    def no_room(*places: Path, **options: Any) -> Any:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", no_room)
    with watch(home, variables) as watcher:
        with transcript.open("a") as file:
            file.write(said(5, "the zebra crossed at noon"))
        watcher.until("read")
        assert watcher.finds("zebra crossed")
    looking = [event for event in watcher.told if event.event == "looking"]
    assert len(looking) == 1
    assert "watch limit" in looking[0].detail


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT and SIGTERM are sent otherwise there")
@pytest.mark.usefixtures("interruptible_children")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_and_there_is_one_of_it(
    home: Path, variables: dict[str, str], transcript: Path, number: signal.Signals
) -> None:
    sources = str(Path(__file__).parents[3] / "src")
    command = [sys.executable, "-m", "palazzo.faces.cli", "watch", "--json"]
    environment = {**variables, "PYTHONPATH": sources}
    process = subprocess.Popen(
        command, env=environment, cwd=home / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["event"] for _ in range(2)] == ["watching", "caught-up"]
        second = subprocess.run(
            command, env=environment, cwd=home / "work", capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (second.returncode, second.stdout) == (1, "")
        assert "is already watched by another" in second.stderr
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "Stopped" in error
    assert "Traceback" not in error
    assert out == ""


def test_a_directory_that_is_taken_away_and_put_back_is_still_watched(home: Path, variables: dict[str, str]) -> None:
    notes = home / "notes" / "daily"
    notes.mkdir(parents=True)
    (notes / "first.md").write_text("# First\n\nThe okapi slept.\n")
    with watch(home, variables, notes.parent) as watcher:
        (notes / "first.md").unlink()
        notes.rmdir()
        time.sleep(1)  # for the system to tell of the one before the other
        notes.mkdir()
        (notes / "second.md").write_text("# Second\n\nThe okapi woke.\n")
        watcher.until("read")
        (notes / "third.md").write_text("# Third\n\nThe zebra crossed at noon.\n")
        watcher.until("read")
        assert watcher.finds("zebra crossed at noon")
        assert watcher.finds("okapi slept")


def written(make: Callable[[list[Turn], Path, int], Path], turns: list[Turn], way: int) -> Iterator[tuple[Path, bytes]]:
    """The files of a store that is made elsewhere: a store that is watched is not made anew."""
    with tempfile.TemporaryDirectory() as directory:
        make(turns, Path(directory), way)
        files = [path for path in Path(directory).rglob("*") if path.is_file()]
        yield from [(path.relative_to(directory), path.read_bytes()) for path in files]


def of_vscode(home: Path, turns: list[Turn]) -> None:
    for path, data in written(kept.vscode, turns, 1):
        (home / ".config" / "Code" / path).parent.mkdir(parents=True, exist_ok=True)
        (home / ".config" / "Code" / path).write_bytes(data)


def of_cursor(home: Path, turns: list[Turn]) -> None:
    path = home / ".config" / "Cursor"
    if not path.exists():
        store = kept.CursorStore(path)
        store.conversation("c1", turns)
        store.connection.close()
        return
    connection = apsw.Connection(str(path / "User" / "globalStorage" / "state.vscdb"))
    bubble = kept.cursor_bubble(turns[-1], len(turns))
    value = (f"bubbleId:c1:{bubble['bubbleId']}", json.dumps(bubble).encode())
    connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", value)
    connection.close()


def of_zed(home: Path, turns: list[Turn]) -> None:
    [(path, data)] = written(kept.zed, turns, 0)
    (home / ".local/share/zed/threads").mkdir(parents=True, exist_ok=True)
    (home / ".local/share/zed/threads" / path).write_bytes(data)


def of_kiro(home: Path, turns: list[Turn]) -> None:
    path = home / ".kiro" / "sessions" / "1a" / "sess_1"
    path.mkdir(parents=True, exist_ok=True)
    (path / "session.json").write_text('{"id": "sess_1", "workspacePaths": ["/home/dev/acme"]}')
    (path / "messages.jsonl").write_bytes(hosts.kiro(turns, 0))


def of_windsurf(home: Path, turns: list[Turn]) -> None:
    path = home / ".windsurf" / "transcripts"
    path.mkdir(parents=True, exist_ok=True)
    (path / "t1.jsonl").write_bytes(hosts.windsurf(turns, 0))


def of_claude_desktop(home: Path, turns: list[Turn]) -> None:
    path = home / ".config/Claude/local-agent-mode-sessions/a1/o1/local_1/.claude/projects/-sessions-x"
    path.mkdir(parents=True, exist_ok=True)
    (path / "s1.jsonl").write_bytes(hosts.claude_code(turns, 0))


@pytest.mark.parametrize(
    "write",
    [of_vscode, of_cursor, of_zed, of_kiro, of_windsurf, of_claude_desktop],
    ids=["vscode", "cursor", "zed", "kiro", "windsurf", "claude-desktop"],
)
def test_a_host_s_own_store_is_found_and_followed(
    write: Callable[[Path, list[Turn]], None], home: Path, variables: dict[str, str]
) -> None:
    turns = [Turn("assistant" if n % 2 else "user", f"word number {n}: 8443", START + n) for n in range(4)]
    write(home, turns)
    with watch(home, variables) as watcher:
        assert watcher.finds("8443")
        write(home, [*turns, Turn("user", "The zebra crossed at noon.", START + 4)])
        watcher.until("read")
        assert watcher.finds("zebra crossed at noon")
    assert not [event for event in watcher.told if event.event == "failed"]
