"""What the beginning of a file says: whether it can be a palace. A service is started for nothing else.

Standard library only: `palazzo.store.palace_opening` and `palazzo.store.schema` decide when a palace is opened.
"""

from __future__ import annotations

import os
import stat

_MAGIC = b"SQLite format 3\0"
_APPLICATION = b"PALZ"
_APPLICATION_AT = 68
_LARGEST_IN_CREATION = 4096
"""The largest file, in bytes, of a palace that another process is creating, which is not marked yet: one page."""


def can_be_palace(path: str) -> bool:
    """Return whether the file can be a palace, or whether one can be created there. A damaged beginning cannot.

    The mark of a new palace may still be in the log beside the file.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return False
        with open(path, "rb") as file:
            head = file.read(_APPLICATION_AT + len(_APPLICATION))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if not head:
        return True
    if not head.startswith(_MAGIC):
        return False
    return head.endswith(_APPLICATION) or status.st_size <= _LARGEST_IN_CREATION or os.path.exists(f"{path}-wal")
