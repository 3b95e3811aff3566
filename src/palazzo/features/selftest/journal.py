"""The journal: what was begun and what was acknowledged, in a file outside the palaces that are killed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Journal:
    """A file of lines of JSON. A line is on the disk when `write` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a", encoding="utf-8")
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, event: str, **fields: Any) -> None:
        """Append a line with the seconds since the beginning."""
        line = {"s": round(time.monotonic() - self._began, 3), "event": event, **fields}
        self._file.write(json.dumps(line, default=str) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
