"""The setting `trust.own` as it is now: what a person states to be their own.

It is the person's own file or environment that says it, whichever process cuts, and whatever project is worked in.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from palazzo.paths import config_directory
from palazzo.security.own_sources import OwnSources
from palazzo.settings import load
from palazzo.settings.layers import USER_FILE


def own_sources() -> OwnSources:
    """Return what the person lists now."""
    path = config_directory() / USER_FILE
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _read(path, changed, os.environ.get("PALAZZO_TRUST_OWN", ""))


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, environment_value: str) -> OwnSources:
    return OwnSources(
        load(path, None, {"PALAZZO_TRUST_OWN": environment_value} if environment_value else {}).texts("trust.own")
    )
