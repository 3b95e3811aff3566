"""`python -m palazzo.cli`, the former name of `palazzo.faces.cli`."""

from __future__ import annotations

import sys

from palazzo.faces import cli

if __name__ == "__main__":
    sys.exit(cli.main())
