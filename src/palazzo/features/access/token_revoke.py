"""token revoke: revoke a token for access over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import AmbiguousId, NotFound
from palazzo.features.access.contract import TokenRevokeRequest, TokenRevokeResult
from palazzo.features.access.token_list import token_view
from palazzo.store import token_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import Token


def token_revoke(context: Context, request: TokenRevokeRequest) -> TokenRevokeResult:
    """Revoke a token. The next request that uses it is refused, and its open streams end within seconds."""
    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        token = _find_token(token_rows.tokens(connection), request.token.strip())
        token_rows.revoke(connection, token.uid, context.now)
        revoked_token = next(row for row in token_rows.tokens(connection) if row.uid == token.uid)
    return TokenRevokeResult(token_view(revoked_token), token.revoked_at is None)


def _find_token(token_rows: list[Token], name_or_id: str) -> Token:
    """Return the valid token of that name, else one with that id prefix, else the last revoked one of that name."""
    namesakes = [token for token in token_rows if token.name.casefold() == name_or_id.casefold()]
    good = [token for token in namesakes if token.revoked_at is None]
    matches = (
        good
        or ([token for token in token_rows if token.uid.startswith(name_or_id.casefold())] if name_or_id else [])
        or namesakes[-1:]
    )
    if not matches:
        raise NotFound(f"There is no token '{name_or_id}'; 'palazzo token list --all' lists all.")
    if len(matches) > 1:
        raise AmbiguousId(name_or_id, [token.uid for token in matches])
    return matches[0]
