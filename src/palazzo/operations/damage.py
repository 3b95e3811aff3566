"""A damaged palace: detect the damage, salvage the readable rows, and report the lost ones."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import NotAPalace, PalaceMissing, PalazzoError
from palazzo.frozen_class import frozen
from palazzo.operations import backup_files
from palazzo.operations.backup_files import Backup

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_SOUND_FOR = 600.0
"""Seconds after which a sound file is checked again: a failing disk does not change the file's modification time."""


@frozen
class _Check:
    """A check of a palace's file in one state (device, inode, size, time), and when it was made."""

    state: tuple[int, int, int, int]
    is_sound: bool
    at: float


_check_lock = threading.Lock()
_last_checks: dict[Path, _Check] = {}


@frozen
class LossView:
    """Lost rows of one kind: their number (null if unknown), the known ids, and the damaged pages."""

    kind: str
    count: int | None
    ids: tuple[str, ...]
    pages: tuple[int, ...]


@frozen
class SalvageView:
    """The losses of a salvage. `doubtful`: tables in which a value may differ from the original."""

    losses: tuple[LossView, ...]
    altered_items: tuple[str, ...]
    """Items that are lost, or that differ from what was archived."""
    doubtful: tuple[str, ...]
    kept: str | None = None
    """Where the damaged file is kept."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole archive could be read."""
        return not (self.losses or self.altered_items)


def is_damaged(context: Context) -> bool:
    """Return whether pages of the palace's file are damaged."""
    from palazzo.store import salvage

    return context.has_palace and not salvage.is_sound(context.palace_path)


def explain(context: Context, error: BaseException) -> PalazzoError | None:
    """Return the error to show in place of an error that a damaged page caused; None if the file is sound."""
    try:
        if isinstance(error, Exception) and context.has_palace and not _is_sound(context.palace_path):
            return NotAPalace(sentence(context.palace_path))
    except (PalazzoError, OSError):
        return None
    return None


@contextmanager
def translate_damage_errors(context: Context) -> Iterator[None]:
    """Raise the error that `explain` returns in place of an error that a damaged page caused."""
    try:
        yield
    except PalazzoError:
        raise
    except Exception as error:
        explanation = explain(context, error)
        if explanation is None:
            raise
        raise explanation from error


def _is_sound(palace: Path) -> bool:
    """Check the file as `salvage.is_sound` does, and remember the result until the file changes.

    A service meets the same damage at every hook, and a check reads the whole file: a hook has no time for that.
    """
    from palazzo.store import salvage

    with _check_lock:
        status = palace.stat()
        state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        last = _last_checks.get(palace)
        is_valid = last is not None and last.state == state
        if last is None or not is_valid or (last.is_sound and time.monotonic() - last.at > _SOUND_FOR):
            last = _last_checks[palace] = _Check(state, salvage.is_sound(palace), time.monotonic())
        return last.is_sound


def sentence(palace: Path) -> str:
    """Return the error to show for a damaged palace."""
    return (
        f"Pages of {palace} are damaged, and this operation needed one of them. 'palazzo repair' restores everything "
        "that can be read, and 'palazzo export --salvage FILE' writes it to a file."
    )


@contextmanager
def open_salvage(context: Context) -> Iterator[tuple[Path, SalvageView]]:
    """Salvage the damaged palace into a temporary directory, which is removed after the block."""
    check_beginning(context.palace_path)
    with tempfile.TemporaryDirectory(prefix="palazzo-salvage-") as directory:
        target = Path(directory) / "palace.db"
        yield target, _put_together(context, target)


def replace_damaged(context: Context) -> SalvageView:
    """Replace the palace with its salvaged copy in one step, and keep the damaged file beside it."""
    from palazzo.store import file_backup as copying

    palace = context.palace_path
    check_beginning(palace)  # before the lock, whose file would stay beside a file that is no palace
    with backup_files.hold_backup_lock(palace):
        partial = backup_files.staging_path(palace)
        try:
            view = _put_together(context, partial)
            context.close()
            damaged_copy = backup_files.kept_name(palace, context.now, "damaged")
            backup_files.remember(palace, Backup(damaged_copy, context.now))
            try:
                copying.put_in_place(
                    partial, palace, damaged_copy, lambda done, total: context.report("restoring", done, total)
                )
            finally:
                if not damaged_copy.exists():
                    backup_files.forget(palace, [damaged_copy])
        finally:
            with contextlib.suppress(OSError):
                copying.remove(partial)
    return SalvageView(
        view.losses, view.altered_items, view.doubtful, str(damaged_copy) if damaged_copy.exists() else None
    )


def check_beginning(palace: Path) -> None:
    """Raise PalaceMissing or NotAPalace if nothing can be salvaged there."""
    from palazzo.store import file_beginning

    if not palace.is_file():
        raise PalaceMissing(f"There is no palace at {palace} yet, so there is nothing to salvage.")
    file_beginning.check_beginning(palace)


def _put_together(context: Context, target: Path) -> SalvageView:
    from palazzo.archive import lost_bodies
    from palazzo.store import salvage, schema
    from palazzo.store.database import Database

    palace = context.palace_path
    pages = target.with_name(f"{target.name}.pages")
    context.notice(f"Reading the readable parts of {palace}, page by page.")
    try:
        try:
            salvage.copy_pages(palace, pages)
            salvage_report = salvage.salvage(pages, target)
        except NotAPalace as error:
            raise NotAPalace(str(error).replace(str(pages), str(palace))) from error
    finally:
        pages.unlink(missing_ok=True)
    with contextlib.closing(Database(target)) as database:
        schema.migrate(database)
        with database.transaction() as connection:
            archive = lost_bodies.settle(connection)
    losses = tuple(LossView(loss.table, loss.rows, loss.ids, loss.pages) for loss in salvage_report.losses)
    if archive.links:
        losses += (LossView("link", archive.links, (), ()),)
    return SalvageView(losses, archive.items, salvage_report.doubtful)
