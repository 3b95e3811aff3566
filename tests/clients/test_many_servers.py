"""Eight `palazzo mcp` processes and one `mine` write at once: what was acknowledged is kept, and nothing is left."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.client.conftest import Host
from tests.clients.conftest import Start
from tests.daemon.conftest import User, is_alive, wait_until
from tests.reliability.sizes import scaled

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what processes hold in memory is read from /proc"),
]

SERVERS = 8
SECONDS = 60
RELAY_MB, SERVICE_MB = 25, 350
DOCUMENTS = 40


def resident_mb(pid: int) -> float:
    """What a process held in memory at most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} has no memory")


def processes_of(palace: Path) -> list[bytes]:
    """The command lines of processes that were started for a palace."""
    lines = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            lines.append(one.read_bytes())
    return [line for line in lines if bytes(palace) in line]


def write(host: Host, who: int, until: float) -> list[str]:
    """Let an agent note one thing after another; return the words of those that were acknowledged."""
    kept: list[str] = []
    while time.monotonic() < until or not kept:
        text = f"Agent {who} noted on its line {len(kept)}: lane {len(kept) * SERVERS + who} is drained by night."
        result = host.call("remember", name=f"{who}/{len(kept)}", text=text)
        assert result["isError"] is False, result
        kept.append(text)
    return kept


def mine(someone: User, project: Path, until: float) -> list[str]:
    """Write documents and mine them, again and again; return the words of all that was mined."""
    mined: list[str] = []
    while time.monotonic() < until or not mined:
        for n in range(DOCUMENTS):
            text = f"Round {len(mined) // DOCUMENTS}, page {n}: the crane of berth {n} lifts {len(mined)} tonnes."
            (project / f"page{n}.md").write_text(f"# Page {n}\n\n{text}\n")
            mined.append(text)
        command = [sys.executable, "-m", "palazzo.faces.cli", "mine", str(project), "--palace", str(someone.palace)]
        done = subprocess.run(command, env=someone.variables, capture_output=True, check=False)
        assert (done.returncode, b"locked" in done.stderr) == (0, False), done
    return mined


def test_eight_servers_and_one_mine_write_at_once_and_none_is_refused(
    start: Start, someone: User, tmp_path: Path
) -> None:
    hosts = [start() for _ in range(SERVERS)]
    for host in hosts:
        host.begin()
    until = time.monotonic() + scaled(SECONDS)
    with ThreadPoolExecutor(SERVERS + 1) as pool:
        mining = pool.submit(mine, someone, tmp_path, until)
        writing = [pool.submit(write, host, who, until) for who, host in enumerate(hosts)]
        acknowledged = [text for one in writing for text in one.result()]
        mined = mining.result()
    relays = [resident_mb(host.process.pid) for host in hosts]
    service = someone.pid()
    held = resident_mb(service)
    print(f"{len(acknowledged)} notes and {len(mined)} pages; relays {max(relays):.0f} MB, service {held:.0f} MB")
    assert max(relays) <= RELAY_MB
    assert held <= SERVICE_MB
    assert [host.close() for host in hosts] == [0] * SERVERS
    assert [host.complaints() for host in hosts] == [""] * SERVERS
    assert not any(is_alive(host.process.pid) for host in hosts)
    someone.end()
    assert not is_alive(service)
    wait_until(lambda: not processes_of(someone.palace))  # what embeds finds out by itself that it is over
    with closing(sqlite3.connect(someone.palace)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        texts = [bytes(text).decode() for (text,) in database.execute("SELECT text FROM item")]
    notes = [text for text in texts if text.startswith("Agent ")]
    assert sorted(notes) == sorted(acknowledged)
    assert {text for text in mined if not any(text in kept for kept in texts)} == set()
