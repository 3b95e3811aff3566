"""How it looks to a person that files were written for other programs."""

from __future__ import annotations

from palazzo.cli.screen import Screen
from palazzo.operations.install import InstallResult

_SAID = {
    False: {"new": "written", "changed": "written anew", "same": "as it was"},
    True: {"new": "would be written", "changed": "would be written anew", "same": "would stay as it is"},
}


def install(screen: Screen, result: InstallResult) -> None:
    """Show each file, and what to do next."""
    screen.table(("", ""), [((_SAID[result.dry_run][one.state], "dim"), one.path) for one in result.files])
    screen.say(result.note)
