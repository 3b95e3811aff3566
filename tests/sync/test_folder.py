"""A folder as a remote: what carries it does as it likes, and disks are full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.sync.shared import Device, Place

from palazzo.errors import RemoteUnusable, SegmentUnreadable

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and limits of POSIX")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("folder", tmp_path)


def directory(place: Place, device: Device) -> Path:
    return place.there / "devices" / device.id


def test_what_carries_the_folder_leaves_copies_and_parts_that_nobody_reads(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    own = directory(place, a)
    (name,) = (path.name for path in own.glob("*.seg"))
    for other in (
        *(name.replace(".seg", ".sync-conflict-20261122-180000-ABCDEFG.seg"), f".syncthing.{name}.tmp"),
        *("head.sync-conflict-20261122-180000-ABCDEFG", "HEAD", name.upper(), f"{name}.part", "desktop.ini"),
    ):
        if not (own / other).exists():  # a file system that does not tell cases apart
            (own / other).write_bytes(b"half")
    (place.there / "devices" / "A").mkdir(exist_ok=True)
    (place.there / "devices" / "notes").write_text("mine")
    (place.there / "palazzo.sync-conflict.json").write_text("{}")
    assert b.pull() == [b"1"]
    a.push(b"2")
    assert b.pull() == [b"2"]
    assert (own / f"{name}.part").read_bytes() == b"half"


def test_a_segment_that_is_half_carried_is_waited_for(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    head = a.push(b"2" * 10_000)
    assert head is not None
    path = directory(place, a) / str(head.name)
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    with pytest.raises(SegmentUnreadable, match="wait until it is copied"):
        b.pull()
    path.unlink()
    with pytest.raises(SegmentUnreadable, match="still being copied"):
        b.pull()
    path.write_bytes(whole)
    assert b.pull() == [b"2" * 10_000]  # the first was read before


def test_a_head_that_is_half_carried_is_said_of_that_device_alone(place: Place) -> None:
    a, b, c = place.device("a"), place.device("b"), place.device("c")
    a.push(b"1")
    b.push(b"2")
    head = directory(place, a) / "head"
    head.write_bytes(head.read_bytes()[:30])
    assert c.pull() == [b"2"]
    assert list(c.remote.look().head_errors) == [a.id]
    a.push(b"3")
    assert c.pull() == [b"1", b"3"]


@posix
def test_links_and_pipes_are_not_followed(place: Place, tmp_path: Path) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    head = a.push(b"2")
    assert head is not None
    for make in (lambda path: path.symlink_to(tmp_path / "elsewhere"), os.mkfifo, Path.mkdir):
        path = directory(place, a) / str(head.name)
        path.unlink()
        make(path)
        with pytest.raises(SegmentUnreadable):
            place.device("c").pull()
        if path.is_dir():
            path.rmdir()
            path.touch()
    os.mkfifo(place.there / "palazzo.json")
    assert b.remote.look().about is None


def test_a_file_that_is_too_large_is_not_read(place: Place) -> None:
    a = place.device("a")
    head = a.push(b"1")
    assert head is not None
    with (directory(place, a) / str(head.name)).open("r+b") as file:
        file.truncate(10**10)
    with pytest.raises(SegmentUnreadable, match="larger than any file that Palazzo writes"):
        place.device("b").pull()


def test_what_a_killed_push_left_is_taken_away_by_the_next(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    left = directory(place, a) / f"1-2-{'f' * 40}.seg"
    left.write_bytes(b"left")
    newer = directory(place, a) / f"2-1-{'f' * 40}.seg"
    newer.write_bytes(b"left")
    half = directory(place, a) / ".palazzo-0123456789abcdef.part"
    half.write_bytes(b"half")
    a.push(b"2")
    assert not half.exists()
    assert not left.exists()
    assert not newer.exists()
    assert place.device("b").pull() == [b"1", b"2"]


def test_a_new_epoch_whose_end_was_killed_is_tidied(place: Place) -> None:
    a = place.device("a")
    a.push(b"secret")
    former = next(directory(place, a).glob("*.seg"))
    content = former.read_bytes()
    head = a.push(b"anew", is_new_epoch=True)
    assert head is not None
    former.write_bytes(content)  # as if it had not come to that
    (directory(place, a) / ".palazzo-0123456789abcdef.part").write_bytes(b"secret, half written")
    a.remote.tidy(head)
    assert sorted(path.name for path in directory(place, a).iterdir()) == sorted([str(head.name), "head"])


@posix
def test_what_lies_there_is_for_its_owner(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    a.remote.introduce(b"{}")
    made = [*(place.there / "devices").rglob("*"), place.there / "palazzo.json", place.there / "devices"]
    assert [path for path in made if path.stat().st_mode & 0o077] == []


@pytest.fixture
def as_anybody() -> Iterator[Path]:
    """A directory, and nobody's rights for whoever is root: a root writes everywhere."""
    if os.name != "posix":
        pytest.skip("rights of POSIX")
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())
        for path in Path(made).rglob("*"):
            path.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_one_sentence_and_is_still_read(as_anybody: Path) -> None:
    place = Place("folder", as_anybody)
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    for path in (place.there / "devices").rglob("*"):
        path.chmod(0o644 if path.is_file() else 0o555)
    for path in (place.there / "devices", place.there):
        path.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)
    with pytest.raises(RemoteUnusable, match="cannot be written: check its permissions"):
        a.push(b"2")
    with pytest.raises(RemoteUnusable, match="cannot be written"):
        b.remote.introduce(b"{}")
    assert b.pull() == [b"1"]


@posix
def test_a_disk_that_is_full_is_one_sentence_and_leaves_what_was_there(place: Place) -> None:
    import resource

    a = place.device("a")
    a.push(b"1")
    before = sorted(place.there.rglob("*"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(RemoteUnusable, match="is full: free some space"):
            a.push(Random(1).randbytes(5000).hex().encode())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert sorted(place.there.rglob("*")) == before
    a.push(b"2")
    assert place.device("b").pull() == [b"1", b"2"]


PUSHING = """
import sys
from pathlib import Path
from tests.sync import shared
from palazzo.sync import segments
segments.FULL = 1000
place = shared.Place.__new__(shared.Place)
place.kind, place.directory = sys.argv[1], Path(sys.argv[2])
place.there = place.directory / "there"
a = place.device("a")
there = a.remote.look()
a.head = there.heads.get(a.id)
number = 0
while True:
    number += 1
    a.push(*[b"%d %d" % (number, line) + b" " * 300 for line in range(20)], is_new_epoch=number % 5 == 0)
    print(number, flush=True)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("kind", ["folder", "git"])
def test_whenever_a_push_is_killed_the_others_read_all_of_it_or_nothing(kind: str, tmp_path: Path) -> None:
    place = Place(kind, tmp_path)  # type: ignore[arg-type]
    random = Random(12)
    rounds = int(os.environ.get("PALAZZO_PUSH_KILLS", "15"))
    b = place.device("b")
    for _ in range(rounds):
        program = [sys.executable, "-c", PUSHING, kind, str(tmp_path)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, start_new_session=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0, 0.3))
            os.killpg(process.pid, signal.SIGKILL)
        fresh = place.device("c").pull()
        assert len(fresh) % 20 == 0
        assert fresh
        while read := b.pull():  # git outlives who started it and was killed, and may bring that push a moment later
            assert len(read) % 20 == 0
