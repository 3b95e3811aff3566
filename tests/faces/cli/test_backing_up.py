"""backup and restore as a person types them: checked first, refused in a sentence, and nothing lost on the way."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.archive.leftovers import in_files, in_tables
from tests.faces.cli.command import Command
from tests.faces.cli.terminal import at_terminal

from palazzo import locks
from palazzo.palace import Palace
from palazzo.store import schema, token_rows
from palazzo.store.database import Database


def texts(palazzo: Command, words: str) -> list[str]:
    return [hit["text"] for hit in palazzo.json("search", words)["hits"]]


def damaged(file: Path) -> None:
    """Flip a byte in the middle of each page from the fourth on."""
    raw = bytearray(file.read_bytes())
    for at in range(3 * 4096 + 2000, len(raw), 4096):
        raw[at] ^= 0xFF
    file.write_bytes(raw)


@pytest.fixture
def made(palazzo: Command, shop: Path, home: Path) -> Path:
    """A backup of the shop's palace."""
    file = home / "palace of today.db"
    palazzo.json("backup", str(file))
    return file


def test_a_backup_is_restored_and_what_it_replaced_is_restored_again(
    palazzo: Command, made: Path, shop: Path, home: Path
) -> None:
    palazzo.json("remember", "The blue heron came later.")
    done = palazzo.json("restore", str(made), "--yes")
    assert (done["restored"]["items"], done["replaced"]["items"]) == (4, 5)
    assert not texts(palazzo, "heron")
    assert texts(palazzo, "cat")
    kept = Path(done["kept"])
    assert kept.parent == shop.parent
    assert kept.name.startswith("palace.db.before-restore-")
    palazzo.json("restore", str(kept), "--yes")
    assert texts(palazzo, "heron")
    assert palazzo.json("verify")["ok"]
    assert not list(shop.parent.glob("*restoring*")) + list(home.glob(".*partial*"))


def test_a_restore_makes_a_palace_where_there_is_none(palazzo: Command, made: Path, home: Path) -> None:
    done = palazzo.json("restore", str(made), "--yes", "--palace", str(home / "elsewhere" / "palace.db"))
    assert (done["replaced"], done["kept"]) == (None, None)
    found = palazzo.json("search", "cat", "--palace", str(home / "elsewhere" / "palace.db"))
    assert found["hits"]


def test_a_dry_run_changes_nothing_and_says_what_would_be_replaced(palazzo: Command, made: Path, shop: Path) -> None:
    palazzo.json("remember", "The blue heron came later.")
    before = {*shop.parent.iterdir(), *(shop.with_name(shop.name + suffix) for suffix in ("-wal", "-shm"))}
    told = palazzo.json("restore", str(made), "--dry-run")
    assert (told["dry_run"], told["kept"], told["replaced"]["items"]) == (True, None, 5)
    assert texts(palazzo, "heron")
    assert set(shop.parent.iterdir()) <= before


def test_a_restore_asks_first(palazzo: Command, made: Path) -> None:
    ran = palazzo("restore", str(made))
    assert ran.code == 2
    assert "--yes" in ran.error


@pytest.fixture
def strangers_backup(palazzo: Command, shop: Path, home: Path) -> Path:
    """A backup of another palace that has the ids of this one, which every export shows."""
    other, file = home / "other.db", home / "stranger.db"
    palazzo.json("remember", "The owner decided to run evil.sh.", "--palace", str(other))
    palazzo.json("backup", str(file), "--palace", str(other))
    with closing(Database(shop, "read")) as own, own.snapshot() as connection:
        (device,) = next(connection.execute("SELECT uid FROM device WHERE id = 1"))
        (palace,) = next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))
    with closing(Database(file)) as forged, forged.transaction() as connection:
        connection.execute("UPDATE device SET uid = ? WHERE id = 1", (device,))
        connection.execute("UPDATE meta SET value = ? WHERE key = 'palace'", (palace,))
    return file


def test_a_backup_of_another_palace_is_refused_unless_the_person_says_that_it_is_theirs(
    palazzo: Command, strangers_backup: Path, shop: Path
) -> None:
    before = hashlib.sha256(shop.read_bytes()).digest()
    ran = palazzo("restore", str(strangers_backup), "--yes")
    assert ran.code == 2
    assert "another palace" in ran.error
    assert "--other-palace" in ran.error
    assert hashlib.sha256(shop.read_bytes()).digest() == before
    assert palazzo.json("restore", str(strangers_backup), "--dry-run")["origin"] == "another palace"
    done = palazzo.json("restore", str(strangers_backup), "--other-palace", "--yes")
    assert done["origin"] == "another palace"
    assert texts(palazzo, "evil")
    assert palazzo.json("restore", done["kept"], "--other-palace", "--yes")["restored"]["items"] == 4


@pytest.mark.parametrize(("answer", "items"), [("n", 4), ("y", 1)])
def test_at_a_terminal_a_restore_says_that_a_backup_is_of_another_palace_and_asks(
    strangers_backup: Path, shop: Path, home: Path, answer: str, items: int
) -> None:
    code, shown = at_terminal(home, "restore", str(strangers_backup), "--palace", str(shop), answer=answer)
    assert "This is a backup of another palace" in shown
    assert code == (0 if answer == "y" else 1)
    with closing(Database(shop, "read")) as database, database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM item")) == (items,)


def test_a_directory_keeps_the_newest_and_only_what_is_ours(palazzo: Command, shop: Path, home: Path) -> None:
    where = home / "disk"
    other = home / "other.db"
    palazzo.json("remember", "Another palace.", "--palace", str(other))
    strange = palazzo.json("backup", str(where), "--keep", "1", "--palace", str(other))["file"]
    (where / "holiday.db").write_text("photos")
    written = [palazzo.json("backup", str(where), "--keep", "2") for _ in range(4)]
    assert sorted(path.name for path in where.glob("*.db")) == sorted(
        Path(name).name for name in ("holiday.db", strange, *(one["file"] for one in written[-2:]))
    )
    assert written[-1]["deleted"] == [written[-3]["file"]]
    assert [one["file"] for one in palazzo.json("backup", "--list")["known"]] == [
        one["file"] for one in reversed(written[-2:])
    ]


def test_what_was_just_made_stays_when_a_clock_that_went_wrong_has_dated_others_after_it(
    palazzo: Command, shop: Path, home: Path
) -> None:
    where = home / "disk"
    first = Path(palazzo.json("backup", str(where), "--keep", "2")["file"])
    stem = "-".join(first.name.split("-")[:2])
    for year in (2098, 2099):
        shutil.copy(first, where / f"{stem}-{year}0101T000000Z.db")
    made = palazzo.json("backup", str(where), "--keep", "2")
    assert sorted(where.glob("*.db")) == [Path(made["file"]), where / f"{stem}-20990101T000000Z.db"]
    made = palazzo.json("backup", str(where), "--keep", "1")
    assert list(where.glob("*.db")) == [Path(made["file"])]


def test_a_disk_that_refuses_each_change_is_told_in_a_sentence(
    palazzo: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "unlink", refuse)  # so does a disk that is mounted read-only, of a file that is not there
    ran = palazzo("backup", str(home))
    assert ran.code == 1
    assert f"{home} cannot be written to (Read-only file system). Name another place" in ran.error


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    point = tmp_path / "disk"
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(point)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this user cannot mount a file system")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def _fill(disk: Path, leave: int) -> None:
    """Fill a disk but for so many bytes."""
    with (disk / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4_096)
    os.truncate(disk / "ballast", (disk / "ballast").stat().st_size - leave)


@pytest.mark.slow
@pytest.mark.parametrize("full_disk", ["beside a full palace", "beside the palace", "elsewhere"])
def test_a_backup_on_a_disk_that_is_full_is_one_sentence_and_the_old_one_stays(
    palazzo: Command, shop: Path, home: Path, small_disk: Path, full_disk: str
) -> None:
    palace = shop if full_disk == "elsewhere" else small_disk / "palace.db"
    if full_disk != "elsewhere":
        palazzo.json("--palace", str(palace), "remember", "The heron stands on the pier.")
    target = (home if full_disk == "beside a full palace" else small_disk) / "today.db"
    with (
        Palace.open(palace) as open_palace,
        open_palace.database.snapshot(),
    ):  # somebody has it open, so that it can be read
        old = Path(palazzo.json("--palace", str(palace), "backup", str(target))["file"]).read_bytes()
        listed_backups = palazzo.json("--palace", str(palace), "backup", "--list")["known"]
        for leave in range(0, 2_000_000, 4_096 if full_disk == "beside a full palace" else 200_000):
            _fill(small_disk, leave)
            ran = palazzo("--palace", str(palace), "backup", str(target))
            if ran.code == 0:
                break
            assert (ran.code, ran.error.count("\n"), "bug" in ran.error) == (1, 1, False), ran.error
            assert target.read_bytes() == old
            (small_disk / "ballast").unlink()
            assert palazzo.json("--palace", str(palace), "backup", "--list")["known"] == listed_backups
        assert leave > 0
        assert not list(target.parent.glob(".*.partial*"))
    assert palazzo("--palace", str(palace), "verify").code == 0


def test_an_export_is_told_from_a_backup(palazzo: Command, shop: Path, home: Path) -> None:
    palazzo("export", str(home / "palace.jsonl"))
    ran = palazzo("restore", str(home / "palace.jsonl"), "--yes")
    assert ran.code == 1
    assert "is an export, not a backup: import it with 'palazzo import'" in ran.error


def test_without_a_place_it_goes_beside_the_palace_for_its_owner_alone(palazzo: Command, shop: Path) -> None:
    done = palazzo.json("backup")
    file = Path(done["file"])
    assert file.parent == shop.parent / "backups"
    assert done["items"] == 4
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    status = palazzo.json("status")
    assert status["backup_at"] == palazzo.json("backup", "--list")["known"][0]["at"]
    assert "the last one was made within the last day" in palazzo("doctor").out


def test_a_backup_that_is_away_is_listed_as_such_and_one_that_was_deleted_is_not(palazzo: Command, shop: Path) -> None:
    deleted, away = shop.parent / "deleted.db", shop.parent / "usb" / "away.db"
    away.parent.mkdir()
    for file in (deleted, away):
        palazzo.json("backup", str(file))
    deleted.unlink()
    away.unlink()  # as empty as the directory of a disk that is away
    (known,) = palazzo.json("backup", "--list")["known"]
    assert (known["file"], known["there"], known["size_bytes"]) == (str(away), False, None)
    assert "not accessible now" in palazzo("backup", "--list").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{palace}"], "is the palace itself"),
        (["{other}"], "already exists and is not a backup"),
        (["{home}/nowhere/palace.db"], "nowhere does not exist. Create it, or name another file."),
        (["--keep", "0"], "at least 1"),
        (["{other}", "--keep", "2"], "is a file, but --keep needs a directory"),
    ],
)
def test_what_is_precious_is_not_written_over(
    palazzo: Command, shop: Path, home: Path, arguments: list[str], sentence: str
) -> None:
    other = home / "letter.txt"
    other.write_text("Dear heron")
    before = hashlib.sha256(shop.read_bytes()).hexdigest()
    ran = palazzo("backup", *(one.format(palace=shop, other=other, home=home) for one in arguments))
    assert ran.code == 2
    assert sentence in ran.error
    assert other.read_text() == "Dear heron"
    assert hashlib.sha256(shop.read_bytes()).hexdigest() == before


def test_a_palace_in_use_is_not_written_over(palazzo: Command, shop: Path, home: Path) -> None:
    other = home / "other.db"
    with Palace.open(other) as palace:
        palace.know_people(["Ada Lovelace"])
        ran = palazzo("backup", str(other))
    assert ran.code == 2
    assert "in use" in ran.error


def test_of_a_damaged_palace_no_backup_is_made_and_older_ones_stay(palazzo: Command, shop: Path, home: Path) -> None:
    where = home / "disk"
    whole = Path(palazzo.json("backup", str(where), "--keep", "1")["file"])
    damaged(shop)
    ran = palazzo("backup", str(where), "--keep", "1")
    assert ran.code == 1
    assert "damaged" in ran.error
    assert sorted(where.glob("*.db")) == [whole]
    assert not list(where.glob(".*"))
    assert palazzo("restore", str(whole), "--yes").code == 0  # over the damaged one
    assert palazzo.json("verify")["ok"]
    assert texts(palazzo, "cat")


@pytest.mark.parametrize(
    "kind", ["missing", "text", "another program's", "cut off", "damaged", "directory", "itself", "pipe"]
)
def test_what_is_no_sound_backup_is_refused_and_the_palace_stays(
    palazzo: Command, made: Path, shop: Path, home: Path, kind: str
) -> None:
    file = home / "given.db"
    if kind == "text":
        file.write_text("Dear heron, " * 400)
    elif kind == "another program's":
        with closing(sqlite3.connect(file)) as other, other:
            other.execute("CREATE TABLE cookie(value TEXT)")
    elif kind == "cut off":
        file.write_bytes(made.read_bytes()[: made.stat().st_size // 2])
    elif kind == "damaged":
        shutil.copy(made, file)
        damaged(file)
    elif kind == "directory":
        file.mkdir()
    elif kind == "itself":
        file = shop
    elif kind == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("there are no named pipes here")
        os.mkfifo(file)
    palazzo.json("remember", "The blue heron came later.")
    ran = palazzo("restore", str(file), "--yes")
    assert ran.code in (1, 2), ran.error
    assert str(file) in ran.error
    assert "Traceback" not in ran.error
    assert ran.error.count("\n") == 1
    assert texts(palazzo, "heron")
    assert not list(shop.parent.glob("*restor*"))


def test_a_backup_of_a_later_palazzo_is_refused(palazzo: Command, made: Path, shop: Path) -> None:
    with closing(Database(made)) as database, database.transaction() as connection:
        connection.execute("INSERT INTO migration(name, applied_at) VALUES('m999_from_the_future', 0)")
    ran = palazzo("restore", str(made), "--yes")
    assert ran.code == 1
    assert "later Palazzo" in ran.error
    assert "nothing was restored" in ran.error
    assert texts(palazzo, "cat")


def test_a_backup_of_an_earlier_palazzo_is_brought_up_to_date_and_itself_stays(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, palace = home / "old.db", home / "new" / "palace.db"
    with monkeypatch.context() as before:
        before.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:9])
        with closing(Database(old)) as database:
            schema.migrate(database)
    raw = old.read_bytes()
    palazzo.json("restore", str(old), "--yes", "--palace", str(palace))
    assert palazzo.json("status", "--palace", str(palace))["schema"] == len(schema.MIGRATIONS)
    assert old.read_bytes() == raw


def test_a_palace_with_its_log_is_restored_with_what_is_in_the_log(palazzo: Command, shop: Path, home: Path) -> None:
    copied = home / "copied" / "palace.db"
    copied.parent.mkdir()
    with Palace.open(shop) as palace:
        palace.database.snapshot()
        palazzo.json("remember", "The blue heron is in the log.")
        for suffix in ("", "-wal"):
            shutil.copy(f"{shop}{suffix}", f"{copied}{suffix}")
    palazzo.json("restore", str(copied), "--yes", "--palace", str(home / "third.db"))
    assert palazzo.json("search", "heron", "--palace", str(home / "third.db"))["hits"]


def test_pauses_are_joined_and_settings_come_where_there_are_none(palazzo: Command, shop: Path, home: Path) -> None:
    config = home / ".config" / "palazzo" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("entities = false\n")
    palazzo.json("pause")
    palazzo.json("resume")
    first = shop.with_name("palace.db.pauses").read_text()
    done = palazzo.json("backup", str(home / "b.db"))
    assert done["beside"] == [f"{home / 'b.db'}.pauses", f"{home / 'b.db'}.config.toml"]
    shop.with_name("palace.db.pauses").write_text("5 9\n")
    assert palazzo.json("restore", str(home / "b.db"), "--yes")["settings"] is None
    assert shop.with_name("palace.db.pauses").read_text() == f"5 9\n{first}"
    config.unlink()
    assert palazzo.json("restore", str(home / "b.db"), "--yes")["settings"] == str(config)
    assert config.read_text() == "entities = false\n"


def test_one_backup_or_restore_at_a_time(palazzo: Command, made: Path, shop: Path) -> None:
    with locks.try_lock(shop.with_name("palace.db.backup.lock")) or pytest.fail("nobody holds it"):
        for arguments in (["backup"], ["restore", str(made), "--yes"]):
            ran = palazzo(*arguments)
            assert ran.code == 1
            assert "Another backup or restore" in ran.error


WORDS = "zebra-quartz-90417"


def holds(file: Path) -> list[str]:
    with Palace.open(file, "read") as palace:
        return [*in_files(file.parent, WORDS), *in_tables(palace, WORDS)]


def test_a_restore_lets_nobody_in_who_was_not_let_in_before(palazzo: Command, shop: Path, home: Path) -> None:
    secrets = {name: palazzo.json("token", "add", name, "--scope", "admin")["secret"] for name in ("stays", "leaves")}
    backup = Path(palazzo.json("backup", str(home / "backup.db"))["file"])
    palazzo.json("token", "revoke", "leaves")
    secrets["came"] = palazzo.json("token", "add", "came")["secret"]
    assert palazzo.json("restore", str(backup), "--yes")["tokens_revoked"] == 0
    assert [name for name, secret in secrets.items() if _is_let_in(shop, secret)] == ["stays", "came"]
    palazzo.json("token", "revoke", "stays")
    palazzo.json("token", "revoke", "came")
    palazzo.json("restore", str(backup), "--yes")
    assert not any(_is_let_in(shop, secret) for secret in secrets.values())
    token_list = palazzo.json("token", "list", "--all")  # a token once existed
    assert (token_list["tokens"] != [], {token["revoked_at"] is None for token in token_list["tokens"]}) == (
        True,
        {False},
    )


@pytest.mark.parametrize("place", ["empty", "damaged", "another"])
def test_tokens_that_the_palace_does_not_know_need_the_persons_word(
    palazzo: Command, shop: Path, home: Path, place: str
) -> None:
    secret = palazzo.json("token", "add", "theirs", "--scope", "admin")["secret"]
    backup = palazzo.json("backup", str(home / "backup.db"))["file"]
    other_path = home / "elsewhere" / "palace.db"
    if place == "damaged":
        other_path.parent.mkdir()
        other_path.write_bytes(b"SQLite format 3\0" + b"damage" * 10_000)
    elif place == "another":
        palazzo("--palace", str(other_path), "remember", "Another palace.")
    options = ("--other-palace",) if place == "another" else ()
    restore_output = palazzo("restore", backup, "--yes", "--palace", str(other_path), *options).out
    assert "1 token of the backup" in restore_output
    assert not _is_let_in(other_path, secret)
    restore_result = palazzo.json("restore", backup, "--yes", "--palace", str(home / "moved.db"), "--keep-tokens")
    assert (restore_result["tokens_revoked"], _is_let_in(home / "moved.db", secret)) == (0, True)


def _is_let_in(palace: Path, secret: str) -> bool:
    with Palace.open(palace, "read") as open_palace, open_palace.database.snapshot() as connection:
        return token_rows.holder(connection, secret) is not None


def test_words_that_were_erased_since_do_not_come_back(palazzo: Command, shop: Path, home: Path) -> None:
    palazzo.json("remember", f"the key is {WORDS}")
    away, there = home / "usb" / "away.db", home / "disk" / "there.db"
    for file in (away, there):
        file.parent.mkdir()
        palazzo.json("backup", str(file))
    hidden = away.rename(home / "hidden.db")
    erased = palazzo.json("erase", "--match", WORDS, "--yes", "--even-most")
    assert (erased["backups"], erased["away"]) == ([str(there)], [str(away)])
    assert holds(there) == []
    hidden.rename(away)
    assert holds(away)
    palazzo.json("remember", "The blue heron came later.")
    assert palazzo.json("restore", str(away), "--yes")["erased"] == 1
    assert texts(palazzo, "key") == ["the key is ██████████████████"]
    assert holds(shop) == []
    assert not texts(palazzo, "heron")
    assert palazzo.json("verify")["ok"]
    palazzo.json("remember", f"once more {WORDS}")  # the tombstones are restored with it
    assert holds(shop) == []


def test_an_item_that_was_erased_since_by_its_id_does_not_come_back(palazzo: Command, shop: Path, home: Path) -> None:
    filed = palazzo.json("remember", "Ok.")
    file = home / "b.db"
    palazzo.json("backup", str(file))
    hidden = file.rename(home / "hidden.db")
    palazzo.json("erase", filed["drawers"][0], "--yes")
    palazzo.json("restore", str(hidden), "--yes")
    assert palazzo.json("verify")["ok"]
    with Palace.open(shop, "read") as palace, palace.database.snapshot() as connection:
        assert in_tables(palace, "Ok.") == []
        assert next(connection.execute("SELECT count(*) FROM erased_item"))[0] == 1


def test_a_backup_that_cannot_be_read_is_named_by_an_erase(palazzo: Command, made: Path) -> None:
    palazzo.json("remember", f"the key is {WORDS}")
    palazzo.json("backup", str(made))
    damaged(made)
    raw = made.read_bytes()
    erased = palazzo.json("erase", "--match", WORDS, "--yes", "--even-most")
    assert (erased["mend"], erased["backups"]) == ([str(made)], [])
    assert made.read_bytes() == raw


def test_a_restored_palace_goes_on_in_sync_as_a_device_of_its_own(palazzo: Command, shop: Path, home: Path) -> None:
    remote, file, other = home / "remote", home / "b.db", home / "other" / "palace.db"
    remote.mkdir()
    palazzo.json("sync", "init", str(remote), "--save-key", str(home / "key"))
    palazzo.json("sync", "push")
    palazzo.json("backup", str(file))
    palazzo.json("remember", "The blue heron came later.")
    palazzo.json("sync", "push")
    assert palazzo.json("restore", str(file), "--yes")["new_device"] is True
    palazzo.json("remember", "The otter came after the restore.")
    palazzo.json("sync", "push")  # nobody is taken for a copy of another
    palazzo.json("sync", "pull")
    assert texts(palazzo, "heron")
    assert palazzo.json("verify")["ok"]
    palazzo.json("sync", "init", str(remote), "--key", str(home / "key"), "--palace", str(other))
    palazzo.json("sync", "pull", "--palace", str(other))
    assert palazzo.json("status", "--palace", str(other))["items"] == palazzo.json("status")["items"]
    assert palazzo.json("verify", "--palace", str(other))["ok"]


def test_what_became_private_since_stays_private(palazzo: Command, shop: Path, home: Path) -> None:
    palazzo.json("remember", "Known before.", "--wing", "diary of mine")
    palazzo.json("backup", str(home / "b.db"))
    palazzo.json("remember", "Known after.", "--wing", "later")
    for wing in ("diary-of-mine", "later"):
        palazzo.json("sync", "private", wing)
    palazzo.json("restore", str(home / "b.db"), "--yes")
    assert palazzo.json("sync", "private")["private"] == ["diary-of-mine", "later"]


def test_what_a_killed_backup_left_is_taken_away_by_the_next(palazzo: Command, made: Path, shop: Path) -> None:
    left = made.with_name(".never finished.db.partial")
    left.write_bytes(b"half of it")
    with shop.with_name("palace.db.backups").open("a") as record:
        record.write(json.dumps({"at": 1, "file": str(made.with_name("never finished.db"))}) + "\n")
    palazzo.json("backup", str(made))
    assert not left.exists()
    assert [one["file"] for one in palazzo.json("backup", "--list")["known"]] == [str(made)]


def test_people_are_told_what_was_done(palazzo: Command, made: Path, home: Path) -> None:
    assert "Fully checked" in palazzo("backup", str(home / "again.db")).out
    told = palazzo("restore", str(made), "--yes").out
    assert "restored  4 items" in told
    assert "in place of  4 items" in told
    assert json.loads(palazzo("restore", str(made), "--dry-run", "--json").out)["dry_run"] is True


@pytest.mark.parametrize(
    "line", ["backup {}/x", "restore {}/x --yes", "import {}/x", "sync init {}/x", "sync key {}/x"], ids=str.split
)
def test_the_home_of_nobody_is_a_place_that_is_not_there(palazzo: Command, shop: Path, line: str) -> None:
    if line.startswith("sync init") and shutil.which("git") is None:
        pytest.skip("NOT RUN: git is not installed, which is said first.")
    done = palazzo(*line.format("~nobody-of-that-name").split())
    assert done.code
    assert "bug" not in done.error
    assert "nobody-of-that-name" in done.error


def test_a_listed_path_is_whole_however_narrow_the_screen(
    palazzo: Command, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = home / ("a directory with a long name " * 3).strip() / "palace.db"
    file.parent.mkdir()
    palazzo.json("backup", str(file))
    assert palazzo("backup", "--list").out.endswith(f"  {file}\n")
