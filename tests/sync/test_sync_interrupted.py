"""Syncing that is interrupted at any step: the next one finishes it, and nothing is told twice or lost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.sync.machines import Machine, exchange

from palazzo.features.sync.contract import SyncPullRequest
from palazzo.features.sync.remote_access import connect_remote, select_remotes
from palazzo.features.sync.sync_pull import sync_pull
from palazzo.operations.context import Progress
from palazzo.sync import push as pushing
from palazzo.sync.remotes import Ready, Remote, RemoteState
from palazzo.sync.remotes.folder_remote import Folder
from palazzo.sync.segments import Head, Segment, SegmentName


class Killed(BaseException):
    """Stands for a kill."""


class Dying:
    """A folder whose user dies in the middle of a push: before others see it, or after."""

    kind = "folder"

    def __init__(self, folder: Path, seen_by_others: bool) -> None:
        self._folder, self._seen = Folder(folder), seen_by_others
        self.address = str(folder)

    def look(self) -> RemoteState:
        """Return what is there."""
        return self._folder.look()

    def read(self, device: str, name: SegmentName) -> bytes:
        """Return a segment."""
        return self._folder.read(device, name)

    def introduce(self, about: bytes) -> bytes:
        """Never asked."""
        raise NotImplementedError

    def push(
        self,
        segments: Iterable[Segment],
        *,
        expected: Head | None,
        ready: Ready,
        device_name: str = "",
        is_new_epoch: bool = False,
    ) -> Head | None:
        """Bring what is told, and die."""

        def dying(head: Head) -> None:
            ready(head)
            if not self._seen:
                raise Killed

        self._folder.push(segments, expected=expected, ready=dying, device_name=device_name, is_new_epoch=is_new_epoch)
        raise Killed

    def tidy(self, head: Head) -> None:
        """Never asked."""
        raise NotImplementedError


def two(tmp_path: Path) -> tuple[Machine, Machine]:
    """Two machines that have met."""
    (tmp_path / "remote").mkdir()
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say("the first machine was here")
    one.join(tmp_path / "remote", save_key=tmp_path / "key")
    one.push()
    other.join(tmp_path / "remote", key=tmp_path / "key")
    other.pull()
    return one, other


@pytest.mark.parametrize("seen_by_others", [False, True])
def test_a_push_that_was_killed_is_finished_by_the_next(tmp_path: Path, seen_by_others: bool) -> None:
    one, other = two(tmp_path)
    one.works()
    dying: Remote = Dying(tmp_path / "remote", seen_by_others)  # type: ignore[assignment]
    with one.at() as context:
        (remote,) = select_remotes(context, None)
        at = connect_remote(context, remote)
        with pytest.raises(Killed):
            pushing.push(at.database, remote, dying, at.palace, at.device, context.writing().clock)
    assert (other.pull().segments > 0) is seen_by_others
    exchange(one, other)
    assert one.truth() == other.truth()
    assert one.wrong() == []


@pytest.mark.slow
def test_a_pull_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    one, other = two(tmp_path)
    for n in range(3):
        one.say(f"sentence {n} of the first machine")
        one.push()

    def dies(progress: Progress) -> None:
        if progress.done == 2:
            raise Killed

    with other.at() as context:
        context.on_progress = dies
        with pytest.raises(Killed):
            sync_pull(context, SyncPullRequest())
    assert other.wrong() == []
    assert [f"sentence {n}" in str(other.finds("sentence")) for n in range(3)] == [True, True, False]
    exchange(one, other)
    assert one.truth() == other.truth()
