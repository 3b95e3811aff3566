#!/usr/bin/env python3
"""Run a module in this checkout's environment, with the locked versions: `in_environment.py ruff check .`.

Git hooks start it, so it makes the environment if there is none, or if its lock has changed. Standard library only.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dev


def main() -> int:
    """Run the named module with the rest of the line; return its exit code."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    dev.install()
    return dev.run([dev.python(dev.ENVIRONMENT), "-m", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
