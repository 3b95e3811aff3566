"""Requests, results and operations of `backup`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation


@frozen
class BackupRequest:
    """Copy the palace into one file, as of one moment, while agents keep using it. The copy is checked.

    'palazzo restore' restores it. It contains everything in the palace, unencrypted.
    """

    target: Annotated[
        Path | None,
        About(
            "File to write, or directory for a file with the time in its name; by default the directory 'backups' "
            "beside the palace.",
            positional=True,
            metavar="FILE|DIR",
        ),
    ] = None
    keep: Annotated[
        int | None,
        About("Keep this many backups in the directory, which is created if needed, and delete the oldest others."),
    ] = None
    list: Annotated[bool, About("Only list the known backups.")] = False


@frozen
class BackupView:
    """A backup of this palace, and whether its file is visible now."""

    file: str
    at: Micros
    size_bytes: int | None
    there: bool


@frozen
class BackupResult:
    """The backup that was written and checked, the backups deleted for it, and all known backups, newest first."""

    file: str | None
    size_bytes: int
    items: int
    took_s: float
    beside: tuple[str, ...]
    """Files written beside the backup: the pauses of the palace, and the settings."""
    deleted: tuple[str, ...]
    known: tuple[BackupView, ...]


BACKUP = Operation(
    "backup",
    BackupRequest,
    BackupResult,
    scope="admin",
    group="Keep and move",
    summary="Copy the palace into one checked file",
    examples=("palazzo backup", "palazzo backup ~/backups --keep 7"),
)

BackupOrigin = Literal["this palace", "another device", "another palace"]
"""The origin of a backup: this palace, another device that syncs with it, or another palace."""


@frozen
class RestoreRequest:
    """Replace the palace by a backup, in one step, after a full check. The replaced palace is kept beside it.

    Agents may continue meanwhile. Text that was erased since the backup is erased from the restored palace before
    anyone can see it. Tokens keep their current state: a token that was revoked since the backup stays revoked. A
    backup of another palace is restored only after confirmation at a terminal, or with --other-palace.
    """

    file: Annotated[
        Path, About("The backup: a file that 'palazzo backup' wrote, a palace, or latest.", positional=True)
    ]
    dry_run: Annotated[bool, About("Only check the file, and show what would replace what.")] = False
    keep_tokens: Annotated[
        bool, About("Keep tokens of the backup valid that this palace does not know; otherwise they are revoked.")
    ] = False
    other_palace: Annotated[
        bool,
        About("The backup is of another palace or device of yours: text that it holds as yours counts as yours."),
    ] = False


@frozen
class PalaceContents:
    """The contents of a palace, and the time of the latest archived item."""

    items: int
    drawers: int
    filed_at: Micros | None


@frozen
class RestoreResult:
    """The palace that is in place now (or would be), the one that it replaced, and where the old one is kept.

    `replaced` is null if there was no palace, or none that can be read. `erased` is the number of erasures here since
    the backup was made: they were applied to the restored palace too.
    """

    file: str
    restored: PalaceContents
    replaced: PalaceContents | None
    kept: str | None
    erased: int
    new_device: bool
    """Whether the palace becomes a new device in sync, because the old one went on after the backup."""
    settings: str | None
    """The settings file that was written; null if one existed already, or if the backup has none."""
    tokens_revoked: int
    """The number of tokens in the backup that the palace did not know: they are revoked unless the person keeps
    them.
    """
    dry_run: bool
    origin: BackupOrigin = "this palace"
    """The origin of the backup. Without a readable palace, there is nothing to compare it with."""


def _confirm_origin(request: RestoreRequest, result: RestoreResult) -> RestoreRequest:
    """Treat a person's yes to a dry run, which showed the backup's origin, as the statement that it is theirs."""
    return replace(request, other_palace=request.other_palace or result.origin != "this palace")


RESTORE = Operation(
    "restore",
    RestoreRequest,
    RestoreResult,
    scope="admin",
    group="Keep and move",
    summary="Replace the palace by a backup",
    writes=True,
    steps=True,
    destructive=True,
    confirm_request=_confirm_origin,
    examples=("palazzo restore latest --dry-run", "palazzo restore ~/backups/palace.db"),
)
