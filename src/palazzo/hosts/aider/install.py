"""install aider: a file of instructions, which aider's settings name among the files that it always reads.

Aider has neither hooks nor MCP servers. It merges no lists: `read` in the settings of a project replaces a person's own
(`aider/main.py` and `aider/args.py` of version 0.86).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.errors import UsageError
from palazzo.hosts import host_files, install_host
from palazzo.hosts.aider.host import HOST
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.hook_wiring import HostHooks
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Installer
from palazzo.hosts.memory_block import COMMAND_BODY
from palazzo.text import yaml_list

_KEY, _ITEM = "read", "~/.aider/palazzo.md"
_SETTINGS = "settings"
_WIRING = HostHooks(HOST.name, HOST.title, False, ())
_NEXT = f"Next: restart aider. In a project whose .aider.conf.yml has '{_KEY}', add '{_ITEM}' there too."


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return aider's files; a project has none that Palazzo writes."""
    home = host_files.home(variables)
    settings = home / ".aider.conf.yml"
    return HostFiles(home / ".aider", settings, settings, home / _ITEM.removeprefix("~/"))


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if aider is not found here."""
    _check_scope(request.project)
    files = files_of(context.variables)
    host_files.check_present(HOST.title, HOST.program, files, context.variables)
    settings = Edit(files.hooks, _SETTINGS, lambda text: yaml_list.with_item(text, _KEY, _ITEM))
    instructions = install_host.write_instructions(HOST.name, files, COMMAND_BODY, shared=False)
    return Plan((), _NEXT, (settings, *instructions))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    _check_scope(project)
    files = files_of(context.variables)
    settings = Edit(files.hooks, _SETTINGS, _without_item)
    return [settings, *install_host.remove_instructions(HOST.name, files)]


def names_instructions(files: HostFiles) -> bool:
    """Return whether aider's settings name the file of instructions, and it exists."""
    try:
        named = yaml_list.items(host_files.text_of(files.hooks), _KEY)
    except ValueError:
        return False
    return _ITEM in named and files.instructions is not None and files.instructions.is_file()


def _without_item(text: str | None) -> str | None:
    return None if text is None else yaml_list.without_item(text, _KEY, _ITEM)


def _check_scope(project: bool) -> None:
    if project:
        raise UsageError("Aider is set up for you, not for a project; run the command without --project.")


INSTALLER = Installer(
    _WIRING,
    files_of,
    plan,
    removal,
    our_hooks=lambda text: (),
    servers=lambda text: (),
    has_instructions=names_instructions,
    runs_twice=False,
)
