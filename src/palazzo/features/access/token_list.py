"""token list: list the tokens for access over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.access.token_results import TokenView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TokenListRequest:
    """Whether to include revoked tokens."""

    all: Annotated[bool, About("Also list revoked tokens.")] = False


@dataclass(frozen=True, slots=True)
class TokenListResult:
    """Tokens without their secrets, valid ones first, and the number of revoked tokens."""

    tokens: tuple[TokenView, ...]
    revoked: int


def token_list(context: Context, request: TokenListRequest) -> TokenListResult:
    """List the tokens that 'palazzo mcp --http' accepts, and what each allows."""
    from palazzo.features.access.token_results import token_view
    from palazzo.store import token_rows as tokens

    with context.reading().database.snapshot() as connection:
        token_rows = tokens.tokens(connection)
    views = tuple(token_view(token) for token in token_rows if request.all or token.revoked_at is None)
    return TokenListResult(views, sum(token.revoked_at is not None for token in token_rows))


OPERATION = Operation(
    "token_list",
    TokenListRequest,
    TokenListResult,
    token_list,
    scope="admin",
    examples=("palazzo token list",),
)
