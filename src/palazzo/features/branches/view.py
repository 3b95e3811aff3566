"""Terminal output of what was learned on a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.features.branches.contract import DiffResult
    from palazzo.features.screen import Screen


def diff(screen: Screen, result: DiffResult) -> None:
    """Show the text for a pull request, and nothing else."""
    screen.exact(result.text.rstrip("\n"), indent="")
