"""token list: who may come in over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.access.token_results import TokenView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TokenListRequest:
    """Whether those that were revoked, too."""

    all: Annotated[bool, About("Also those that were revoked.")] = False


@dataclass(frozen=True, slots=True)
class TokenListResult:
    """Tokens without their secrets, the good ones first, and how many were revoked."""

    tokens: tuple[TokenView, ...]
    revoked: int


def token_list(context: Context, request: TokenListRequest) -> TokenListResult:
    """List the tokens that 'palazzo mcp --http' takes, and what each allows."""
    from palazzo.features.access.token_results import token_view
    from palazzo.store import token_rows as tokens

    with context.reading().database.snapshot() as connection:
        token_rows = tokens.tokens(connection)
    views = tuple(token_view(token) for token in token_rows if request.all or token.revoked_at is None)
    return TokenListResult(views, sum(token.revoked_at is not None for token in token_rows))


OPERATION = Operation("token_list", TokenListRequest, TokenListResult, token_list)
