"""Who may connect over HTTP: the palace is asked again for each request, so that a revocation takes effect at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from palazzo.errors import PalaceUnusable
from palazzo.faces.mcp.http_quotas import Grant
from palazzo.palace import Palace
from palazzo.store import token_rows
from palazzo.store.database import Connection

_T = TypeVar("_T")


class PalaceTokens:
    """Reads the palace's tokens at each request, from the file that is at the palace's path then."""

    def __init__(self, palace: Path) -> None:
        self._path = palace
        self._lock = threading.Lock()
        self._palace: Palace | None = None
        self._file: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the palace."""
        if self._palace is not None:
            self._palace.close()
            self._palace = None

    def has_good_token(self) -> bool:
        """Return whether there is any valid token."""
        return self._read(
            lambda connection: any(token.revoked_at is None for token in token_rows.tokens(connection)), False
        )

    async def grant_of(self, secret: str) -> Grant | None:
        """Return the grant of a secret's bearer; None if no valid token has this secret."""
        return await anyio.to_thread.run_sync(self._read_grant, secret)

    def _read_grant(self, secret: str) -> Grant | None:
        holder = self._read(lambda connection: token_rows.holder(connection, secret), None)
        return None if holder is None else Grant(holder.scope, holder.uid, holder.name)

    def _read(self, question: Callable[[Connection], _T], default: _T) -> _T:
        """Query the palace; return `default` if there is no palace yet."""
        with self._lock:
            try:
                status = self._path.stat()
            except FileNotFoundError:
                return default
            except OSError as error:
                raise PalaceUnusable(f"{self._path} cannot be accessed ({error.strerror}).") from None
            is_other = self._file != (status.st_dev, status.st_ino)
            if self._palace is None or is_other or self._palace.database.is_replaced:
                self.close()
                self._palace, self._file = Palace.open(self._path, "read"), (status.st_dev, status.st_ino)
            with self._palace.database.snapshot() as connection:
                return question(connection)
