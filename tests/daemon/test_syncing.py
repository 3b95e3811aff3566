"""The service syncs by itself with remotes that ask for it: when writes are over, and ever later after failures."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.sync.machines import Machine

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.sync_schedule import BackgroundSync, Timing
from palazzo.features.sync import automatic_sync
from palazzo.features.upkeep.contract import DoctorRequest, StatusRequest
from palazzo.features.upkeep.doctor import doctor
from palazzo.features.upkeep.status import status


def test_it_is_due_at_the_start_when_writes_have_gone_quiet_and_now_and_then() -> None:
    timing = Timing()
    assert timing.is_due(7, 0.0)
    timing.record_sync(7, 1.0, well=True)
    assert not timing.is_due(7, 100.0)
    assert not timing.is_due(9, 101.0)
    assert not timing.is_due(9, 120.0)
    assert timing.is_due(9, 132.0)
    timing.record_sync(9, 133.0, well=True)
    assert timing.is_due(9, 1_100.0)


def test_after_a_failure_it_is_tried_again_ever_later() -> None:
    timing = Timing()
    timing.record_sync(7, 0.0, well=False)
    assert not timing.is_due(8, 299.0)
    assert timing.is_due(8, 301.0)
    timing.record_sync(8, 301.0, well=False)
    assert not timing.is_due(8, 900.0)
    assert timing.is_due(8, 902.0)


def test_two_machines_sync_by_themselves(tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say("the first machine speaks")
    one.join(remote, automatic=True, save_key=tmp_path / "key")
    other.join(remote, automatic=True, key=tmp_path / "key")
    for machine in (one, other):
        pool = Pool()
        thread = BackgroundSync(machine.place / "palace.db", machine.variables, pool)
        thread.begin()
        _until_synced(machine)
        thread.end()
        pool.close()
    assert other.finds("first machine")


def _until_synced(machine: Machine) -> None:
    for _ in range(300):
        now = machine.status()
        if now.pulled_at is not None and now.pushed_at is not None and now.waiting == 0:
            return
        time.sleep(0.1)
    pytest.fail("it did not come to be")


def test_what_went_wrong_is_told_by_status_and_doctor_until_it_is_mended(tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    one = Machine(tmp_path / "one")
    one.say("the first machine speaks")
    one.join(remote, automatic=True)
    remote.rename(tmp_path / "away")
    with one.at() as context:
        assert not automatic_sync.sync(context, automatic_sync.automatic(context))
    with one.at() as context:
        assert "does not exist" in status(context, StatusRequest()).sync_failed["default"]
        (found,) = (finding for finding in doctor(context, DoctorRequest()).findings if finding.name == "sync")
        assert (found.ok, found.mend) == (False, "palazzo sync now default")
    (tmp_path / "away").rename(remote)
    with one.at() as context:
        assert automatic_sync.sync(context, automatic_sync.automatic(context))
        assert status(context, StatusRequest()).sync_failed == {}


def test_what_one_device_told_badly_is_told_too_and_keeps_nothing_back(tmp_path: Path) -> None:
    remote = tmp_path / "remote"
    remote.mkdir()
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.join(remote, automatic=True, save_key=tmp_path / "key")
    other.join(remote, key=tmp_path / "key")
    other.say("the other machine speaks")
    other.push()
    (segment,) = remote.rglob("*.seg")
    segment.write_bytes(segment.read_bytes()[:50])
    one.say("the first machine speaks")
    with one.at() as context:
        assert automatic_sync.sync(context, automatic_sync.automatic(context))
    now = one.status()
    assert (now.waiting, "damaged or incomplete" in (now.failure or "")) == (0, True)


def test_a_remote_that_did_not_ask_for_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "remote").mkdir()
    one = Machine(tmp_path / "one")
    one.say("the first machine speaks")
    one.join(tmp_path / "remote")
    with one.at() as context:
        assert automatic_sync.automatic(context) == []
