"""Memory use of this process."""

from __future__ import annotations

import os
from pathlib import Path


def resident_mb() -> int:
    """Return the resident memory of this process in MB; 0 if the platform does not report it easily."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024)
