"""What to archive before a host compacts a session, and which of the sources is sufficient. Pure.

A directory that the person named comes first, then the session's transcript or its directory, then the working
directory. The working directory is better than nothing, but it is not what the compaction will lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from palazzo.frozen_class import frozen

NAMED_BY = ("PALAZZO_TRANSCRIPT_DIR", "MEMPAL_DIR")


@frozen
class Target:
    """A source to ingest. If a `sufficient` one is archived, the session's words are archived."""

    path: Path
    sufficient: bool


def targets(
    variables: Mapping[str, str], transcript: str, cwd: str, exists: Callable[[Path], bool] = Path.exists
) -> list[Target]:
    """Return what to archive, the best first; paths that do not exist are left out."""
    candidates: list[Target] = [Target(Path(variables[name]), True) for name in NAMED_BY if variables.get(name)]
    if transcript:
        path = Path(transcript)
        candidates += [Target(path, True), Target(path.parent, True)]
    if cwd:
        candidates.append(Target(Path(cwd), False))
    return [target for target in candidates if target.path.is_absolute() and exists(target.path)]
