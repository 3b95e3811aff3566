"""The fixes that `doctor --fix` makes by itself: repeatable commands that change only what belongs to Palazzo.

It starts a service, rebuilds derived data, rewrites Palazzo's entries in a person's own settings in the same way as
`install`, and makes the palace private. Anything that removes something, changes what a project shares, or needs a
decision is left to the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.hosts.contract import InstallRequest
from palazzo.features.hosts.install import install
from palazzo.features.service.contract import ServiceStartRequest
from palazzo.features.service.service_start import service_start
from palazzo.features.upkeep.contract import FixResult, RepairRequest
from palazzo.features.upkeep.repair import repair

if TYPE_CHECKING:
    from palazzo.operations.context import Context

SERVICE = "palazzo service start"
REPAIR = "palazzo repair"
DRAWERS = "palazzo repair --rebuild drawers"
INSTALL = "palazzo install "
PRIVATE = "chmod 600 "


def carry_out(context: Context, commands: Iterable[str]) -> Iterator[FixResult]:
    """Run each command once, in order; a failure does not stop the others."""
    for command in dict.fromkeys(commands):
        fix = next(does for begins, does in _FIXES.items() if command.startswith(begins))
        try:
            yield FixResult(command, True, fix(context, command))
        except (PalazzoError, OSError) as error:
            yield FixResult(command, False, str(error))


def _start_service(context: Context, command: str) -> str:
    return f"process {service_start(context, ServiceStartRequest()).service.pid}"


def _rebuild_drawers(context: Context, command: str) -> str:
    return f"made anew: {', '.join(repair(context, RepairRequest(rebuild='drawers')).rebuilt)}"


def _repair(context: Context, command: str) -> str:
    result = repair(context, RepairRequest())
    return f"rebuilt: {', '.join(result.rebuilt) or 'nothing'}; still set aside: {result.set_aside:,}"


def _install(context: Context, command: str) -> str:
    files = install(context, InstallRequest(command.removeprefix(INSTALL))).files
    changed = [file for file in files if file.state != "same"]
    descriptions = [
        f"{file.state} {file.path}{f', kept as it was in {file.backup}' if file.backup else ''}" for file in changed
    ]
    return "; ".join(descriptions) or "nothing needed to be changed"


def _make_private(context: Context, command: str) -> str:
    context.palace_path.chmod(0o600)
    return f"yours alone: {context.palace_path}"


_FIXES: dict[str, Callable[[Context, str], str]] = {
    SERVICE: _start_service,
    DRAWERS: _rebuild_drawers,
    REPAIR: _repair,  # behind the longer one
    INSTALL: _install,
    PRIVATE: _make_private,
}
