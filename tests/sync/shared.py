"""Devices that share a remote, for tests: each has what a palace remembers of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from palazzo.model import Micros
from palazzo.sync import segment_sequence, segments
from palazzo.sync.remotes import Kind, Remote
from palazzo.sync.remotes.remote_factory import RemoteLocation, open_remote
from palazzo.sync.segments import Head, SegmentName, Series

PALACE = "c" * 32


def git(*arguments: str, cwd: Path) -> str:
    """Run git as a person would, with settings of nobody's."""
    who = {f"GIT_{role}_{what}": "t@t" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env={**os.environ, **who, **settings}, capture_output=True, text=True, check=True
    )
    return done.stdout


class Place:
    """Where devices meet: an empty folder, or a bare repository."""

    def __init__(self, kind: Kind, directory: Path) -> None:
        self.kind, self.directory = kind, directory
        self.there = directory / "there"
        self.there.mkdir(parents=True)
        if kind == "git":
            git("init", "--quiet", "--bare", ".", cwd=self.there)

    def device(self, letter: str) -> Device:
        """Return a device whose id is that letter, with a cache of its own."""
        return Device(self, letter)


class Device:
    """One device, and what its palace would remember: its head there, and what it has read of each other."""

    def __init__(self, place: Place, letter: str) -> None:
        self.id, self._place = letter * 32, place
        self.cache = place.directory / f"cache-{letter}"
        self.head: Head | None = None
        self.pending: Head | None = None
        self.seen: dict[str, SegmentName] = {}
        self.remote: Remote = self.another_process()

    def another_process(self) -> Remote:
        """Return the remote as a process sees it that has just begun."""
        return open_remote(RemoteLocation(self._place.kind, str(self._place.there)), self.cache)

    def push(self, *lines: bytes, is_new_epoch: bool = False) -> Head | None:
        """Tell lines; see `Remote.push`."""
        series = Series.continue_from(PALACE, self.id, self.head, is_new_epoch=is_new_epoch)
        some = segments.write(lines, series, lambda: Micros(5))
        head = self.remote.push(
            some, expected=self.head, ready=self._note, device_name=self.id[0], is_new_epoch=is_new_epoch
        )
        self.head = head or self.head
        return head

    def pull(self) -> list[bytes]:
        """Return the lines that are new, of all devices but this, in the order of the devices."""
        there = self.remote.look()
        new: list[bytes] = []
        for device, head in sorted(there.heads.items()):
            if device == self.id:
                continue
            names: Sequence[SegmentName] = there.names[device]
            for opened in segment_sequence.follow(self._fetching(device), names, head, self.seen.get(device), PALACE):
                new += opened.lines
                self.seen[device] = opened.name
        return new

    def _fetching(self, device: str) -> segment_sequence.Fetch:
        return lambda name: self.remote.read(device, name)

    def _note(self, head: Head) -> None:
        self.pending = head
