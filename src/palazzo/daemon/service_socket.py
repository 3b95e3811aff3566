"""The socket that a service listens on: its user's alone, there only while somebody listens, let go of at once."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import threading
from pathlib import Path

from palazzo.client.jsonl import peer_uid
from palazzo.client.rpc import Address
from palazzo.locks import FileLock

_BACKLOG = 128
"""Clients that may wait to be accepted: every agent of a machine that wakes up at once."""


class Listener:
    """Listens at an address for whoever holds its lock. `token` is what a client must know where sockets have no mode.

    The socket is bound under another name and renamed when it listens, so that none finds one that does not; one that
    a killed service has left behind is replaced by that.
    """

    def __init__(self, endpoint: Address, lock: FileLock) -> None:
        self._where, self._lock = endpoint, lock
        self._closing = threading.Lock()
        self._closed = False
        self.token = ""
        self.socket = self._on_loopback() if sys.platform == "win32" else self._on_unix()
        self._file = _file(endpoint.socket)

    def is_there(self) -> bool:
        """Whether clients still find it: who removed the socket wants another service, or has cleaned up."""
        return _file(self._where.socket) == self._file

    def close(self) -> None:
        """Stop listening and let go of the lock; closing twice is allowed."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            if self.is_there():
                Path(self._where.socket).unlink(missing_ok=True)
            self.socket.close()
            self._lock.release()

    def _on_unix(self) -> socket.socket:
        server_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = Path(self._where.socket)
        own = path.with_suffix(f".{os.getpid() % 10_000:04}")
        own.unlink(missing_ok=True)
        server_socket.bind(str(own))
        own.chmod(0o600)
        server_socket.listen(_BACKLOG)
        server_socket.setblocking(False)
        own.rename(path)
        return server_socket

    def _on_loopback(self) -> socket.socket:
        server_socket = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        server_socket.setblocking(False)
        self.token = secrets.token_hex(32)
        path = Path(self._where.socket)
        own = path.with_suffix(".new")
        own.touch(mode=0o600)
        own.write_text(f"{server_socket.getsockname()[1]} {self.token}", encoding="ascii")
        own.replace(path)
        return server_socket


def is_own_user(connection: socket.socket) -> bool:
    """Whether the process at the other end is of the same user, so far as the platform tells."""
    return sys.platform == "win32" or peer_uid(connection) in (None, os.getuid())


def _file(path: str) -> tuple[int, int] | None:
    try:
        file_stat = Path(path).stat()
    except OSError:
        return None
    return file_stat.st_dev, file_stat.st_ino
