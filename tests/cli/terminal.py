"""Running the command at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.cli.command import environment


def at_terminal(home: Path, *arguments: str, module: str = "palazzo.faces.cli", answer: str = "") -> tuple[int, str]:
    """Run the command with a terminal as its input and output; return its exit code and all that was shown."""
    ours, theirs = pty.openpty()
    variables = environment({"HOME": str(home), "PALAZZO_SERVICE": "off", "COLUMNS": "200", "TERM": "dumb"})
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables, cwd=home
    ) as process:
        os.close(theirs)
        if answer:
            os.write(ours, f"{answer}\n".encode())
        output = bytearray()
        try:
            while part := os.read(ours, 65_536):
                output += part
        except OSError:  # the other end is closed
            pass
        code = process.wait(60)
    os.close(ours)
    return code, output.decode()
