"""Common options: the options that every command takes besides its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Common:
    """The palace, the output format, whether confirmation is requested, and whether long output is paged."""

    palace: Path | None = None
    as_json: bool = False
    debug: bool = False
    yes: bool = False
    no_pager: bool = False
