"""A damaged palace: telling that it is, putting together what can be read of it, and saying what is lost."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import NotAPalace, PalaceMissing, PalazzoError
from palazzo.operations import backups
from palazzo.operations.backups import Backup

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class LossView:
    """What of one kind cannot be read: how many (null where nothing tells), which of them are known, on which pages."""

    kind: str
    count: int | None
    ids: tuple[str, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SalvageView:
    """What a salvage could not read. `doubtful` are tables of which a value may be other than it was."""

    losses: tuple[LossView, ...]
    altered_items: tuple[str, ...]
    """Items that are gone, or that are no longer to the byte what was archived."""
    doubtful: tuple[str, ...]
    kept: str | None = None
    """Where the damaged file is kept."""

    @property
    def is_whole(self) -> bool:
        """Whether all of the archive could be read."""
        return not (self.losses or self.altered_items)


def is_damaged(context: Context) -> bool:
    """Whether pages of the palace's file are damaged."""
    from palazzo.store import salvage

    return context.has_palace and not salvage.is_sound(context.palace_path)


def explain(context: Context, error: BaseException) -> PalazzoError | None:
    """Return the sentence for an error that a damaged page caused; None where the file is sound."""
    try:
        if isinstance(error, Exception) and is_damaged(context):
            return NotAPalace(sentence(context.palace_path))
    except (PalazzoError, OSError):
        return None
    return None


def sentence(palace: Path) -> str:
    """Return what is said of a damaged palace."""
    return (
        f"Pages of {palace} are damaged, and this met one of them. 'palazzo repair' brings back all that can be read, "
        "and 'palazzo export --salvage FILE' writes it into a file."
    )


@contextmanager
def salvaged(context: Context) -> Iterator[tuple[Path, SalvageView]]:
    """Give a sound palace of what can be read of the damaged one, in a directory of its own, gone after the block."""
    with tempfile.TemporaryDirectory(prefix="palazzo-salvage-") as made:
        target = Path(made) / "palace.db"
        yield target, _put_together(context, target)


def replace_damaged(context: Context) -> SalvageView:
    """Put what can be read of the palace in its place, in one step, and keep the damaged file beside it."""
    from palazzo.store import backup as copying

    palace = context.palace_path
    with backups.alone(palace):
        staged = backups.staged(palace)
        try:
            view = _put_together(context, staged)
            context.close()
            kept = backups.kept_name(palace, context.now, "damaged")
            backups.remember(palace, Backup(kept, context.now))
            try:
                copying.put_in_place(staged, palace, kept, lambda done, total: context.report("restoring", done, total))
            finally:
                if not kept.exists():
                    backups.forget(palace, [kept])
        finally:
            with contextlib.suppress(OSError):
                copying.remove(staged)
    return SalvageView(view.losses, view.altered_items, view.doubtful, str(kept) if kept.exists() else None)


def _put_together(context: Context, target: Path) -> SalvageView:
    from palazzo.archive import lost_bodies
    from palazzo.store import salvage, schema
    from palazzo.store.database import Database

    palace = context.palace_path
    if not palace.is_file():
        raise PalaceMissing(f"There is no palace at {palace} yet, so there is nothing to salvage.")
    pages = target.with_name(f"{target.name}.pages")
    context.notice(f"Reading what can be read of {palace}, page by page.")
    try:
        try:
            salvage.copy_pages(palace, pages)
            told = salvage.salvage(pages, target)
        except NotAPalace as error:
            raise NotAPalace(str(error).replace(str(pages), str(palace))) from error
    finally:
        pages.unlink(missing_ok=True)
    with contextlib.closing(Database(target)) as database:
        schema.migrate(database)
        with database.transaction() as connection:
            settled = lost_bodies.settle(connection)
    losses = tuple(LossView(one.table, one.rows, one.ids, one.pages) for one in told.losses)
    if settled.links:
        losses += (LossView("link", settled.links, (), ()),)
    return SalvageView(losses, settled.items, told.doubtful)
