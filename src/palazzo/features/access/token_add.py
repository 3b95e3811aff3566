"""token add: create a token for access over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.features.access.token_results import TokenView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LONGEST_NAME = 100
"""The most characters of a token's name, which is shown in lists."""


@dataclass(frozen=True, slots=True)
class TokenAddRequest:
    """The name of the token, and its scope."""

    name: Annotated[str, About("Who or what will use it, such as 'laptop', 'ci'.", positional=True)]
    scope: Annotated[
        Literal["read", "write", "admin"],
        About(
            "What it allows. read: only reading; write: also writing; admin: also settings, files of this machine, and "
            "bulk forgetting."
        ),
    ] = "read"


@dataclass(frozen=True, slots=True)
class TokenAddResult:
    """The token, and its secret, which is shown only once."""

    token: TokenView
    secret: str


def token_add(context: Context, request: TokenAddRequest) -> TokenAddResult:
    """Create a token for 'palazzo mcp --http' and show its secret, which is never shown again.

    Only a hash of the secret is stored. The server requires a token from every client, also on this machine.
    """
    from palazzo.archive import identity
    from palazzo.archive.ingest_guard import Guard
    from palazzo.features.access.token_results import token_view
    from palazzo.store import token_rows

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


# Never keyed: a keyed call keeps its result, and this one is a secret.
OPERATION = Operation(
    "token_add",
    TokenAddRequest,
    TokenAddResult,
    token_add,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo token add laptop --scope write",),
)
