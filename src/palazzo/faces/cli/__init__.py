"""The command line. It imports Rich as late as possible.

`argument_parser` reads a line into a request of one of the registry's operations; `runner` runs it and turns its result
or error into output and an exit code. The output of each feature is defined in its `view` module.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong usage, 3 a bug, 130 interrupted."""
    from palazzo.faces.cli import standard_output

    if arguments is None:
        standard_output.prepare()
    try:
        return standard_output.flush(_run(sys.argv[1:] if arguments is None else arguments))
    except standard_output.OutputUnwritable as error:
        return standard_output.report(error)


def _run(argv: list[str]) -> int:
    if argv in (["--version"], ["-V"]):
        from palazzo import __version__

        print(f"palazzo {__version__}")
        return 0
    if argv[:1] == ["hook"]:
        from palazzo.client import hook_client

        return hook_client.main(argv)  # a host waits for it
    if argv[:1] == ["statusline"] and not {"-h", "--help", "--json"} & set(argv):
        from palazzo.client import status_line

        return status_line.main(argv)
    if "mcp" in argv:
        from palazzo.client import launcher

        request = launcher.parse_options(argv)
        if request is not None:
            return launcher.run(request)  # a relay has no use for the rest, and runs for hours
    if argv[:1] == ["mine"]:
        from palazzo.client import unchanged_run

        code = unchanged_run.run(argv, os.environ)
        if code is not None:
            return code  # nothing is new
    if argv[:1] == ["__complete"]:
        from palazzo.faces.cli import completion_values

        return completion_values.run(argv[1:])
    if argv[:1] == ["help"] or argv[-1:] in (["-h"], ["--help"]):
        from palazzo.faces.cli import fast_help

        if fast_help.show(argv):
            return 0
    from palazzo import garbage_collection

    garbage_collection.collect_seldom()
    from palazzo.faces.cli.app import run

    return run(argv)
