"""install opencode: a plugin in opencode's directory of plugins, and the MCP server in its settings.

In a person's opencode, the plugin is a few lines that load the plugin of this installation, so it always has the
installed version. In a project it is the plugin itself, which finds the program on PATH. AGENTS.md is not changed: the
server's own instructions reach the model, and a new AGENTS.md would hide the CLAUDE.md that opencode reads if there is
no AGENTS.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import palazzo
from palazzo.errors import UsageError
from palazzo.features.hosts import host_files, install_host, opencode_settings, predecessors
from palazzo.features.hosts.edited_files import Edit
from palazzo.features.hosts.entry_matcher import Ours
from palazzo.features.hosts.hook_wiring import PROGRAM
from palazzo.features.hosts.host_files import HostFiles
from palazzo.features.hosts.host_settings import Handler
from palazzo.features.hosts.install import InstallRequest, Plan
from palazzo.features.hosts.install_host import SERVER
from palazzo.features.hosts.own_program import own_program
from palazzo.features.hosts.predecessors import Predecessor

if TYPE_CHECKING:
    from palazzo.operations.context import Context

HOST, TITLE = "opencode", "opencode"
PLUGIN = "plugin"
_PLUGIN_PATTERN = re.compile(r'^const plugin = (".*")$', re.MULTILINE)
_OPTIONS_PATTERN = re.compile(r'^const wired = \{ program: (".*"), options: (\[.*\]) \}$', re.MULTILINE)
MARK = "// Written by 'palazzo install opencode'; 'palazzo uninstall opencode' takes it away."
_NEXT = "Next: restart opencode. 'palazzo doctor' shows the state of the installation."
_STARTER = """\
{mark}
const plugin = {plugin}
const wired = {{ program: {program}, options: {options} }}

export const Palazzo = async (around) => {{
  let found
  try {{
    found = await import(plugin)
  }} catch (error) {{
    const message = `Palazzo's plugin cannot be loaded; 'palazzo install opencode' mends that. (${{error}})`
    around.client.app.log({{ body: {{ service: "palazzo", level: "warn", message }} }}).catch(() => {{}})
    around.client.tui.showToast({{ body: {{ title: "Palazzo", message, variant: "warning" }} }}).catch(() => {{}})
    return {{}}
  }}
  return found.Palazzo(around, wired)
}}
"""


def plan(context: Context, request: InstallRequest) -> Plan:
    """Return the edits to make; UsageError if opencode is not found here."""
    project = install_host.scope(context, request.project, request.user)
    files = files_of(context.variables, project)
    shared = project is not None
    if not shared:
        host_files.check_present(TITLE, "opencode", files, context.variables)
    program = PROGRAM if shared else own_program(context.variables)
    more = [] if shared else install_host.palace_option(context)
    plugin_source = plugin_text(context, shared)
    entry = opencode_settings.entry(program, more)
    edits = [
        Edit(files.hooks, PLUGIN, lambda text: _with_plugin(text, plugin_source), not shared),
        Edit(files.servers, SERVER, lambda text: opencode_settings.with_server(text, entry), not shared),
    ]
    predecessor_list = _predecessors(files)
    notes = [*install_host.remarks(context, shared), _NEXT]
    return Plan((), "\n".join(notes), tuple(_add_cleanup(edits) if request.clean else edits), tuple(predecessor_list))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again."""
    files = files_of(context.variables, install_host.scope(context, project, user))
    return [
        Edit(files.hooks, PLUGIN, _without_plugin),
        Edit(
            files.servers,
            SERVER,
            lambda text: opencode_settings.without_servers(text, opencode_settings.is_our_server),
        ),
    ]


def files_of(variables: Mapping[str, str], project: Path | None = None) -> HostFiles:
    """Return opencode's files, with the plugin for its hooks; those of the project if one is given."""
    home = Path(variables.get("HOME") or Path.home())
    own = Path(variables.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    directory = project / ".opencode" if project is not None else own
    settings = project if project is not None else own
    return HostFiles(own, directory / "plugin" / "palazzo.ts", _settings_in(settings), settings / "AGENTS.md")


def plugin_text(context: Context, shared: bool) -> str:
    """Return the text of the file that opencode loads."""
    if shared:
        return shared_plugin()
    return starter(plugin(), own_program(context.variables), install_host.palace_option(context))


def plugin() -> Path:
    """Return the plugin that is part of this installation or of this checkout."""
    package = Path(palazzo.__file__).absolute().parent
    checkout = package.resolve().parents[1]
    candidates = [home / "integrations" / HOST / "palazzo.ts" for home in (package, checkout)]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if path is None:
        raise UsageError(f"This installation has no plugin for opencode at {candidates[0]}: reinstall Palazzo.")
    return path


def starter(plugin: Path, program: str, options: Sequence[str]) -> str:
    """Return the text of the file that loads the plugin."""
    literals = (json.dumps(value, ensure_ascii=False) for value in (plugin.as_uri(), program, [*options]))
    return _STARTER.format(mark=MARK, **dict(zip(("plugin", "program", "options"), literals, strict=True)))


def our_plugin(text: str) -> list[tuple[Handler, Ours]]:
    """Return the plugin's file as a hook, with the program that it starts; empty if the file is not ours."""
    if not text.startswith(MARK):
        return []
    program, options = PROGRAM, list[str]()
    if (match := _OPTIONS_PATTERN.search(text)) is not None:
        program, options = json.loads(match[1]), json.loads(match[2])
    asks = ("hook", HOST, "session-start")
    handler = {"command": program, "args": [*asks, *options]}
    return [(Handler(PLUGIN, (), (), handler, True), Ours((program,), asks, tuple(options)))]


def find_outdated_plugins(own: HostFiles, project: HostFiles) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an installed plugin file, after its scope: `user` or `project`.

    If the installation itself has no plugin, the scope is empty ('').
    """
    starts, shared = host_files.text_of(own.hooks), host_files.text_of(project.hooks)
    try:
        match = _PLUGIN_PATTERN.search(starts)
        if starts.startswith(MARK) and (match is None or json.loads(match[1]) != plugin().as_uri()):
            yield "user", f"{own.hooks} loads the plugin of another installation"
        if shared.startswith(MARK) and shared != shared_plugin():
            yield "project", f"{project.hooks} is from another version"
    except UsageError as error:
        yield "", str(error)


def shared_plugin() -> str:
    """Return the plugin's text for a project."""
    return f"{MARK}\n{plugin().read_text(encoding='utf-8')}"


def _settings_in(directory: Path) -> Path:
    """Return the settings file that has our server; else the existing one that opencode reads last."""
    usual, jsonc_file = directory / "opencode.json", directory / "opencode.jsonc"
    for path in (jsonc_file, usual):
        try:
            if any(
                opencode_settings.is_our_server(*entry) for entry in opencode_settings.entries(host_files.text_of(path))
            ):
                return path
        except ValueError:
            continue  # whoever is to change it says why it cannot be
    return jsonc_file if jsonc_file.exists() else usual


def _with_plugin(text: str | None, plugin_source: str) -> str:
    if text is not None and not text.startswith(MARK):
        raise ValueError("it was not written by 'palazzo install opencode'")
    return plugin_source


def _without_plugin(text: str | None) -> str | None:
    return None if text is not None and text.startswith(MARK) else text


# --- what other memories left ------------------------------------------------------------------------------


def _predecessors(files: HostFiles) -> list[Predecessor]:
    try:
        server_rows = predecessors.servers_in(opencode_settings.servers(host_files.text_of(files.servers)))
    except ValueError:
        return []
    return [Predecessor(name, str(files.servers), label) for name, label in server_rows]


def _add_cleanup(edits: Sequence[Edit]) -> list[Edit]:
    def is_theirs(name: str, entry: object) -> bool:
        return predecessors.is_server(name, opencode_settings.as_others_write_it(entry))

    def clean_edit(edit: Edit) -> Edit:
        change = edit.change
        return Edit(
            edit.path,
            edit.what,
            lambda text: change(opencode_settings.without_servers(text, is_theirs)),
            edit.private,
        )

    return [clean_edit(edit) if edit.what == SERVER else edit for edit in edits]
