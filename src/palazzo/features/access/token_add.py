"""token add: create a token for access over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import identity
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.access.contract import TokenAddRequest, TokenAddResult
from palazzo.features.access.token_list import token_view
from palazzo.store import token_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LONGEST_NAME = 100
"""The most characters of a token's name, which is shown in lists."""


def token_add(context: Context, request: TokenAddRequest) -> TokenAddResult:
    """Create a token for 'palazzo mcp --http' and show its secret, which is never shown again."""
    database = context.writing().database
    name = Guard.of(database).words(request.name.strip())
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise UsageError(f"A token's name must have 1 to {LONGEST_NAME} characters, on one line; name who will use it.")
    with database.transaction() as connection:
        if any(
            existing_token.name.casefold() == name.casefold() and existing_token.revoked_at is None
            for existing_token in token_rows.tokens(connection)
        ):
            raise UsageError(
                f"A token '{name}' already exists; choose another name, or revoke that one first with 'palazzo token "
                "revoke'."
            )
        uid = identity.new_id(context.now)
        secret = token_rows.issue(connection, bytes.fromhex(uid), name, request.scope, context.now)
        token = next(existing_token for existing_token in token_rows.tokens(connection) if existing_token.uid == uid)
    return TokenAddResult(token_view(token), secret)
