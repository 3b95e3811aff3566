"""What `doctor` reports about one thing that it looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at; `mend` says what to do when it is not in order, and --fix does it if `fixable`."""

    name: str
    ok: bool
    detail: str
    mend: str = ""
    fixable: bool = False
