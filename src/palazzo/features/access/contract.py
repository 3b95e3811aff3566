"""Requests, results and operations of `access`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation


@frozen
class TokenView:
    """A token without its secret; `revoked_at` is null while it is valid."""

    id: str
    name: str
    scope: Literal["read", "write", "admin"]
    created_at: Micros
    revoked_at: Micros | None


@frozen
class TokenAddRequest:
    """Create a token for 'palazzo mcp --http' and show its secret, which is never shown again.

    Only a hash of the secret is stored. The server requires a token from every client, also on this machine.
    """

    name: Annotated[str, About("Who or what will use it, such as 'laptop', 'ci'.", positional=True)]
    scope: Annotated[
        Literal["read", "write", "admin"],
        About(
            "What it allows. read: only reading; write: also writing; admin: also settings, files of this machine, and "
            "bulk forgetting."
        ),
    ] = "read"


@frozen
class TokenAddResult:
    """The token, and its secret, which is shown only once."""

    token: TokenView
    secret: str


# Never keyed: a keyed call keeps its result, and this one is a secret.
TOKEN_ADD = Operation(
    "token_add",
    TokenAddRequest,
    TokenAddResult,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo token add laptop --scope write",),
)


@frozen
class TokenListRequest:
    """List the tokens that 'palazzo mcp --http' accepts, and what each allows."""

    all: Annotated[bool, About("Also list revoked tokens.")] = False


@frozen
class TokenListResult:
    """Tokens without their secrets, valid ones first, and the number of revoked tokens."""

    tokens: tuple[TokenView, ...]
    revoked: int


TOKEN_LIST = Operation(
    "token_list",
    TokenListRequest,
    TokenListResult,
    scope="admin",
    examples=("palazzo token list",),
)


@frozen
class TokenRevokeRequest:
    """Revoke a token. The next request that uses it is refused, and its open streams end within seconds.

    The token stays on record, and 'palazzo undo' does not restore it: create another one with 'palazzo token add'.
    """

    token: Annotated[str, About("The token's name, id or id prefix.", positional=True)]


@frozen
class TokenRevokeResult:
    """The token, and whether it was valid until now."""

    token: TokenView
    was_good: bool


TOKEN_REVOKE = Operation(
    "token_revoke",
    TokenRevokeRequest,
    TokenRevokeResult,
    scope="admin",
    writes=True,
    examples=("palazzo token revoke laptop",),
)
