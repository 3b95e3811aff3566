"""How tokens of the HTTP server look to a person."""

from __future__ import annotations

from palazzo.faces.cli.screen import Part, Screen
from palazzo.features.access.token_add import TokenAddResult
from palazzo.features.access.token_list import TokenListResult
from palazzo.features.access.token_revoke import TokenRevokeResult
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

_ID = 13
"""Letters of an id that are shown: those of the millisecond it was made in, and one more."""


def token_add(screen: Screen, result: TokenAddResult) -> None:
    """Show the secret, which is shown this once, on a line of its own."""
    token = result.token
    screen.say(f"A token for {token.name}, to {token.scope}. It is shown only now; keep it where secrets are kept:")
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
        (f"{count_noun(good, 'token')}{revocations}" if good or revocations else "No token was ever made.", "dim")
    )


def token_revoke(screen: Screen, result: TokenRevokeResult) -> None:
    """Show what was revoked, or when that had been."""
    token = result.token
    if result.was_good:
        screen.say("Revoked: ", (token.name, "bold"), (f"  {token.id[:_ID]}", "dim"))
    else:
        revocation_time = to_iso(token.revoked_at) if token.revoked_at else "before"
        screen.say((f"Was revoked already, {revocation_time}: {token.name}", "yellow"))
