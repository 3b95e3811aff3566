"""Other memories' own programs: mnemograph from Python's package index; the MCP memory server and claude-mem from npm.

They are installed once, into a cache, at the versions named here. A test that cannot have one says so and is skipped;
where `PALAZZO_CI` is set it fails. mnemograph is installed without what makes its vectors (a gigabyte): the graph, its
events and its history are the same without.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tarfile
import time
import urllib.request
import venv
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fetching import fetching

MNEMOGRAPH = "mnemograph==0.5.1"
_OF_MNEMOGRAPH = ("pydantic==2.12.5", "python-ulid==3.1.0", "python-dateutil==2.9.0.post0", "click==8.3.1")
SERVER_MEMORY = "@modelcontextprotocol/server-memory@2026.8.31"
CLAUDE_MEM = "claude-mem@13.25.3"
_FOR_CLAUDE_MEM = ("bun@1.4.5", "zod@4.4.3", "shell-quote@1.9.0")
"""What its worker runs on, and of what that needs all but the grammars of programming languages."""
PATIENCE = 600
CACHE = Path(os.environ.get("PALAZZO_PEER_CACHE") or Path.home() / ".cache" / "palazzo-tests")


def mnemograph(directory: Path, script: str) -> Any:
    """Run a script against mnemograph's engine, which it has as `engine`; return the JSON that it prints at last."""
    python = _python()
    directory.mkdir(parents=True, exist_ok=True)
    before = (
        "import json, sys\nfrom pathlib import Path\nfrom mnemograph.engine import MemoryEngine\n"
        "engine = MemoryEngine(Path(sys.argv[1]), 's-1')\n"
    )
    done = subprocess.run(
        [python, "-c", before + script, str(directory)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={"PATH": os.defpath, "HOME": str(directory)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def server_memory(file: Path, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Call tools of the reference MCP memory server, whose file is `file`; return what each answered."""
    node, script = _server()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    variables = {**os.environ, "MEMORY_FILE_PATH": str(file)}
    with subprocess.Popen(
        [node, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=variables
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(message: dict[str, Any]) -> None:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()

        send({"id": 0, "method": "initialize", "params": hello})
        process.stdout.readline()
        send({"method": "notifications/initialized"})
        answers = []
        for number, (name, arguments) in enumerate(calls, 1):
            send({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            answer = json.loads(process.stdout.readline())
            assert not answer["result"].get("isError"), answer
            answers.append(answer["result"])
        process.stdin.close()
        process.wait(PATIENCE)
    return answers


@contextmanager
def claude_mem(home: Path) -> Iterator[Callable[[str, dict[str, Any]], Any]]:
    """Run claude-mem's worker, whose database is in `home`; give a function that posts to it."""
    bun, worker = _worker()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"DATA_DIR": str(home), "WORKER_PORT": str(port), "CHROMA_ENABLED": "false"}
    variables = {f"CLAUDE_MEM_{name}": value for name, value in settings.items()}
    variables |= {"HOME": str(home), "PATH": os.defpath, "CLAUDE_MEM_CLAUDE_CONFIG_DIR": str(home / ".claude")}
    command = [str(bun), str(worker)]
    with subprocess.Popen(
        command, cwd=worker.parent, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:

        def post(path: str, told: dict[str, Any]) -> Any:
            body = json.dumps(told).encode()
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        try:
            _wait_for(f"http://127.0.0.1:{port}/api/health", process)
            yield post
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Return once the worker has its database open."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                if json.load(answer).get("initialized"):
                    return
        except OSError:  # it does not listen yet
            pass
        time.sleep(0.2)
    pytest.fail(f"claude-mem's worker does not answer (it ended with {process.poll()}).")


@fetching
def _worker() -> tuple[Path, Path]:
    """Bun, and the worker's script, in which nearly all that it depends on is packed."""
    npm = shutil.which("npm")
    if npm is None:
        _not_run(CLAUDE_MEM, "there is no npm")
    place = CACHE / CLAUDE_MEM.replace("@", "-")
    worker = place / "package" / "plugin" / "scripts" / "worker-service.cjs"
    bun = place / "node_modules" / "bun" / "bin" / "bun.exe"
    if not all(one.exists() for one in (worker, bun, place / "node_modules" / "zod")):
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n')
        for command in (
            [npm, "pack", "--loglevel=error", CLAUDE_MEM],
            [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *_FOR_CLAUDE_MEM],
        ):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
            if done.returncode:
                _not_run(CLAUDE_MEM, f"npm could not have it: {done.stderr.strip()[-300:]}")
        with tarfile.open(place / f"{CLAUDE_MEM.replace('@', '-')}.tgz") as packed:
            packed.extractall(place, filter="data")
    return bun, worker


@fetching
def _python() -> str:
    place = CACHE / MNEMOGRAPH.replace("==", "-")
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    there = subprocess.run([str(python), "-c", "import mnemograph.engine"], capture_output=True, check=False)
    if there.returncode:
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        for command in ([*pip, *_OF_MNEMOGRAPH], [*pip, "--no-deps", MNEMOGRAPH]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            if done.returncode:
                _not_run(MNEMOGRAPH, f"pip could not install it: {done.stderr.strip()[-300:]}")
    return str(python)


@fetching
def _server() -> tuple[str, Path]:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        _not_run(SERVER_MEMORY, "there is no npm")
    place = CACHE / "server-memory"
    name, _, version = SERVER_MEMORY.rpartition("@")
    package = place / "node_modules" / name
    about = package / "package.json"
    if not about.exists() or json.loads(about.read_text(encoding="utf-8"))["version"] != version:
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n')
        command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", SERVER_MEMORY]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            _not_run(SERVER_MEMORY, f"npm could not install it: {done.stderr.strip()[-300:]}")
    return node, package / "dist" / "index.js"


def _not_run(what: str, why: str) -> NoReturn:
    told = f"NOT RUN: nothing was seen in the real {what}: {why}."
    if os.environ.get("PALAZZO_CI"):
        pytest.fail(told)
    pytest.skip(told)
