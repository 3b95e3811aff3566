"""A git repository as a remote: real repositories, and what they and git do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tests.sync.shared import Device, Place, git

from palazzo.errors import RemoteUnusable, UsageError
from palazzo.sync.remotes import RemoteState, git_transport
from palazzo.sync.remotes.git_remote import GitBranch
from palazzo.sync.remotes.remote_factory import RemoteLocation, open_remote, parse_address, resolve

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="these tests push with git")
posix = pytest.mark.skipif(os.name != "posix", reason="the program in the way is a shell script")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("git", tmp_path)


def objects(repository: Path) -> set[str]:
    listed = git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", cwd=repository)
    return set(listed.split())


def blob_of(place: Place, device: Device) -> str:
    """The object of the device's last segment."""
    assert device.head is not None
    listed = git("ls-tree", "-r", "palazzo/v1", f"devices/{device.id}/", cwd=place.there)
    (line,) = (line for line in listed.splitlines() if line.endswith(str(device.head.name)))
    return line.split()[2]


def commits(place: Place) -> int:
    return len(git("rev-list", "palazzo/v1", cwd=place.there).split())


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_what_was_told_before_an_erase_is_in_no_repository_any_more(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"the secret")
    erased = blob_of(place, a)
    b.push(b"2")
    b.pull()
    assert erased in objects(b.cache)
    a.push(b"told anew", is_new_epoch=True)
    b.remote.look()
    assert erased not in objects(a.cache) | objects(b.cache)
    assert erased not in git("rev-list", "--objects", "--all", cwd=place.there)
    git("gc", "--quiet", "--prune=now", cwd=place.there)  # the documented step
    assert erased not in objects(place.there)
    b.push(b"3")
    assert place.device("c").pull() == [b"told anew", b"2", b"3"]


@pytest.mark.slow
def test_what_was_erased_goes_from_a_cache_also_when_who_fetched_was_killed(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"the secret")
    erased = blob_of(place, a)
    b.pull()
    a.push(b"told anew", is_new_epoch=True)
    names = "+refs/heads/palazzo/v1:refs/palazzo/seen"
    git("fetch", "--quiet", str(place.there), names, cwd=b.cache)  # and then it was killed
    assert erased in objects(b.cache)
    b.remote = b.another_process()
    assert b.pull() == [b"told anew"]
    assert erased not in objects(b.cache)


@pytest.mark.slow
def test_a_push_that_was_overtaken_by_an_erase_does_not_bring_it_back(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"the secret")
    erased = blob_of(place, a)
    b.pull()
    a.push(b"told anew", is_new_epoch=True)
    b.push(b"2")  # on top of what it had seen before
    assert erased not in git("rev-list", "--objects", "--all", cwd=place.there)
    assert erased not in objects(b.cache)


def test_only_what_is_new_is_sent_and_fetched(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(os.urandom(400_000).hex().encode())
    b.pull()
    before = size(place.there), size(b.cache)
    a.push(b"2")
    b.pull()
    assert size(place.there) - before[0] < 20_000
    assert size(b.cache) - before[1] < 20_000
    assert commits(place) == 2


def size(repository: Path) -> int:
    return sum(path.stat().st_size for path in (repository / "objects").rglob("*") if path.is_file())


@pytest.mark.slow
def test_other_branches_and_other_files_of_the_branch_are_left_alone(place: Place, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git("clone", "--quiet", str(place.there), str(work), cwd=tmp_path)
    (work / "README").write_text("mine")
    git("add", "README", cwd=work)
    git("commit", "--quiet", "-m", "mine", cwd=work)
    git("push", "--quiet", "origin", "HEAD:refs/heads/main", "HEAD:refs/heads/palazzo/v1", cwd=work)
    main = git("rev-parse", "main", cwd=place.there)
    a = place.device("a")
    a.push(b"1")
    a.push(b"2", is_new_epoch=True)
    assert git("show", "palazzo/v1:README", cwd=place.there) == "mine"
    assert git("rev-parse", "main", cwd=place.there) == main
    assert place.device("b").pull() == [b"2"]


@pytest.mark.slow
def test_all_of_many_that_push_at_once_are_there(place: Place) -> None:
    devices = [place.device(letter) for letter in "abc"]
    failed: list[BaseException] = []

    def push(device: Device) -> None:
        try:
            for n in range(2):
                device.push(b"%d" % n)
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=push, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert place.device("d").pull() == [b"0", b"1"] * 3


@pytest.mark.slow
def test_a_cache_that_was_killed_in_mid_write_or_damaged_is_made_anew(place: Place) -> None:
    a, b = place.device("a"), place.device("b")
    a.push(b"1")
    b.pull()
    a.push(b"2")
    (b.cache / "refs" / "palazzo" / "seen.lock").write_text("")
    assert b.pull() == [b"2"]
    a.push(b"3")
    shutil.rmtree(b.cache / "objects")
    (b.cache / "objects").mkdir()
    b.remote = b.another_process()
    assert b.pull() == [b"3"]
    shutil.rmtree(a.cache / "objects")
    (a.cache / "objects").mkdir()
    with pytest.raises(RemoteUnusable, match="was damaged and has been deleted"):
        a.push(b"4")
    a.push(b"four")
    assert b.pull() == [b"four"]


@pytest.mark.slow
def test_a_repository_that_refuses_says_what_to_allow(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    git("config", "receive.denyNonFastForwards", "true", cwd=place.there)
    a.push(b"2")
    with pytest.raises(RemoteUnusable, match="force-push to that one branch") as refused:
        a.push(b"3", is_new_epoch=True)
    assert "\n" not in str(refused.value)
    a.push(b"three")
    assert place.device("b").pull() == [b"1", b"2", b"three"]


def test_a_branch_that_is_in_the_way_is_named(place: Place, tmp_path: Path) -> None:
    empty = git("hash-object", "-t", "tree", "-w", os.devnull, cwd=place.there).strip()
    commit = git("commit-tree", empty, "-m", "x", cwd=place.there).strip()
    git("update-ref", "refs/heads/palazzo", commit, cwd=place.there)
    with pytest.raises(RemoteUnusable, match="a branch named 'palazzo'"):
        place.device("a").push(b"1")


def test_a_directory_that_is_no_repository_any_more_is_one_sentence(place: Place) -> None:
    shutil.rmtree(place.there)
    place.there.mkdir()
    with pytest.raises(RemoteUnusable, match="There is no git repository at"):
        place.device("a").remote.look()


def test_a_machine_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    variables = {**os.environ, "GIT_SSH_COMMAND": "echo ssh: Could not resolve hostname >&2; false"}
    remote = open_remote(
        RemoteLocation("git", "ssh://git:hunter2@nowhere.invalid/x.git"), tmp_path / "cache", variables
    )
    with pytest.raises(RemoteUnusable, match="cannot be reached: check the network") as refused:
        remote.look()
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in remote.address


@posix
def test_what_a_server_says_cannot_steer_a_terminal(tmp_path: Path) -> None:
    steering = script(tmp_path / "ssh", "printf 'fatal: \\033[2Jstrange\\n' >&2; exit 1")
    variables = {**os.environ, "GIT_SSH_COMMAND": str(steering)}
    with pytest.raises(RemoteUnusable, match="strange") as refused:
        open_remote(RemoteLocation("git", "ssh://nowhere.invalid/x"), tmp_path / "cache", variables).look()
    assert str(refused.value).isprintable()


@posix
def test_a_remote_that_does_not_answer_is_given_up_and_left_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.sync.remotes.git_remote.LOOK_WITHIN", 0.3)
    waiting = script(tmp_path / "waiting", f"echo $$ > {tmp_path}/pid; exec sleep 600")
    variables = {**os.environ, "GIT_SSH_COMMAND": str(waiting)}
    remote = open_remote(RemoteLocation("git", "ssh://nowhere.invalid/x.git"), tmp_path / "cache", variables)
    with pytest.raises(RemoteUnusable, match="did not finish within"):
        remote.look()
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not is_running(pid):
            break
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return not state.strip().startswith("Z") and bool(state.strip())


@posix
def test_nobody_is_asked_where_nobody_sits(tmp_path: Path) -> None:
    told = tmp_path / "told"
    asking = script(tmp_path / "ssh", f"env > {told}; (: < /dev/tty) 2>> {told}.tty; exit 1")
    variables = {**os.environ, "GIT_SSH_COMMAND": str(asking), "SSH_ASKPASS": "window", "GIT_DIR": "/nowhere"}
    with pytest.raises(RemoteUnusable):
        open_remote(RemoteLocation("git", "ssh://nowhere.invalid/x"), tmp_path / "cache", variables).look()
    lines = told.read_text().splitlines()
    assert "GIT_TERMINAL_PROMPT=0" in lines
    assert "SSH_ASKPASS_REQUIRE=never" in lines
    assert not [line for line in lines if line.startswith(("SSH_ASKPASS=", "GIT_DIR=/nowhere"))]
    assert (tmp_path / "told.tty").read_text()  # there is no terminal to ask at


@posix
def test_a_cache_runs_no_hooks(place: Place, tmp_path: Path) -> None:
    a = place.device("a")
    a.remote.look()
    (a.cache / "hooks").mkdir()
    for name in ("pre-push", "reference-transaction", "post-index-change"):
        script(a.cache / "hooks" / name, f"touch {tmp_path}/ran")
    a.push(b"1")
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_file_of_the_branch_that_is_no_plain_file_is_not_read(place: Place) -> None:
    a = place.device("a")
    a.push(b"1")
    link = git("hash-object", "-w", "--stdin", cwd=place.there).strip()
    listed = f"120000 blob {link}\tpalazzo.json\n" + git("ls-tree", "palazzo/v1", cwd=place.there)
    (place.directory / "listed").write_text(listed)
    with (place.directory / "listed").open() as given:
        made = subprocess.run(["git", "mktree"], cwd=place.there, stdin=given, capture_output=True, check=True)
    commit = git("commit-tree", made.stdout.decode().strip(), "-m", "x", "-p", "palazzo/v1", cwd=place.there).strip()
    git("update-ref", "refs/heads/palazzo/v1", commit, cwd=place.there)
    b = place.device("b")
    assert b.remote.look().about is None
    assert b.remote.introduce(b"{}") == b"{}"
    assert place.device("c").remote.look().about == b"{}"


def test_a_broken_cache_directory_is_one_sentence(tmp_path: Path, place: Place) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((RemoteUnusable, OSError)):
        GitBranch(str(place.there), tmp_path / "file").look()


# --- which remote an address names -----------------------------------------------------------------------


def test_an_address_is_a_folder_or_a_repository_by_what_is_there(tmp_path: Path, place: Place) -> None:
    (tmp_path / "folder").mkdir()
    work = tmp_path / "work"
    work.mkdir()
    git("init", "--quiet", cwd=work)
    git("remote", "add", "backup", "../there", cwd=work)
    git("remote", "add", "hub", "git@hub.invalid:me/x.git", cwd=work)
    inside = work / "src"
    inside.mkdir()
    assert resolve("folder", tmp_path) == RemoteLocation("folder", str(tmp_path / "folder"))
    assert resolve(str(place.there), work) == RemoteLocation("git", str(place.there))
    assert resolve("work", tmp_path) == RemoteLocation("git", str(work))
    assert resolve("backup", inside) == RemoteLocation("git", str(place.there))
    assert resolve("hub", inside) == RemoteLocation("git", "git@hub.invalid:me/x.git")
    for url in ("https://h.invalid/x.git", "ssh://g@h.invalid/x", "git@h.invalid:x.git", "file:///srv/x.git"):
        assert resolve(url, tmp_path) == RemoteLocation("git", url)


def test_a_remote_that_is_known_is_what_it_was_also_while_it_is_not_there(tmp_path: Path, place: Place) -> None:
    (tmp_path / "folder").mkdir()
    for address in (str(place.there), str(tmp_path / "folder"), "git@h.invalid:x.git", "https://h.invalid/x"):
        assert parse_address(address) == resolve(address, tmp_path)
    (tmp_path / "folder").rmdir()
    assert parse_address(str(tmp_path / "folder")).kind == "folder"
    with pytest.raises(RemoteUnusable, match="does not exist: mount the drive"):
        open_remote(parse_address(str(tmp_path / "folder")), tmp_path / "cache").look()


@pytest.mark.parametrize(
    "address",
    [
        *("", "  ", "-x", "--upload-pack=touch /tmp/x", "ext::sh -c touch% x", "ext:://x", "fd::17/x", "nowhere"),
        *("https://h/x\n--upload-pack=y", "a\0b", "ftp://h/x", "-oProxyCommand=x:y", "gopher://x/y", "x" * 5000),
    ],
)
def test_an_address_that_is_none_is_one_sentence(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        resolve(address, tmp_path)
    assert "\n" not in str(refused.value)


def test_a_remote_of_a_repository_cannot_name_a_program(tmp_path: Path) -> None:
    git("init", "--quiet", cwd=tmp_path)
    git("remote", "add", "evil", f"ext::touch {tmp_path}/ran", cwd=tmp_path)
    with pytest.raises(UsageError, match="does not support"):
        resolve("evil", tmp_path)
    with pytest.raises(RemoteUnusable):
        open_remote(RemoteLocation("git", f"ext::touch {tmp_path}/ran"), tmp_path / "cache").look()
    assert not (tmp_path / "ran").exists()


def test_a_remote_on_a_machine_without_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RemoteUnusable, match="git is not on PATH"):
        open_remote(RemoteLocation("git", str(tmp_path)), tmp_path / "cache")


def test_whoever_waits_for_a_remote_that_does_not_answer_can_stop(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    asked = []

    def heed() -> None:
        asked.append(1)
        raise EnoughError

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"git://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(EnoughError):
            open_remote(RemoteLocation("git", url), tmp_path / "cache", heed=heed).look()
    assert asked == [1]


def test_passwords_are_blotted_out_wherever_an_address_is_shown() -> None:
    said = "fatal: unable to access 'https://me:s3cr3t@h.invalid/x/': no"
    assert git_transport.without_password(said) == "fatal: unable to access 'https://me:***@h.invalid/x/': no"
    assert git_transport.without_password("git@h.invalid:x") == "git@h.invalid:x"
    assert git_transport.without_password(f"https://{'t0ken' * 8}@h.invalid/x") == "https://***@h.invalid/x"
    assert git_transport.without_password("https://me@h.invalid/x") == "https://me@h.invalid/x"


def test_a_repository_of_another_hash_is_one_sentence(place: Place) -> None:
    shutil.rmtree(place.there)
    place.there.mkdir()
    git("init", "--quiet", "--bare", "--object-format=sha256", ".", cwd=place.there)
    with pytest.raises(RemoteUnusable, match="SHA-1 objects"):
        place.device("a").push(b"1")


@pytest.mark.slow
def test_years_of_segments_lie_on_shelves(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.sync.remotes.git_remote._SHELF", 3)
    a, b = place.device("a"), place.device("b")
    for n in range(8):
        a.push(b"%d" % n)
    assert b.pull() == [b"%d" % n for n in range(8)]
    shelves = git("ls-tree", "--name-only", f"palazzo/v1:devices/{a.id}", cwd=place.there)
    assert shelves.split() == ["1-0", "1-1", "1-2", "head"]
    a.push(b"anew", is_new_epoch=True)
    assert git("ls-tree", "--name-only", f"palazzo/v1:devices/{a.id}", cwd=place.there).split() == ["2-0", "head"]


def test_an_empty_repository_has_nothing(place: Place) -> None:
    assert place.device("a").remote.look() == RemoteState()
