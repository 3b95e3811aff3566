"""install codex: hooks in Codex's hooks.json, the MCP server in its config.toml, and a few lines in AGENTS.md.

Codex runs a hook only after the person has trusted it. It records that trust in config.toml under the hook's file,
event and position. When Palazzo's hooks are removed, their trust records are removed too.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.features.hosts import host_files, host_settings, install_host
from palazzo.features.hosts.edited_files import Edit
from palazzo.features.hosts.hook_wiring import CODEX
from palazzo.features.hosts.install import InstallRequest, Plan
from palazzo.features.hosts.install_host import SERVER, TOML
from palazzo.text import json_edit

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_NEXT = (
    "Next, once: start codex. It says that hooks need review: choose to trust Palazzo's hooks, then or later with "
    "/hooks. Codex does not run untrusted hooks; 'codex exec' does not report this, 'palazzo doctor' does."
)
_PLUGIN = "The plugin 'palazzo' is also installed: remove it, or uninstall this; with both, every hook runs twice."


def plan(context: Context, request: InstallRequest) -> Plan:
    """Return the edits to make; UsageError if Codex is not found here."""
    project = install_host.scope(context, request.project, request.user)
    files = host_files.codex(context.variables, project)
    if project is None:
        host_files.check_present(CODEX.title, "codex", files, context.variables)
    edits = install_host.build_install_edits(context, CODEX, files, TOML, project is not None)
    predecessors = install_host.predecessors_in(files, TOML)
    notes = [*install_host.remarks(context, project is not None), _NEXT]
    if host_settings.has_toml_plugin(host_files.text_of(files.servers)):
        notes.insert(0, _PLUGIN)
    final_edits = install_host.add_cleanup(edits, TOML) if request.clean else edits
    return Plan((), "\n".join(notes), tuple(final_edits), tuple(predecessors))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again, including Codex's trust in the hooks."""
    files = host_files.codex(context.variables, install_host.scope(context, project, user))
    hook_keys = set(trust_keys(files.hooks))

    def change(edit: Edit) -> install_host.Change:
        return lambda text: edit.change(host_settings.without_trust(text, hook_keys))

    return [
        Edit(edit.path, edit.what, change(edit), edit.private) if edit.what == SERVER else edit
        for edit in install_host.build_uninstall_edits(CODEX, files, TOML)
    ]


def trust_keys(hooks: Path) -> dict[str, str]:
    """Return for each of our hooks the key under which Codex stores whether it may run, and the hash that it stores.

    The key consists of the file, the event, and the positions of the group and the handler:
    `~/.codex/hooks.json:stop:0:0`. The hash covers the definition as Codex 0.169 serializes it, so each change requires
    trust again.
    """
    try:
        text = hooks.read_bytes().decode("utf-8-sig")
        ours = host_settings.our_hooks(text, CODEX.host)
    except (OSError, ValueError):
        return {}
    hashes = {}
    for handler, _ in ours:
        group = json_edit.value(text, json_edit.at(json_edit.read(text), handler.group))
        event = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", handler.event).lower()
        hashes[f"{hooks}:{event}:{handler.group[-1]}:{handler.trail[-1]}"] = _hash(
            event, group.get("matcher"), handler.value
        )
    return hashes


def _hash(event: str, matcher: str | None, handler: dict[str, Any]) -> str:
    definition = {"timeout": 600, "async": False, **handler}
    identity = {"event_name": event, "hooks": [definition], **({} if matcher is None else {"matcher": matcher})}
    plain = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"
