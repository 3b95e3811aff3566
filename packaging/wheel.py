"""Build hooks: what `palazzo` is in the wheel. The shell script `packaging/palazzo`, or an entry point for Windows.

A wheel has one of them: pip skips a script that has the name of an entry point. The wheel for all platforms has the
script, and one that is built on Windows (or with PALAZZO_WHEEL=windows) has the entry point and the tags of Windows,
which pip there prefers.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_WINDOWS_TAG = "py3-none-win32.win_amd64.win_arm64"


def for_windows() -> bool:
    """Whether the wheel is one for Windows."""
    return os.environ.get("PALAZZO_WHEEL", sys.platform) in ("windows", "win32")


class EntryPoint(MetadataHookInterface):
    """The entry point, in a wheel for Windows."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the project's dynamic field `scripts`."""
        metadata["scripts"] = {"palazzo": "palazzo.faces.cli:main"} if for_windows() else {}


class Script(BuildHookInterface[BuilderConfig]):
    """The shell script, in a wheel for everything else."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the script, or the tags of Windows."""
        if for_windows():
            build_data["tag"] = _WINDOWS_TAG
        else:
            build_data["shared_scripts"]["packaging/palazzo"] = "palazzo"
