"""install gemini-cli: hooks and the MCP server in Gemini CLI's settings.json, and a few lines in GEMINI.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from palazzo.hosts import host_files, host_settings
from palazzo.hosts.gemini_cli.paths import files_of
from palazzo.hosts.gemini_cli.server import SERVERS
from palazzo.hosts.gemini_cli.wiring import WIRING
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.installer import Finding
from palazzo.hosts.managed_settings import ManagedSettings
from palazzo.hosts.settings_installer import SettingsHost, settings_installer

_MANAGED = ManagedSettings(
    {
        "linux": "/etc/gemini-cli/settings.json",
        "darwin": "/Library/Application Support/GeminiCli/settings.json",
        "win32": "C:/ProgramData/gemini-cli/settings.json",
    },
    {"hooksConfig.enabled": False},
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
)
_NEXT = "Next: restart Gemini CLI. A project's own hooks run only in a folder that you trust."


def _findings(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    switches = host_settings.setting(host_files.text_of(own.hooks), "hooksConfig", has_comments=True)
    if isinstance(switches, dict) and switches.get("enabled") is False:
        yield Finding("off", f"`hooksConfig.enabled` is false in {own.hooks}", mend="set it to true there")
    yield from _MANAGED.findings(variables)


INSTALLER = settings_installer(SettingsHost(WIRING, "gemini", SERVERS, files_of, _NEXT), _findings)
