"""install kilo-code: the plugin for opencode in Kilo Code's directory of plugins, and the MCP server in its settings.

AGENTS.md is not changed: the server's own instructions reach the model, and a new AGENTS.md would hide the CLAUDE.md
that Kilo Code reads if there is no AGENTS.md. A project's `kilo.json` is read together with `kilo.jsonc`.
"""

from __future__ import annotations

from functools import partial

from palazzo.hosts.kilo_code.host import HOST
from palazzo.hosts.kilo_code.wiring import WIRING
from palazzo.hosts.opencode.install import PluginHost, plugin_installer
from palazzo.hosts.opencode.paths import files_named

INSTALLER = plugin_installer(PluginHost(HOST, WIRING, partial(files_named, "kilo")))
