"""Starts `faces/cli/mempalace_command.py` for launchers that an earlier Palazzo wrote: they name this file.

Standard library only: such a launcher runs it with `python -I -S -E`.
"""

import os
import runpy

if __name__ == "__main__":
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    runpy.run_path(os.path.join(package, "faces", "cli", "mempalace_command.py"), run_name="__main__")
