"""token list: list the tokens for access over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.access.contract import TokenListRequest, TokenListResult, TokenView
from palazzo.store import token_rows as tokens

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import Token


def token_list(context: Context, request: TokenListRequest) -> TokenListResult:
    """List the tokens that 'palazzo mcp --http' accepts, and what each allows."""
    with context.reading().database.snapshot() as connection:
        token_rows = tokens.tokens(connection)
    views = tuple(token_view(token) for token in token_rows if request.all or token.revoked_at is None)
    return TokenListResult(views, sum(token.revoked_at is not None for token in token_rows))


def token_view(token: Token) -> TokenView:
    """Return a token as a view."""
    return TokenView(token.uid, token.name, token.scope, token.created_at, token.revoked_at)
