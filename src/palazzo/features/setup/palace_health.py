"""Health in one line: the facts of `doctor` that are known at once. No model is loaded and no program is started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from palazzo import locks
from palazzo.features.backup import automatic_backup
from palazzo.features.hosts.install_state import inspect_hosts
from palazzo.features.service.background_process import failures, lock_file
from palazzo.features.setup.contract import HealthNote
from palazzo.features.sync import automatic_sync
from palazzo.operations import backup_files
from palazzo.operations.pause_state import pause_of
from palazzo.store import dead_letters, unfinished_imports, vector_rows
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_DAY = 86_400_000_000
_OLD_BACKUP = 30
"""Days after which a backup is too old, as in `doctor`."""


def check_health(context: Context, connection: Connection) -> tuple[HealthNote, ...]:
    """Return what is known at once about capture, the agents' settings, vectors, background work and backups."""
    return (*_capture(context), *_agents(context), *_index(context, connection), *_backup(context))


def _capture(context: Context) -> Iterator[HealthNote]:
    pause = pause_of(context)
    if pause is not None:
        yield HealthNote("capture", False, str(pause), "palazzo resume")
    elif context.settings.flag("off"):
        yield HealthNote("capture", False, "capture is off by PALAZZO_OFF")
    else:
        yield HealthNote("capture", True, "capture is on")


def _agents(context: Context) -> Iterator[HealthNote]:
    hosts = inspect_hosts(context, try_out=False)
    wired_hosts = [host for host in hosts if host.is_wired]
    broken_hosts = [host for host in hosts if host.troubles]
    unwired_hosts = [host.title for host in hosts if not host.is_wired and not host.troubles]
    if len(broken_hosts) == 1 and len(broken_hosts[0].troubles) == 1:
        (host,), (trouble,) = broken_hosts, broken_hosts[0].troubles
        detail = trouble.detail if trouble.detail.startswith(host.title) else f"{host.title}: {trouble.detail}"
        yield HealthNote("agents", False, detail, trouble.mend)
    elif broken_hosts:
        titles = ", ".join(host.title for host in broken_hosts)
        yield HealthNote("agents", False, f"problems in {titles}", "palazzo doctor")
    if unwired_hosts:
        yield HealthNote("agents", False, f"{', '.join(unwired_hosts)} not wired", "palazzo setup")
    if not broken_hosts and not unwired_hosts:
        yield HealthNote("agents", True, f"{count_noun(len(wired_hosts), 'agent')} wired")


def _index(context: Context, connection: Connection) -> Iterator[HealthNote]:
    pending = vector_rows.count_pending_vectors(connection)
    is_busy = bool(pending) and locks.is_held(lock_file(context.palace_path))
    if pending:
        progress = "being computed" if is_busy else "pending"
        yield HealthNote("vectors", is_busy, f"{count_noun(pending, 'vector')} {progress}")
    else:
        yield HealthNote("vectors", True, "all vectors made")
    failed_count = len(list(failures(context.variables))) + dead_letters.count(connection)
    if failed_count:
        yield HealthNote("background", False, "background work failed", "palazzo doctor")
    if import_count := len(list(unfinished_imports.paths(connection))):
        yield HealthNote("import", False, f"{count_noun(import_count, 'import')} incomplete", "palazzo doctor")


def _backup(context: Context) -> Iterator[HealthNote]:
    for remote in automatic_sync.failed(context):
        yield HealthNote("sync", False, f"syncing with '{remote.name}' failed", "palazzo sync status")
    if automatic_backup.last_failure(context) is not None:
        yield HealthNote("backup", False, "the last automatic backup failed", "palazzo doctor")
    last = backup_files.newest(context.palace_path)
    if last is None:
        yield HealthNote("backup", automatic_backup.is_empty(context), "no backup yet", "palazzo backup")
        return
    days = (context.now - last.at) // _DAY
    age = "today" if days < 1 else f"{count_noun(days, 'day')} ago"
    is_recent = days < _OLD_BACKUP
    yield HealthNote("backup", is_recent, f"last backup {age}", "" if is_recent else "palazzo backup")
