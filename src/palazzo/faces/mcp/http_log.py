"""What the HTTP server writes to standard error: that something failed, and where; never what was said.

Requests, their addresses and headers are not logged at all. The SDK and uvicorn put values into messages and let
exceptions carry words, so of what they log only the form of the message, the kind of exception and its place are told.
"""

from __future__ import annotations

import logging
import sys
import traceback


class Discreet(logging.Formatter):
    """Tells of a record without anything that was put into it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line: when, who, the message's form, and of an exception its kind and where it was raised."""
        message = str(record.msg) if not record.exc_info or record.args else "failed"
        line = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}: {message.splitlines()[0][:200]}"
        if not record.exc_info or record.exc_info[0] is None:
            return line
        last = traceback.extract_tb(record.exc_info[2])[-1:]
        return line + f" ({record.exc_info[0].__name__}" + "".join(f", {at.filename}:{at.lineno}" for at in last) + ")"


def discreet() -> None:
    """Let what the libraries warn of be told discreetly, and nothing below a warning."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet())
    for name in ("uvicorn", "mcp", "palazzo", "asyncio", "sse_starlette"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
