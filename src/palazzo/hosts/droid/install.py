"""install droid: hooks in Droid's settings.json, the MCP server in its mcp.json, and a few lines in AGENTS.md."""

from __future__ import annotations

from palazzo.hosts.droid.paths import files_of
from palazzo.hosts.droid.server import SERVERS
from palazzo.hosts.droid.wiring import WIRING
from palazzo.hosts.installer import no_findings
from palazzo.hosts.settings_installer import SettingsHost, settings_installer

INSTALLER = settings_installer(SettingsHost(WIRING, "droid", SERVERS, files_of, "Next: restart Droid."), no_findings)
