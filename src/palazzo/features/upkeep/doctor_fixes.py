"""What `doctor --fix` carries out by itself: commands that change nothing but what is Palazzo's, and can be repeated.

A service is started, what was derived is made anew, our entries in a person's own settings are written as `install`
writes them, the palace is made private. Whatever takes something away, touches what a project shares, or needs a
decision is left to the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError

if TYPE_CHECKING:
    from palazzo.operations.context import Context

SERVICE = "palazzo service start"
REPAIR = "palazzo repair"
DRAWERS = "palazzo repair --rebuild drawers"
INSTALL = "palazzo install "
PRIVATE = "chmod 600 "


@dataclass(frozen=True, slots=True)
class FixResult:
    """A command that was carried out, or could not be; `detail` is what it did, or why not."""

    command: str
    done: bool
    detail: str


def carry_out(context: Context, commands: Iterable[str]) -> Iterator[FixResult]:
    """Carry out each command once, in order; one that fails keeps no other back."""
    for command in dict.fromkeys(commands):
        fix = next(does for begins, does in _FIXES.items() if command.startswith(begins))
        try:
            yield FixResult(command, True, fix(context, command))
        except (PalazzoError, OSError) as error:
            yield FixResult(command, False, str(error))


def _start_service(context: Context, command: str) -> str:
    from palazzo.features.service.service_start import ServiceStartRequest, service_start

    return f"process {service_start(context, ServiceStartRequest()).service.pid}"


def _rebuild_drawers(context: Context, command: str) -> str:
    from palazzo.features.upkeep.repair import RepairRequest, repair

    return f"made anew: {', '.join(repair(context, RepairRequest(rebuild='drawers')).rebuilt)}"


def _repair(context: Context, command: str) -> str:
    from palazzo.features.upkeep.repair import RepairRequest, repair

    result = repair(context, RepairRequest())
    return f"made anew: {', '.join(result.rebuilt) or 'nothing'}; still set aside: {result.set_aside:,}"


def _install(context: Context, command: str) -> str:
    from palazzo.features.hosts.install import InstallRequest, install

    files = install(context, InstallRequest(command.removeprefix(INSTALL))).files
    changed = [file for file in files if file.state != "same"]
    descriptions = [
        f"{file.state} {file.path}{f', kept as it was in {file.backup}' if file.backup else ''}" for file in changed
    ]
    return "; ".join(descriptions) or "nothing was to be changed"


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
