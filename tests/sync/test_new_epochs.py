"""After an erasure a device sends everything again, in a new epoch; what only its earlier segments held stays there.

The explicit model (`epoch_model`) found the first case.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sync.machines import Machine

from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase

HERON, OTTER = "The heron stands in the reeds of the pond.", "The otter sleeps under the bridge."


def erase_text(machine: Machine, match: str) -> None:
    with machine.at() as context:
        erase(context, EraseRequest(match=match, even_most=True))


@pytest.fixture
def relayed(tmp_path: Path) -> tuple[Machine, Machine, Path]:
    """Two devices, and a remote to which the first has sent the notes of both; the second has erased the first's."""
    first, second = Machine(tmp_path / "first"), Machine(tmp_path / "second")
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    first.join(near, save_key=tmp_path / "key", name="near")
    first.join(far, name="far")
    first.say(OTTER)
    first.push(remote="near")
    second.join(near, key=tmp_path / "key", name="near")
    second.join(far, key=tmp_path / "key", name="far")
    second.pull(remote="near")
    second.say(HERON)
    second.push(remote="near")
    first.pull(remote="near")
    first.push(remote="far")
    erase_text(second, "otter sleeps")
    return first, second, far


def arrives(tmp_path: Path, far: Path) -> Machine:
    """Let a third device join at the remote, and return it."""
    third = Machine(tmp_path / "third")
    third.join(far, key=tmp_path / "key", name="far")
    third.pull(remote="far")
    return third


def assert_only_the_heron(third: Machine) -> None:
    assert {text for _, _, text in third.finds("heron otter")} == {HERON}
    assert third.wrong() == []


def test_a_new_device_gets_what_another_had_relayed_before_an_erasure(
    relayed: tuple[Machine, Machine, Path], tmp_path: Path
) -> None:
    first, second, far = relayed
    second.pull(remote="far")
    second.push(remote="far")  # the erasure; the second's own note is there already, by the first
    first.pull(remote="far")
    assert first.push(remote="far").anew
    second.pull(remote="far")
    second.push(remote="far")
    assert_only_the_heron(arrives(tmp_path, far))


def test_it_gets_that_also_if_the_author_is_lost(relayed: tuple[Machine, Machine, Path], tmp_path: Path) -> None:
    first, second, far = relayed
    second.pull(remote="far")
    second.push(remote="far")
    second.say("The kingfisher dives.")
    second.push(remote="near")
    first.pull(remote="near")  # the note and the erasure; nothing of the second comes to the far remote from now on
    first.push(remote="far")
    erase_text(first, "heron stands")
    assert first.push(remote="far").anew
    third = arrives(tmp_path, far)
    assert "The kingfisher dives." in {text for _, _, text in third.finds("kingfisher")}
