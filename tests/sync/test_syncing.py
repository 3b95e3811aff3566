"""Devices of one palace that meet at a remote: what one says the other knows, and what is not to leave stays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.sync.machines import Machine, exchange

from palazzo.errors import DeviceCopied, NotFound, PalazzoError, RemoteRewritten, RemoteUnusable, UsageError, WrongKey
from palazzo.features.erase.contract import EraseRequest
from palazzo.features.erase.erase import erase
from palazzo.features.facts.contract import KgAddRequest, KgConflictsRequest, KgDismissRequest, KgPredicateRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_conflicts import kg_conflicts
from palazzo.features.facts.kg_dismiss import kg_dismiss
from palazzo.features.facts.kg_predicate import kg_predicate
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.features.places.contract import RoomMoveRequest, WingMergeRequest
from palazzo.features.places.room_move import room_move
from palazzo.features.places.wing_merge import wing_merge
from palazzo.features.sync import remote_access, sync_pull, sync_push
from palazzo.features.sync.contract import SyncPrivateRequest, SyncRemoveRequest
from palazzo.features.sync.sync_private import sync_private
from palazzo.features.sync.sync_remove import sync_remove
from palazzo.model import Micros
from palazzo.operations.context import Context
from palazzo.sync import segments
from palazzo.sync.remotes.folder_remote import Folder

WORDS = "the vault door opens at seven with the blue token"
PHRASE = "a long enough passphrase"


@pytest.fixture(params=["folder", pytest.param("git", marks=pytest.mark.slow)])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A place to meet at."""
    place = tmp_path / "remote"
    if request.param == "folder":
        place.mkdir()
    else:
        subprocess.run(["git", "init", "-q", "--bare", str(place)], check=True)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to meet at."""
    (tmp_path / "remote").mkdir()
    return tmp_path / "remote"


def two(tmp_path: Path, remote: Path) -> tuple[Machine, Machine]:
    """Two machines of one palace, of which the first has brought something there."""
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say("the first machine was here")
    one.join(remote, save_key=tmp_path / "key")
    one.push()
    other.join(remote, key=tmp_path / "key")
    other.pull()
    return one, other


# --- what one says the other knows -------------------------------------------------------------------------


def test_two_devices_that_worked_apart_end_with_the_same_truth_and_find_the_same(tmp_path: Path, remote: Path) -> None:
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.begins_project()
    other.clones_project(one)
    one.works()
    one.join(remote, save_key=tmp_path / "key")
    one.push()
    other.join(remote, key=tmp_path / "key")
    other.say("said on the second machine about retries")
    exchange(one, other)
    assert one.truth() == other.truth()
    if (remote / "HEAD").exists():
        one.embeds()
        other.embeds()
    for query in ("retries gateway", "second machine", "old name", "wrong right"):
        assert one.finds(query) == other.finds(query)
    assert (one.wrong(), other.wrong()) == ([], [])


def test_equals_are_found_in_one_order_on_each_device(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    for n in range(4):
        one.say(f"The walrus sleeps on the beach, says one {n}.")
        other.say(f"The walrus sleeps on the beach, says two {n}.")
    exchange(one, other)
    found = one.finds("walrus sleeps beach")
    assert len(found) == 8
    assert found == other.finds("walrus sleeps beach")


def test_what_is_there_is_brought_once(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    exchange(one, other)
    for machine in (one, other):
        assert machine.push().records == {}
        assert machine.pull().segments == 0
    assert one.push(dry_run=True).records == {}


def test_a_dry_run_says_what_a_pull_takes_in(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "FULL", 400)  # what is told refers to what other segments hold
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.works()
    one.join(folder, save_key=tmp_path / "key")
    assert one.push().segments > 5
    other.join(folder, key=tmp_path / "key")
    would = other.pull(dry_run=True)
    came = other.pull()
    assert (would.missing, came.missing) == (0, 0)
    assert (would.added, would.segments) == (came.added, came.segments)


@pytest.mark.slow
def test_facts_that_disagree_are_a_conflict_on_both(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    for machine, city in ((one, "Rome"), (other, "Milan")):
        with machine.at() as context:
            kg_predicate(context, KgPredicateRequest("lives in", functional=True))
            kg_add(context, KgAddRequest("Anna", "lives in", city))
    exchange(one, other)
    assert one.truth() == other.truth()
    found = []
    for machine in (one, other):
        with machine.at() as context:
            found.append([conflict.id for conflict in kg_conflicts(context, KgConflictsRequest()).conflicts])
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_a_conflict_that_came_dismissed_is_not_announced(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    for machine, city in ((one, "Rome"), (other, "Milan")):
        with machine.at() as context:
            kg_predicate(context, KgPredicateRequest("lives in", functional=True))
            kg_add(context, KgAddRequest("Anna", "lives in", city))
        machine.push()
    assert len(one.pull().conflicts) == 1
    with one.at() as context:
        (found,) = kg_conflicts(context, KgConflictsRequest()).conflicts
        kg_dismiss(context, KgDismissRequest((found.id,)))
    one.push()
    third = Machine(tmp_path / "third")
    third.join(folder, key=tmp_path / "key")
    assert third.pull().conflicts == ()


# --- what is erased ----------------------------------------------------------------------------------------


def test_what_one_erases_is_gone_from_both_and_from_the_remote(tmp_path: Path, remote: Path) -> None:
    one, other = two(tmp_path, remote)
    one.say(f"Keep this: {WORDS}.")
    other.say(f"I heard that {WORDS}, too.")
    exchange(one, other)
    with one.at() as context:
        erase(context, EraseRequest(match=WORDS, even_most=True))
    assert one.status().erased_there
    exchange(one, other)
    assert one.truth() == other.truth()
    assert not any(b"blue token" in line for line in [*one.truth(), *other.truth()])
    assert b"blue token" not in (other.place / "palace.db").read_bytes()
    assert not one.status().erased_there
    if (remote / "HEAD").exists():
        subprocess.run(["git", "-C", str(remote), "gc", "-q", "--prune=now"], check=True)
    assert not told_there(remote, b"blue token")
    assert (one.wrong(), other.wrong()) == ([], [])
    other.say(f"And again {WORDS}.")
    assert not any(b"blue token" in line for line in other.truth())


def told_there(remote: Path, words: bytes) -> bool:
    """Whether any segment that can be reached there holds these words."""
    import zstandard

    if (remote / "HEAD").exists():
        git = ["git", "-C", str(remote), "cat-file", "--batch-all-objects"]
        listed = subprocess.run([*git, "--batch-check"], capture_output=True, check=True).stdout.decode().split("\n")
        ids = [line.split()[0] for line in listed if " blob " in line]
        bodies = [
            subprocess.run(["git", "-C", str(remote), "cat-file", "blob", one], capture_output=True, check=True).stdout
            for one in ids
        ]
    else:
        bodies = [path.read_bytes() for path in remote.rglob("*.seg")]
    assert bodies
    told = [zstandard.ZstdDecompressor().decompressobj().decompress(one) for one in bodies if one[:4] == b"(\xb5/\xfd"]
    assert told
    return any(words in one for one in told)


# --- what stays --------------------------------------------------------------------------------------------


def test_nothing_of_a_private_wing_leaves_but_the_links(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    with one.at() as context:
        kg_add(context, KgAddRequest("Zoe", "earns", "a lot", wing="diaries"))
    one.say("my secret diary of Zoe", wing="diaries")
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("diaries",)))
    pushed = one.push()
    assert pushed.withheld == {"private": 1}
    assert [item.why for item in one.status().withheld] == ["private"]
    assert not any(told_there(folder, word) for word in (b"Zoe", b"diaries", b"a lot"))
    other.pull()
    assert other.wrong() == []
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("diaries",), public=True))
    exchange(one, other)
    assert one.status().withheld == ()
    assert one.truth() == other.truth()


def test_a_fact_that_only_a_private_note_states_stays_with_its_names(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    one.say("A public start.")
    said = one.say("My dentist is Walrus.", wing="own")
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
        kg_add(context, KgAddRequest("dentist", "is_called", "Walrus", sources=(said,)))
        kg_add(context, KgAddRequest("shop", "opened_in", "Rome"))
    one.join(folder)
    one.push()
    assert not told_there(folder, b"alrus")
    assert told_there(folder, b"Rome")


def test_a_room_that_was_moved_through_a_private_wing_stays(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    with one.at() as context:
        remember(context, RememberRequest("said before", wing="shop", room="notes"))
        remember(context, RememberRequest("anything", wing="private", room="other"))
        sync_private(context, SyncPrivateRequest(("private",)))
        room_move(context, RoomMoveRequest("shop/notes", "private"))
        remember(context, RememberRequest(WORDS, wing="private", room="notes"))
        room_move(context, RoomMoveRequest("private/notes", "shop"))
        remember(context, RememberRequest("said to all", wing="shop", room="news"))
    one.join(folder)
    one.push()
    assert told_there(folder, b"said to all")
    assert not told_there(folder, b"blue token")


def test_a_public_wing_stays_as_long_as_a_private_one_is_part_of_it(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    one.say("said to all before", wing="shop")
    one.say(WORDS, wing="own")
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("own",)))
        wing_merge(context, WingMergeRequest("own", "shop"))
    one.say("the walrus sleeps", wing="own")  # by the old name: it leads to the public wing
    one.say("a note elsewhere", wing="other")
    one.join(folder)
    one.push()
    assert told_there(folder, b"a note elsewhere")
    assert not any(told_there(folder, word) for word in (b"blue token", b"walrus", b"said to all"))
    with one.at() as context:
        sync_private(context, SyncPrivateRequest(("shop",), public=True))
    one.push()
    assert all(told_there(folder, word) for word in (b"blue token", b"walrus", b"said to all"))


def test_a_remote_that_is_begun_again_keeps_what_it_was_limited_to(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    one.say("only this goes there", wing="team")
    one.say(WORDS)
    one.join(folder, wings=("team",), automatic=True)
    one.push()
    one.join(folder, again=True)
    one.push()
    assert (one.status().wings, one.status().automatic) == (("team",), True)
    assert not told_there(folder, b"blue token")
    one.join(folder, wings=("team", "shop"))
    one.push()
    assert told_there(folder, b"blue token")


def test_a_remote_that_was_removed_can_be_begun_again(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    with one.at() as context:
        sync_remove(context, SyncRemoveRequest("default"))
    one.say(WORDS)
    one.join(folder)
    with pytest.raises(DeviceCopied, match="--again"):
        one.push()
    with one.at() as context:
        sync_remove(context, SyncRemoveRequest("default"))
    one.join(folder, again=True)
    exchange(one, other)
    assert one.truth() == other.truth()


@pytest.mark.parametrize("call", [Machine.push, Machine.pull])
def test_a_remote_is_as_it_stands_when_its_turn_comes(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Machine], object]
) -> None:
    one = Machine(tmp_path / "one")
    one.say(WORDS)
    one.join(folder)
    one_at_a_time = remote_access.one_at_a_time

    def behind_one_that_removes_it(context: Context) -> AbstractContextManager[None]:
        monkeypatch.undo()
        with one.at() as other:
            sync_remove(other, SyncRemoveRequest("default"))
        return one_at_a_time(context)

    for module in (sync_push, sync_pull):
        monkeypatch.setattr(module, "one_at_a_time", behind_one_that_removes_it)
    with pytest.raises(NotFound, match="has no remote"):
        call(one)
    assert not list(folder.rglob("*.seg"))


def test_no_password_of_an_address_is_shown(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "there" / "x.git")], check=True)
    (tmp_path / "git").write_text(
        f'[url "{(tmp_path / "there").as_uri()}/"]\n  insteadOf = https://me:s3cr3t@h.invalid/\n'
    )
    one = Machine(tmp_path / "one")
    one.variables["GIT_CONFIG_GLOBAL"] = str(tmp_path / "git")
    one.variables["PATH"] = os.environ["PATH"]
    shown = [one.join("https://me:s3cr3t@h.invalid/x.git").address]
    one.say("anything")
    one.push()
    shown.append(one.status().address)
    shutil.rmtree(tmp_path / "there" / "x.git")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "there" / "x.git")], check=True)
    with pytest.raises(RemoteUnusable) as refused:
        one.push()
    shown.append(str(refused.value))
    with one.at() as context:
        shown.append(sync_remove(context, SyncRemoveRequest("default")).address)
    assert all("https://me:***@h.invalid/x.git" in text and "s3cr3t" not in text for text in shown)


def test_what_was_fetched_of_a_remote_goes_with_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote")], check=True)
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.join(tmp_path / "remote")
    with pytest.raises(UsageError, match="another palace"):
        other.join(tmp_path / "remote")
    with one.at() as context:
        sync_remove(context, SyncRemoveRequest("default"))
    assert not list(tmp_path.glob("*/.cache/palazzo/sync/*"))


@pytest.mark.slow
def test_a_remote_of_some_wings_gets_nothing_of_others(tmp_path: Path, folder: Path) -> None:
    one = Machine(tmp_path / "one")
    one.works()
    one.say("only this goes there", wing="team")
    one.join(folder, wings=("team",))
    assert one.push().withheld["filtered"] > 5
    assert told_there(folder, b"only this goes there")
    assert not any(told_there(folder, word) for word in (b"SQLite", b"Rome", b"rained", b"gateway"))


def test_what_holds_a_secret_by_todays_rules_stays(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    one.variables["PALAZZO_REDACT"] = "false"
    one.say("the key is AKIAQYLPMN5HFIQR7XYA and ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h")
    assert one.push().withheld == {"secret": 1}
    assert not told_there(folder, b"AKIAQYLPMN5HFIQR7XYA")
    other.pull()
    assert other.wrong() == []


# --- keys --------------------------------------------------------------------------------------------------


@pytest.mark.slow  # a key is made from a passphrase slowly, on purpose
def test_a_sealed_remote_opens_with_the_passphrase_alone(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("pyrage")
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say(WORDS)
    one.join(folder, passphrase=PHRASE)
    one.push()
    assert not any(b"blue token" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    with pytest.raises(UsageError, match="is sealed by a passphrase"):
        other.join(folder)
    with pytest.raises(WrongKey, match="does not open"):
        other.join(folder, passphrase="not the right one")
    assert other.join(folder, passphrase=PHRASE).joined
    other.pull()
    assert one.truth() == other.truth()


def test_a_remote_that_is_sealed_by_a_key_opens_with_its_file_alone(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("pyrage")
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say(WORDS)
    with pytest.raises(UsageError, match="needs a key file"):
        one.join(folder, seal="key")
    one.join(folder, seal="key", save_key=tmp_path / "key")
    one.push()
    with pytest.raises(UsageError, match="is sealed by a key"):
        other.join(folder)
    assert other.join(folder, key=tmp_path / "key").joined
    other.pull()
    assert one.truth() == other.truth()


def test_the_key_of_a_sealed_remote_is_saved_before_anything_is_sealed_with_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Machine(tmp_path / "one")
    introduce = Folder.introduce

    def and_is_killed(self: Folder, about: bytes) -> bytes:
        introduce(self, about)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "introduce", and_is_killed)
        with pytest.raises(KeyboardInterrupt):
            one.join(folder, seal="key", save_key=tmp_path / "key")
    assert one.join(folder, key=tmp_path / "key").sealing == "key"


def test_what_seals_is_not_left_unused(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("pyrage")
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.join(folder, seal="key", save_key=tmp_path / "key")
    open_place, sealed_place = tmp_path / "open", tmp_path / "sealed"
    open_place.mkdir()
    sealed_place.mkdir()
    one.join(open_place, name="open", save_key=tmp_path / "of the palace")
    assert one.join(sealed_place, name="sealed", key=tmp_path / "key").sealing == "key"
    for given in ({"passphrase": PHRASE}, {"key": tmp_path / "key"}):
        with pytest.raises(UsageError, match="is not sealed"):
            other.join(open_place, **given)


@pytest.mark.slow  # a key is made from a passphrase slowly, on purpose
def test_a_passphrase_in_the_environment_seals_what_is_begun(tmp_path: Path, folder: Path) -> None:
    pytest.importorskip("pyrage")
    one = Machine(tmp_path / "one")
    one.variables["PALAZZO_SYNC_PASSPHRASE"] = PHRASE
    assert one.join(folder).sealing == "passphrase"


def test_a_key_with_which_nobody_meets_there_begins_nothing(tmp_path: Path, folder: Path) -> None:
    one, other, empty = Machine(tmp_path / "one"), Machine(tmp_path / "other"), tmp_path / "empty"
    one.join(folder, save_key=tmp_path / "key")
    empty.mkdir()
    with pytest.raises(UsageError, match="check the address"):
        other.join(empty, key=tmp_path / "key")
    assert list(empty.iterdir()) == []


def test_a_device_needs_the_key_to_join(tmp_path: Path, folder: Path) -> None:
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.say(WORDS)
    one.join(folder)
    with pytest.raises(UsageError, match="give the key"):
        other.join(folder)


@pytest.mark.slow
def test_a_palace_that_knows_erased_words_by_its_own_key_does_not_join_another(tmp_path: Path, folder: Path) -> None:
    one, other = Machine(tmp_path / "one"), Machine(tmp_path / "other")
    one.join(folder, save_key=tmp_path / "key")
    other.say(WORDS)
    with other.at() as context:
        erase(context, EraseRequest(match="blue token", even_most=True))
    with pytest.raises(PalazzoError, match="has erased words, which it recognises only with its own key"):
        other.join(folder, key=tmp_path / "key")


# --- what may be found there -------------------------------------------------------------------------------


def test_a_remote_that_vanished_was_emptied_or_went_back_is_told_and_nothing_is_taken(
    tmp_path: Path, folder: Path
) -> None:
    one, other = two(tmp_path, folder)
    before = tmp_path / "before"
    shutil.copytree(folder, before)
    one.say(WORDS)
    one.push()
    other.pull()
    truth = other.truth()
    shutil.rmtree(folder)
    with pytest.raises(RemoteUnusable, match="does not exist"):
        other.pull()
    shutil.copytree(before, folder)
    with pytest.raises(RemoteRewritten):
        other.pull()
    with pytest.raises(RemoteRewritten):
        one.push()
    one.join(folder, again=True)
    other.join(folder, again=True)
    exchange(one, other)
    assert one.truth() == other.truth()
    assert set(truth) <= set(other.truth())


def test_a_copy_of_a_palace_becomes_a_device_of_its_own(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    copy = Machine(tmp_path / "copy")
    shutil.copy(one.place / "palace.db", copy.place / "palace.db")
    copy.say("said on the copy")
    one.say("said on the first")
    one.push()
    with pytest.raises(DeviceCopied, match="--new-device"):
        copy.push()
    with pytest.raises(DeviceCopied):
        copy.pull()
    assert copy.join(folder, new_device=True).new_device
    exchange(one, other, copy)
    assert one.truth() == other.truth() == copy.truth()
    assert [one.wrong(), other.wrong(), copy.wrong()] == [[], [], []]


@pytest.mark.slow
def test_a_damaged_segment_keeps_its_device_back_and_no_other(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    third = Machine(tmp_path / "third")
    third.join(folder, key=tmp_path / "key")
    third.say("of the third")
    third.push()
    one.say(WORDS)
    one.push()
    newest = max(folder.rglob("2*.seg"), default=max(folder.rglob("1-2-*.seg")))
    whole = newest.read_bytes()
    newest.write_bytes(whole[: len(whole) // 2])
    pulled = other.pull()
    assert any("is damaged or incomplete" in note for note in pulled.notes)
    assert other.finds("third")
    newest.write_bytes(whole)
    exchange(one, other, third)
    assert one.truth() == other.truth() == third.truth()


@pytest.mark.slow
def test_a_clock_that_is_a_year_ahead_is_named_and_moves_no_other(tmp_path: Path, folder: Path) -> None:
    one, other = two(tmp_path, folder)
    one.clock.now = Micros(one.clock.now + 365 * 24 * 3_600_000_000)
    one.say(WORDS)
    one.push()
    assert any("days ahead" in note for note in other.pull().notes)
    other.say("after that")
    times = [json.loads(line)["recorded_at"] for line in other.truth() if b"after that" in line]
    assert times
    assert all(at < one.clock.now - 300 * 24 * 3_600_000_000 for at in times)
    exchange(one, other)
    assert one.truth() == other.truth()
