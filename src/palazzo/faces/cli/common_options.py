"""What every command takes besides its own options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Common:
    """The palace, how the result is written, and whether a person is asked."""

    palace: Path | None = None
    as_json: bool = False
    debug: bool = False
    yes: bool = False
