"""Page tree: a directory of pages that is rebuilt over an earlier tree of Palazzo's, or created where nothing is.

    OUT/palazzo-export.json     which pages are Palazzo's
    OUT/<wing>/<room>/<day>.md  whatever is written

All pages are first written beside the tree and then moved to their places, each at once, so that an interruption during
writing leaves the old tree. A page whose content is the same is not touched. Pages of the earlier tree that no longer
exist are removed; files that somebody else put there stay.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from palazzo.errors import PalazzoError, SourceUnreadable, UsageError

MANIFEST = "palazzo-export.json"
FORMAT, VERSION = "palazzo-markdown", 1
_LONGEST_NAME = 60
"""Maximum characters of a directory's name: Windows allows 260 for a whole path, most file systems 255 bytes for one
name.
"""
_MOST_BYTES = 150
_UNSAFE = re.compile(r'[<>:"/\\|?*~\x00-\x1f\x7f]')
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?")
"""Names that refer to a device on Windows, with any suffix."""
_LARGEST_MANIFEST = 64 << 20


def safe_names(names: Iterable[str], reserved_names: Iterable[str] = ()) -> dict[str, str]:
    """Return for each name one that every file system accepts and that none confuses with another.

    A safe name stays. Another gets the beginning of its hash appended, so that it is the same in each export. Of names
    that differ only in case, the one without capitals stays.
    """
    plain = {name: _plain(name) for name in set(names)}
    alike = Counter(fold_name(name) for name, safe in plain.items() if safe == name)
    reserved_keys = {fold_name(reserved_name) for reserved_name in reserved_names}

    def stays(name: str) -> bool:
        same = fold_name(name)
        return plain[name] == name and same not in reserved_keys and (alike[same] == 1 or name == same)

    return {name: name if stays(name) else f"{safe[: _LONGEST_NAME - 9]}~{_hash(name)}" for name, safe in plain.items()}


def fold_name(name: str) -> str:
    """Return the form in which names compare equal on file systems that ignore case or composition."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _plain(name: str) -> str:
    """Return a name without what some file system refuses or changes."""
    safe = "".join(
        "_" if unicodedata.category(letter)[0] in "CZ" and letter != " " else letter
        for letter in _UNSAFE.sub("_", unicodedata.normalize("NFC", name))
    )
    safe = safe[:_LONGEST_NAME]
    while len(safe.encode()) > _MOST_BYTES:
        safe = safe[:-1]
    if safe.startswith((".", "-", " ")):  # hidden, or an option
        safe = f"_{safe[1:]}"
    if safe.endswith((".", " ")):
        safe = f"{safe[:-1]}_"
    if _DEVICES.fullmatch(safe):
        safe = f"_{safe}"
    return safe or "_"


def _hash(name: str) -> str:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


class Tree:
    """Pages being written. Names are relative, with `/`."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self.pages: list[str] = []

    def write(self, name: str, text: str) -> None:
        """Write one page. A lone surrogate, which no file may hold, is written as its escape."""
        path = self._top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        self.pages.append(name)


@contextmanager
def open_tree(top: Path) -> Iterator[Tree]:
    """Provide a tree to write pages into, and put it in place at the end.

    Raises UsageError if `top` is neither a directory of ours nor an empty one (a newly created repository counts as
    empty), PalazzoError if it cannot be written.
    """
    old_pages = _pages_before(top)
    try:
        staging_dir = Path(tempfile.mkdtemp(dir=top if top.is_dir() else top.parent, prefix=".palazzo-"))  # 0700
    except OSError as error:
        raise _unwritable(top, error) from error
    try:
        tree = Tree(staging_dir)
        yield tree
        if top.is_dir():
            _put(staging_dir, top, tree.pages, old_pages)
        else:
            _write_manifest(staging_dir, tree.pages)
            staging_dir.replace(top)
    except OSError as error:
        raise _unwritable(top, error) from error
    finally:
        shutil.rmtree(staging_dir, ignore_errors=True)


def _put(staging_dir: Path, top: Path, pages: list[str], old_pages: list[str]) -> None:
    _write_manifest(
        top, sorted({*old_pages, *pages})
    )  # so that the next export knows all, wherever this one is stopped
    for name in pages:
        _check_way(top, name)
        new, old = staging_dir / name, top / name
        if old.is_file() and not old.is_symlink() and old.read_bytes() == new.read_bytes():
            continue
        old.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.replace(old)
    for name in sorted({*old_pages} - {*pages}):
        _check_way(top, name)
        (top / name).unlink(missing_ok=True)
        _remove_empty(top, (top / name).parent)
    _write_manifest(top, pages)


def _remove_empty(top: Path, directory: Path) -> None:
    while directory != top and directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
        directory = directory.parent


def _check_way(top: Path, name: str) -> None:
    """Raise if a directory on the path to a page is a link: it would lead out of the tree."""
    for parent in PurePosixPath(name).parents:
        if (top / parent).is_symlink() and str(parent) != ".":
            raise UsageError(f"{top / parent} is a link. Move it away, or name another directory.")


def _write_manifest(top: Path, pages: list[str]) -> None:
    manifest = json.dumps({"format": FORMAT, "version": VERSION, "pages": sorted(pages)}, indent=1, ensure_ascii=False)
    handle, temporary_path = tempfile.mkstemp(dir=top, prefix=".palazzo-")
    with os.fdopen(handle, "wb") as file:
        file.write(manifest.encode("utf-8", "backslashreplace") + b"\n")
    Path(temporary_path).replace(top / MANIFEST)


def is_tree(path: Path) -> bool:
    """Return whether a directory is such a tree."""
    return path.is_dir() and (path / MANIFEST).is_file()


def _pages_before(top: Path) -> list[str]:
    """Return the pages of the existing tree; raises UsageError if something else is there."""
    if not os.path.lexists(top):
        return []
    if not top.is_dir():
        raise UsageError(f"{top} exists and is not a directory. Markdown is a tree of pages: name a directory.")
    if not is_tree(top):
        if any(entry.name != ".git" for entry in top.iterdir()):  # a repository that nothing is in yet
            raise UsageError(
                f"{top} contains something other than an export, so nothing was written. Name a new directory."
            )
        return []
    try:
        pages = _read_manifest(top / MANIFEST)
    except (OSError, ValueError, RecursionError) as error:
        raise SourceUnreadable(
            f"{top / MANIFEST} is not a valid manifest of an export. Move {top} away, or name another directory."
        ) from error
    return pages


def _read_manifest(path: Path) -> list[str]:
    """Return the pages that a manifest names. It is untrusted: names that lead out of the tree are ignored."""
    if path.stat().st_size > _LARGEST_MANIFEST:
        raise ValueError("too large")
    manifest: Any = json.loads(path.read_bytes())
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or manifest.get("version") != VERSION:
        raise ValueError("another format")
    pages = manifest.get("pages")
    if not isinstance(pages, list) or not all(isinstance(name, str) and _is_page(name) for name in pages):
        raise ValueError("another format")
    return pages


def _is_page(name: str) -> bool:
    """Return whether `safe_names` and a page's suffix could have produced this name."""
    parts = name.replace("~", "_").split("/")
    return name.endswith(".md") and all(part and part[0] != "." and not _UNSAFE.search(part) for part in parts)


def _unwritable(path: Path, error: OSError) -> PalazzoError:
    return PalazzoError(f"{path} cannot be written ({error.strerror}). Name another directory, or free some space.")
