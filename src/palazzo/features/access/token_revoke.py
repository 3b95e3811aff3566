"""token revoke: revoke a token for access over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import AmbiguousId, NotFound
from palazzo.features.access.token_results import TokenView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import Token


@dataclass(frozen=True, slots=True)
class TokenRevokeRequest:
    """The token to revoke."""

    token: Annotated[str, About("The token's name, id or id prefix.", positional=True)]


@dataclass(frozen=True, slots=True)
class TokenRevokeResult:
    """The token, and whether it was valid until now."""

    token: TokenView
    was_good: bool


def token_revoke(context: Context, request: TokenRevokeRequest) -> TokenRevokeResult:
    """Revoke a token. The next request that uses it is refused, and its open streams end within seconds.

    The token stays on record, and 'palazzo undo' does not restore it: create another one with 'palazzo token add'.
    """
    from palazzo.features.access.token_results import token_view
    from palazzo.store import token_rows

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


OPERATION = Operation(
    "token_revoke",
    TokenRevokeRequest,
    TokenRevokeResult,
    token_revoke,
    scope="admin",
    writes=True,
    examples=("palazzo token revoke laptop",),
)
