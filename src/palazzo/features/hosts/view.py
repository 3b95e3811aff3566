"""Terminal output of install and uninstall: which files of other programs were written or changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from palazzo.features.hosts.contract import FileView, InstallResult, InstructionsResult, UninstallResult
from palazzo.features.screen import Part, Screen

_STATE_LABELS = {
    False: {"new": "written", "changed": "changed", "same": "unchanged", "removed": "removed"},
    True: {
        "new": "would be written",
        "changed": "would be changed",
        "same": "would stay unchanged",
        "removed": "would be removed",
    },
}


def install(screen: Screen, result: InstallResult) -> None:
    """Show each file, what other memory tools left there, and what to do next."""
    if result.dry_run:
        _diffs(screen, result.files)
    _files(screen, result.files, result.dry_run)
    if result.others:
        screen.gap()
        did = "Would remove" if result.dry_run else "Removed"
        screen.say((f"{did} the entries of other memory tools:" if result.clean else _LEFTOVER_NOTICE, "yellow"))
        screen.table(
            ("", "", ""),
            [((memory.name, "bold"), memory.what, (_short(memory.path), "dim")) for memory in result.others],
        )
        if not result.clean:
            screen.say("Remove it with: ", (f"palazzo install {result.target} --clean", "bold"))
    for line in () if result.dry_run else result.note.splitlines():
        screen.say(line, wrap_indent=2)


def uninstall(screen: Screen, result: UninstallResult) -> None:
    """Show each file."""
    if result.dry_run:
        _diffs(screen, result.files)
    _files(screen, result.files, result.dry_run)
    if all(file.state == "same" for file in result.files):
        screen.say(f"The settings of {result.target} contained nothing from Palazzo.")


_LEFTOVER_NOTICE = "Other memory tools left entries there, and two memories inject everything twice:"


def _files(screen: Screen, files: Sequence[FileView], dry_run: bool) -> None:
    rows: list[Sequence[Part]] = [
        ((_STATE_LABELS[dry_run][file.state], _STYLES[file.state]), file.what, _short(file.path)) for file in files
    ]
    if not any(file.what for file in files):
        rows = [(label, path) for label, _, path in rows]
    screen.table(("",) * len(rows[0]) if rows else (), rows)
    backups = [file.backup for file in files if file.backup]
    for backup in backups:
        screen.say((f"Original saved as {_short(backup)}", "dim"))


def _diffs(screen: Screen, files: Sequence[FileView]) -> None:
    """Return the changes, line by line."""
    for file in files:
        if file.diff:
            screen.diff(file.diff)
            screen.gap()


_STYLES = {"new": "green", "changed": "green", "same": "dim", "removed": "yellow"}


def _short(path: str) -> str:
    """Return a path in the short form for people."""
    try:
        return f"~/{Path(path).relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return path


def instructions(screen: Screen, result: InstructionsResult) -> None:
    """Print the text, and nothing else."""
    screen.exact(result.text.rstrip("\n"), indent="")
