"""Automatic sync by the service, for remotes that were set up with --automatic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import PalazzoError
from palazzo.features.sync.remote_access import one_at_a_time
from palazzo.features.sync.sync_pull import finish, pull_from
from palazzo.features.sync.sync_push import push_to
from palazzo.store import change_log, device_rows, remote_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.device_rows import Refusal
    from palazzo.store.remote_rows import RemoteRow


def automatic(context: Context) -> list[RemoteRow]:
    """Return the remotes that the service syncs; none if the setting is off."""
    if not context.has_palace or not context.settings.flag("sync.background"):
        return []
    with context.reading().database.snapshot() as connection:
        return [remote for remote in remote_rows.remotes(connection) if remote.automatic]


def failed(context: Context) -> list[RemoteRow]:
    """Return the remotes whose last sync failed."""
    if not context.has_palace:
        return []
    with context.reading().database.snapshot() as connection:
        return [remote for remote in remote_rows.remotes(connection) if remote.failure]


def refusals(context: Context) -> list[Refusal]:
    """Return the refusals of the last pull of each remote."""
    if not context.has_palace:
        return []
    with context.reading().database.snapshot() as connection:
        return device_rows.refusals(connection)


def newest_change(context: Context) -> int:
    """Return the number of the last change of the palace."""
    with context.reading().database.snapshot() as connection:
        return change_log.head(connection)


def sync(context: Context, remotes: list[RemoteRow]) -> bool:
    """Pull from and push to each remote; return whether all succeeded. Errors are recorded for `sync status`."""
    well = True
    with one_at_a_time(context, patience=0):
        for remote in remotes:
            try:
                notes = list(pull_from(context, remote).notes)
                _, files_to_mend = finish(context)
                notes += [f"Still contains erased text; fix it: {path}" for path in files_to_mend]
                with context.reading().database.snapshot() as connection:
                    current_remote = remote_rows.remote(connection, remote.row)
                push_to(context, current_remote)
                if notes:  # the rest went well, so nothing has to wait for what is wrong with one device
                    with context.writing().database.transaction() as connection:
                        remote_rows.note_failure(connection, remote.row, " ".join(notes), context.now)
            except PalazzoError as error:
                well = False
                with context.writing().database.transaction() as connection:
                    remote_rows.note_failure(connection, remote.row, str(error), context.now)
    return well
