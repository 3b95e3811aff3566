"""A bare repository of our own, in which a remote's branch is kept and what is pushed is put together.

It is a cache: deleting it costs a fetch. It holds words, so what the branch no longer leads to is dropped at once, and
by the next process where one was killed before that: a file names the commit up to which it is done.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from palazzo.errors import RemoteUnusable
from palazzo.paths import make_private_directory
from palazzo.sync.remotes.git_transport import Answer, Git

_TIP_REF = "refs/palazzo/seen"
"""The branch as it was when it was last looked at."""
_PENDING_REF = "refs/palazzo/adding"
"""The files of a push that is not through, so that clearing up in between does not take them for rubbish."""
_CLEANUP_NOTE = "palazzo-cleared"


class Cache:
    """See the module. What fails in it raises BrokenCache."""

    def __init__(self, path: Path, variables: Mapping[str, str], *, asks: bool, heed: Callable[[], None]) -> None:
        self.path = path
        self.git = Git(path, variables, asks=asks, heed=heed)
        self._is_adding = False

    def make(self) -> None:
        """Make the repository if it is not there; RemoteUnusable where it cannot be made."""
        if (self.path / "HEAD").exists():
            return
        try:
            make_private_directory(self.path)
        except OSError as error:
            raise RemoteUnusable(f"{self.path} cannot be made ({error.strerror}); check its permissions.") from None
        answer = self.git("init", "--quiet", "--bare", "--template=", str(self.path), cwd=self.path)
        if answer.code:
            raise RemoteUnusable(f"git cannot make its repository in {self.path} ({answer.last_words}); check it.")

    @property
    def tip(self) -> str:
        """The commit that the branch was at when it was last looked at, "" before that."""
        answer = self.git("rev-parse", "--verify", "--quiet", f"{_TIP_REF}^{{commit}}")
        return answer.out.decode().strip() if answer.code == 0 else ""

    def fetch(self, url: str, branch: str, timeout: float) -> Answer:
        """Take over the branch as it is at `url`; the answer says whether that went well."""
        return self.git("fetch", "--quiet", "--no-tags", "--", url, f"+{branch}:{_TIP_REF}", timeout=timeout)

    def take(self, commit: str) -> None:
        """Take a commit for what the branch is at; "" for nothing."""
        self.git.tell("update-ref", *([_TIP_REF, commit] if commit else ["-d", _TIP_REF]))

    def keep(self, tree: str) -> None:
        """Keep the files of a tree, which nothing leads to yet, until they are let go."""
        self.git.tell("update-ref", _PENDING_REF, tree)
        self._is_adding = True

    def let_go(self) -> None:
        """Keep them no longer."""
        self.git.tell("update-ref", "-d", _PENDING_REF)
        self._is_adding = False

    def clear_up(self, previous_tip: str = "") -> None:
        """Drop what the branch led to and no longer does. `before` is where it was, in case nobody noted that."""
        note, tip = self.path / _CLEANUP_NOTE, self.tip
        last = note.read_text("ascii", "replace") if note.exists() else previous_tip
        if last and last != tip and self._began_anew(last, tip):
            self.clear()
        if last != tip:
            note.write_text(tip, "ascii")

    def clear(self) -> None:
        """Drop whatever nothing leads to, with what a push left that was killed."""
        if not self._is_adding:
            self.let_go()
        self.git.tell("gc", "--quiet", "--prune=now")

    def drop(self) -> None:
        """Delete all of it."""
        self._is_adding = False
        drop(self.path)

    def _began_anew(self, last: str, tip: str) -> bool:
        return not tip or self.git("merge-base", "--is-ancestor", last, tip).code != 0


def drop(cache: Path) -> None:
    """Delete what is kept of a git remote on this machine; the next look fetches it anew."""
    for directory, _, files in os.walk(cache):
        for name in files:
            (Path(directory) / name).chmod(stat.S_IREAD | stat.S_IWRITE)  # Windows deletes nothing that is read-only
    if cache.exists():
        shutil.rmtree(cache)
