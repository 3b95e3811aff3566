"""The relay: passes messages of an MCP client on standard input to the service, and the service's messages back.

Hides the service's absence: requests are kept until they are answered. When a service ends, the relay connects to the
next one (which it starts if there is none), tells it who the client is, and sends the unanswered requests again. Tool
calls carry a key from the relay, so that a call that was sent twice is carried out once. If no service is available, a
server in its own process replaces it.

Knows only the MCP methods that this requires: `initialize`, `tools/call`, `notifications/cancelled`; everything else
passes unchanged. Standard library only, and little of it, because every running agent has one relay.

    client ──stdin──> main thread ──────────────┐             ┌──> service, or a process of its own
                        keeps requests ──> [ waiting ] ──> Stream
    client <─stdout── second thread <───────────┘             └──  the second thread connects, and connects again
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time

from palazzo.client.jsonl import LONGEST_LINE, Stream, dumps
from palazzo.errors import ServiceUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Message = dict[str, Any]
    Name = str | int

KEY = "palazzo/key"
"""The member of a call's `_meta` that identifies the call."""
DRAIN_SECONDS = 0.8
"""Seconds to wait for answers after the client has closed its input: it expects the process to end within one."""
UNHEARD = 15.0
"""Seconds to wait if the client closed its input before it received anything. It sent everything at once (`… | palazzo
mcp`), and a service that has to be started takes a second or two.
"""
_GREETING_TIMEOUT = 20.0
"""Seconds within which a service answers a repeated `initialize`; it may have to load the MCP SDK first."""
_LOST_TIMES = 5
"""The most servers that one request may be lost with. Above that, the request itself probably ends them, and they are
shared with other clients.
"""
_INTERNAL_ERROR, _INVALID_REQUEST = -32603, -32600
_NO_METHOD = "A message with an 'id' must have a 'method', or be an answer with a 'result' or an 'error'."
_TOO_LONG = f"A line of more than {LONGEST_LINE:,} bytes is refused; send it in several calls."


class PendingLine:
    """A line on its way to a server; a request (which has a name) is kept until it is answered.

    `sent` says whether the current server received it, `lost` how many earlier servers did.
    """

    __slots__ = ("ends_opening", "is_reply", "line", "lost", "name", "sent")

    def __init__(
        self, line: bytes, name: Name | None = None, ends_opening: bool = False, is_reply: bool = False
    ) -> None:
        self.line, self.name, self.ends_opening, self.is_reply = line, name, ends_opening, is_reply
        self.sent, self.lost = False, 0

    @property
    def key(self) -> object:
        """Return its key while it waits: a request's ID, so that its answer finds it."""
        return self if self.name is None else self.name


class _ServerGoneError(ServiceUnavailable):
    """A server ended while the client was being introduced to it; another server may not."""


class Relay:
    """One client's connection, over as many servers as it takes.

    `reach` connects to the service, and `stand_in` starts a server for this client alone; either raises
    ServiceUnavailable or OSError.
    """

    def __init__(self, reach: Callable[[], Stream], stand_in: Callable[[], Stream]) -> None:
        self._reach, self._stand_in = reach, stand_in
        self._name = os.urandom(16).hex()
        self._calls = self._greetings = 0
        self._changed = threading.Condition()
        """Guards the three fields below, and is notified when they change. Never held during reading or writing."""
        self._waiting: dict[object, PendingLine] = {}
        self._asked_by_server: set[Name] = set()
        self._heard = False
        self._sending = threading.Lock()
        """Held while a line is sent, and while a new server receives the waiting lines: lines keep their order."""
        self._stream: Stream | None = None
        self._opening: Message | None = None
        self._opened = False
        self._initialized: bytes | None = None
        self._telling = threading.Lock()

    def run(self) -> None:
        """Relay until the client sends no more and has all its answers, or has waited long enough."""
        _wait_for_pipes()
        threading.Thread(target=self._listen, daemon=True).start()
        for line in split_lines(_read_input):
            if line is None:
                self._refuse(None, _INVALID_REQUEST, _TOO_LONG)
            elif line and not line.isspace():
                self._take(line)
        self._wait_for_answers()

    # --- from the client to the server -------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        """Send one line of the client's. An invalid message is sent too: the server says what is wrong with it."""
        message = _message(line)
        method, name = message.get("method"), _name(message)
        if "method" not in message and name is not None:
            if "result" not in message and "error" not in message:
                self._refuse(name, _INVALID_REQUEST, _NO_METHOD)
                return
            self._pass_reply(name, line)
            return
        if method == "tools/call" and name is not None:
            line = self._stamp_call(message, line)
        if len(line) > LONGEST_LINE:
            self._refuse(name, _INVALID_REQUEST, _TOO_LONG)
            return
        if method == "initialize" and name is not None:
            self._opening, self._opened, self._initialized = message, False, None
        if method == "notifications/cancelled":
            self._forget(message.get("params"))
        self._send(PendingLine(line, name if "method" in message else None, method == "notifications/initialized"))

    def _stamp_call(self, message: Message, line: bytes) -> bytes:
        """Return a call's line with its key; unchanged if it has one, or is not a call that a server accepts."""
        params = message.get("params")
        meta = params.setdefault("_meta", {}) if isinstance(params, dict) else None
        if not isinstance(meta, dict) or KEY in meta:
            return line
        self._calls += 1
        meta[KEY] = f"{self._name}:{self._calls}"
        return _encode_message(message) or line

    def _pass_reply(self, name: Name, line: bytes) -> None:
        """Send the client's answer to a server's question, unless the server that asked is gone."""
        with self._changed:
            is_awaited = name in self._asked_by_server
            self._asked_by_server.discard(name)
        if is_awaited:
            self._send(PendingLine(line, is_reply=True))

    def _forget(self, params: object) -> None:
        """Forget a cancelled request: it is not sent again, nor waited for. Ended ones are unknown here."""
        name = _name(params, "requestId") if isinstance(params, dict) else None
        if name is not None:
            self._discard_line(name)

    def _send(self, pending_line: PendingLine) -> None:
        with self._sending:
            with self._changed:
                self._waiting[pending_line.key] = pending_line
                self._changed.notify_all()
            if self._stream is not None:
                self._transmit_line(pending_line, self._stream)

    def _transmit_line(self, pending_line: PendingLine, stream: Stream) -> bool:
        """Send a waiting line; for one that has no answer, that is all.

        Returns False if the server has gone; the listening thread notices that too, and handles it.
        """
        try:
            stream.send_line(pending_line.line)
        except OSError:
            return False
        pending_line.sent = True
        if pending_line.ends_opening:
            self._initialized = pending_line.line
        if pending_line.name is None:
            self._discard_line(pending_line.key)
        return True

    def _discard_line(self, key: object) -> None:
        with self._changed:
            self._waiting.pop(key, None)
            self._changed.notify_all()

    # --- from the server to the client -------------------------------------------------------------------------

    def _listen(self) -> None:
        """Keep a server while requests wait. The first is sought at once, so that it is up in time."""
        while True:
            try:
                self._follow(self._connect_server())
            except (ServiceUnavailable, OSError, ValueError) as error:
                self._give_up(error)
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting))

    def _connect_server(self) -> Stream:
        """Return a server that was introduced and sent what waits: the service, or a substitute process."""
        try:
            for _ in range(_LOST_TIMES - 1):
                try:
                    return self._introduce_client(self._reach())
                except _ServerGoneError:
                    continue  # there is time to go between two lines as at any other moment
            return self._introduce_client(self._reach())
        except (ServiceUnavailable, OSError, ValueError) as error:
            remark(f"{_sentence(error)} The relay continues with a process of its own.")
        return self._introduce_client(self._stand_in())

    def _introduce_client(self, stream: Stream) -> Stream:
        try:
            self._greet(stream)
            with self._sending:
                with self._changed:
                    pending_lines = list(self._waiting.values())
                for pending_line in pending_lines:
                    if not self._transmit_line(pending_line, stream):
                        break  # the end of the stream, which is read next, is where that is dealt with
                self._stream = stream
        except BaseException:
            stream.close()
            raise
        return stream

    def _greet(self, stream: Stream) -> None:
        """Introduce the client as it did to the earlier server. The answer is not passed to the client."""
        with self._sending:
            handshake, ready_line = self._opening, self._initialized
        if handshake is None or not self._opened:
            return
        self._greetings += 1
        name = f"{self._name}:initialize:{self._greetings}"
        stream.socket.settimeout(_GREETING_TIMEOUT)
        try:
            stream.send({**handshake, "id": name})
            while (line := stream.read_line()) is not None:
                if _message(line).get("id") == name:
                    break
            else:
                raise _ServerGoneError("The service ended during the handshake with its client.")
            if ready_line is not None:
                stream.send_line(ready_line)
        except ConnectionError as error:
            raise _ServerGoneError("The service ended during the handshake with its client.") from error
        stream.socket.settimeout(None)

    def _follow(self, stream: Stream) -> None:
        """Pass the server's messages to the client, until there are no more."""
        try:
            while (line := stream.read_line()) is not None:
                self._hear(line)
        except (OSError, ValueError):
            pass  # a server that breaks off, and one that says what cannot be read, are gone like one that ends
        stream.close()
        with self._sending:
            self._stream = None
        self._count_losses()

    def _hear(self, line: bytes) -> None:
        """Send the client one line. Only then is its request done: the end of this process may wait for it."""
        message = _message(line)
        if not message:
            return  # a client is told messages and nothing else
        name = _name(message)
        is_answer = name is not None and "method" not in message
        with self._changed:
            self._heard = True
            pending_line = self._waiting.get(name) if is_answer else None
            if name is not None and not is_answer:
                self._asked_by_server.add(name)
        if is_answer and "result" in message and self._opening is not None and self._opening["id"] == name:
            self._opened = True
        self._tell(line)
        with self._changed:
            if pending_line is not None and self._waiting.get(name) is pending_line:
                self._waiting.pop(name)
                self._changed.notify_all()

    def _count_losses(self) -> None:
        """Note that a server has gone; a request that too many servers died on is answered here."""
        with self._changed:
            self._asked_by_server.clear()
            self._waiting = {
                key: pending_line for key, pending_line in self._waiting.items() if not pending_line.is_reply
            }
            for pending_line in self._waiting.values():
                pending_line.lost += pending_line.sent
                pending_line.sent = False
            fatal = [pending_line for pending_line in self._waiting.values() if pending_line.lost >= _LOST_TIMES]
        for pending_line in fatal:
            self._fail(pending_line, f"The memory server ended {_LOST_TIMES} times while it worked on this.")

    def _give_up(self, error: Exception) -> None:
        """Answer the waiting requests if no server is available. The next request tries again."""
        with self._changed:
            pending_lines = list(self._waiting.values())
        for pending_line in pending_lines:
            self._fail(pending_line, f"The memory server cannot be reached. {_sentence(error)}")

    def _fail(self, pending_line: PendingLine, sentence: str) -> None:
        if pending_line.name is not None:
            self._refuse(pending_line.name, _INTERNAL_ERROR, f"{sentence} Run `palazzo doctor`.")
        self._discard_line(pending_line.key)

    def _refuse(self, name: Name | None, code: int, sentence: str) -> None:
        self._tell(dumps({"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": sentence}}))

    def _tell(self, line: bytes) -> None:
        """Write one whole line to the client. If the client no longer reads, this process ends."""
        rest = memoryview(line + b"\n")
        try:
            with self._telling:
                while rest:
                    rest = rest[os.write(1, rest) :]
        except OSError:
            leave()

    def _wait_for_answers(self) -> None:
        end_time = time.monotonic()
        with self._changed:
            patience = DRAIN_SECONDS if self._heard else UNHEARD
            while any(pending_line.name is not None for pending_line in self._waiting.values()):
                remaining_seconds = end_time + patience - time.monotonic()
                if remaining_seconds <= 0:
                    return
                self._changed.wait(remaining_seconds)


def end_by_signals() -> None:
    """Make the signals by which hosts stop a server stop this one in order: with exit code 0, and at once."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), leave)


def split_lines(read: Callable[[], bytes]) -> Iterator[bytes | None]:
    """Yield lines without their newlines as `read` brings them, None in place of each that is too long.

    `read` returns no bytes at the end; a last line needs no newline.
    """
    buffer, too_long = bytearray(), False
    while more := read():
        *whole, rest = more.split(b"\n")
        for piece in whole:
            buffer += piece
            yield None if too_long or len(buffer) > LONGEST_LINE else bytes(buffer)
            buffer, too_long = bytearray(), False
        buffer += rest
        if len(buffer) > LONGEST_LINE:
            buffer, too_long = bytearray(), True
    if buffer or too_long:
        yield None if too_long else bytes(buffer)


def _wait_for_pipes() -> None:
    """Make reads and writes blocking. A pipe that a host also uses may have been set to non-blocking."""
    if hasattr(os, "set_blocking"):
        for end in (0, 1):
            try:
                os.set_blocking(end, True)
            except OSError:
                pass  # there is none, which reading or writing finds out


def _read_input() -> bytes:
    try:
        return os.read(0, 1 << 16)
    except OSError:
        return b""  # a terminal that was hung up, or no input at all


def _message(line: bytes) -> Message:
    """Return the message on a line; an empty one if there is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _encode_message(message: Message) -> bytes | None:
    """Return a message as a line, None if Python cannot write it as JSON: numbers or nesting beyond limits."""
    try:
        text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which can only be written as an escape
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()


def _name(message: Message, member: str = "id") -> Name | None:
    """Return a request's ID, which may be 0; None if it has none, or one that no server answers."""
    name = message.get(member)
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, ServiceUnavailable) else f"No service answers ({error})."


def remark(sentence: str) -> None:
    """Write a remark to standard error, for readers of the host's log."""
    try:
        os.write(2, f"palazzo mcp: {sentence}\n".encode(errors="replace"))
    except OSError:
        pass  # nobody does


def leave(*_: object) -> None:
    """End at once: nothing here needs to be saved, and the service completes what it was asked to do."""
    os._exit(0)
