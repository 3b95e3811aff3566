"""install opencode: a plugin in opencode's directory of plugins, and the MCP server in its settings.

In a person's opencode, the plugin is a few lines that load the plugin of this installation, so it always has the
installed version. In a project it is the plugin itself, which finds the program on PATH. AGENTS.md is not changed: the
server's own instructions reach the model, and a new AGENTS.md would hide the CLAUDE.md that opencode reads if there is
no AGENTS.md. A program that is built on opencode is wired in the same way (`plugin_installer`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import palazzo
from palazzo.errors import UsageError
from palazzo.frozen_class import frozen
from palazzo.hosts import host_files, install_host, predecessors
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.entry_matcher import Ours
from palazzo.hosts.hook_wiring import PROGRAM, HostHooks
from palazzo.hosts.host_descriptor import Host
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.host_settings import Handler
from palazzo.hosts.install_host import SERVER
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Finding, Installer
from palazzo.hosts.opencode import opencode_settings
from palazzo.hosts.opencode.host import HOST
from palazzo.hosts.opencode.paths import files_of
from palazzo.hosts.opencode.wiring import WIRING
from palazzo.hosts.own_program import own_program
from palazzo.hosts.predecessors import Predecessor

PLUGIN = "plugin"
_PLUGIN_PATTERN = re.compile(r'^const plugin = (".*")$', re.MULTILINE)
_OPTIONS_PATTERN = re.compile(
    r'^const wired = \{ program: (".*"), options: (\[.*\])(?:, host: ".*")? \}$', re.MULTILINE
)
_OWN_HOST = 'const HOST: Host = "opencode"'
"""The line of the plugin that names the host."""
_STARTER = """\
{mark}
const plugin = {plugin}
const wired = {{ program: {program}, options: {options}{host} }}

export const Palazzo = async (around) => {{
  let found
  try {{
    found = await import(plugin)
  }} catch (error) {{
    const message = `Palazzo's plugin cannot be loaded; 'palazzo install {name}' mends that. (${{error}})`
    around.client.app.log({{ body: {{ service: "palazzo", level: "warn", message }} }}).catch(() => {{}})
    around.client.tui.showToast({{ body: {{ title: "Palazzo", message, variant: "warning" }} }}).catch(() => {{}})
    return {{}}
  }}
  return found.Palazzo(around, wired)
}}
"""


@frozen
class PluginHost:
    """opencode, or a program that is built on it: what Palazzo wires into it, and where its files are."""

    host: Host
    wiring: HostHooks
    files_of: Callable[[Mapping[str, str], Path | None], HostFiles]

    @property
    def mark(self) -> str:
        """Return the first line of the plugin's file."""
        return f"// Written by 'palazzo install {self.host.name}'; 'palazzo uninstall {self.host.name}' takes it away."

    def plan(self, context: InstallPlace, request: InstallOptions) -> Plan:
        """Return the edits to make; UsageError if the host is not found here."""
        project = install_host.scope(context, request.project, request.user)
        files = self.files_of(context.variables, project)
        shared = project is not None
        if not shared:
            host_files.check_present(self.host.title, self.host.program, files, context.variables)
        program = PROGRAM if shared else own_program(context.variables)
        more = [] if shared else install_host.palace_option(context)
        plugin_source = self.shared_plugin() if shared else self.starter(plugin(), program, more)
        entry = opencode_settings.entry(program, more)
        edits = [
            Edit(files.hooks, PLUGIN, lambda text: self._with_plugin(text, plugin_source), not shared),
            Edit(files.servers, SERVER, lambda text: opencode_settings.with_server(text, entry), not shared),
        ]
        predecessor_list = _predecessors(files)
        restart_advice = f"Next: restart {self.host.title}. 'palazzo doctor' shows the state of the installation."
        notes = [*install_host.remarks(context, shared), restart_advice]
        return Plan(
            (), "\n".join(notes), tuple(_add_cleanup(edits) if request.clean else edits), tuple(predecessor_list)
        )

    def removal(self, context: InstallPlace, project: bool, user: bool) -> list[Edit]:
        """Return the edits that remove everything again."""
        files = self.files_of(context.variables, install_host.scope(context, project, user))
        return [
            Edit(files.hooks, PLUGIN, self._without_plugin),
            Edit(
                files.servers,
                SERVER,
                lambda text: opencode_settings.without_servers(text, opencode_settings.is_our_server),
            ),
        ]

    def starter(self, plugin: Path, program: str, options: Sequence[str]) -> str:
        """Return the text of the file that loads the plugin."""
        literals = (json.dumps(value, ensure_ascii=False) for value in (plugin.as_uri(), program, [*options]))
        values = dict(zip(("plugin", "program", "options"), literals, strict=True))
        host = "" if self.host.name == "opencode" else f", host: {json.dumps(self.host.name)}"
        return _STARTER.format(mark=self.mark, name=self.host.name, host=host, **values)

    def shared_plugin(self) -> str:
        """Return the plugin's text for a project."""
        text = plugin().read_text(encoding="utf-8")
        return f"{self.mark}\n{text.replace(_OWN_HOST, _OWN_HOST.replace('opencode', self.host.name))}"

    def our_plugin(self, text: str) -> list[tuple[Handler, Ours]]:
        """Return the plugin's file as a hook, with the program that it starts; empty if the file is not ours."""
        if not text.startswith(self.mark):
            return []
        program, options = PROGRAM, list[str]()
        if (match := _OPTIONS_PATTERN.search(text)) is not None:
            program, options = json.loads(match[1]), json.loads(match[2])
        asks = ("hook", self.host.name, "session-start")
        handler = {"command": program, "args": [*asks, *options]}
        return [(Handler(PLUGIN, (), (), handler, True), Ours((program,), asks, tuple(options)))]

    def find_outdated_plugins(
        self, variables: Mapping[str, str], own: HostFiles, project: HostFiles
    ) -> Iterator[Finding]:
        """Yield what is wrong with an installed plugin file."""
        starts, shared = host_files.text_of(own.hooks), host_files.text_of(project.hooks)
        try:
            match = _PLUGIN_PATTERN.search(starts)
            if starts.startswith(self.mark) and (match is None or json.loads(match[1]) != plugin().as_uri()):
                yield Finding("incomplete", f"{own.hooks} loads the plugin of another installation", "user")
            if shared.startswith(self.mark) and shared != self.shared_plugin():
                yield Finding("incomplete", f"{project.hooks} is from another version", "project")
        except UsageError as error:
            yield Finding("incomplete", str(error))

    def _with_plugin(self, text: str | None, plugin_source: str) -> str:
        if text is not None and not text.startswith(self.mark):
            raise ValueError(f"it was not written by 'palazzo install {self.host.name}'")
        return plugin_source

    def _without_plugin(self, text: str | None) -> str | None:
        return None if text is not None and text.startswith(self.mark) else text


def plugin() -> Path:
    """Return the plugin that is part of this installation or of this checkout."""
    package = Path(palazzo.__file__).absolute().parent
    checkout = package.resolve().parents[1]
    candidates = [home / "integrations" / "opencode" / "palazzo.ts" for home in (package, checkout)]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if path is None:
        raise UsageError(f"This installation has no plugin for opencode at {candidates[0]}: reinstall Palazzo.")
    return path


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


def plugin_installer(host: PluginHost) -> Installer:
    """Return the installer of opencode, or of a program that is built on it."""
    return Installer(
        host.wiring,
        host.files_of,
        host.plan,
        host.removal,
        our_hooks=host.our_plugin,
        servers=opencode_settings.servers,
        findings=host.find_outdated_plugins,
        runs_twice=False,
    )


INSTALLER = plugin_installer(PluginHost(HOST, WIRING, files_of))
