"""palazzo mcp: the MCP server, which is no operation but a face of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palazzo.cli import binding, failing
from palazzo.errors import PalazzoError


def mcp(
    context: typer.Context,
    toolset: Annotated[
        str, typer.Option("--toolset", help="core: what a session needs; full: also what looks after a palace.")
    ] = "core",
    profile: Annotated[
        str, typer.Option("--profile", help="Whose tools: palazzo's, or those of mempalace or shodh.")
    ] = "palazzo",
    palace: Annotated[Path | None, typer.Option("--palace", help=binding.PALACE_HELP, show_default=False)] = None,
) -> None:
    """Serve this memory to an agent as MCP tools, on standard input and output."""
    from palazzo.mcp import stdio

    before = context.obj if isinstance(context.obj, binding.Common) else binding.Common()
    try:
        stdio.serve_here(profile, toolset, palace or before.palace)
    except PalazzoError as error:
        raise typer.Exit(failing.expected(error, before.debug)) from None
