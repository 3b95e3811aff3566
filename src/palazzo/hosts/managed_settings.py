"""Settings that an organisation makes for a machine: they win over a person's own, so wired hooks may not run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.hosts import host_files, host_settings
from palazzo.hosts.installer import Finding


@frozen
class ManagedSettings:
    """A host's file of managed settings on each platform, which `variable` moves, and what in it stops our hooks.

    A switch is a setting, or a member of one after a dot, with the value at which hooks of a person do not run.
    """

    paths: Mapping[str, str]
    switches: Mapping[str, Any]
    variable: str = ""

    def findings(self, variables: Mapping[str, str]) -> Iterator[Finding]:
        """Yield each switch that is set."""
        moved = variables.get(self.variable) if self.variable else ""
        path = Path(moved or self.paths.get(sys.platform, self.paths["linux"]))
        text = host_files.text_of(path)
        for switch, stopping_value in self.switches.items():
            name, _, member = switch.partition(".")
            value = host_settings.setting(text, name, has_comments=True)
            if member:
                value = value.get(member) if isinstance(value, dict) else None
            if value is stopping_value:
                detail = f"`{switch}` is {json.dumps(value)} in {path}, so hooks of yours do not run"
                yield Finding("off", detail, mend="ask those who manage the settings of this machine")
