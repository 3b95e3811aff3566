"""install qwen-code: hooks and the MCP server in Qwen Code's settings.json, and a few lines in QWEN.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from palazzo.hosts import host_files, host_settings
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.installer import Finding
from palazzo.hosts.managed_settings import ManagedSettings
from palazzo.hosts.qwen_code.paths import files_of
from palazzo.hosts.qwen_code.server import SERVERS
from palazzo.hosts.qwen_code.wiring import WIRING
from palazzo.hosts.settings_installer import SettingsHost, settings_installer

_MANAGED = ManagedSettings(
    {
        "linux": "/etc/qwen-code/settings.json",
        "darwin": "/Library/Application Support/QwenCode/settings.json",
        "win32": "C:/ProgramData/qwen-code/settings.json",
    },
    {"disableAllHooks": True},
    "QWEN_CODE_SYSTEM_SETTINGS_PATH",
)
_NEXT = "Next: restart Qwen Code. A project's own hooks run only in a folder that you trust."


def _findings(variables: Mapping[str, str], own: HostFiles, project: HostFiles) -> Iterator[Finding]:
    if host_settings.setting(host_files.text_of(own.hooks), "disableAllHooks", has_comments=True) is True:
        yield Finding("off", f"`disableAllHooks` is true in {own.hooks}", mend="remove it there")
    yield from _MANAGED.findings(variables)


INSTALLER = settings_installer(SettingsHost(WIRING, "qwen", SERVERS, files_of, _NEXT), _findings)
