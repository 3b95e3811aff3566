"""R2: the k-th write, sync or truncation fails, for every k. What is there is the old state or the new one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.archive.conversations import PLACE, Ticking, answered, called, file_rows, file_version, said
from tests.derived.state import complaints, derived, drawers
from tests.reliability.sizes import moments

from palazzo.archive import erasure
from palazzo.archive.erasure_request import ErasureRequest
from palazzo.derived.rebuild import RebuildTarget
from palazzo.errors import PalaceUnusable
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store.faulty_disk import NEVER, Failure, FaultyDisk, broken, faulty_disk, full
from palazzo.text.hashed_words import ANYWHERE

pytestmark = pytest.mark.slow

ROWS = [said(n, "user" if n % 3 == 0 else "assistant", f"sentence {n} " * (n * 9 + 1)) for n in range(12)]
ROWS += [called(12, "Bash", "make all", "c"), answered(13, "ERROR: no rule to make target\n" * 40, "c")]

Action = Callable[[Palace], object]


def file_and_cut(palace: Palace) -> object:
    return file_rows(palace, ROWS)


def forget(palace: Palace) -> object:
    return palace.forget([drawer.id for drawer in drawers(palace)[:2]])


def move(palace: Palace) -> object:
    return palace.move([drawer.id for drawer in drawers(palace)[:2]], Place("web", "login"))


def remember(palace: Palace) -> object:
    return palace.remember("a note " * 400, PLACE, tags=["kept"])


def edit(palace: Palace) -> object:
    return file_version(palace, "# Two\n\nthe second version\n" * 30)


def erase(palace: Palace) -> object:
    wanted = ErasureRequest({"sentence 4 sentence": ANYWHERE, "earlier": ANYWHERE})
    with palace.database.snapshot() as connection:
        found = erasure.survey(connection, wanted, lambda what, done, total: None)
    palace.erase(wanted, found)
    return palace.finish_erasing()


@pytest.fixture(scope="module")
def before() -> Iterator[Path]:
    """A palace with something in it, closed."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as directory:
        path = Path(directory) / "before" / "palace.db"
        with Palace.open(path, clock=Ticking()) as palace:
            file_rows(palace, ROWS[:5])
            file_version(palace, "# One\n\nthe first version\n")
            palace.remember("an earlier note", PLACE)
        yield path


def truth(palace: Palace) -> tuple[object, ...]:
    """What must be wholly there or not at all: every item, act and revision, and all that is derived."""
    with palace.database.snapshot() as connection:
        counts = [
            list(connection.execute(f"SELECT count(*) FROM {table}"))
            for table in (
                "item",
                "link",
                "act",
                "act_span",
                "revision",
                "pack",
                "pack_reference",
                "landmark",
                "source",
                "room",
            )
        ]
    live = sorted((drawer.text, drawer.place.wing, drawer.tags) for drawer in drawers(palace))
    return (*map(str, counts), str(live))


def opened(path: Path) -> Palace:
    return Palace.open(path, clock=Ticking(1_800_000_000_000_000))


def attempt(path: Path, action: Action) -> bool:
    """Do it and close the palace; return whether the caller was told that it is done. No other error comes out."""
    try:
        with opened(path) as palace:
            action(palace)
    except PalaceUnusable:
        return False
    return True


def operations_of(disk: FaultyDisk, path: Path, action: Action) -> int:
    disk.heal()
    assert attempt(path, action)
    return disk.operations


@pytest.mark.parametrize(
    ("count", "failure"), [(1, broken), (NEVER, broken), (NEVER, full)], ids=["once", "dead", "full"]
)
@pytest.mark.parametrize(
    "action", [file_and_cut, forget, move, remember, edit, erase], ids=lambda action: action.__name__
)
def test_a_change_that_met_a_fault_is_done_or_not_done(
    before: Path, action: Action, count: int, failure: Failure
) -> None:
    name = f"{action.__name__} {count} {failure.__name__}"
    with faulty_disk() as disk:
        work = before.parent.parent / name
        after = fresh_copy(before, work / "after")
        total = operations_of(disk, after, action)
        with opened(fresh_copy(before, work / "old")) as palace:
            old = truth(palace)
        with opened(after) as palace:
            new = truth(palace)
        assert old != new
        for k in moments(total):
            path = fresh_copy(before, work / "tried")
            disk.fail(k, count, failure)
            done = attempt(path, action)
            disk.heal()
            with opened(path) as palace:
                found = truth(palace)
                assert found in ((new,) if done else (old, new)), f"fault {k} of {total}"
                assert complaints(palace) == []
                if found == old:
                    action(palace)
                    assert truth(palace) == new
        shutil.rmtree(work)


@pytest.mark.parametrize(
    "action", [file_and_cut, forget, move, remember, edit, erase], ids=lambda action: action.__name__
)
def test_a_power_cut_at_any_moment_loses_nothing_that_was_acknowledged(before: Path, action: Action) -> None:
    """All that SQLite had not made permanent by a sync is gone, as a drive's cache goes."""
    with faulty_disk() as disk:
        work = before.parent.parent / f"power {action.__name__}"
        after = fresh_copy(before, work / "after")
        disk.remembers = True
        with opened(fresh_copy(before, work / "old")) as palace:
            old = truth(palace)
        disk.heal()
        with opened(after) as palace:
            action(palace)
            total = disk.operations
            new = truth(palace)
        for k in moments(total + 1):
            path = fresh_copy(before, work / "tried")
            disk.permanent.clear()
            disk.fail(k)
            done = acknowledged_before_close(path, action, disk)
            disk.heal()
            with opened(path) as palace:
                assert truth(palace) in ((new,) if done else (old, new)), f"cut at {k} of {total}"
                assert complaints(palace) == []
        assert done
        shutil.rmtree(work)


def acknowledged_before_close(path: Path, action: Action, disk: FaultyDisk) -> bool:
    """Do it and cut the power before anything is closed in order."""
    palace = None
    try:
        palace = opened(path)
        action(palace)
    except PalaceUnusable:
        return False
    else:
        return True
    finally:
        disk.fail(1)
        kept = dict(disk.permanent)
        if palace is not None:
            palace.close()
        disk.permanent = kept
        disk.lose_power()
        for volatile in path.parent.glob("*-shm"):
            volatile.unlink()


def test_making_a_palace_that_met_a_fault_can_be_done_again(before: Path) -> None:
    work = before.parent.parent / "created"
    with faulty_disk() as disk:
        total = operations_of(disk, work / "first" / "palace.db", remember)
        for count in (1, NEVER):
            for k in moments(total):
                path = work / f"{count}-{k}" / "palace.db"
                disk.fail(k, count)
                done = attempt(path, remember)
                disk.heal()
                with opened(path) as palace:
                    assert len(drawers(palace)) >= (1 if done else 0)
                    remember(palace)
                    assert complaints(palace) == []
    shutil.rmtree(work)


@pytest.mark.parametrize("what", ["drawers", "fts", "all"])
def test_a_rebuild_that_met_a_fault_lost_nothing_and_can_be_done_again(before: Path, what: RebuildTarget) -> None:
    def rebuild(palace: Palace) -> None:
        palace.rebuild(what)

    with faulty_disk() as disk:
        work = before.parent.parent / f"rebuild-{what}"
        total = operations_of(disk, fresh_copy(before, work / "after"), rebuild)
        with opened(before) as palace:
            expected = derived(palace)
        for count in (1, NEVER):
            for k in range(1, total + 1):
                path = fresh_copy(before, work / "tried")
                disk.fail(k, count)
                attempt(path, rebuild)
                disk.heal()
                with opened(path) as palace:
                    assert derived(palace) == expected
                    assert complaints(palace) == [], f"fault {k} of {total}"
                    palace.rebuild("all")
                    assert derived(palace) == expected
        shutil.rmtree(work)


def test_a_palace_goes_on_working_after_a_fault_without_being_reopened(before: Path) -> None:
    with faulty_disk() as disk:
        path = fresh_copy(before, before.parent.parent / "goes-on")
        with opened(path) as palace:
            for k in range(1, 12):
                disk.fail(k, 1)
                try:
                    palace.remember(f"note {k}", PLACE)
                except PalaceUnusable:
                    disk.heal()
                    palace.remember(f"note {k}", PLACE)
                disk.heal()
            assert complaints(palace) == []
            assert {f"note {k}" for k in range(1, 12)} <= {drawer.text for drawer in drawers(palace)}


def fresh_copy(before: Path, directory: Path) -> Path:
    if directory.exists():
        shutil.rmtree(directory)
    shutil.copytree(before.parent, directory)
    return directory / before.name
