"""install codex: hooks in Codex's hooks.json, the MCP server in its config.toml, and a few lines in AGENTS.md.

Codex runs a hook only after the person has trusted it, and keeps that in config.toml under the hook's file, event and
place. What it keeps of ours goes with ours.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.operations import host_files, host_settings, install_host
from palazzo.operations.edited_files import Edit
from palazzo.operations.install import InstallRequest, Plan
from palazzo.operations.install_host import SERVER, TOML
from palazzo.operations.wiring import CODEX

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_NEXT = (
    "Next, once: start codex, type /hooks, and trust Palazzo's. Codex runs no hook that you have not trusted, and says "
    "nothing of it. 'palazzo doctor' says which are not trusted yet."
)


def plan(context: Context, request: InstallRequest) -> Plan:
    """Say what is to be written; UsageError where Codex is not here."""
    project = install_host.scope(context, request.project, request.user)
    files = host_files.codex(context.variables, project)
    if project is None:
        host_files.check_present(CODEX.title, "codex", files, context.variables)
    edits = install_host.installing(context, CODEX, files, TOML, project is not None)
    others = install_host.predecessors_in(files, TOML)
    notes = [*install_host.remarks(context, project is not None), _NEXT]
    chosen = install_host.cleaning(edits, TOML) if request.clean else edits
    return Plan((), "\n".join(notes), tuple(chosen), tuple(others))


def removal(context: Context, project: bool, user: bool) -> list[Edit]:
    """Say what takes all of that away, with Codex's trust in it."""
    files = host_files.codex(context.variables, install_host.scope(context, project, user))
    trusted = set(trust_keys(files.hooks))

    def without_trust(change: install_host.Change, text: str | None) -> str | None:
        is_ours = host_settings.without_tables(
            text, lambda name: name[:2] == ("hooks", "state") and len(name) > 2 and name[2] in trusted
        )
        return change(is_ours)

    return [
        Edit(edit.path, edit.what, lambda text, change=edit.change: without_trust(change, text), edit.private)  # type: ignore[misc]
        if edit.what == SERVER
        else edit
        for edit in install_host.uninstalling(CODEX, files, TOML)
    ]


def trust_keys(hooks: Path) -> list[str]:
    """Return the keys under which Codex keeps whether it may run each of our hooks; none where there are none.

    It is the file, the event, the group's and the handler's place: `~/.codex/hooks.json:stop:0:0`.
    """
    try:
        text = hooks.read_bytes().decode("utf-8-sig")
        ours = host_settings.our_hooks(text, CODEX.host)
    except (OSError, ValueError):
        return []
    return [f"{hooks}:{_snake(one.event)}:{one.group[-1]}:{one.trail[-1]}" for one, _ in ours]


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
