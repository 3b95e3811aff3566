"""Paths of `file:` URIs. `urllib.request` has a function for them, whose import takes a tenth of a command's start."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes


def path_of(uri: str) -> Path:
    """Return the path of a `file:` URI, whatever bytes its name has; a fragment (`#session=…`) is not part of it."""
    path = os.fsdecode(unquote_to_bytes(uri.removeprefix("file://").partition("#")[0]))
    return Path(path[1:] if os.name == "nt" and path.startswith("/") else path)
