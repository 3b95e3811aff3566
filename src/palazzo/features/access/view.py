"""Terminal output of the HTTP server's tokens."""

from __future__ import annotations

from palazzo.features.access.contract import TokenAddResult, TokenListResult, TokenRevokeResult
from palazzo.features.screen import Part, Screen
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

_ID = 13
"""Characters of an id that are shown: those of its creation time in milliseconds, and one more."""


def token_add(screen: Screen, result: TokenAddResult) -> None:
    """Show the secret on a line of its own; it is shown only once."""
    token = result.token
    screen.say(f"Token for {token.name}, scope {token.scope}. It is shown only now; store it with your secrets:")
    screen.say((result.secret, "bold"))


def token_list(screen: Screen, result: TokenListResult) -> None:
    """Show the tokens in a table."""
    rows: list[tuple[Part, ...]] = [
        (
            token.name,
            token.scope,
            (to_iso(token.created_at), "dim"),
            (f"revoked {to_iso(token.revoked_at)}", "yellow") if token.revoked_at else "good",
            (token.id[:_ID], "dim"),
        )
        for token in result.tokens
    ]
    if rows:
        screen.table(("name", "scope", "made", "", "id"), rows)
    good = sum(token.revoked_at is None for token in result.tokens)
    revocations = f", {count_noun(result.revoked, 'revoked one')}" if result.revoked else ""
    screen.say(
        (f"{count_noun(good, 'token')}{revocations}" if good or revocations else "No token has been created.", "dim")
    )


def token_revoke(screen: Screen, result: TokenRevokeResult) -> None:
    """Show what was revoked, or when it was revoked before."""
    token = result.token
    if result.was_good:
        screen.say("Revoked: ", (token.name, "bold"), (f"  {token.id[:_ID]}", "dim"))
    else:
        revocation_time = to_iso(token.revoked_at) if token.revoked_at else "before"
        screen.say((f"Already revoked, {revocation_time}: {token.name}", "yellow"))
