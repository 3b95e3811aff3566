"""Fast help: shows the help of a plain line without the rest of the program, which takes longer to import."""

from __future__ import annotations

from palazzo.faces.cli import help_layout, help_pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def show(arguments: Sequence[str]) -> bool:
    """Show the help that `help COMMAND` or `COMMAND --help` asks for; return False for another line."""
    words = arguments[1:] if arguments[0] == "help" else arguments[:-1]
    if any(not word or word.startswith("-") for word in words):
        return False
    lines = help_pages.page(words)
    if lines is None:
        return False
    help_layout.write(lines)
    return True
