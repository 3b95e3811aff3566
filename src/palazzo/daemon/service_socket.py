"""The socket of a service: accessible only to its user, present only while the service listens, then removed at
once.
"""

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
"""Maximum number of clients that wait to be accepted: all agents of a machine may wake up at once."""


class Listener:
    """Listens at an address for the holder of its lock.

    `token` is the secret that a client must present where sockets have no file mode. The socket is bound under another
    name and renamed once it listens, so that clients never find a socket that does not listen. The rename also replaces
    a socket left behind by a killed service.
    """

    def __init__(self, endpoint: Address, lock: FileLock) -> None:
        self._where, self._lock = endpoint, lock
        self._closing = threading.Lock()
        self._closed = False
        self.token = ""
        self.socket = self._on_loopback() if sys.platform == "win32" else self._on_unix()
        self._file = _file(endpoint.socket)

    def is_there(self) -> bool:
        """Return whether clients still find it: if the socket was removed, another service is wanted."""
        return _file(self._where.socket) == self._file

    def close(self) -> None:
        """Stop listening and release the lock; closing twice is allowed."""
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
    """Return whether the process at the other end has the same user, as far as the platform tells."""
    return sys.platform == "win32" or peer_uid(connection) in (None, os.getuid())


def _file(path: str) -> tuple[int, int] | None:
    try:
        file_stat = Path(path).stat()
    except OSError:
        return None
    return file_stat.st_dev, file_stat.st_ino
