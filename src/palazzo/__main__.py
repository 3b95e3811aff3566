"""`python -m palazzo`, and the entry point of the installed `palazzo`: the command line.

The script in `packaging/` runs this file by its path. For the commands that hosts run all the time, it uses the bare
standard library (`python -I -S -E`). In that case `palazzo.client.launcher` does what is possible without the other
packages, and starts another Python for the rest.
"""

from __future__ import annotations

import os
import sys


def _main() -> int:
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if sys.flags.no_site:
        sys.path.append(root)
        if sys.stdin is None or sys.stdout is None or sys.stderr is None:
            from palazzo.client import standard_streams

            standard_streams.occupy()
        if sys.argv[1:2] == ["hook"]:
            from palazzo.client import hook_client

            # At once: an alarm that rings while Python takes itself down would find no handler, and end it by a signal.
            os._exit(hook_client.main(sys.argv[1:]))
        if sys.argv[1:2] == ["statusline"] and not {"-h", "--help", "--json"} & set(sys.argv):
            from palazzo.client import status_line

            return status_line.main(sys.argv[1:])
        from palazzo.client import launcher

        return launcher.main(sys.argv[1:], root)
    try:
        from palazzo.faces import cli
    except ModuleNotFoundError as missing:
        if missing.name != "palazzo":
            raise
        # Installed with `pip install --prefix`: this Python does not look there by itself.
        import site

        site.addsitedir(root)
        from palazzo.client import launcher
        from palazzo.faces import cli

        launcher.be_found(root)
    return cli.main()


if __name__ == "__main__":
    sys.exit(_main())
