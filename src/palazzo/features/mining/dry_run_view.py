"""Terminal output of a dry run of mining: totals first, then at most some twenty lines for each class of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from palazzo.features.mining.contract import FileView, MineResult
from palazzo.features.screen import INDENT, Part, Screen, place
from palazzo.text.count_phrases import count_noun, format_bytes

_MOST_LINES = 20
_TITLES = {
    "document": "documents",
    "transcript": "transcripts",
    "export": "exports",
    "skipped": "skipped",
    "failed": "failed",
}


def show_files(screen: Screen, result: MineResult) -> None:
    """Show how many files of each class there are, then which of them would be read, and why others are skipped."""
    by_group = {name: [file for file in result.files if file.group == name] for name in _TITLES}
    rows = [_totals(title, by_group[name]) for name, title in _TITLES.items() if by_group[name]]
    screen.table(("", "files", "size", "new", "grown", "unchanged"), rows, right=(1, 2, 3, 4, 5))
    for name in ("document", "transcript", "export"):
        _show_changed(screen, _TITLES[name], [file for file in by_group[name] if file.new or file.grown])
    _show_skipped(screen, by_group["skipped"])


def _totals(title: str, files: Sequence[FileView]) -> tuple[Part, ...]:
    counts = [sum(getattr(file, name) for file in files) for name in ("new", "grown", "unchanged")]
    return ((title, "bold"), f"{len(files):,}", _size(files), *(f"{count:,}" if count else "" for count in counts))


def _size(files: Sequence[FileView]) -> str:
    sizes = [file.bytes for file in files if file.bytes is not None]
    return format_bytes(sum(sizes)) if sizes else ""


# --- what would be read ----------------------------------------------------------------------------------------


def _show_changed(screen: Screen, title: str, files: Sequence[FileView]) -> None:
    """List files; if they are many, by directory."""
    if not files:
        return
    paths = [Path(place(file.uri)) for file in files]
    top = Path(os.path.commonpath([path.parent for path in paths]))
    screen.gap()
    screen.say((f"{title} to read", "bold"), f" in {top}")
    if len(files) <= _MOST_LINES:
        rows = [
            (str(path.relative_to(top)), _size([file]), _change(file)) for path, file in zip(paths, files, strict=True)
        ]
    else:
        rows = [
            (f"{name}{os.sep}" if name != "." else name, _size(members), count_noun(len(members), "file"))
            for name, members in _by_directory(top, list(zip(paths, files, strict=True)))
        ]
    screen.table(("", "", ""), [(INDENT + name, size, (what, "dim")) for name, size, what in rows[:_MOST_LINES]], (1,))
    if len(rows) > _MOST_LINES:
        screen.say((f"{INDENT}and {len(rows) - _MOST_LINES:,} more directories; --json lists all files", "dim"))


def _change(file: FileView) -> str:
    if file.new + file.grown + file.unchanged == 1:
        return "new" if file.new else "grown"
    counts = ((file.new, "new"), (file.grown, "grown"), (file.unchanged, "unchanged"))
    return "conversations: " + ", ".join(f"{count:,} {name}" for count, name in counts if count)


def _by_directory(top: Path, files: Sequence[tuple[Path, FileView]]) -> list[tuple[str, list[FileView]]]:
    """Group files by the deepest level of directories that gives few enough groups, the largest groups first."""
    groups = _at_depth(top, files, 1)
    for depth in range(2, 10):
        deeper = _at_depth(top, files, depth)
        if len(deeper) > _MOST_LINES:
            break
        groups = deeper
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _at_depth(top: Path, files: Sequence[tuple[Path, FileView]], depth: int) -> dict[str, list[FileView]]:
    groups: dict[str, list[FileView]] = {}
    for path, file in files:
        directory = Path(*path.parent.relative_to(top).parts[:depth])
        groups.setdefault(str(directory), []).append(file)
    return groups


# --- what is skipped -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _SkipGroup:
    """Files that are skipped for the same reason."""

    reason: str
    files: list[FileView]


def _show_skipped(screen: Screen, files: Sequence[FileView]) -> None:
    """List the reasons, the most frequent first, each with its number of files, their size and an example."""
    if not files:
        return
    groups: dict[str, _SkipGroup] = {}
    for file in files:
        groups.setdefault(file.reason, _SkipGroup(file.reason, [])).files.append(file)
    ordered = sorted(groups.values(), key=lambda group: -len(group.files))
    screen.gap()
    screen.say(("skipped", "bold"))
    for group in ordered[:_MOST_LINES]:
        size = _size(group.files)
        screen.say(
            f"{INDENT}{len(group.files):,} × {group.reason}",
            (f"  {size + ', ' if size else ''}{_example(group.files)}", "dim"),
            wrap_indent=2 * len(INDENT),
        )
    if len(ordered) > _MOST_LINES:
        screen.say((f"{INDENT}and {len(ordered) - _MOST_LINES:,} more reasons; --json lists all files", "dim"))


def _example(files: Sequence[FileView]) -> str:
    path = place(files[0].uri)
    return path if len(files) == 1 else f"such as {path}"
