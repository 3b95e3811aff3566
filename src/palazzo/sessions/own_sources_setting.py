"""The current value of the setting `trust.own`: sources that the user declares as their own.

Only the user's own settings file or environment sets it, whichever process cuts, and in whichever project the user
works.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from palazzo.paths import config_directory
from palazzo.security.own_sources import OwnSources
from palazzo.settings import load
from palazzo.settings.setting_layers import USER_FILE


def own_sources() -> OwnSources:
    """Return the sources that the user currently lists."""
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
