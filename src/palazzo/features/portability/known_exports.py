"""The paths of a palace's exports. An erase names them, because it cannot remove words from them.

A file beside the palace has one path a line, like the record of backup locations in `operations/backup_files`.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

_MOST = 200
"""How many of the newest exports are remembered."""


def remember(palace: Path, export: Path) -> None:
    """Record an export. If the palace's directory is not writable, nothing is recorded."""
    record = _record(palace)
    exports = [*(path for path in read_exports(palace) if path != export), export]
    new = record.with_name(f"{record.name}.new")
    with contextlib.suppress(OSError):
        new.touch(0o600)
        new.write_text("".join(f"{json.dumps(os.fspath(path))}\n" for path in exports[-_MOST:]), "ascii")
        new.replace(record)


def read_exports(palace: Path) -> list[Path]:
    """Return the exports that still exist, oldest first.

    An export on a disconnected disk counts as existing: its directory is absent or empty.
    """
    try:
        lines = _record(palace).read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    exports = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            exports.append(Path(json.loads(line)))
    return [path for path in exports if not _is_deleted(path)]


def _is_deleted(export: Path) -> bool:
    try:
        return not export.exists() and any(export.parent.iterdir())
    except OSError:
        return False


def _record(palace: Path) -> Path:
    return palace.with_name(f"{palace.name}.exports")
