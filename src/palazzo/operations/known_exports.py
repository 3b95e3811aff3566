"""Where exports of a palace were written, so that an erase can name them: it does not reach into them.

A file beside the palace has one path a line, as `backups` keeps where backups are.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

_MOST = 200
"""Exports that are remembered: the last ones."""


def remember(palace: Path, export: Path) -> None:
    """Note an export. Nothing is noted beside a palace whose directory cannot be written."""
    record = _record(palace)
    exports = [*(one for one in known(palace) if one != export), export]
    new = record.with_name(f"{record.name}.new")
    with contextlib.suppress(OSError):
        new.touch(0o600)
        new.write_text("".join(f"{json.dumps(os.fspath(one))}\n" for one in exports[-_MOST:]), "ascii")
        new.replace(record)


def known(palace: Path) -> list[Path]:
    """Return the exports that were written and not deleted since, the oldest first.

    One that lies on a disk that is away counts as there: its directory cannot be seen, or is empty.
    """
    try:
        lines = _record(palace).read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    exports = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            exports.append(Path(json.loads(line)))
    return [one for one in exports if not _is_deleted(one)]


def _is_deleted(export: Path) -> bool:
    try:
        return not export.exists() and any(export.parent.iterdir())
    except OSError:
        return False


def _record(palace: Path) -> Path:
    return palace.with_name(f"{palace.name}.exports")
