"""Lines of JSON over a socket, for both ends of the connection to the service: `palazzo.client.rpc` and
`palazzo.daemon`.

Standard library only, and `_socket` in place of `socket`: a client starts for every call of a host.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping
    from typing import Any, Self

LONGEST_LINE = 32 * 1024 * 1024
"""Maximum bytes of one line; a longer line is refused. A request of 20 MB is accepted."""


class Stream:
    """A connection: lines of JSON to and from a service. One thread may write while another reads."""

    def __init__(self, socket: _socket.socket) -> None:
        self.socket = socket
        self._read = bytearray()
        self._looked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one message; raises OSError when the other side is gone."""
        self.send_line(dumps(message))

    def send_line(self, line: bytes) -> None:
        """Write one line, adding its newline."""
        self.socket.sendall(line + b"\n")

    def read(self) -> dict[str, Any] | None:
        """Return the next message, None at the end; raises ValueError if it is not a JSON object."""
        line = self.read_line()
        if line is None:
            return None
        message = loads(line)
        if not isinstance(message, dict):
            raise ValueError("a message must be a JSON object")
        return message

    def read_line(self) -> bytes | None:
        """Return the next line without its newline, None if the other side has closed (even in mid-line).

        Raises OSError if the connection is broken, ValueError for a line that is too long.
        """
        while True:
            end = self._read.find(b"\n", self._looked)
            if end >= 0:
                line = bytes(self._read[:end])
                del self._read[: end + 1]
                self._looked = 0
                return line
            self._looked = len(self._read)
            if self._looked > LONGEST_LINE:
                raise ValueError(f"a line has more than {LONGEST_LINE:,} bytes")
            more = self.socket.recv(1 << 16 if self._looked < 1 << 20 else 1 << 20)
            if not more:
                return None
            self._read += more

    def pass_over(self) -> bool:
        """Discard the rest of a line that is too long; return False if it has no end."""
        self._looked = 0
        while (end := self._read.find(b"\n")) < 0:
            self._read.clear()
            more = self.socket.recv(1 << 20)
            if not more:
                return False
            self._read += more
        del self._read[: end + 1]
        return True

    def drain_buffer(self) -> bytes:
        """Return received bytes not read yet; from now on the caller reads from the socket itself."""
        rest = bytes(self._read)
        self._read.clear()
        return rest

    def half_close(self) -> None:
        """Signal that nothing more will be written."""
        import _socket

        try:
            self.socket.shutdown(_socket.SHUT_WR)
        except OSError:
            return  # it is gone already, which the reader is told

    def close(self) -> None:
        """Close the connection; a thread that is reading from it wakes up."""
        import _socket

        try:
            self.socket.shutdown(_socket.SHUT_RDWR)
        except OSError:
            pass  # it was not connected any more
        self.socket.close()


def peer_uid(socket: _socket.socket) -> int | None:
    """Return the user at the other end of a Unix socket; None if the platform does not report it."""
    import _socket

    if sys.platform == "linux":
        credentials = socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)  # pid, uid, gid
        return int.from_bytes(credentials[4:8], sys.byteorder)
    if sys.platform == "darwin":
        credentials = socket.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: a version, then the uid
        return int.from_bytes(credentials[4:8], sys.byteorder)
    return None


def dumps(value: object) -> bytes:
    """Return `value` as one line of JSON in ASCII."""
    encode = _encoder()
    if encode is None:
        import json

        return json.dumps(value, separators=(",", ":")).encode("ascii")
    return "".join(encode(value, 0)).encode("ascii")


def loads(line: bytes) -> Any:
    """Read one line of JSON; raises ValueError if it is not JSON."""
    try:
        scan = _scanner() if line[:1] in (b"{", b"[") and line[1:2] != b"\0" else None
        if scan is not None:
            text = line.decode("utf-8", "surrogatepass")
            try:
                value, end = scan(text, 0)
            except (StopIteration, SystemError):  # it is not JSON; the scanner has no error for that without `json`
                end = None
            if end is not None and not text[end:].strip(" \t\r\n"):
                return value
        import json

        return json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# --- what the module json is made of: it compiles patterns, so importing it takes as long as starting Python ------


class _Decoding:
    """What json's scanner asks of a decoder: the types of plain JSON."""

    strict, object_hook, object_pairs_hook, parse_float, parse_int, memo = True, None, None, float, int, None

    @staticmethod
    def parse_constant(name: str) -> float:
        """Return NaN or an infinity, as json does."""
        return float(name)


def _scanner() -> Any:
    """Return json's scanner (text and position in, value and end out); None where this Python has none in C."""
    try:
        from _json import make_scanner
    except ImportError:
        return None
    decoding: Any = _Decoding
    return make_scanner(decoding)


def _encoder() -> Any:
    """Return json's encoder (value and level in, parts of a text out); None where this Python has none in C."""
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        return None
    return make_encoder({}, _refuse, encode_basestring_ascii, None, ":", ",", False, False, True)


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
