"""Backup of a palace's file as one consistent copy, while others write; and restoring a copy in the palace's place.

    palace ──copy──> copy                 a snapshot, page by page, into a file that no other process has open
    staged ──put_in_place──> palace       one transaction of the palace's own: the old state or the new one

A restore writes *into* the palace's file, by SQLite's backup interface. Processes that have it open keep their locks
and their log, and see the new state with the next transaction. Replacing the file under them would leave them writing
into a file without a name, with their log beside a file that is not theirs. The new state has another *edition*
(`user_version`), so a process that knows row ids of the old one is refused (`Database`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from palazzo.errors import NotAPalace, PalaceMissing, PalaceUnusable, SourceUnreadable
from palazzo.store import page_checksums, palace_opening, vector_file_paths
from palazzo.store.database import Connection, explain_errors
from palazzo.store.filesystem import sync_directory
from palazzo.store.foreign_database import MAGIC, ForeignDatabase
from palazzo.store.raw_database import RawDatabase

Progress = Callable[[int, int], None]
"""Called with (pages copied, all pages)."""
_PAGES = 16_384
"""Pages copied between two progress reports: 64 MB."""
_CACHE_MB = 16
_APPLICATION_AT = 68
"""The offset of the application ID in a database's header (SQLite file format, section 1.3)."""
_SPARE = 1 << 20


def refuse_foreign(path: Path) -> None:
    """Raise PalaceMissing, NotAPalace or PalaceUnusable unless the file at `path` begins like a palace."""
    try:
        head = b""
        if path.is_file() or not path.exists():  # a pipe is not waited for
            with RawDatabase(path) as file:
                head = file.read(0, _APPLICATION_AT + 4)
    except (FileNotFoundError, NotADirectoryError):
        raise PalaceMissing(
            f"The file {path} does not exist. 'palazzo backup --list' lists the known backups."
        ) from None
    except OSError as error:
        raise PalaceUnusable(f"{path} cannot be read ({error.strerror or error}). Name a readable file.") from None
    if not head.startswith(MAGIC) or head[_APPLICATION_AT:] != palace_opening.APPLICATION_ID.to_bytes(4):
        raise NotAPalace(f"{path} is not a backup of a palace. 'palazzo backup --list' lists the known backups.")


def device_of(connection: Connection) -> str:
    """Return the id of a palace's device."""
    return bytes(next(connection.execute("SELECT uid FROM device WHERE id = 1"))[0]).hex()


def copy(palace: Path, target: Path, progress: Progress, compares: bool = True) -> None:
    """Copy the palace's current state into the new file `target`; others may go on writing.

    The copy's pages get their own checksums, so the palace's checksums are verified while its pages are read, unless
    damaged pages are to be copied too. Raises NotAPalace for a page that does not match its checksum.
    """
    with explain_errors(palace), _open_connection(palace, "read") as source:
        if compares:
            page_checksums.compare(source)
        source.execute("BEGIN")
        _copy(source, target, progress)
    _drop_private_keys(target)


def _drop_private_keys(file: Path) -> None:
    """Remove this device's signing key from a copy, so that the copy cannot be used to write in its name."""
    with explain_errors(file), _close_on_exit(palace_opening.open_file(file, "write", False, _CACHE_MB)) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sync_device'").fetchall()
        signing_keys = (
            tables and connection.execute("SELECT 1 FROM sync_device WHERE private_key IS NOT NULL").fetchall()
        )
        if signing_keys:
            connection.execute("PRAGMA secure_delete=ON").fetchall()
            connection.execute("UPDATE sync_device SET private_key = NULL")
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    _sync(file)


def copy_closed(file: Path, target: Path, progress: Progress) -> None:
    """Copy a palace's file that is not in use, with its log if it has one, and leave no other files.

    Raises SourceUnreadable.
    """
    with ForeignDatabase(file).snapshot() as snapshot:
        # The copy's pages get checksums of their own: a damaged one would pass for sound in it.
        snapshot.raw.execute("PRAGMA checksum_verification=ON").fetchall()
        try:
            _copy(snapshot.raw, target, progress)
        except apsw.IOError:  # `_copy` tells all others in words of its own
            raise SourceUnreadable(f"{file} is damaged: a page does not match its checksum.") from None


def put_in_place(staging_path: Path, palace: Path, backup_path: Path, progress: Progress) -> bool:
    """Make `staging_path` the palace's state; keep the replaced state as `backup_path`, and return whether there was
    one.

    `staging_path` is in the palace's directory and has no other user; it may be moved. If the process is killed at any
    moment, the old state or the new one remains, and `backup_path` holds everything acknowledged up to then.
    """
    palace_opening.refuse_special(palace)
    _renew_edition(staging_path, palace)
    with explain_errors(palace):
        if not palace.exists() and _came_to_be(staging_path, palace):
            return False
        try:
            destination = palace_opening.open_file(palace, "write", False, _CACHE_MB)
        except (apsw.NotADBError, apsw.CorruptError, NotAPalace):
            _set_aside(palace, backup_path)
            rename(staging_path, palace)
            return True
        with _close_on_exit(destination):
            _refuse_other_program(destination, palace)
            with (
                _open_connection(staging_path, "read") as source,
                destination.backup("main", source, "main") as pages,
            ):
                pages.step(1)  # this takes the write lock: from here on nobody changes what is kept
                _keep(palace, backup_path)
                _step(pages, progress)
            destination.set_busy_handler(None)
            with contextlib.suppress(apsw.BusyError, apsw.LockedError):  # who reads the old state still needs the log
                destination.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return True


def close_up(file: Path) -> None:
    """Close a copy that was written to in the state that `copy` leaves: a single file, readable anywhere."""
    with explain_errors(file), _open_connection(file, "write") as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    _sync(file)


def rename(file: Path, target: Path) -> None:
    """Give a finished copy its name, replacing any file with that name."""
    file.replace(target)
    sync_directory(target.parent)


def remove(file: Path) -> None:
    """Remove an unfinished copy, with its companions."""
    for path in [file, *_companions(file)]:
        path.unlink(missing_ok=True)


# --- copying -----------------------------------------------------------------------------------------------


def _copy(source: apsw.Connection, target: Path, progress: Progress) -> None:
    _refuse_full(source, target)
    try:
        remove(target)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with _close_on_exit(_open_new(target, source)) as destination:
            with destination.backup("main", source, "main") as pages:
                _step(pages, progress)
            destination.execute("PRAGMA journal_mode=DELETE").fetchall()  # readable anywhere, with no file beside it
        _sync(target)
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, OSError) as error:
        with contextlib.suppress(OSError):
            remove(target)
        if isinstance(error, apsw.IOError) and page_checksums.is_mismatch(error):
            raise
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise PalaceUnusable(
            f"{target.parent} cannot be written to ({reason}). Name another place, or free some space there."
        ) from error
    except BaseException:
        with contextlib.suppress(OSError):
            remove(target)
        raise


def _open_new(target: Path, source: apsw.Connection) -> apsw.Connection:
    """Open a file for exclusive use until it is complete: locked once, and without a journal.

    Its first page is written before the others: it determines whether they get checksums, and pages that do not fit
    into the cache are written at once.
    """
    page_checksums.install()
    connection = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    page_checksums.do_not_compare(connection)
    if source.reserve_bytes() == page_checksums.CHECKSUM_BYTES:
        page_checksums.reserve(connection)
    settings = ("locking_mode=EXCLUSIVE", "journal_mode=OFF", "synchronous=OFF", f"cache_size={-1024 * _CACHE_MB}")
    for setting in (*settings, "user_version=1"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    return connection


def _step(pages: apsw.Backup, progress: Progress) -> None:
    while not pages.step(_PAGES):
        progress(pages.page_count - pages.remaining, pages.page_count)
    progress(pages.page_count, pages.page_count)


def _refuse_full(source: apsw.Connection, target: Path) -> None:
    ((pages,),), ((size,),) = (source.execute(f"PRAGMA {pragma}").fetchall() for pragma in ("page_count", "page_size"))
    required_bytes = int(str(pages)) * int(str(size)) + _SPARE
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError as error:
        raise PalaceUnusable(f"{target.parent} cannot be written to ({error.strerror}). Name another place.") from None
    if free < required_bytes:
        raise PalaceUnusable(
            f"{target.parent} has {free / 1e6:,.1f} MB free, but the copy needs {required_bytes / 1e6:,.1f} MB. Free "
            "some space there, or name another place."
        )


# --- putting in place --------------------------------------------------------------------------------------


def _renew_edition(staging_path: Path, palace: Path) -> None:
    """Give the staged copy an edition that the palace has never had."""
    number = int.from_bytes(os.urandom(4)) & 0x7FFFFFFF | 1
    with explain_errors(staging_path), _open_connection(staging_path, "write") as connection:
        connection.execute(f"PRAGMA user_version={number}")
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()


def _came_to_be(staging_path: Path, palace: Path) -> bool:
    """Make the copy the palace if none exists; return False if another process has just created one."""
    for path in _companions(palace):
        path.unlink(missing_ok=True)  # a log without its palace is nobody's, and would be taken for this one's
    try:
        os.link(staging_path, palace)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        staging_path.replace(palace)
    sync_directory(palace.parent)
    return True


def _set_aside(palace: Path, backup_path: Path) -> None:
    """Keep a file that SQLite cannot open, and its log, under another name; the file stays until it is replaced."""
    for path, target in zip(_files(palace), _files(backup_path), strict=True):
        if path.exists():
            shutil.copy2(path, target)
            _sync(target)
    for path in _companions(palace):
        path.unlink(missing_ok=True)


def _refuse_other_program(connection: apsw.Connection, palace: Path) -> None:
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    if tables and application != palace_opening.APPLICATION_ID:
        raise NotAPalace(
            f"{palace} is a SQLite file of another program, and was left unchanged. Name another with --palace."
        )


def _keep(palace: Path, backup_path: Path) -> None:
    partial = backup_path.with_name(f"{backup_path.name}.partial")
    copy(palace, partial, lambda done, total: None, compares=False)
    rename(partial, backup_path)


def _files(palace: Path) -> list[Path]:
    """Return the file, and the files that SQLite may have left with it."""
    return [palace, *(palace.with_name(palace.name + suffix) for suffix in ("-wal", "-shm", "-journal"))]


def _companions(palace: Path) -> list[Path]:
    """Return the files beside a palace that are nothing without it."""
    return [*_files(palace)[1:], *vector_file_paths.all_files(palace)]


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


@contextlib.contextmanager
def _open_connection(path: Path, mode: palace_opening.Mode) -> Iterator[apsw.Connection]:
    with _close_on_exit(palace_opening.open_file(path, mode, False, _CACHE_MB)) as connection:
        yield connection


@contextlib.contextmanager
def _close_on_exit(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """Close a connection at the end. If the last one cannot fold the log into the file, the next one does it."""
    try:
        yield connection
    finally:
        with contextlib.suppress(apsw.IOError, apsw.FullError):
            connection.close()
