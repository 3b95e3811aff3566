"""Standard streams that whoever started this process closed (`palazzo status >&-`). Standard library only.

The number of a closed stream goes to the next file that a program opens, and what is printed would go into that file:
a palace, a connection. So a stream that is closed is opened here: input that is empty, output that cannot be written
(which a command says), and errors that nobody reads.
"""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""Each stream with the flags to open the null device: writing to one that is open for reading fails."""


def occupy() -> None:
    """Open the streams that Python found closed."""
    for number, (name, flags, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None and not _is_open(number):
            handle = os.open(os.devnull, flags)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            stream = open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
