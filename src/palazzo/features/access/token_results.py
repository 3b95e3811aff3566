"""Tokens of the HTTP server as faces show them. The token operations share this module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.store.token_rows import Token


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token without its secret; `revoked_at` is null while it is valid."""

    id: str
    name: str
    scope: Literal["read", "write", "admin"]
    created_at: Micros
    revoked_at: Micros | None


def token_view(token: Token) -> TokenView:
    """Return a token as a view."""
    return TokenView(token.uid, token.name, token.scope, token.created_at, token.revoked_at)
