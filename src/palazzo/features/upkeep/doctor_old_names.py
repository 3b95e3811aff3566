"""The part of `doctor` about old names: they still work, so one note lists all of them, and none is a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo.features.hosts.old_names import OldName, old_names
from palazzo.operations.check_finding import Diagnosis
from palazzo.settings import alias_uses

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.settings import AliasUse


def find_old_names(context: Context) -> Iterator[Diagnosis]:
    """Yield one note on all settings, hook lines, MCP servers and launchers under old names; none if there are none."""
    names = [*_in_settings(context), *old_names(context)]
    if names:
        places = "; ".join(f"`{entry.name}` in {entry.origin}" for entry in names)
        renewals = "; ".join(dict.fromkeys(entry.renewal for entry in names))
        yield Diagnosis("old names", True, f"these still work: {places}", renewals)


def _in_settings(context: Context) -> Iterator[OldName]:
    uses = alias_uses(context.settings_file, context.project_root, context.variables)
    last_use = {(use.layer, use.key.name): use for use in uses}
    for use in uses:
        yield OldName(use.alias, use.origin, _renewal(last_use[use.layer, use.key.name]))


def _renewal(use: AliasUse) -> str:
    """Return the command that writes a setting under its present name; a step, where no command writes."""
    if use.layer == "user":
        return f"palazzo settings set {use.key.name} {use.value}"
    if use.layer == "environment":
        return f"set {use.key.variable}={use.value} instead of {use.origin}"
    return f"give {use.key.name} the value {use.value} instead of {use.alias} in {use.origin}"
