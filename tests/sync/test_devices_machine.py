"""Devices write, forget, undo, erase, push and pull in any order, and pushes are killed: nothing acknowledged is lost.

A Hypothesis state machine on real palaces with a folder between them. After each step the device that acted holds
every text that it held before, except erased ones, and none that was erased there. At the end all devices exchange
everything: then they hold the same records, to the byte, each text that was not erased, and the remote has no erased
word.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.reliability.sizes import FACTOR
from tests.sync.machines import Machine, exchange
from tests.sync.test_devices import told_lines

from palazzo.errors import UsageError
from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase
from palazzo.features.notes.contract import ForgetRequest, UndoRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.undo import undo
from palazzo.model import Micros
from palazzo.sync import push
from palazzo.sync.remotes.folder_remote import Folder

COUNT = 3
_MARKER = re.compile(rb"marker\d{7}")
MOMENTS = ("segments written", "head noted", "head written", "earlier segments removed")
devices = st.integers(0, COUNT - 1)
choices = st.integers(0, 1_000)


class Killed(BaseException):
    """Ends a push where a process would be killed."""


@contextlib.contextmanager
def killed_after(moment: str) -> Iterator[None]:
    """Let a push end after one of its parts, as if its process had been killed."""

    def end(*_: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        if moment == "segments written":
            patch.setattr(push, "_note_ready", end)
        elif moment == "head noted":
            patch.setattr("palazzo.sync.remotes.folder_remote.dump_head", end)
        elif moment == "head written":
            patch.setattr(Folder, "tidy", end)
            patch.setattr(push, "_note_done", end)
        else:
            patch.setattr(push, "_note_done", end)
        yield


class Devices(RuleBasedStateMachine):
    """Devices of one palace, and for each what it must hold."""

    root: Path
    """A directory with `sound`, joined devices that have written nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.work = self.root / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.machines = [Machine(self.work / f"device{n}") for n in range(COUNT)]
        shutil.copytree(self.root / "sound", self.work, dirs_exist_ok=True)
        for n, machine in enumerate(self.machines):
            machine.clock.now = Micros(machine.clock.now + 3_600_000_000 + n * 7_000)
        self.held: list[set[str]] = [set() for _ in range(COUNT)]
        self.gone: list[set[str]] = [set() for _ in range(COUNT)]
        """By device, the words of erased texts that it does not hold any more."""
        self.written: dict[str, str] = {}
        """By word, the id of its note."""
        self.erased: set[str] = set()

    @classmethod
    def prepare(cls, root: Path) -> None:
        """Let devices join, and keep a copy of them."""
        cls.root, work = root, root / "work"
        (work / "remote").mkdir(parents=True)
        for n in range(COUNT):
            machine, key = Machine(work / f"device{n}"), work / "key"
            machine.join(work / "remote", **({"save_key": key} if n == 0 else {"key": key}))
        shutil.copytree(work, root / "sound")

    # --- rules ---------------------------------------------------------------------------------------------

    @rule(device=devices)
    def write(self, device: int) -> None:
        word = f"marker{len(self.written):07d}"
        self.written[word] = self.machines[device].say(f"The note {word} says: the heron waits.")
        self.held[device].add(word)
        self.look(device)

    @rule(device=devices, choice=choices)
    def forget_one(self, device: int, choice: int) -> None:
        word = self.choose(device, choice)
        if word is None:
            return
        with self.machines[device].at() as context, contextlib.suppress(UsageError):  # it was forgotten before
            forget(context, ForgetRequest((self.written[word],)))
        self.look(device)

    @rule(device=devices)
    def undo_last(self, device: int) -> None:
        with self.machines[device].at() as context, contextlib.suppress(UsageError):  # there is nothing to undo
            undo(context, UndoRequest())
        self.look(device)

    @rule(device=devices, choice=choices)
    def erase_one(self, device: int, choice: int) -> None:
        word = self.choose(device, choice)
        if word is None:
            return
        with self.machines[device].at() as context:
            erase(context, EraseRequest(match=word, even_most=True))
        self.erased.add(word)
        self.held[device].discard(word)
        self.gone[device].add(word)
        self.look(device)

    @rule(device=devices)
    def push_all(self, device: int) -> None:
        self.machines[device].push()
        self.look(device)

    @rule(device=devices, moment=st.sampled_from(MOMENTS))
    def push_and_be_killed(self, device: int, moment: str) -> None:
        with killed_after(moment):
            self.machines[device].push()
        self.look(device)

    @rule(device=devices)
    def pull_all(self, device: int) -> None:
        self.machines[device].pull()
        self.look(device)

    # --- what must hold ------------------------------------------------------------------------------------

    def choose(self, device: int, choice: int) -> str | None:
        """Return the word of one of the texts that a device holds; None if it holds none."""
        words = sorted(self.held[device])
        return words[choice % len(words)] if words else None

    def look(self, device: int) -> None:
        """Compare what a device holds with what it must hold."""
        words = {word.decode() for word in _MARKER.findall(b"\n".join(self.machines[device].truth()))}
        missing = self.held[device] - words
        assert missing <= self.erased, f"device {device} lost {missing - self.erased}"
        assert not words & self.gone[device], f"erased words came back to device {device}"
        self.gone[device] |= missing
        self.held[device] = words

    def teardown(self) -> None:
        exchange(*self.machines)
        for device in range(COUNT):
            self.look(device)
        expected = set(self.written) - self.erased
        assert [held == expected for held in self.held] == [True] * COUNT
        first = self.machines[0].truth()
        assert all(machine.truth() == first for machine in self.machines[1:])
        _, lines = told_lines(self.work / "remote")
        told_words = set(_MARKER.findall(json.dumps(lines).encode()))
        assert {word.decode() for word in told_words} == expected
        assert self.machines[0].wrong() == []


def run(examples: int, steps: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        Devices.prepare(Path(directory))
        run_state_machine_as_test(
            Devices,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )


def test_devices_agree_and_lose_nothing() -> None:
    run(examples=3, steps=12)


@pytest.mark.slow
def test_devices_agree_and_lose_nothing_in_longer_runs() -> None:
    run(examples=20 if FACTOR >= 1 else 8, steps=40)
