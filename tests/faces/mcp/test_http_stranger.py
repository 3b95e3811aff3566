"""Another user of the machine asks the owner's HTTP server to read a file that only its owner can read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faces.cli.command import environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("useradd") is None,
        reason="makes a second user of the machine, which takes root and useradd",
    ),
]

SECRET = "the vault is behind the heliotrope portrait"
STRANGER = "palazzo-stranger"
ATTACK = """
import json, sys, urllib.error, urllib.request
address, wanted, authorization = sys.argv[1], sys.argv[2], sys.argv[3]
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
if authorization:
    headers["Authorization"] = authorization

def post(method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    try:
        answer = urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=60)
    except urllib.error.HTTPError as error:
        print(f"refused {error.code}: {error.read().decode()}")
        sys.exit(0)
    if "mcp-session-id" in answer.headers:
        headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
    return answer.read().decode()

try:
    open(wanted).read()
    print("the file itself could be read")
except PermissionError:
    pass
hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "stranger", "version": "1"}}
post("initialize", hello)
post("tools/call", {"name": "mine", "arguments": {"paths": [wanted]}})
print(post("tools/call", {"name": "search", "arguments": {"query": "vault heliotrope portrait"}}))
"""


@pytest.fixture(scope="module")
def stranger() -> Iterator[str]:
    """The name of another user of this machine."""
    subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/bin/sh", STRANGER], check=True)
    try:
        yield STRANGER
    finally:
        subprocess.run(["userdel", STRANGER], check=True)


def test_another_user_of_the_machine_cannot_have_the_owners_files_read(tmp_path: Path, stranger: str) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    private_file = private / "vault.md"
    private_file.touch(0o600)
    private_file.write_text(f"# Vault\n\n{SECRET}\n")
    variables = {"HOME": str(tmp_path / "home"), "PALAZZO_SERVICE": "off"}
    palazzo(variables, "init", str(private))

    with serve(variables) as (address, complaint):
        if address:  # as it was before each request needed a token
            assert SECRET not in attack(stranger, address, private_file, "")
        assert re.search("no token .*palazzo token add", complaint)

    secret = json.loads(palazzo(variables, "token", "add", "mine", "--scope", "admin", "--json"))["secret"]
    with serve(variables) as (address, complaint):
        assert address, complaint
        for guess in ("", "Bearer ", "Bearer palazzo_", f"Basic {secret}", f"Bearer {secret[:-1]}"):
            answer = attack(stranger, address, private_file, guess)
            assert answer.startswith("refused 401"), answer
        assert SECRET in attack(None, address, private_file, f"Bearer {secret}")  # the attack works for its owner


def palazzo(variables: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "palazzo.faces.cli", *arguments]
    return subprocess.run(command, env=environment(variables), check=True, capture_output=True, text=True).stdout


@contextmanager
def serve(variables: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Serve the owner's palace at loopback; yield the address, or why there is none."""
    command = [sys.executable, "-m", "palazzo.faces.cli", "mcp", "--http", "127.0.0.1:0", "--toolset", "full"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(variables)) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            match = re.search(r"Serving .* at (http://127\.0\.0\.1:\d+/mcp)", line)
            yield (match[1] if match else ""), line
        finally:
            process.terminate()


def attack(user: str | None, address: str, private_file: Path, authorization: str) -> str:
    python = os.path.realpath(sys.executable)
    command = [python, "-I", "-c", ATTACK, address, str(private_file), authorization]
    attack_run = subprocess.run(
        command, user=user, group=user, cwd="/", capture_output=True, text=True, check=True, timeout=120
    )
    return attack_run.stdout
