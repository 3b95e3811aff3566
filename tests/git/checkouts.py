"""Checkouts of real repositories for tests, written by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from palazzo.git import branch_status_cache
from palazzo.git.ancestry import Ancestry, Visibility
from palazzo.git.git_files import repository_of

GIT = shutil.which("git") or "git"
"""Found before a test puts something in its way."""


class Checkout:
    """A directory with a repository, and what tests do to it. Each commit is a second after the last one."""

    def __init__(self, root: Path, now: int = 1_700_000_000) -> None:
        self.root = root
        self.now = now

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git here as somebody without a configuration of their own; return what it prints."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        for who in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@example.com"}
            environment |= {f"GIT_{who}_DATE": f"{self.now} +0000"}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
        asked = [GIT, "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false", *arguments]
        done = subprocess.run(asked, cwd=self.root, env=environment, check=check, capture_output=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def init(self) -> Checkout:
        """Make it a repository with one commit of ten lines on `main`."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.commit("base", "".join(f"line {n}\n" for n in range(10)), file="base.txt")
        return self

    def commit(self, subject: str, words: str = "", file: str = "", *options: str) -> str:
        """Write a file (named for the subject) and commit it; return the commit."""
        path = self.root / (file or f"{subject.replace(' ', '-')}.txt")
        path.write_text(words or f"{subject}\n", encoding="utf-8")
        self.now += 1
        self.git("add", "-A")
        self.git("commit", "-qm", subject, *options)
        return self.head

    def on(self, branch: str, start: str = "") -> Checkout:
        """Check a branch out; a new one where it begins is said."""
        self.now += 1
        self.git("checkout", "-q", *(("-b", branch, start) if start else (branch,)))
        return self

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD")


def standings(
    checkout: Checkout, asked: Sequence[tuple[str, str]], tips: Mapping[str, str] = {}, cache: Path | None = None
) -> list[Visibility]:
    """How memories stand, once git has answered: a busy machine may take more than one answer's patience."""
    repository = repository_of(checkout.root)
    assert repository is not None
    Ancestry(repository, cache).standings(asked, tips)
    while branch_status_cache.get_cache(repository, cache).is_working:
        time.sleep(0.01)
    return list(Ancestry(repository, cache).standings(asked, tips).values())
