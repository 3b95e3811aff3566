"""Git cache: a bare repository of Palazzo's own, which holds a remote's branch and in which pushes are assembled.

Deleting it costs a fetch. It holds text, so objects that the branch no longer leads to are dropped at once, or by the
next process if one was killed before that: a file records the commit up to which this is done.
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
"""The branch at its last fetch."""
_PENDING_REF = "refs/palazzo/adding"
"""The files of an unfinished push, so that a cleanup in the meantime does not remove them."""
_CLEANUP_NOTE = "palazzo-cleared"


class Cache:
    """The local copy of the branch; see the module. Its failures raise BrokenCache."""

    def __init__(self, path: Path, variables: Mapping[str, str], *, asks: bool, heed: Callable[[], None]) -> None:
        self.path = path
        self.git = Git(path, variables, asks=asks, heed=heed)
        self._is_adding = False

    def make(self) -> None:
        """Create the repository if it does not exist; raises RemoteUnusable if it cannot be created."""
        if (self.path / "HEAD").exists():
            return
        try:
            make_private_directory(self.path)
        except OSError as error:
            raise RemoteUnusable(f"{self.path} cannot be created ({error.strerror}); check its permissions.") from None
        answer = self.git("init", "--quiet", "--bare", "--template=", str(self.path), cwd=self.path)
        if answer.code:
            raise RemoteUnusable(
                f"git cannot create its repository in {self.path} ({answer.last_words}); check that directory."
            )

    @property
    def tip(self) -> str:
        """Return the commit of the branch at the last look, "" if there was none."""
        answer = self.git("rev-parse", "--verify", "--quiet", f"{_TIP_REF}^{{commit}}")
        return answer.out.decode().strip() if answer.code == 0 else ""

    def fetch(self, url: str, branch: str, timeout: float) -> Answer:
        """Fetch the branch from `url`; the answer says whether that succeeded."""
        return self.git("fetch", "--quiet", "--no-tags", "--", url, f"+{branch}:{_TIP_REF}", timeout=timeout)

    def take(self, commit: str) -> None:
        """Record a commit as the branch's; "" for none."""
        self.git.tell("update-ref", *([_TIP_REF, commit] if commit else ["-d", _TIP_REF]))

    def keep(self, tree: str) -> None:
        """Protect the files of a tree that nothing refers to yet, until they are released."""
        self.git.tell("update-ref", _PENDING_REF, tree)
        self._is_adding = True

    def let_go(self) -> None:
        """Release the protected files."""
        self.git.tell("update-ref", "-d", _PENDING_REF)
        self._is_adding = False

    def clear_up(self, previous_tip: str = "") -> None:
        """Drop objects that the branch no longer reaches. `previous_tip` is its earlier commit, if none was
        recorded.
        """
        note, tip = self.path / _CLEANUP_NOTE, self.tip
        last = note.read_text("ascii", "replace") if note.exists() else previous_tip
        if last and last != tip and self._began_anew(last, tip):
            self.clear()
        if last != tip:
            note.write_text(tip, "ascii")

    def clear(self) -> None:
        """Drop unreachable objects, including those left by an interrupted push."""
        if not self._is_adding:
            self.let_go()
        self.git.tell("gc", "--quiet", "--prune=now")

    def drop(self) -> None:
        """Delete the whole cache."""
        self._is_adding = False
        drop(self.path)

    def _began_anew(self, last: str, tip: str) -> bool:
        return not tip or self.git("merge-base", "--is-ancestor", last, tip).code != 0


def drop(cache: Path) -> None:
    """Delete the local copy of a git remote; the next look fetches it again."""
    for directory, _, files in os.walk(cache):
        for name in files:
            (Path(directory) / name).chmod(stat.S_IREAD | stat.S_IWRITE)  # Windows deletes nothing that is read-only
    if cache.exists():
        shutil.rmtree(cache)
