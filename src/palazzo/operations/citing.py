"""Files that are cited with `--anchor`: how they are named, and how they stood when they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, UsageError
from palazzo.text.counts import count_noun

if TYPE_CHECKING:
    from pathlib import Path

    from palazzo.model import Anchor
    from palazzo.operations.context import Context
    from palazzo.scope.freshness import Standing

LONGEST_LOOK = 5.0
"""Seconds that looking at what was cited may take, where somebody asks for that and nothing else."""
LARGEST = 2 * 1024 * 1024
"""Bytes of a file of which the words are looked at; a larger one is cited by its name and lines alone."""
MOST = 32
"""Files that one note or fact may be about."""
_LINES = re.compile(r":L?(\d{1,9})(?:-L?(\d{1,9}))?$")


def anchors(context: Context, given: Sequence[str]) -> tuple[Anchor, ...]:
    """Return what `PATH` or `PATH:L1-L2` cite, with what stands there now; NotFound or UsageError where nothing does.

    Paths are named from the project's root, wherever they were given from.
    """
    if len(given) > MOST:
        raise UsageError(f"--anchor is given {len(given)} times, and may be {MOST} times: name those that matter most.")
    return tuple(dict.fromkeys(_anchor(context, one) for one in given))


def anew(context: Context, cited: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """Return what was cited as it stands now: where it moved to, and of lines that changed what is there.

    What is gone is left out; what cannot be looked at is returned as it was.
    """
    from palazzo.scope import freshness
    from palazzo.store.redaction import fingerprint_key

    with context.reading().database.snapshot() as connection:
        key = fingerprint_key(connection)
    standings = freshness.Checkout(context.project_root, key, LONGEST_LOOK).check(cited)
    found = (_now(context, one, standing) for one, standing in zip(cited, standings, strict=True))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _now(context: Context, cited: Anchor, standing: Standing) -> Anchor | None:
    if standing.freshness == "gone":
        return None
    if standing.freshness not in ("moved", "changed"):
        return cited
    path = str(context.project_root / (standing.path or cited.path))
    first, last = (standing.first, standing.last) if standing.freshness == "moved" else (cited.first, cited.last)
    try:
        return _anchor(context, f"{path}:{first}-{last}" if first > 0 else path)
    except UsageError:  # it has no such lines any more: all of it, then
        return _anchor(context, path)


def _anchor(context: Context, said: str) -> Anchor:
    from palazzo.model import Anchor
    from palazzo.operations.tasks import absolute
    from palazzo.store.anchors import can_be_kept

    lines = _LINES.search(said)
    named = said[: lines.start()] if lines else said
    if lines and absolute(context, said).exists():  # a file whose name ends so
        lines, named = None, said
    if not can_be_kept(named):
        raise UsageError("--anchor: the file's name is no text (UTF-8), so it cannot be cited; rename it.")
    path = absolute(context, named)
    if not named.strip() or not path.exists():
        raise NotFound(
            f"--anchor: {named or said} does not exist; give a file that is there, and its lines if you like."
        )
    first, last = (int(lines[1]), int(lines[2] or lines[1])) if lines else (0, 0)
    if lines and not 0 < first <= last:
        raise UsageError(f"--anchor: the lines of '{said}' must count from 1, the first before the last.")
    root = context.project_root
    known = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    digest, count, blob = _words(context, path, named, first, last)
    return Anchor(known, first, last, digest, count, blob)


def _words(context: Context, path: Path, named: str, first: int, last: int) -> tuple[bytes, int, str]:
    """The digest of what is cited, of how many lines, and the file's blob; nothing of what is no file, or too large."""
    from palazzo.derive.citing import blob_of
    from palazzo.store.redaction import fingerprint_key
    from palazzo.text.cited import digest, lines_of

    if not path.is_file():
        if first:
            raise UsageError(f"--anchor: {named} is no file, so it has no lines; leave them out.")
        return b"", 0, ""
    try:
        with path.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise NotFound(f"--anchor: {named} cannot be read ({error.strerror}); name another file.") from None
    if len(data) > LARGEST:
        return b"", 0, ""
    lines = lines_of(data)
    if last > len(lines):
        raise UsageError(
            f"--anchor: {named} has {count_noun(len(lines), 'line')}, so there is no line {last:,};"
            " name lines that it has."
        )
    cited = lines[first - 1 : last] if first else lines
    with context.writing().database.snapshot() as connection:
        key = fingerprint_key(connection)
    return digest(key, cited), len(cited), blob_of(data)
