"""A person's day with Palazzo, as a program of its own: installed into a host, fed, searched, asked over MCP.

`python -m tests.network.session IDLE`, in a home that `prepare` has furnished. Each step must succeed, and is named on
standard error. IDLE is how many seconds the service is left alone before it is stopped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
PALAZZO = str(Path(sys.executable).with_name("palazzo"))
DOCUMENTS = ("plan.pdf", "plan.docx", "plan.pptx", "plan.xlsx", "plan.epub", "plan.html", "plan.ipynb")
"""All formats that are converted."""
INITIALIZE = {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.1.330"},
}  # fmt: skip
EXTENSION_EVENTS = ("session-start", "prompt", "post-tool", "tool-failure", "stop", "pre-compact", "session-end")
"""What the extensions of pi and opencode send, which are Palazzo's own."""


def prepare(home: Path) -> None:
    """Furnish a home: Claude Code's directory with sessions, and a project with documents of every format."""
    sessions, project = home / ".claude" / "projects" / "-home-dev-acme", home / "acme"
    for directory in (sessions, project):
        directory.mkdir(parents=True)
    for transcript in (FIXTURES / "claude-code").glob("*.jsonl"):
        shutil.copy(transcript, sessions)
    for name in DOCUMENTS:
        shutil.copy(FIXTURES / "documents" / name, project)
    shutil.copy(ROOT / "README.md", project)


def main(idle: float) -> None:
    """Do everything, one step after the other."""
    home = Path.home()
    palazzo("install", "claude-code", "--dry-run")
    palazzo("install", "claude-code")
    mining_result = json.loads(palazzo("mine", str(home / "acme"), "--wait", "--json"))
    assert mining_result["new"] == len(DOCUMENTS) + 1, mining_result  # each was converted
    palazzo("mine", str(home / ".claude" / "projects"), "--wait")
    palazzo("search", "Which port does the deploy service use?", PALAZZO_SERVICE="off")
    palazzo("search", "Which port does the deploy service use?")
    began = time.monotonic()
    for host in ("claude-code", "codex", "copilot", "gemini-cli"):
        for payload in sorted((FIXTURES / "hooks" / host).glob("*.json")):
            hook(host, payload)
    for host in ("pi", "opencode"):
        for event in EXTENSION_EVENTS:
            extension_hook(host, event)
    for service in ("on", "off"):
        speak_over_stdio(PALAZZO_SERVICE=service)
    speak_over_http()
    for command in ("status", "doctor", "wake-up", "feed", "verify"):
        palazzo(command, may_find_fault=command == "doctor")
    assert json.loads(palazzo("service", "status", "--json"))["service"]["running"]
    time.sleep(max(0.0, began + idle - time.monotonic()))
    palazzo("service", "stop")


def palazzo(*arguments: str, stdin: bytes = b"", may_find_fault: bool = False, **variables: str) -> str:
    """Run the installed command; return what it prints."""
    print("palazzo", *arguments, file=sys.stderr, flush=True)
    process = subprocess.run(
        [PALAZZO, *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **variables},
        cwd=Path.home() / "acme",
    )
    assert process.returncode == 0 or may_find_fault, process.stdout.decode() + process.stderr.decode()
    return process.stdout.decode()


def hook(host: str, payload: Path) -> None:
    """Send a captured event to the hook, as if it happened in this home."""
    event, home = payload.name.split(".")[0], str(Path.home())
    palazzo("hook", host, event, stdin=payload.read_bytes().replace(b"/home/dev", home.encode()))


def extension_hook(host: str, event: str) -> None:
    """Send an event as Palazzo's extension of a host does."""
    transcript = next((Path.home() / ".claude" / "projects").rglob("*.jsonl"))
    payload = {
        "session": f"{host}-session",
        "cwd": str(Path.home() / "acme"),
        "transcript": str(transcript),
        "prompt": "What did we decide about the deploy port?",
        "tool": {"name": "bash", "input": {"command": "make"}, "output": "failed", "error": "Error: 2 tests failed"},
    }
    palazzo("hook", host, event, stdin=json.dumps(payload).encode())


def speak_over_stdio(**variables: str) -> None:
    """Start the MCP server as a host does, and call two tools."""
    print("palazzo mcp", variables, file=sys.stderr, flush=True)
    command, pipe = [PALAZZO, "mcp"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env={**os.environ, **variables}) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        ask(server.stdin, server.stdout, 0, "initialize", INITIALIZE)
        ask(server.stdin, server.stdout, 1, "tools/list", {})
        note = {"name": "remember", "arguments": {"text": f"The service is {variables['PALAZZO_SERVICE']}."}}
        ask(server.stdin, server.stdout, 2, "tools/call", note)
        ask(server.stdin, server.stdout, 3, "tools/call", {"name": "search", "arguments": {"query": "deploy port"}})
        server.stdin.close()
        assert server.wait(60) == 0


def ask(asks: IO[bytes], answers: IO[bytes], number: int, method: str, params: object) -> None:
    """Send a request and await its answer."""
    asks.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
    asks.flush()
    answer = json.loads(answers.readline())
    assert answer["id"] == number, answer
    assert "result" in answer, answer


def speak_over_http() -> None:
    """Serve MCP over HTTP on loopback, and call a tool."""
    print("palazzo mcp --http", file=sys.stderr, flush=True)
    added = subprocess.run([PALAZZO, "token", "add", "network", "--json"], capture_output=True, check=True)
    secret = json.loads(added.stdout)["secret"]
    with http_server() as address:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers["Authorization"] = f"Bearer {secret}"

        def post(number: int, method: str, params: object) -> Any:
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
            request = urllib.request.Request(address, body, headers)
            return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)

        with post(0, "initialize", INITIALIZE) as answer:
            headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        with post(1, "tools/call", {"name": "search", "arguments": {"query": "deploy port"}}) as answer:
            assert b"result" in answer.read()


@contextmanager
def http_server() -> Iterator[str]:
    """Start the server; yield its address."""
    command = [PALAZZO, "mcp", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        assert address, line
        try:
            yield address[0]
        finally:
            server.terminate()
            server.communicate(timeout=60)


if __name__ == "__main__":
    main(float(sys.argv[1]))
