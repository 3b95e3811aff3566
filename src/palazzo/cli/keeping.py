"""How restore-session and watch look to a person."""

from __future__ import annotations

from palazzo.cli.screen import Screen
from palazzo.operations.restore_session import RestoreSessionResult

_STANDINGS = {"written": "wrote", "there": "is there already", "would": "would write"}


def restore_session(screen: Screen, result: RestoreSessionResult) -> None:
    """Show the files that were written."""
    for file in result.files:
        screen.say((f"{_STANDINGS[file.standing]}  ", "bold"), f"{file.path} ({file.size:,} bytes)")
    if result.note:
        screen.say((result.note, "yellow"))
