"""Transcripts that other processes prepare: the palace is the same, whatever becomes of those processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.another_user import as_another_user, needs_root

from palazzo.archive import device_chain
from palazzo.archive.ingest_guard import Guard
from palazzo.palace import Palace
from palazzo.sources import mining_run, preparation_pool
from palazzo.sources.mining_report import MineProgress, MineReport, MineRequest
from palazzo.sources.mining_run import mine
from palazzo.sources.preparation_pool import PreparationPool
from palazzo.sources.preparation_process import Request

ROOT = Path(__file__).resolve().parents[2]
SESSIONS, TURNS = 8, 40
SECRET = "AKIAIOSFODNN7EXAMPLF"


def row(session: int, n: int, role: str, content: object) -> bytes:
    """Return one row of a made session."""
    values = {
        "type": role,
        "uuid": f"00000000-0000-4000-8000-{session:04}{n:08}",
        "parentUuid": None,
        "sessionId": f"11111111-0000-4000-8000-{session:012}",
        "timestamp": f"2026-03-04T10:{n // 60:02}:{n % 60:02}Z",
        "cwd": f"/home/dev/project-{session % 3}",
        "message": {"role": role, "content": content},
    }
    return json.dumps(values).encode() + b"\n"


def write_session(directory: Path, session: int) -> Path:
    """Write a session with prompts, answers, commands with their output, noise, a secret and a broken row."""
    path = directory / f"11111111-0000-4000-8000-{session:012}.jsonl"
    lines = []
    for n in range(0, TURNS * 4, 4):
        call = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"command": f"make step-{n}"}}
        output = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"step {n} of {session} " * 40}
        lines += [
            row(session, n, "user", f"Question {n} of session {session}: why did the retries double?"),
            row(session, n + 1, "assistant", [{"type": "text", "text": f"Answer {n}, {session}. " * 30}]),
            row(session, n + 2, "assistant", [call]),
            row(session, n + 3, "user", [output]),
            b'{"type": "queue-operation", "operation": "enqueue", "sessionId": "%d"}\n' % n,
        ]
    lines.insert(7, row(session, 9_000, "user", f"The key is {SECRET}, and <private>my own words</private> stay here."))
    lines.insert(9, b'{"type": "user", broken\n')
    path.write_bytes(b"".join(lines))
    return path


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make some sessions, which two processes prepare although they are small."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setattr(mining_run, "LEAST_BYTES", 0)
    monkeypatch.setattr(mining_run, "count_processes", lambda: 2)
    directory = tmp_path / "sessions"
    directory.mkdir()
    for session in range(SESSIONS):
        write_session(directory, session)
    return directory


def contents(path: Path) -> list[tuple[object, ...]]:
    """Return the items, with the key of the redaction marks left out, and the live drawers of a palace."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        items = connection.execute(
            "SELECT id, uid, kind, role, standing, thread, ordinal, created_at, trust, parts, raw_size,"
            " json_remove(meta, '$.redacted'), length(text) FROM item ORDER BY id"
        ).fetchall()
        drawers = connection.execute(
            "SELECT uid, kind, thread, ordinal, turn, role, size, trust FROM drawer WHERE retired_at IS NULL ORDER BY 1"
        ).fetchall()
        sources = connection.execute("SELECT uid, title, project FROM source ORDER BY id").fetchall()
        files = connection.execute("SELECT uri, consumed, size, tail FROM file_state ORDER BY uri").fetchall()
    return [*items, *drawers, *sources, *files]


def figures(report: MineReport) -> tuple[object, ...]:
    """Return what a report counts."""
    return (report.sources, report.new, report.rows, report.items, report.noise, report.unreadable, report.drawers)


def mined_here(path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch) -> MineReport:
    """Mine the sessions in this process alone."""
    with monkeypatch.context() as patch, Palace.open(path) as palace:
        patch.setattr(mining_run, "count_processes", lambda: 0)
        return mine(palace.database, palace.clock, MineRequest((sessions,)))


def test_the_palace_is_the_same_with_one_process_and_with_several(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = tmp_path / "alone.db", tmp_path / "together.db"
    report = mined_here(alone, sessions, monkeypatch)
    taken: list[str] = []
    take = PreparationPool.take

    def note(pool: PreparationPool, path: Path) -> object:
        prepared = take(pool, path)
        taken.extend([path.name] if prepared is not None else [])
        return prepared

    monkeypatch.setattr(PreparationPool, "take", note)
    with Palace.open(together) as palace:
        other_report = mine(palace.database, palace.clock, MineRequest((sessions,)))
        with palace.database.snapshot() as connection:
            assert list(device_chain.audit(connection)) == []
    assert len(taken) == SESSIONS
    assert figures(other_report) == figures(report)
    assert [skipped.uri for skipped in other_report.skipped] == [skipped.uri for skipped in report.skipped]
    assert contents(together) == contents(alone)
    assert SECRET.encode() not in together.read_bytes()


def test_a_grown_transcript_is_prepared_from_where_it_was_read(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = tmp_path / "alone.db", tmp_path / "together.db"
    for path in (alone, together):
        mined_here(path, sessions, monkeypatch)
    for session in range(SESSIONS):
        path = sessions / f"11111111-0000-4000-8000-{session:012}.jsonl"
        with path.open("ab") as stream:
            stream.write(row(session, 5_000, "user", "One more question.") + b'{"type": "user", "unfinish')
    mined_here(alone, sessions, monkeypatch)
    with Palace.open(together) as palace:
        report = mine(palace.database, palace.clock, MineRequest((sessions,)))
    assert (report.grown, report.rows) == (SESSIONS, SESSIONS)
    assert contents(together) == contents(alone)


def test_the_run_goes_on_when_a_preparing_process_is_killed(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = tmp_path / "alone.db", tmp_path / "together.db"
    report = mined_here(alone, sessions, monkeypatch)
    started: list[subprocess.Popen[bytes]] = []
    start = preparation_pool._start

    def note() -> subprocess.Popen[bytes]:
        started.append(start())
        return started[-1]

    def kill_all(progress: MineProgress) -> None:
        if progress.items:
            for process in started:
                process.kill()

    monkeypatch.setattr(preparation_pool, "_start", note)
    with Palace.open(together) as palace:
        other_report = mine(palace.database, palace.clock, MineRequest((sessions,)), kill_all)
    assert [process.returncode for process in started] == [-signal.SIGKILL, -signal.SIGKILL]
    assert figures(other_report) == figures(report)
    assert contents(together) == contents(alone)


UNDER_A_LIMIT = """
import os, resource, sys
from pathlib import Path
from palazzo.palace import Palace
from palazzo.sources import mining_run
from palazzo.sources.mining_report import MineRequest

mining_run.LEAST_BYTES, mining_run.count_processes = 0, lambda: 2
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
with Palace.open(Path(sys.argv[1])) as palace:
    report = mining_run.mine(palace.database, palace.clock, MineRequest((Path(sys.argv[2]),)))
assert not report.failed
"""


@needs_root
@pytest.mark.parametrize(
    "limit", [1, 2, 3, 4], ids=["no process", "no thread for it", "one", "two, without one's thread"]
)
def test_the_system_limits_processes(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """The run goes on, with the processes and threads that the system grants."""
    alone, together = tmp_path / "alone.db", tmp_path / "together.db"
    mined_here(alone, sessions, monkeypatch)
    run_command: list[str | Path] = [
        *as_another_user("dac_override"),
        sys.executable,
        "-c",
        UNDER_A_LIMIT,
        together,
        sessions,
        str(limit),
    ]
    outcome = subprocess.run(run_command, capture_output=True, text=True, timeout=300)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert contents(together) == contents(alone)


def test_transcripts_may_be_left_out_and_left_unread(sessions: Path, tmp_path: Path) -> None:
    paths = sorted(sessions.iterdir())
    requests = [Request(path, "claude-code", None) for path in paths]
    with Palace.open(tmp_path / "p.db") as palace:
        guard = Guard.of(palace.database)
    before = threading.active_count()
    with PreparationPool(requests, 2, guard, ()) as pool:
        begun = pool.take(paths[0])
        assert begun is not None  # its batches are never asked for
        last = pool.take(paths[-1])
        assert last is not None
        assert sum(batch.size for batch in last.batches) == paths[-1].stat().st_size
        assert pool.take(tmp_path / "unknown.jsonl") is None
    assert threading.active_count() == before


RUN = """
import os, sys
from pathlib import Path
from palazzo.palace import Palace
from palazzo.sources import mining_run
from palazzo.sources.mining_report import MineRequest

mining_run.LEAST_BYTES, mining_run.count_processes = 0, lambda: 2

def tell(progress):
    if progress.items:
        print(progress.items, flush=True)
        sys.stdin.readline()

with Palace.open(Path(sys.argv[1])) as palace:
    mining_run.mine(palace.database, palace.clock, MineRequest((Path(sys.argv[2]),)), tell)
print("done", flush=True)
"""


@pytest.fixture
def running(sessions: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run that waits after each commit until it is told to go on."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path / "killed.db"), str(sessions)],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("commits", [1, 5])
def test_a_killed_run_loses_nothing_and_the_next_one_completes_it(
    running: subprocess.Popen[str], commits: int, sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert running.stdin is not None
    assert running.stdout is not None
    for _ in range(commits):
        committed = int(running.stdout.readline())
        running.stdin.write("\n")
        running.stdin.flush()
    running.kill()
    running.wait()
    killed, alone = tmp_path / "killed.db", tmp_path / "alone.db"
    with Palace.open(killed) as palace:
        with palace.database.snapshot() as connection:
            ((stored,),) = connection.execute("SELECT count(*) FROM item WHERE kind <> 'noise'")
            assert stored >= committed
            assert list(device_chain.audit(connection)) == []
        report = mine(palace.database, palace.clock, MineRequest((sessions,)))
        with palace.database.snapshot() as connection:
            assert list(device_chain.audit(connection)) == []
    assert not report.failed
    mined_here(alone, sessions, monkeypatch)
    assert contents(killed) == contents(alone)
