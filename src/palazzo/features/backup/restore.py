"""restore: a backup in the palace's place, in one step; what it replaces is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import NotAPalace, PalaceUnusable, PalazzoError, SchemaTooNew, SourceUnreadable, UsageError
from palazzo.features.backup import backup_files
from palazzo.features.backup.backup_files import PAUSES, SETTINGS, Backup
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.token_rows import StoredToken


Origin = Literal["this palace", "another device", "another palace"]
"""Of what a backup was made: this palace, another device that syncs with it, or another palace."""
LATEST = Path("latest")
"""Stands for the newest known backup."""


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Which backup."""

    file: Annotated[
        Path, About("The backup: a file that 'palazzo backup' wrote, a palace, or latest.", positional=True)
    ]
    dry_run: Annotated[bool, About("Only check the file, and say what would be replaced by what.")] = False
    keep_tokens: Annotated[
        bool, About("Let tokens of the backup count that this palace does not know; otherwise they are revoked.")
    ] = False
    other_palace: Annotated[
        bool,
        About("The backup is of another palace or device, and yours: what it holds as your words counts as yours."),
    ] = False


@dataclass(frozen=True, slots=True)
class PalaceContents:
    """What a palace holds, and when the newest of it was archived."""

    items: int
    drawers: int
    filed_at: Micros | None


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What is in the palace's place now (or would be), what was there, and where that is kept.

    `replaced` is null where there was no palace, or none that can be read. `erased` is how often words were erased here
    since the backup was made: they went from what is restored, too.
    """

    file: str
    restored: PalaceContents
    replaced: PalaceContents | None
    kept: str | None
    erased: int
    new_device: bool
    """Whether the palace is a device of its own in sync from here on: the former one has gone on since the backup."""
    settings: str | None
    """The settings file that was written; null where there was one already, or the backup has none."""
    tokens_revoked: int
    """Tokens of the backup that the palace did not know: they do not count unless the person says so."""
    dry_run: bool
    origin: Origin = "this palace"
    """Whose backup it is. Where there is no palace that can be read, there is nothing to compare it with."""


def restore(context: Context, request: RestoreRequest) -> RestoreResult:
    """Put a backup in the palace's place, in one step, after checking all of it. What it replaces is kept beside it.

    Agents may go on meanwhile. Words that were erased since are erased from what is restored, before anybody sees it.
    Tokens stand as they do now: no token that was revoked since the backup counts again. A backup of another palace is
    restored only after a yes at a terminal, or with --other-palace.
    """
    from palazzo.store import file_backup as copying
    from palazzo.store import filesystem, palace_opening

    palace = context.palace_path
    file = _latest(palace) if request.file == LATEST else context.led_to(request.file)
    _refuse_foreign(file)
    palace_opening.refuse_special(palace)
    if palace.exists() and file.samefile(palace):
        raise UsageError(f"{file} is the palace itself. Name a backup of it: 'palazzo backup --list' says which.")
    filesystem.refuse_unsafe(palace)
    _make_directory(palace)
    with backup_files.hold_backup_lock(palace), _stage_copy(context, file) as copy_path:
        old_contents = _read_own_contents(context)
        origin: Origin = "this palace" if old_contents is None else _origin_of(file, copy_path, palace)
        if origin != "this palace" and not (request.other_palace or request.dry_run):
            raise UsageError(_refusal(file, palace, origin))
        erasure_count = _erase_again(context, copy_path, palace) if old_contents is not None else 0
        is_new_device = _part(context, copy_path, palace) if old_contents is not None else False
        revoked_count = _carry_tokens(context, palace, copy_path, request.keep_tokens)
        new_contents = _read_contents(copy_path)
        result = RestoreResult(
            str(file),
            new_contents,
            old_contents,
            None,
            erasure_count,
            is_new_device,
            None,
            revoked_count,
            request.dry_run,
            origin,
        )
        if request.dry_run:
            return result
        context.close()
        backup_path = backup_files.kept_name(palace, context.now)
        report = context.report
        backup_files.remember(palace, Backup(backup_path, context.now))
        try:
            copying.put_in_place(copy_path, palace, backup_path, lambda done, total: report("restoring", done, total))
        finally:
            if not backup_path.exists():
                backup_files.forget(palace, [backup_path])
        if old_contents is not None and backup_path.exists():  # what was erased while the copy was made ready
            erasure_count += _erase_again(context, palace, backup_path)
            _carry_tokens(context, backup_path, palace, keeps_unknown=True)  # tokens may have been revoked meanwhile
    settings_path = _write_beside(context, file)
    _make_vectors(context)
    return replace(
        result, kept=str(backup_path) if backup_path.exists() else None, erased=erasure_count, settings=settings_path
    )


def _latest(palace: Path) -> Path:
    """Return the newest backup that exists. Raises UsageError."""
    for backup in backup_files.list_backups(palace):
        if backup.is_there and not backup_files.is_replaced_palace(palace, backup):
            return backup.file
    raise UsageError(f"No backup of {palace} is known that can be seen now. 'palazzo backup --list' lists all.")


def _refuse_foreign(file: Path) -> None:
    from palazzo.store import file_backup as copying
    from palazzo.sync import export_check

    try:
        copying.refuse_foreign(file)
    except NotAPalace:
        if file.is_file() and export_check.is_export(file):
            raise NotAPalace(f"{file} is an export, not a backup: 'palazzo import' takes it in.") from None
        raise


def _make_directory(palace: Path) -> None:
    from palazzo.store.palace_opening import make_directory

    make_directory(palace.parent)


@contextmanager
def _stage_copy(context: Context, file: Path) -> Iterator[Path]:
    """A copy of the file beside the palace, brought up to date and found whole; gone when the block has ended."""
    from palazzo.features.backup.backup import check_whole
    from palazzo.store import file_backup as copying

    copy_path = backup_files.staging_path(context.palace_path)
    try:
        copying.copy_closed(file, copy_path, lambda done, total: context.report("copying", done, total))
        try:
            _migrate(copy_path)
            check_whole(context, copy_path, str(file))
        except PalazzoError as error:
            raise type(error)(str(error).replace(str(copy_path), str(file))) from error
        yield copy_path
    except SourceUnreadable as error:
        raise NotAPalace(f"{error} Nothing was restored.") from error
    finally:
        with contextlib.suppress(OSError):
            copying.remove(copy_path)


def _migrate(copy_path: Path) -> None:
    """Bring the copy to this schema. Raises SchemaTooNew for one of a later Palazzo."""
    from palazzo.store import schema
    from palazzo.store.database import Database

    with contextlib.closing(Database(copy_path)) as database:
        try:
            schema.migrate(database)
        except SchemaTooNew:
            raise SchemaTooNew(
                f"{copy_path} was written by a later Palazzo, so nothing was restored. "
                "Upgrade with 'pip install --upgrade palazzo'."
            ) from None


def _read_own_contents(context: Context) -> PalaceContents | None:
    """What the palace holds; None where there is none, or it is damaged."""
    try:
        return _read_contents(context.palace_path)
    except PalaceUnusable:
        return None


def _read_contents(palace: Path) -> PalaceContents:
    from palazzo.store import drawers, palace_overview, schema
    from palazzo.store.database import Database

    with contextlib.closing(Database(palace, "read")) as database:
        schema.check(database)
        with database.snapshot() as connection:
            last_entry = palace_overview.last_filed(connection, 0)
            return PalaceContents(
                palace_overview.count_items(connection),
                drawers.count_drawers(connection),
                None if last_entry is None else last_entry[0],
            )


def _origin_of(file: Path, copy_path: Path, palace: Path) -> Origin:
    """Compare a backup with the palace that it replaces.

    Ids of palaces and devices stand in every export, so anybody can write them into a file. The key of the palace's
    marks leaves a palace only in its backups, and by the person's hand to their other devices.
    """
    (backup_key, backup_device), (own_key, own_device) = _identity(copy_path), _identity(palace)
    if own_key is not None and backup_key != own_key:
        return "another palace"
    recorded_files = {
        backup.file for backup in backup_files.list_backups(palace)
    }  # also of the device that it was before
    return "this palace" if backup_device == own_device or file in recorded_files else "another device"


def _identity(path: Path) -> tuple[bytes | None, bytes]:
    """Return the key of a palace's marks (None if it has lost it), and the id of its device."""
    from palazzo.store import redaction_state
    from palazzo.store.database import Database
    from palazzo.sync import device_pairing

    with contextlib.closing(Database(path, "read")) as database, database.snapshot() as connection:
        device = device_pairing.device_id(connection)
        try:
            return redaction_state.fingerprint_key(connection), device
        except PalaceUnusable:
            return None, device


def _refusal(file: Path, palace: Path, origin: Origin) -> str:
    if origin == "another device":
        return (
            f"{file} is a backup of another device that syncs with {palace}, so nothing was restored: the two would be"
            " one device; 'palazzo sync pull' brings what the other one has told, and --other-palace restores it all"
            " the same."
        )
    return (
        f"{file} is a backup of another palace than {palace}, so nothing was restored: its owner's words would count as"
        " yours; --other-palace states that it is yours, and 'palazzo export' with --palace and 'palazzo import' add"
        " somebody else's to your own, labelled."
    )


def _confirm_origin(request: RestoreRequest, result: RestoreResult) -> RestoreRequest:
    """Take a person's yes to a dry run, which said whose backup it is, as their word for that."""
    return replace(request, other_palace=request.other_palace or result.origin != "this palace")


def _erase_again(context: Context, copy_path: Path, palace: Path) -> int:
    """Erase in `staged` what `palace` has erased since, also from its free pages; return how many erasures."""
    from palazzo.archive import erasure_replay
    from palazzo.palace import Palace
    from palazzo.store.database import Database

    with contextlib.closing(Database(palace, "read")) as newer, Palace.open(copy_path) as older:
        outcome = erasure_replay.carry_over(newer, older.database, context.report)
        if outcome.erasures:
            older.finish_erasing()
    return outcome.erasures


def _carry_tokens(context: Context, newer: Path, older: Path, keeps_unknown: bool) -> int:
    """Let `older` have the tokens of `newer` as they stand there; return how many of its others were revoked.

    Tokens that were revoked since the backup stay revoked, and new ones stay valid.
    """
    from palazzo.store import token_rows
    from palazzo.store.database import Database

    with contextlib.closing(Database(older)) as database, database.transaction() as connection:
        newer_tokens = _stored_tokens(newer)
        token_rows.replace(connection, newer_tokens)
        return 0 if keeps_unknown else token_rows.revoke_all_but(connection, newer_tokens, context.now)


def _stored_tokens(palace: Path) -> list[StoredToken]:
    """Return the tokens of a palace; none if their table is missing, older or damaged."""
    from palazzo.store import token_rows
    from palazzo.store.database import Database, DatabaseError

    try:
        with contextlib.closing(Database(palace, "read")) as database, database.snapshot() as connection:
            return token_rows.stored_rows(connection)
    except (PalaceUnusable, DatabaseError):
        return []


def _part(context: Context, copy_path: Path, palace: Path) -> bool:
    """Let the copy of a palace that is synced be a device of its own, and keep private what is private by now.

    Its remotes know the former device further on than the copy does; nothing may be told twice under one number.
    """
    from palazzo.store import device_rows, remote_rows
    from palazzo.store.database import Database
    from palazzo.sync import device_pairing

    with contextlib.closing(Database(palace, "read")) as newer, newer.snapshot() as connection:
        device, theirs = device_pairing.device_id(connection), remote_rows.links_of_own(connection)
        private, is_synced = remote_rows.private_ids(connection), bool(remote_rows.remotes(connection))
        palace_id, devices = device_pairing.palace_id(connection), device_rows.rows(connection)
    with contextlib.closing(Database(copy_path)) as older:
        with older.transaction() as connection:
            remote_rows.keep_private(connection, private, context.now)
            is_same = device_pairing.device_id(connection) == device
            if device_pairing.palace_id(connection) == palace_id:  # devices that were removed later stay removed
                for row in devices.values():
                    device_rows.keep(connection, row if row.uid == device else replace(row, private_key=None))
                    if row.may == "nothing":
                        device_rows.tell_again(connection, row.uid)
        if not is_synced or not is_same:
            return False
        device_pairing.become_another_device(older, context.now, theirs)
        with older.transaction() as connection:
            for remote in remote_rows.remotes(connection):
                remote_rows.forget_device(connection, remote.row, device)
    return True


def _write_beside(context: Context, file: Path) -> str | None:
    """Take over the pauses that the backup tells of; and the settings, where there are none."""
    from palazzo.operations import pause_state
    from palazzo.paths import make_private_directory

    settings_backup, own = file.with_name(file.name + SETTINGS), context.settings_file
    try:
        with contextlib.suppress(FileNotFoundError):
            pause_state.merge_pauses(context, file.with_name(file.name + PAUSES).read_bytes())
        if not settings_backup.is_file() or own.exists():
            return None
        make_private_directory(own.parent)
        own.touch(0o600)
        own.write_bytes(settings_backup.read_bytes())
    except OSError as error:
        raise PalazzoError(
            f"The palace is restored, but what stands beside {file} could not be ({error.strerror or error})."
        ) from None
    return str(own)


def _make_vectors(context: Context) -> None:
    from palazzo.features.service.background_process import start_embedding

    with contextlib.suppress(PalaceUnusable):  # it is restored; who opens it next is told what is wrong
        start_embedding(context)


OPERATION = Operation(
    "restore",
    RestoreRequest,
    RestoreResult,
    restore,
    writes=True,
    steps=True,
    destructive=True,
    confirm_request=_confirm_origin,
)
