"""What the HTTP server writes to standard error: that something failed and where, but no request content.

Requests, their addresses and headers are not logged at all. The SDK and uvicorn put values into messages, and their
exceptions can contain request text. So only the message's format string, the exception type and its place are logged.
"""

from __future__ import annotations

import logging
import sys
import traceback


class Discreet(logging.Formatter):
    """Formats a record without any of its arguments."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line: time, source, the message's format, and for an exception its kind and where it was
        raised.
        """
        message = str(record.msg) if not record.exc_info or record.args else "failed"
        line = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}: {message.splitlines()[0][:200]}"
        if not record.exc_info or record.exc_info[0] is None:
            return line
        last = traceback.extract_tb(record.exc_info[2])[-1:]
        return line + f" ({record.exc_info[0].__name__}" + "".join(f", {at.filename}:{at.lineno}" for at in last) + ")"


def discreet() -> None:
    """Log the libraries' warnings discreetly, and nothing below a warning."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet())
    for name in ("uvicorn", "mcp", "palazzo", "asyncio", "sse_starlette"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
