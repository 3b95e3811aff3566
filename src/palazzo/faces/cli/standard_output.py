"""Standard output, and what happens if it cannot be written: its disk is full, or it was closed.

A closed reader is another matter: `palazzo search x | head` has got what it wanted, and that is no error.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

FAILED = 1


class OutputUnwritable(OSError):
    """Standard output cannot be written."""

    @property
    def sentence(self) -> str:
        """Return what is wrong, for a person."""
        reason = "it is closed" if self.errno == errno.EBADF else self.strerror
        return f"The output could not be written ({reason})."


class _OutputFile(io.FileIO):
    """The file of standard output, whose errors can be told from those of other files.

    It holds the stream that it replaces: with that, Python would close the file that both share.
    """

    def __init__(self, replaced: io.TextIOWrapper) -> None:
        super().__init__(replaced.fileno(), "w", closefd=False)
        self._replaced = replaced

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputUnwritable(error.errno, error.strerror) from error


def prepare() -> None:
    """Let errors of this process's standard output be OutputUnwritable, also if it is closed."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from palazzo.client import standard_streams

        standard_streams.occupy()
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        return
    is_buffered = isinstance(stream.buffer, io.BufferedWriter)  # not with `python -u`
    if type(getattr(stream.buffer, "raw", stream.buffer)) is not io.FileIO:
        return  # the console of Windows
    file = _OutputFile(stream)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(file) if is_buffered else file,
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def flush(code: int) -> int:
    """Write out buffered output and return `code`, or another one if that fails; a closed reader is not an error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return discard(0)
    except OSError as error:
        if code:
            return discard(code)  # the command has said why it failed
        return report(OutputUnwritable(error.errno, error.strerror))
    return code


def discard(code: int, stream: TextIO | None = None) -> int:
    """Discard what standard output, or `stream`, has still to write, since that is impossible; return `code`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())
    return code


def report(error: OutputUnwritable) -> int:
    """Say that the output is missing, where nothing else of the program is loaded; return the exit code."""
    with contextlib.suppress(OSError):  # where standard error cannot be written either, the exit code says it
        os.write(2, f"palazzo: {error.sentence}\n".encode())
    return discard(FAILED)
