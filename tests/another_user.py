"""Running a process as a user without other processes and without rights, where root can: limits do not bind root."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

needs_root = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="root of Linux starts a process as another user",
)


def as_another_user(capability: str) -> list[str]:
    """The beginning of a command that runs as another user, who keeps one capability, such as `dac_override`."""
    return [
        "setpriv",
        "--reuid=54321",
        "--clear-groups",
        f"--inh-caps=-all,+{capability}",
        f"--ambient-caps=-all,+{capability}",
    ]
