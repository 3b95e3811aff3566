"""Help of palazzo statusline on the command line; `palazzo.client.status_line` runs it without any of this."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palazzo.client import status_line
from palazzo.faces.cli import command_binding
from palazzo.faces.cli.common_options import Common


def statusline(
    context: typer.Context,
    palace: Annotated[
        Path | None, typer.Option("--palace", help=command_binding.PALACE_HELP, show_default=False)
    ] = None,
) -> None:
    """Print one short line for a host to show: the wing, its drawers, what the session received, the last save.

    The host gives the session on standard input, as JSON. 'palazzo install claude-code --status-line' makes Claude Code
    run this command. It is quick and never fails; without a running service it says so and starts none.
    """
    common = context.obj if isinstance(context.obj, Common) else Common()
    palace_path = palace or common.palace
    raise typer.Exit(status_line.main(["statusline", *([] if palace_path is None else ["--palace", str(palace_path)])]))
