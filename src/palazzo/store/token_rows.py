"""Bearer tokens of the HTTP server: the rights of each, and the hash by which it is recognised.

A token is 256 random bits. Only its SHA-256 is stored: guessing has no chance, so a slow hash would add no security. A
revoked token stays as a row, so that a server that once required a token never stops requiring one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store.database import Connection

TokenScope = Literal["read", "write", "admin"]
SCOPES: tuple[TokenScope, ...] = ("read", "write", "admin")
"""What a token allows; each scope includes the ones before it."""

PREFIX = "palazzo_"
"""The prefix of every token, by which scanners for leaked secrets recognise it (`security/token_forms`)."""
_BYTES = 32

_STORED_COLUMNS = "uid, name, scope, hash, created_at, revoked_at"
StoredToken = tuple[bytes, str, str, bytes, int, int | None]
"""The values of `_STORED_COLUMNS`."""
_SELECT = "SELECT uid, name, scope, created_at, revoked_at FROM token"


@frozen
class Token:
    """A token without its secret. `revoked_at` is None while it is valid."""

    uid: str
    name: str
    scope: TokenScope
    created_at: Micros
    revoked_at: Micros | None


def issue(connection: Connection, uid: bytes, name: str, scope: TokenScope, at: Micros) -> str:
    """Record a token and return its secret, which is not stored."""
    secret = PREFIX + base64.urlsafe_b64encode(os.urandom(_BYTES)).rstrip(b"=").decode()
    connection.execute(
        "INSERT INTO token(uid, name, scope, hash, created_at) VALUES(?, ?, ?, ?, ?)",
        (uid, name, scope, _hash(secret), at),
    )
    return secret


def tokens(connection: Connection) -> list[Token]:
    """Return all tokens: valid ones first, each group in creation order."""
    rows = connection.execute(f"{_SELECT} ORDER BY revoked_at IS NOT NULL, id")
    return [
        Token(
            uid=bytes(uid).hex(),
            name=str(name),
            scope=scope,
            created_at=Micros(created),
            revoked_at=None if revoked_at is None else Micros(revoked_at),
        )
        for uid, name, scope, created, revoked_at in rows
    ]


def revoke(connection: Connection, uid: str, at: Micros) -> None:
    """Revoke a token; one that was revoked before does not change."""
    connection.execute("UPDATE token SET revoked_at = ? WHERE uid = ? AND revoked_at IS NULL", (at, bytes.fromhex(uid)))


def stored_rows(connection: Connection) -> list[StoredToken]:
    """Return all tokens in stored form; `replace` writes them into another palace."""
    return [tuple(row) for row in connection.execute(f"SELECT {_STORED_COLUMNS} FROM token ORDER BY id")]


def replace(connection: Connection, rows: list[StoredToken]) -> None:
    """Store these tokens of another palace, replacing tokens with the same ids or secrets."""
    for uid, _, _, secret_hash, _, _ in rows:
        connection.execute("DELETE FROM token WHERE uid = ? OR hash = ?", (uid, secret_hash))
    connection.executemany(f"INSERT INTO token({_STORED_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)", rows)


def revoke_all_but(connection: Connection, kept_tokens: list[StoredToken], at: Micros) -> int:
    """Revoke the valid tokens that are not among these; return how many."""
    known_uids = {row[0] for row in kept_tokens}
    other_tokens = [token for token in tokens(connection) if bytes.fromhex(token.uid) not in known_uids]
    good = [token for token in other_tokens if token.revoked_at is None]
    for token in good:
        revoke(connection, token.uid, at)
    return len(good)


def holder(connection: Connection, secret: str) -> Token | None:
    """Return the valid token with this secret. Every hash is compared, in constant time."""
    secret_hash, holder_uid = _hash(secret), None
    for uid, token_hash in connection.execute("SELECT uid, hash FROM token WHERE revoked_at IS NULL"):
        if hmac.compare_digest(secret_hash, bytes(token_hash)):
            holder_uid = bytes(uid).hex()
    return next((token for token in tokens(connection) if token.uid == holder_uid), None)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
