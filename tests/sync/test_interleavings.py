"""Whatever is told, killed, told anew and read in between: who reads has what was told, each once and in order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sync.shared import PALACE, Device, Place

from palazzo.model import Micros
from palazzo.sync import segment_sequence, segments
from palazzo.sync.remotes import Kind
from palazzo.sync.segments import Head, Series

Deed = Literal["push", "anew", "killed before", "killed between", "killed after", "read", "read by new"]
DEEDS: tuple[Deed, ...] = ("push", "anew", "killed before", "killed between", "killed after", "read", "read by new")
STEPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(DEEDS), st.integers(0, 3), st.booleans()), max_size=14
)


class Killed(BaseException):
    """Ends a push where a process would be killed."""


class Writer:
    """A device that tells, and what it has been told that others may see of it: by epoch, all the lines."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.told: list[bytes] = []
        self._count = 0

    def recover(self) -> None:
        """Look whether a head that was about to be seen is there, as who syncs does at first."""
        device = self.device
        device.remote = device.another_process()
        if device.pending is not None and device.remote.look().heads.get(device.id) == device.pending:
            device.head = device.pending

    def tell(self, deed: Deed, count: int, anew: bool) -> None:
        self.recover()
        device = self.device
        lines = [b"%s %d" % (device.id[:1].encode(), self._count + n) for n in range(count)]
        self._count += count
        anew = (anew or deed == "anew") and device.head is not None
        given = [*self.told, *lines] if anew else lines
        series = Series.continue_from(PALACE, device.id, device.head, is_new_epoch=anew)
        some = segments.write(given, series, lambda: Micros(5))
        try:
            head = device.remote.push(some, expected=device.head, ready=self._ready(deed), is_new_epoch=anew)
        except Killed:
            self._count -= count
            return
        if head is not None:
            self.told += lines
            if deed != "killed after":
                device.head = head

    def _ready(self, deed: Deed) -> Callable[[Head], None]:
        def note(head: Head) -> None:
            if deed == "killed before":
                raise Killed
            self.device.pending = head
            if deed == "killed between":
                raise Killed

        return note


class Reader:
    """A device that reads: what it has of each other, which a new epoch of theirs replaces."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.read: dict[str, list[bytes]] = {}

    def look(self) -> dict[str, list[bytes]]:
        there = self.device.remote.look()
        for other, head in there.heads.items():
            seen = self.device.seen.get(other)
            fetch = self._fetch(other)
            for opened in segment_sequence.follow(fetch, there.names[other], head, seen, PALACE):
                if opened.header.n == 1:
                    self.read[other] = []
                self.read.setdefault(other, []).extend(opened.lines)
                self.device.seen[other] = opened.name
        return {other: lines for other, lines in self.read.items() if lines}

    def _fetch(self, other: str) -> segment_sequence.Fetch:
        return lambda name: self.device.remote.read(other, name)


def play(kind: Kind, directory: Path, steps: list[tuple[str, Deed, int, bool]]) -> None:
    place = Place(kind, directory)
    writers = {letter: Writer(place.device(letter)) for letter in "ab"}
    reader = Reader(place.device("c"))
    for letter, deed, count, anew in steps:
        truth = {writer.device.id: writer.told for writer in writers.values() if writer.told}
        if deed == "read":
            assert reader.look() == truth
        elif deed == "read by new":
            shutil.rmtree(directory / "cache-d", ignore_errors=True)
            assert Reader(place.device("d")).look() == truth
        else:
            writers[letter].tell(deed, count, anew)
    truth = {writer.device.id: writer.told for writer in writers.values() if writer.told}
    assert reader.look() == truth
    assert Reader(place.device("e")).look() == truth


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_in_a_folder(steps: list[tuple[str, Deed, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FULL", 8)
        play("folder", Path(directory), steps)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_in_a_repository(steps: list[tuple[str, Deed, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FULL", 8)
        play("git", Path(directory), steps)
