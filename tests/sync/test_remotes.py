"""What every remote promises: a folder and a branch of a git repository, by the same tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.sync.shared import Place, git

from palazzo.errors import DeviceCopied, RemoteRewritten, RemoteUnusable, SegmentUnreadable
from palazzo.model import Micros
from palazzo.sync import segments
from palazzo.sync.remotes import RemoteState
from palazzo.sync.segments import Head


@pytest.fixture(params=["folder", pytest.param("git", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "git" and shutil.which("git") is None:
        pytest.skip("needs git")
    return Place(request.param, tmp_path)


def files_there(place: Place) -> set[str]:
    """What another device would find, whatever it is."""
    if place.kind == "git":
        return set(git("ls-tree", "-r", "--name-only", "palazzo/v1", cwd=place.there).splitlines())
    return {path.relative_to(place.there).as_posix() for path in place.there.rglob("*") if path.is_file()}


def test_what_one_tells_the_others_read_once_and_in_order(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    assert a.remote.look() == RemoteState()
    a.push(b"1", b"2")
    b.push(b"3")
    a.push(b"4")
    assert b.pull() == [b"1", b"2", b"4"]
    assert b.pull() == []
    assert a.pull() == [b"3"]
    a.push(b"5")
    assert b.pull() == [b"5"]
    assert place.device("c").pull() == [b"1", b"2", b"4", b"5", b"3"]


def test_nothing_to_tell_is_nothing_there(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    before = files_there(place)
    assert a.push() is None
    assert files_there(place) == before
    assert a.pending == a.head


def test_whose_remote_it_is_is_said_by_the_first_alone(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    b.remote.look()
    assert a.remote.introduce(b"{1}") == b"{1}"
    assert b.remote.introduce(b"{2}") == b"{1}"
    a.push(b"1")
    there = b.remote.look()
    assert there.about == b"{1}"
    assert there.heads[a.id].called == "a"


def test_who_tells_all_anew_takes_its_own_former_segments_away_and_no_others(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"secret")
    a.push(b"more")
    b.push(b"3")
    a.push(b"told anew", is_new_epoch=True)
    assert {device: len(names) for device, names in b.remote.look().names.items()} == {a.id: 1, b.id: 1}
    assert b.pull() == [b"told anew"]
    b.push(b"4")
    assert a.pull() == [b"3", b"4"]
    assert len([name for name in files_there(place) if a.id in name]) == 2  # the segment and the head


def test_a_process_that_has_just_begun_goes_on(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    a.remote = a.another_process()
    a.push(b"2")
    assert place.device("b").pull() == [b"1", b"2"]


def test_the_head_is_told_before_others_see_it_and_whoever_refuses_it_changes_nothing(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    series = segments.Series.continue_from("c" * 32, a.id, a.head)
    seen: list[dict[str, Head]] = []

    def refuse(head: Head) -> None:
        seen.append(dict(b.remote.look().heads))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a.remote.push(segments.write([b"2"], series, lambda: Micros(6)), expected=a.head, ready=refuse)
    assert seen == [{a.id: a.head}]
    assert b.pull() == [b"1"]
    a.push(b"two")
    assert b.pull() == [b"two"]


def test_a_palace_that_was_copied_is_told_apart_and_changes_nothing(place: Place) -> None:
    a, copy = place.device("a"), place.device("a")
    a.push(b"1")
    copy.head = a.head
    a.push(b"2")
    before = files_there(place)
    with pytest.raises(DeviceCopied, match=r"sync init .* --new-device"):
        copy.push(b"3")
    assert files_there(place) == before
    with pytest.raises(DeviceCopied):  # restored from a backup of before the first push
        place.device("a").push(b"4")


def test_a_remote_that_was_emptied_is_not_filled_with_half_a_past(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    shutil.rmtree(place.there)
    empty = Place(place.kind, place.directory / "again")
    empty.there.rename(place.there)
    a.remote = a.another_process()
    with pytest.raises(RemoteRewritten, match=r"'palazzo sync init .* --again'"):
        a.push(b"2")
    assert a.remote.look() == RemoteState()
    a.head = None
    a.push(b"1", b"2")
    assert place.device("b").pull() == [b"1", b"2"]


def test_a_remote_that_went_back_is_told_by_who_writes_and_by_who_reads(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    kept = place.directory / "kept"
    shutil.copytree(place.there, kept)
    a.push(b"2")
    b.pull()
    shutil.rmtree(place.there)
    kept.rename(place.there)
    a.remote, b.remote = a.another_process(), b.another_process()
    with pytest.raises(RemoteRewritten, match="rewritten"):
        a.push(b"3")
    with pytest.raises(RemoteRewritten, match="went back"):
        b.pull()


def test_a_remote_that_vanished_is_one_sentence(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    shutil.rmtree(place.there)
    for attempt in (a.remote.look, b.remote.look, lambda: a.push(b"2"), lambda: b.remote.introduce(b"{}")):
        with pytest.raises(RemoteUnusable, match=str(place.there)) as refused:
            attempt()
        assert "\n" not in str(refused.value)
    assert not place.there.exists()


def test_a_segment_that_is_no_longer_there_is_one_sentence(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    there = b.remote.look()
    a.push(b"2", is_new_epoch=True)
    b.remote.look()
    with pytest.raises(SegmentUnreadable, match="pull again"):
        b.remote.read(a.id, there.names[a.id][0])


def test_many_segments_arrive_in_order(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "FULL", 10)
    a = place.device("a")
    lines = [b"line %d" % n for n in range(12)]
    a.push(*lines)
    assert len(a.remote.look().names[a.id]) > 10  # 10 sorts before 2 by name
    assert place.device("b").pull() == lines


def test_who_pushes_in_between_is_not_lost(place: Place) -> None:
    a, b, c = place.device("a"), place.device("b"), place.device("c")
    a.push(b"1")
    b.push(b"2")
    b.remote.look()
    a.push(b"3", is_new_epoch=True)  # b has not seen this
    b.push(b"4")
    assert c.pull() == [b"3", b"2", b"4"]


def test_tidying_leaves_what_is_told(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    head = a.push(b"2", is_new_epoch=True)
    assert head is not None
    b.push(b"3")
    a.remote.tidy(head)
    assert place.device("c").pull() == [b"2", b"3"]
    b.remote.tidy(head)  # an older head than is there, or another's, harms nothing
    a.push(b"4")
    a.remote.tidy(head)
    assert place.device("d").pull() == [b"2", b"4", b"3"]
