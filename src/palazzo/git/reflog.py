"""Git's reflog of a checkout's HEAD: which commit was checked out when, and where branches were left.

The log is a plain file, with one line for each move of HEAD (git-reflog). Git truncates it, usually after 90 days, and
each worktree has its own.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path

from palazzo.frozen_class import frozen
from palazzo.git.git_files import Repository
from palazzo.model import Micros

_MOST = 8 * 1024 * 1024
"""The most bytes of a log that are read, from its end: some 50,000 movements."""
_MOST_KEPT = 32
_LINE = re.compile(
    r"(?P<before>[0-9a-f]{40}|[0-9a-f]{64}) (?P<after>[0-9a-f]{40}|[0-9a-f]{64}) [^\t]*> (?P<at>\d{1,11}) [+-]\d{4}"
    r"(?:\t(?P<words>.*))?"
)
_CHECKOUT_PATTERN = re.compile(r"checkout: moving from (\S+) to (\S+)")
_RENAME_PATTERN = re.compile(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")
_AMEND_PREFIX = "commit (amend)"


@frozen
class Movement:
    """A movement of the head from one commit to another; `branch` was checked out then ("" if unknown)."""

    old_commit: str
    new_commit: str
    at: Micros
    words: str
    branch: str = ""


@frozen
class HeadLog:
    """All movements in the order of the log, a list of their times, and whether the times are in order.

    `lasts` are the commits at which branches were last seen, with the time; `amends` maps commits to those that `commit
    --amend` replaced; both are by branch.
    """

    movements: tuple[Movement, ...] = ()
    times: tuple[Micros, ...] = ()
    is_ordered: bool = True
    lasts: Mapping[str, tuple[Micros, str]] = field(default_factory=dict)
    amends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def commit_at(self, moment: Micros, branch: str = "") -> str:
        """Return the commit that was checked out at a moment, or "".

        "" if the log does not reach back that far, if another branch than `branch` was checked out according to it, or
        if its times are not in order around that moment.
        """
        number = bisect_right(self.times, moment)
        if not number or not (self.is_ordered or self._in_order_about(number, moment)):
            return ""
        last = self.movements[number - 1]
        return "" if branch and last.branch not in ("", branch) else last.new_commit

    def _in_order_about(self, number: int, moment: Micros) -> bool:
        return max(self.times[:number]) <= moment and all(at > moment for at in self.times[number:])


_log_cache: dict[Path, tuple[tuple[int, int], HeadLog]] = {}
"""Logs that this process has read, by file, with size and modification time."""


def head_log(repository: Repository) -> HeadLog:
    """Return the log of this checkout's head; an empty one if git keeps none."""
    return _log(repository.directory / "logs" / "HEAD")


def head_logs(repository: Repository) -> list[HeadLog]:
    """Return the logs of the heads of all checkouts of a repository, this one's first."""
    own = repository.directory / "logs" / "HEAD"
    log_files = [repository.common / "logs" / "HEAD"]
    try:
        with os.scandir(repository.common / "worktrees") as entries:
            log_files += sorted(Path(entry.path) / "logs" / "HEAD" for entry in entries)
    except OSError:  # there are none
        pass
    return [_log(file) for file in dict.fromkeys([own, *log_files])]


def _log(file: Path) -> HeadLog:
    try:
        status = file.stat()
        stamp = (status.st_size, status.st_mtime_ns)
        if file in _log_cache and _log_cache[file][0] == stamp:
            return _log_cache[file][1]
        with file.open("rb") as lines:
            if status.st_size > _MOST:
                lines.seek(-_MOST, os.SEEK_END)
                lines.readline()
            text = lines.read(_MOST).decode("utf-8", "surrogateescape")
    except OSError:
        return HeadLog()
    log = _of(text)
    while len(_log_cache) >= _MOST_KEPT:
        _log_cache.pop(next(iter(_log_cache)), None)
    _log_cache[file] = stamp, log
    return log


def _of(text: str) -> HeadLog:
    matches = (_LINE.fullmatch(line) for line in text.split("\n"))
    bare = [
        Movement(entry["before"], entry["after"], Micros(int(entry["at"]) * 1_000_000), entry["words"] or "")
        for entry in matches
        if entry and entry["after"].strip("0")  # renaming a branch leaves nothing for a moment
    ]
    movements = _with_branches(bare)
    times = tuple(entry.at for entry in movements)
    lasts: dict[str, tuple[Micros, str]] = {}
    amends: dict[str, dict[str, str]] = {}
    for entry in movements:
        if (source_branch := _moved_from(entry)) and entry.old_commit.strip("0"):
            lasts[source_branch] = entry.at, entry.old_commit
        lasts[entry.branch] = entry.at, entry.new_commit
        if entry.words.startswith(_AMEND_PREFIX):
            amends.setdefault(entry.branch, {})[entry.old_commit] = entry.new_commit
    lasts.pop("", None)
    return HeadLog(
        tuple(movements),
        times,
        all(earlier_time <= later_time for earlier_time, later_time in pairwise(times)),
        lasts,
        amends,
    )


def _with_branches(movements: list[Movement]) -> list[Movement]:
    """Add the branch that was checked out, from where movements lead; before the first, from where it came."""
    first = next((origin for movement in movements if (origin := _moved_from(movement))), "")
    results, branch = [], first
    for movement in movements:
        branch = _moved_to(movement) or branch
        results.append(replace(movement, branch=branch))
    return results


def _moved_from(movement: Movement) -> str:
    match = _CHECKOUT_PATTERN.fullmatch(movement.words) or _RENAME_PATTERN.fullmatch(movement.words)
    return match[1] if match else ""


def _moved_to(movement: Movement) -> str:
    match = _CHECKOUT_PATTERN.fullmatch(movement.words) or _RENAME_PATTERN.fullmatch(movement.words)
    return match[2] if match else ""
