"""The command line. Typer and Rich live in this room and nowhere below; both are imported as late as can be.

`app` makes commands of the registry's operations, `running` runs one and turns what happens into output and an
exit code. How results look is in one file for each group of commands: `finding`, `filing`, `operating`.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong usage, 3 a bug, 130 interrupted."""
    argv = sys.argv[1:] if arguments is None else arguments
    if argv in (["--version"], ["-V"]):
        from palazzo import __version__

        print(f"palazzo {__version__}")
        return 0
    if argv[:1] == ["hook"]:
        from palazzo.client import hook_client

        return hook_client.main(argv)  # a host waits for it
    if argv[:1] == ["statusline"] and not {"-h", "--help"} & set(argv):
        from palazzo.client import status_line

        return status_line.main(argv)
    if "mcp" in argv:
        from palazzo.client import launcher

        request = launcher.parse_options(argv)
        if request is not None:
            return launcher.run(request)  # a relay has no use for the rest, and runs for hours
    from palazzo.faces.cli import fast_arguments

    plain = fast_arguments.parse_command_line(argv)
    if plain is not None:
        return fast_arguments.run(*plain)
    from palazzo.faces.cli.app import run

    return run(argv)
