"""RPC connection: reads lines of JSON, calls operations, and answers each call as soon as it is done.

    {"id": 1, "operation": "search", "request": {…}, "key": "…"?, "surroundings": {"cwd": "…", "variables": {…}}}
    {"cancel": 1}

    {"id": 1, "progress": {"what": "…", "done": 1, "total": 9, "detail": ""}}      any number of times
    {"id": 1, "notice": "…"}                                                     any number of times
    {"id": 1, "result": {…}}  or  {"id": 1, "error": {"kind": "NotFound", "message": "…"}}

A line with `arguments` in place of `operation` is a command line (`command_lines`).

Requests and results are encoded by `operations/serialisation`. Other bytes are answered with an error.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

from palazzo.client.jsonl import LONGEST_LINE, Stream
from palazzo.daemon import command_lines
from palazzo.daemon.engine import Engine, Job, operation_called
from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import OperationCancelled
from palazzo.operations.context import Progress
from palazzo.operations.serialisation import from_wire, to_wire

_MOST_AT_ONCE = 32
"""Maximum number of concurrent calls of one connection; further calls wait until one is done."""
_READS_WITHIN = 20
"""Seconds for which an answer is held for a client that does not read; after that the client is considered gone."""
_PROGRESS_INTERVAL = 0.1
"""Minimum seconds between two progress reports that are forwarded."""


class Calls:
    """One connection.

    `serve` returns when the client has disconnected, or when the connection is closed and all calls are answered.
    """

    def __init__(self, stream: Stream, engine: Engine) -> None:
        self._stream, self._engine = stream, engine
        self._writing = threading.Lock()
        self._room = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._open: dict[int, _Open] = {}
        self._changed = threading.Condition()
        if os.name == "posix" and isinstance(stream.socket, socket.socket):
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _READS_WITHIN, 0))

    def serve(self) -> None:
        """Answer until the client sends no more, and then finish the calls that it still waits for."""
        try:
            while self._take(self._line()):
                pass
        except OSError:
            self._abandon()
        with self._changed:
            self._changed.wait_for(lambda: not self._open)
        self._stream.close()

    def finish(self) -> None:
        """Accept no further calls, answer the open ones, and end."""
        try:
            self._stream.socket.shutdown(socket.SHUT_RD)
        except OSError:
            return  # it has ended

    def _line(self) -> bytes | None:
        """Return the next line within the size limit; for a longer line, send the client an error."""
        while True:
            try:
                return self._stream.read_line()
            except ValueError:
                self._send(
                    {"id": None, **_error(UsageError(f"A line can have at most {LONGEST_LINE:,} bytes. Send less."))}
                )
                if not self._stream.pass_over():
                    return None

    def _take(self, line: bytes | None) -> bool:
        """Start the request in a line; return False at the end."""
        if line is None:
            return False
        number: object = None
        try:
            message = _message(line)
            if "cancel" in message:
                self._cancel(message["cancel"])
                return True
            number = message.get("id")
            self._begin(number, message)
        except PalazzoError as error:
            self._send({"id": number, **_error(error)})
        return True

    def _begin(self, number: object, message: Mapping[str, Any]) -> None:
        answer: Callable[[Future[Any]], Mapping[str, Any]] = _answer
        if "arguments" in message:
            line = command_lines.parse(message)
            if line is None:
                self._send({"id": number, **command_lines.UNREAD})
                return
            operation, request, answer = line.operation, line.request, line.answer
        else:
            operation = operation_called(message.get("operation"))
            request = from_wire(operation.request, message.get("request", {}))
        around = message.get("surroundings", {})
        key = message.get("key")
        if not isinstance(key, str | None) or not isinstance(around, dict):
            raise UsageError("A call's 'key' must be a string, and its 'surroundings' an object.")
        variables = around.get("variables", {})
        if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
            raise UsageError("The 'variables' of a call's 'surroundings' must be strings, by name.")
        call = _Open(number, self)
        cwd = Path(str(around.get("cwd") or self._engine.palace.parent))
        job = Job(operation, request, key, cwd, variables, "user", call.progress, call.notice)
        self._room.acquire()
        with self._changed:
            self._open[id(call)] = call
        try:
            future = self._engine.submit(job)
        except RuntimeError:
            self._close_call(
                call, {"id": number, **_error(PalazzoError("The service is shutting down. Call the next one."))}
            )
            return
        call.future = future
        future.add_done_callback(lambda done: self._close_call(call, {"id": number, **answer(done)}))

    def _close_call(self, call: _Open, answer: Mapping[str, Any]) -> None:
        self._send(answer)
        self._room.release()
        with self._changed:
            del self._open[id(call)]
            self._changed.notify_all()

    def _cancel(self, number: object) -> None:
        with self._changed:
            calls = [call for call in self._open.values() if call.number == number]
        for call in calls:
            call.stop()

    def _abandon(self) -> None:
        """Handle a client that is gone: drop calls that have not begun; long ones stop at their next report."""
        with self._changed:
            calls = list(self._open.values())
        for call in calls:
            call.stop()

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            with self._writing:
                self._stream.send(message)
        except OSError:  # it has gone, or does not read; a line that was begun cannot be taken back
            self._stream.close()
            self._abandon()


class _Open:
    """A call without an answer yet."""

    def __init__(self, number: object, calls: Calls) -> None:
        self.number, self._calls = number, calls
        self.future: Future[Any] | None = None
        self._stopped = threading.Event()
        self._next = 0.0

    def stop(self) -> None:
        self._stopped.set()
        if self.future is not None:
            self.future.cancel()

    def progress(self, progress: Progress) -> None:
        if self._stopped.is_set():
            raise OperationCancelled
        now = time.monotonic()
        if now >= self._next or progress.done >= progress.total:
            self._next = now + _PROGRESS_INTERVAL
            self._calls._send({"id": self.number, "progress": dataclasses.asdict(progress)})

    def notice(self, sentence: str) -> None:
        self._calls._send({"id": self.number, "notice": sentence})


def _message(line: bytes) -> dict[str, Any]:
    from palazzo.client.jsonl import loads

    try:
        message = loads(line)
    except ValueError as error:
        raise UsageError(f"This line is not valid JSON: {error}.") from None
    if not isinstance(message, dict):
        raise UsageError("A message must be one JSON object.")
    return message


def _answer(future: Future[Any]) -> dict[str, Any]:
    try:
        return {"result": to_wire(future.result())}
    except (OperationCancelled, CancelledError):
        return {"error": {"kind": "Stopped", "message": "The call was stopped. Committed work is kept."}}
    except Exception as error:  # noqa: BLE001 - whatever an operation raises is its caller's to hear
        return _error(error)


def _error(error: Exception) -> dict[str, Any]:
    if isinstance(error, PalazzoError):
        return {"error": {"kind": type(error).__name__, "message": str(error)}}
    message = f"This is a bug in Palazzo ({type(error).__name__}); run the command without the service to get a report."
    return {"error": {"kind": "Bug", "message": message}}
