"""Machines of one person: homes with a device of the same palace each, which meet at a remote."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

from tests.features.hooks.test_hook import Clock
from tests.sync.homes import Home

from palazzo.features.notes.contract import ForgetRequest, RememberRequest, UndoRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.features.notes.undo import undo
from palazzo.features.places.contract import WingRenameRequest
from palazzo.features.places.wing_rename import wing_rename
from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.features.sync.contract import (
    PulledView,
    PushedView,
    RemoteStatus,
    SyncInitRequest,
    SyncInitResult,
    SyncPullRequest,
    SyncPushRequest,
    SyncStatusRequest,
)
from palazzo.features.sync.sync_init import sync_init
from palazzo.features.sync.sync_pull import sync_pull
from palazzo.features.sync.sync_push import sync_push
from palazzo.features.sync.sync_status import sync_status
from palazzo.features.upkeep.contract import VerifyRequest
from palazzo.features.upkeep.verify import verify
from palazzo.model import Micros
from palazzo.store.database import Database
from palazzo.sync import record_lines, record_reader


class Ticking(Clock):
    """A clock that shows another millisecond whenever it is looked at."""

    def __call__(self) -> Micros:
        self.now = Micros(self.now + 1_000)
        return self.now


class Machine(Home):
    """A home with one device of a palace."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.clock = Ticking()

    def begins_project(self) -> None:
        """Give the project its first commit, by which it is known wherever it lies."""
        self._git("init", "-q")
        self._git("commit", "-q", "--allow-empty", "-m", "The first commit")

    def clones_project(self, other: Machine) -> None:
        """Have the project of another machine."""
        self._git("clone", "-q", str(other.place / "shop"), ".")

    def _git(self, *arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *arguments], cwd=self.place / "shop", check=True, capture_output=True)

    def join(self, remote: Path | str, **fields: object) -> SyncInitResult:
        """Meet at a remote."""
        with self.at() as context:
            return sync_init(context, SyncInitRequest(str(remote), **fields))  # type: ignore[arg-type]

    def push(self, **fields: object) -> PushedView:
        """Bring what is new."""
        with self.at() as context:
            (one,) = sync_push(context, SyncPushRequest(**fields)).remotes  # type: ignore[arg-type]
        return one

    def pull(self, **fields: object) -> PulledView:
        """Take in what is new."""
        with self.at() as context:
            (one,) = sync_pull(context, SyncPullRequest(**fields)).remotes  # type: ignore[arg-type]
        return one

    def status(self) -> RemoteStatus:
        """Say where the remote stands."""
        with self.at() as context:
            (one,) = sync_status(context, SyncStatusRequest()).remotes
        return one

    def say(self, text: str, wing: str = "shop") -> str:
        """File a note; return its id."""
        with self.at() as context:
            return remember(context, RememberRequest(text, wing=wing)).id

    def truth(self) -> list[bytes]:
        """Return all that the palace holds, as devices tell each other."""
        with closing(Database(self.place / "palace.db", "read")) as database, database.snapshot() as connection:
            return [
                record_lines.to_line(one) for one in record_reader.records(connection, tombstones=True, addresses=False)
            ]

    def finds(self, query: str) -> list[tuple[str, float, str]]:
        """Return what a search finds: ids, scores, texts."""
        with self.at() as context:
            return [(hit.id, hit.score, hit.text) for hit in search(context, SearchRequest(query, limit=20)).hits]

    def embeds(self) -> None:
        """Make all vectors, by the model that comes with the program."""
        with self.at() as context:
            context.writing().embed_pending()

    def wrong(self) -> list[str]:
        """Return what is not as it should be."""
        with self.at() as context:
            return [
                f"{check.name}: {check.detail}" for check in verify(context, VerifyRequest()).checks if not check.ok
            ]

    def works(self) -> None:
        """Do more than a little of everything."""
        super().works()
        with self.at() as context:
            forget(context, ForgetRequest((remember(context, RememberRequest("This is right.", wing="shop")).id,)))
            undo(context, UndoRequest())
            remember(context, RememberRequest("Of the old name.", wing="before"))
            wing_rename(context, WingRenameRequest("before", "after"))


def exchange(*machines: Machine) -> None:
    """Let each bring what it has, and take in what the others have brought, until nothing is new."""
    for _ in range(2):
        for machine in machines:
            machine.pull()
            machine.push()
    for machine in machines:
        machine.pull()
