"""install codex: hooks in Codex's hooks.json, the MCP server in its config.toml, and a few lines in AGENTS.md.

Codex runs a hook only after the person has trusted it. It records that trust in config.toml under the hook's file,
event and position. When Palazzo's hooks are removed, their trust records are removed too.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from palazzo.hosts import host_files, host_settings, install_host
from palazzo.hosts.codex import codex_settings
from palazzo.hosts.codex.paths import files_of
from palazzo.hosts.codex.wiring import WIRING
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.hook_wiring import PROGRAM
from palazzo.hosts.host_files import HostFiles
from palazzo.hosts.install_host import SERVER, Format
from palazzo.hosts.install_plan import InstallOptions, InstallPlace, Plan
from palazzo.hosts.installer import Installer
from palazzo.text import json_edit

_NEXT = (
    "Next, once: start codex. It says that hooks need review: choose to trust Palazzo's hooks, then or later with "
    "/hooks. Codex does not run untrusted hooks; 'codex exec' does not report this, 'palazzo doctor' does."
)
_PLUGIN = "The plugin 'palazzo' is also installed: remove it, or uninstall this; with both, every hook runs twice."

_TOML = Format(codex_settings.with_server, codex_settings.without_servers, codex_settings.servers)


def plan(context: InstallPlace, request: InstallOptions) -> Plan:
    """Return the edits to make; UsageError if Codex is not found here."""
    project = install_host.scope(context, request.project, request.user)
    files = files_of(context.variables, project)
    if project is None:
        host_files.check_present(WIRING.title, "codex", files, context.variables)
    edits = install_host.build_install_edits(context, WIRING, files, _TOML, project is not None)
    predecessors = install_host.predecessors_in(files, _TOML)
    notes = [*install_host.remarks(context, project is not None), _NEXT]
    if codex_settings.has_plugin(host_files.text_of(files.servers)):
        notes.insert(0, _PLUGIN)
    final_edits = install_host.add_cleanup(edits, _TOML) if request.clean else edits
    return Plan((), "\n".join(notes), tuple(final_edits), tuple(predecessors))


def removal(context: InstallPlace, project: bool, user: bool) -> list[Edit]:
    """Return the edits that remove everything again, including Codex's trust in the hooks."""
    files = files_of(context.variables, install_host.scope(context, project, user))
    hook_keys = set(trust_keys(files.hooks))

    def change(edit: Edit) -> install_host.Change:
        return lambda text: edit.change(codex_settings.without_trust(text, hook_keys))

    return [
        Edit(edit.path, edit.what, change(edit), edit.private) if edit.what == SERVER else edit
        for edit in install_host.build_uninstall_edits(WIRING, files, _TOML)
    ]


def trust_keys(hooks: Path) -> dict[str, str]:
    """Return for each of our hooks the key under which Codex stores whether it may run, and the hash that it stores.

    The key consists of the file, the event, and the positions of the group and the handler:
    `~/.codex/hooks.json:stop:0:0`. The hash covers the definition as Codex 0.169 serializes it, so each change requires
    trust again.
    """
    try:
        text = hooks.read_bytes().decode("utf-8-sig")
        ours = host_settings.our_hooks(text, WIRING.host)
    except (OSError, ValueError):
        return {}
    hashes = {}
    for handler, _ in ours:
        group = json_edit.at(json_edit.read(text), handler.group).content
        event = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", handler.event).lower()
        hashes[f"{hooks}:{event}:{handler.group[-1]}:{handler.trail[-1]}"] = _hash(
            event, group.get("matcher"), handler.value
        )
    return hashes


def has_trust(own: HostFiles, scopes: Collection[str]) -> bool | None:
    """Return whether Codex stores that the person trusts each of our hooks in its current form; None without hooks.

    For a plugin Codex stores a hash of the whole plugin, which only Codex can compare; then return whether its hooks
    were ever trusted.
    """
    if not {"user", "plugin"} & {*scopes}:
        return None
    try:
        trust_state = tomllib.loads(own.servers.read_bytes().decode("utf-8-sig")).get("hooks", {}).get("state", {})
    except (OSError, ValueError, AttributeError):
        return False
    of_plugin = [entry for key, entry in trust_state.items() if key.startswith(f"{PROGRAM}@") and ":hooks/" in key]
    if "plugin" in scopes and not any(isinstance(entry, dict) and entry.get("trusted_hash") for entry in of_plugin):
        return False
    ours = trust_keys(own.hooks) if "user" in scopes else {}
    return all(
        isinstance(trust_state.get(key), dict) and trust_state[key].get("trusted_hash") == digest
        for key, digest in ours.items()
    )


def _hash(event: str, matcher: str | None, handler: dict[str, Any]) -> str:
    definition = {"timeout": 600, "async": False, **handler}
    identity = {"event_name": event, "hooks": [definition], **({} if matcher is None else {"matcher": matcher})}
    plain = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


def _handlers(text: str) -> Sequence[Any]:
    return [handler.value for handler in host_settings.handlers(text)]


INSTALLER = Installer(
    WIRING,
    files_of,
    plan,
    removal,
    our_hooks=lambda text: host_settings.our_hooks(text, WIRING.host),
    servers=_TOML.servers,
    handlers=_handlers,
    has_plugin=lambda own, project: codex_settings.has_plugin(host_files.text_of(own.servers)),
    is_trusted=has_trust,
    trust_step="start codex and type /hooks",
)
