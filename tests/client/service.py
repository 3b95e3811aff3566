"""A service small enough to be killed many times: `python service.py PALACE WRITES`.

It answers the first line as the real one does, and then speaks as much MCP as the tests need. A write is a row of a
SQLite file under the call's key, so that one that comes twice is kept once, as in a palace. SIGUSR1 makes it give way.
Standard library only, and no other module of the tests: it is started with nothing but `palazzo` on its path.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

from palazzo.client import rpc


class Service:
    """Serves the relay's connections, each in a thread."""

    def __init__(self, palace: str, writes: str) -> None:
        self.where = rpc.address(palace, os.environ)
        self.writes = writes
        rpc.make_directory(self.where)
        Path(self.where.socket).unlink(missing_ok=True)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(f"{self.where.socket}.new")
        self.listening.listen(64)
        Path(f"{self.where.socket}.new").rename(self.where.socket)
        self.running = 0
        self.giving_way = False
        self.changed = threading.Condition()
        self.connections: list[socket.socket] = []

    def give_way(self, *_: object) -> None:
        """Stop listening, finish what runs, end."""
        self.giving_way = True
        Path(self.where.socket).unlink()
        threading.Thread(target=self._end).start()

    def _end(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.running == 0)
        for connection in self.connections:
            with contextlib.suppress(OSError):  # one that its client has closed
                connection.shutdown(socket.SHUT_RDWR)
        os._exit(0)

    def serve(self) -> None:
        """Take connections until killed."""
        while True:
            connection, _ = self.listening.accept()
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        hello = json.loads(lines.readline())
        self._note("hellos", json.dumps({**hello, "by": os.getpid()}).encode() + b"\n")
        if self.giving_way:
            return
        said = threading.Lock()

        def say(message: dict[str, Any] | bytes) -> None:
            with said:
                connection.sendall(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

        say({"palazzo": 1, "ok": True, "version": "0", "pid": os.getpid()})
        self.connections.append(connection)
        for line in lines:
            if len(line) < 10_000:
                self._note("lines", line)
            try:
                message = json.loads(line)
                assert isinstance(message, dict)
            except (ValueError, RecursionError, AssertionError):
                say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}})
                continue
            with self.changed:
                if self.giving_way:
                    continue
                self.running += 1
            threading.Thread(target=self._answer, args=(message, say), daemon=True).start()

    def _answer(self, message: dict[str, Any], say: Any) -> None:
        try:
            if isinstance(message.get("id"), str | int) and "method" in message:
                result = self._result(message["method"], message.get("params") or {}, say)
                say({"jsonrpc": "2.0", "id": message["id"], "result": result})
        finally:
            with self.changed:
                self.running -= 1
                self.changed.notify_all()

    def _result(self, method: str, params: Any, say: Any) -> dict[str, Any]:
        if method == "initialize":
            return {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": {"name": "small"}}
        if method != "tools/call" or not isinstance(params, dict):
            return {"method": method}
        name, given = params.get("name"), params.get("arguments", {})
        if name == "write":
            time.sleep(given.get("before", 0))
            written = self._write(params["_meta"]["palazzo/key"], given["text"])
            time.sleep(given.get("after", 0))
            return {"written": written}
        if name == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "half-said" and not Path(f"{self.writes}.half").exists():
            Path(f"{self.writes}.half").touch()
            say(b'{"jsonrpc": "2.0", "id": 1, "resu')
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "question":
            say({"jsonrpc": "2.0", "id": "question", "method": "roots/list"})
        if name == "wait":
            time.sleep(given["seconds"])
        if name == "half":
            return {"text": "x" * given["size"]}
        return {"length": len(str(given.get("text", "")))}

    def _write(self, key: str, text: str) -> str:
        with contextlib.closing(sqlite3.connect(self.writes, timeout=60)) as database, database:
            database.execute("INSERT OR IGNORE INTO write VALUES (?, ?, ?)", (key, text, os.getpid()))
            (found,) = database.execute("SELECT text FROM write WHERE key = ?", (key,)).fetchone()
        database.close()
        return str(found)

    def _note(self, kind: str, line: bytes) -> None:
        with Path(self.writes).with_suffix(f".{kind}").open("ab") as file:
            file.write(line)


if __name__ == "__main__":
    small = Service(sys.argv[1], sys.argv[2])
    signal.signal(signal.SIGUSR1, small.give_way)
    print("listening", flush=True)
    small.serve()
