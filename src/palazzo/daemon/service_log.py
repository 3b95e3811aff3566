"""The service's log: one file in the state directory, rotated. It never contains text from the memory."""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Mapping
from pathlib import Path

from palazzo import paths
from palazzo.features.service.service_state import log_file

_LARGEST, _OLD = 1_000_000, 2
"""Maximum bytes of a log file, and the number of older files that are kept beside it."""


def begin(palace: Path, variables: Mapping[str, str]) -> logging.Logger:
    """Return the service's logger, writing to its file; to nothing if the file cannot be written."""
    logger = logging.getLogger("palazzo.service")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        file = log_file(palace, variables)
        paths.make_private_directory(file.parent)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            file, maxBytes=_LARGEST, backupCount=_OLD, encoding="utf-8"
        )
        file.chmod(0o600)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(message)s"))
    logger.handlers[:] = [handler]
    logging.raiseExceptions = False  # a full disk costs lines of the log, and nothing else
    return logger
