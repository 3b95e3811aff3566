"""Kill -9 and many writers, the same for MemPalace 3.11.0 and for Palazzo: what was acknowledged, is it there, once?

    python -m benchmarks.peer_durability [--peer-venv DIR] [--kills 30] [--writers 8] [--writes 25] [--seed 1]
        [--only mempalace|palazzo] [--directory DIR]

Both are driven through the same tools of an MCP server on standard input: MemPalace's own, and Palazzo's profile of its
names, each in a process that writes to its palace itself, without a service. MemPalace's vectors come from a server on
loopback that makes them of the texts' hashes, so that no model is part of the work.

*Kills*: a server acknowledges some notes, facts and diary entries, and is killed during the next one, at a random
moment of the time that such a call takes. The next server must show everything acknowledged, and then gets the killed
call again, as an agent repeats a call that was not answered. *Writers*: servers of one palace write at the same time; a
call that is refused with an error is not acknowledged. At the end every acknowledged thing is looked for by the tools
(`list_drawers`, `diary_read`, `kg_query`), some notes also by a search for their own text, and SQLite checks the files.

What does not apply to the peer: faults of the disk (its database is in a library that takes no file system of ours),
`erase`, `undo`, idempotency keys, backups by operation, and flips of bits, since it has no command that verifies a
palace. The kills of one process say nothing about a loss of power.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peer_mempalace import Peer, install_peer
from tests.index.embedding_server import EmbeddingServer

from palazzo.features.selftest.steps import name_marker, write_text

PATIENCE = 300.0
"""Seconds for one answer: on a busy machine a server of the peer takes a minute to start."""
_PAGE = 100
_SEARCHES = 20
_KINDS = ("note", "fact", "note", "diary")
_AGENT = "ada"


class ServerGone(Exception):
    """The server ended, or did not answer in time."""


class Refused(Exception):
    """The server answered with an error."""


class McpServer:
    """A server process, and a client that calls its tools."""

    def __init__(self, command: list[str], variables: Mapping[str, str], directory: Path) -> None:
        self._process = subprocess.Popen(
            command,
            env=dict(variables),
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._count = 0
        client = {"name": "palazzo-benchmark", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer; Refused if that is an error."""
        response = self._ask("tools/call", {"name": f"mempalace_{tool}", "arguments": arguments})
        if "error" in response:
            raise Refused(str(response["error"].get("message")))
        text = response["result"]["content"][0]["text"]
        if response["result"].get("isError"):
            raise Refused(text)
        answer: dict[str, Any] = json.loads(text)
        if not answer.get("success", True) or "error" in answer:
            raise Refused(str(answer.get("error", answer)))
        return answer

    def kill(self) -> None:
        """End the process, as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the server as a client does."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()

    def _ask(self, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": arguments})
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ServerGone(f"no answer to {method} within {PATIENCE:.0f} s") from None
            if not line:
                raise ServerGone(f"the server ended during {method}")
            response: dict[str, Any] = json.loads(line)
            if response.get("id") == self._count:
                return response

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise ServerGone(str(error)) from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip():
                self._lines.put(line)
        self._lines.put(b"")


@dataclass(frozen=True)
class Product:
    """A memory that is tested: how its server is started, and where its files are."""

    name: str
    command: list[str]
    variables: Mapping[str, str]
    home: Path

    def start(self) -> McpServer:
        """Start a server of the palace."""
        return McpServer(self.command, self.variables, self.home)

    def find_damage(self) -> list[str]:
        """Return what SQLite finds wrong in the files."""
        damage = []
        for path in sorted(self.home.rglob("*")):
            if path.is_file() and path.suffix in (".db", ".sqlite3"):
                with contextlib.closing(sqlite3.connect(path)) as database:
                    try:
                        rows = database.execute("PRAGMA integrity_check").fetchall()
                    except sqlite3.Error as error:
                        rows = [(str(error),)]
                damage += [f"{path.name}: {row[0]}" for row in rows if row[0] != "ok"]
        return damage


@contextlib.contextmanager
def open_products(names: list[str], peer_venv: Path, directory: Path) -> Iterator[list[Product]]:
    """Yield the products with empty homes below a directory."""
    server = EmbeddingServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    products = []
    for name in names:
        home = directory / name
        home.mkdir()
        if name == "mempalace":
            peer = Peer(install_peer(peer_venv), home, server.url)
            products.append(Product(name, [str(peer.python), "-m", "mempalace.mcp_server"], peer.environment, home))
        else:
            command = [sys.executable, "-P", "-m", "palazzo.faces.mcp.stdio_server", "--profile", "mempalace"]
            command += ["--toolset", "full", "--palace", str(home / "palace.db")]
            variables = {"PATH": os.defpath, "HOME": str(home), "PALAZZO_SERVICE": "off"}
            variables |= {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
            products.append(Product(name, command, variables, home))
    try:
        yield products
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True)
class Write:
    """A note, a fact or a diary entry with a marker of its own."""

    kind: str
    marker: str
    text: str

    @classmethod
    def make(cls, number: int, chance: random.Random) -> Write:
        """Return the write of that number."""
        marker = name_marker(number)
        return cls(_KINDS[number % len(_KINDS)], marker, write_text(marker, chance))

    def send(self, server: McpServer) -> None:
        """Carry it out; it is acknowledged if nothing is raised."""
        if self.kind == "note":
            server.call("add_drawer", wing="selftest", room="notes", content=self.text)
        elif self.kind == "fact":
            server.call("kg_add", subject=self.marker, predicate="listens on", object=f"port {self.marker[-4:]}")
        else:
            server.call("diary_write", agent_name=_AGENT, entry=self.text)


@dataclass
class Findings:
    """The figures of one product. `repeated` counts writes that a second call stored a second time."""

    counts: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)

    def look_for(self, server: McpServer, acknowledged: list[Write], repeated: set[str]) -> None:
        """Compare everything acknowledged with what the tools show."""
        stored = count_markers(server, acknowledged)
        for write in acknowledged:
            number = stored[write.marker]
            self.counts["compared"] += 1
            if not number:
                self.counts["lost"] += 1
                self.sentences.append(f"{write.kind} {write.marker} was acknowledged and is not there")
            elif number > 1:
                self.counts["stored again" if write.marker in repeated else "doubled"] += 1

    def search(self, server: McpServer, notes: list[Write], chance: random.Random) -> None:
        """Search some notes by their own texts."""
        for write in chance.sample(notes, min(_SEARCHES, len(notes))):
            self.counts["searched"] += 1
            if write.marker not in json.dumps(server.call("search", query=write.text[:200], limit=5)):
                self.counts["not found"] += 1
                self.sentences.append(f"no search finds {write.marker}")


def count_markers(server: McpServer, writes: list[Write]) -> Counter[str]:
    """Return how often each marker is stored: in drawers and diary entries, each identifier once, and in facts."""
    if not writes:
        return Counter()  # the peer has no database before its first note
    texts: dict[str, str] = {}
    for offset in range(0, 1_000_000, _PAGE):
        page = server.call("list_drawers", limit=_PAGE, offset=offset)["drawers"]
        texts |= {drawer["drawer_id"]: json.dumps(drawer) for drawer in page}
        if len(page) < _PAGE:
            break
    entries = list(texts.values())
    stored: Counter[str] = Counter()
    diary = json.dumps(server.call("diary_read", agent_name=_AGENT, last_n=_PAGE * 100))
    for write in writes:
        if write.kind == "fact":
            stored[write.marker] = len(server.call("kg_query", entity=write.marker)["facts"])
        else:
            stored[write.marker] = sum(write.marker in entry for entry in entries)
            if not stored[write.marker] and write.kind == "diary":
                stored[write.marker] = diary.count(write.marker)
    return stored


def run_kills(product: Product, kills: int, seed: int) -> Findings:
    """Kill servers during a call, and compare after each kill."""
    chance, findings, acknowledged, repeated = random.Random(f"{seed} kills"), Findings(), list[Write](), set[str]()
    pending: Write | None = None
    seconds: dict[str, float] = {}
    number = 0
    for cycle in range(kills + 1):
        server = product.start()
        findings.look_for(server, acknowledged if cycle == kills else acknowledged[-40:], repeated)
        if pending is not None:
            repeated.add(pending.marker)
            pending.send(server)
            acknowledged.append(pending)
        for _ in range(chance.randrange(2, 6)):
            number, write = number + 1, Write.make(number, chance)
            began = time.monotonic()
            write.send(server)
            seconds[write.kind] = 0.5 * seconds.get(write.kind, 0.0) + 0.5 * (time.monotonic() - began)
            acknowledged.append(write)
        if cycle == kills:
            findings.look_for(server, acknowledged, repeated)
            findings.search(server, [write for write in acknowledged if write.kind == "note"], chance)
            server.close()
            break
        number, pending = number + 1, Write.make(number, chance)
        timer = threading.Timer(chance.uniform(0.0, 1.1 * seconds.get(pending.kind, 0.1)), server.kill)
        timer.start()
        try:
            pending.send(server)
            acknowledged.append(pending)
            pending = None
            findings.counts["answered before the kill"] += 1
        except ServerGone:
            findings.counts["killed"] += 1
        timer.join()
    findings.sentences += [f"damaged: {sentence}" for sentence in product.find_damage()]
    findings.counts["acknowledged"] = len(acknowledged)
    return findings


def run_writers(product: Product, writers: int, writes: int, seed: int) -> Findings:
    """Let servers write to one palace at once, and compare at the end."""
    findings, lock, acknowledged = Findings(), threading.Lock(), list[Write]()
    product.start().close()  # the palace exists

    def write_all(writer: int) -> None:
        chance = random.Random(f"{seed} writer {writer}")
        server = product.start()
        for n in range(writes):
            write = Write.make((writer + 1) * 10_000 + n, chance)
            try:
                write.send(server)
            except Refused as refusal:
                with lock:
                    findings.counts["refused"] += 1
                    findings.sentences.append(f"refused: {str(refusal)[:150]}")
                continue
            except ServerGone as error:
                with lock:
                    findings.counts["servers gone"] += 1
                    findings.sentences.append(str(error))
                return
            with lock:
                acknowledged.append(write)
        server.close()

    threads = [threading.Thread(target=write_all, args=(writer,)) for writer in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server = product.start()
    findings.look_for(server, acknowledged, set())
    findings.search(server, [write for write in acknowledged if write.kind == "note"], random.Random(seed))
    server.close()
    findings.sentences += [f"damaged: {sentence}" for sentence in product.find_damage()]
    findings.counts["acknowledged"] = len(acknowledged)
    return findings


COLUMNS = ("killed", "acknowledged", "compared", "lost", "doubled", "stored again", "refused", "searched", "not found")


def main() -> int:
    """Print a row for each product and test, and the first sentences about what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-venv", type=Path, default=Path(".peers/mempalace"))
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--writes", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("mempalace", "palazzo"))
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    names = [options.only] if options.only else ["mempalace", "palazzo"]
    print("| product | test | " + " | ".join(COLUMNS) + " | seconds |")
    print("|" + "---|" * (len(COLUMNS) + 3), flush=True)
    sentences: list[str] = []
    for test in ("kills", "writers"):
        if not getattr(options, test):
            continue
        with (
            tempfile.TemporaryDirectory(dir=options.directory) as directory,
            open_products(names, options.peer_venv.absolute(), Path(directory)) as products,
        ):
            for product in products:
                began = time.monotonic()
                if test == "kills":
                    findings = run_kills(product, options.kills, options.seed)
                else:
                    findings = run_writers(product, options.writers, options.writes, options.seed)
                row = " | ".join(f"{findings.counts[column]:,}" for column in COLUMNS)
                print(f"| {product.name} | {test} | {row} | {time.monotonic() - began:,.0f} |", flush=True)
                sentences += [f"{product.name}, {test}: {sentence}" for sentence in findings.sentences[:20]]
    print("\n".join(sentences))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
