"""token revoke: let somebody in over HTTP no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import AmbiguousId, NotFound
from palazzo.operations.operation import About, Operation
from palazzo.operations.tokens import TokenView

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.tokens import Token


@dataclass(frozen=True, slots=True)
class TokenRevokeRequest:
    """Which token."""

    token: Annotated[str, About("Its name, or its id or the beginning of that.", positional=True)]


@dataclass(frozen=True, slots=True)
class TokenRevokeResult:
    """The token, and whether it was good until now."""

    token: TokenView
    was_good: bool


def token_revoke(context: Context, request: TokenRevokeRequest) -> TokenRevokeResult:
    """Take a token back. What uses it is refused at its next request, and its open streams end within seconds.

    It stays on record, and 'palazzo undo' does not bring it back: make another with 'palazzo token add'.
    """
    from palazzo.operations.tokens import token_view
    from palazzo.store import tokens

    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        before = _named(tokens.tokens(connection), request.token.strip())
        tokens.revoke(connection, before.uid, context.now)
        now = next(one for one in tokens.tokens(connection) if one.uid == before.uid)
    return TokenRevokeResult(token_view(now), before.revoked_at is None)


def _named(known: list[Token], said: str) -> Token:
    """The token of that name that is good, else one whose id begins so, else the last revoked one of that name."""
    named = [one for one in known if one.name.casefold() == said.casefold()]
    good = [one for one in named if one.revoked_at is None]
    fitting = good or ([one for one in known if one.uid.startswith(said.casefold())] if said else []) or named[-1:]
    if not fitting:
        raise NotFound(f"There is no token '{said}'; see 'palazzo token list --all'.")
    if len(fitting) > 1:
        raise AmbiguousId(said, [one.uid for one in fitting])
    return fitting[0]


OPERATION = Operation("token_revoke", TokenRevokeRequest, TokenRevokeResult, token_revoke, writes=True)
