"""The client: which palace, where its service listens, who is newer, and that it starts with next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.daemon.conftest import User
from tests.faces.cli.command import SOURCES

from palazzo import errors, locks
from palazzo.client import rpc, service_address
from palazzo.errors import AmbiguousId, PalazzoError, ServiceUnavailable
from palazzo.faces.cli.service_client import rebuild_error
from palazzo.features.service.contract import ServiceStatusRequest
from palazzo.features.service.service_status import service_status
from palazzo.hosts.host_registry import hosts
from palazzo.operations.context import Context


@pytest.mark.parametrize("variable", ["", "~/one.db", "relative.db", "a directory", " "])
@pytest.mark.parametrize("config", ["", 'palace = "~/said.db"', "palace = 3", "palace = [", "# palace", 'p = "palace"'])
@pytest.mark.parametrize("named", [None, "named.db", "a directory"])
def test_it_means_the_palace_that_a_command_would_use(
    user: User, monkeypatch: pytest.MonkeyPatch, variable: str, config: str, named: str | None
) -> None:
    monkeypatch.setenv("HOME", str(user.home))
    (user.home / "a directory").mkdir()
    (user.home / ".config" / "palazzo").mkdir(parents=True)
    (user.home / ".config" / "palazzo" / "config.toml").write_text(config)
    variables = {**user.variables, "PALAZZO_PALACE": variable}
    with Context(Path(named) if named else None, user.home, variables) as context:
        assert rpc.chosen_palace(named, variables, str(user.home)) == str(context.palace_path)


@pytest.mark.parametrize("said", ["off", "false", "0", "on", "TRUE", "", "perhaps"])
@pytest.mark.parametrize("config", ["", "service = false", "service = true", 'service = "off"', "service = 4"])
def test_it_knows_whether_a_service_is_wanted(user: User, said: str, config: str) -> None:
    (user.home / ".config" / "palazzo").mkdir(parents=True)
    (user.home / ".config" / "palazzo" / "config.toml").write_text(config)
    variables = {**user.variables, "PALAZZO_SERVICE": said}
    with Context(None, user.home, variables) as context:
        assert rpc.is_wanted(variables) is context.settings.flag("service")


def test_one_palace_has_one_address_by_whatever_name(user: User) -> None:
    user.palace.parent.mkdir()
    (user.home / "link").symlink_to(user.palace.parent)
    assert user.address(user.home / "link" / "palace.db").socket == user.address().socket
    assert user.address(user.home / "other.db").socket != user.address().socket


def test_one_palace_has_one_address_whatever_the_environment(user: User) -> None:
    contexts: tuple[dict[str, str], ...] = (
        {},
        {"XDG_RUNTIME_DIR": str(user.runtime)},
        {"TMPDIR": "/var/tmp"},
        {"HOME": "/"},
    )
    assert {rpc.address(str(user.palace), variables).socket for variables in contexts} == {user.address().socket}
    assert len(os.fsencode(user.address().socket)) < 100


def test_the_status_tells_a_service_that_does_not_answer_from_none(user: User) -> None:
    with Context(user.palace, user.home, user.variables) as context:
        assert service_status(context, ServiceStatusRequest()).trouble == ""
        rpc.make_directory(user.address())
        file_lock = locks.try_lock(Path(user.address().lock))
        assert file_lock is not None
        with file_lock:
            assert user.address().lock in service_status(context, ServiceStatusRequest()).trouble


def test_a_directory_that_may_be_somebody_elses_is_refused(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_address, "_PLACE", str(user.runtime))
    where = user.address()
    Path(where.directory).symlink_to(user.home)
    for act in (rpc.make_directory, lambda where: rpc.ensure_service(where, user.variables, {"want": "calls"})):
        with pytest.raises(ServiceUnavailable, match="not a directory of yours"):
            act(where)
    with Context(user.palace, user.home, user.variables) as context:
        assert "not a directory of yours" in service_status(context, ServiceStatusRequest()).trouble
    Path(where.directory).unlink()
    Path(where.directory).mkdir()
    if os.getuid() == 0:
        os.chown(where.directory, 65_534, 65_534)
        with pytest.raises(ServiceUnavailable, match="not a directory of yours"):
            rpc.make_directory(where)
        os.chown(where.directory, 0, 0)
    rpc.make_directory(where)
    assert Path(where.directory).stat().st_mode & 0o777 == 0o700


def test_versions_come_before_builds() -> None:
    rising = [("0.9", "5.1"), ("1.0.dev2", "1.1"), ("1.0rc1", "1.1"), ("1.0", "3.9"), ("1.0", "4.1"), ("1.0.1", "2.2")]
    for n, older in enumerate(rising):
        assert not rpc.is_newer(*older, *older)
        for newer in rising[n + 1 :]:
            assert rpc.is_newer(*newer, *older)
            assert not rpc.is_newer(*older, *newer)


def test_a_build_is_newer_when_a_file_was_changed() -> None:
    newest, count = rpc.build().split(".")
    files = list(Path(rpc.__file__).parents[1].rglob("*.py"))
    assert int(count) == len(files)
    assert int(newest) == max(file.stat().st_mtime_ns for file in files)


def test_what_an_operation_may_ask_of_its_caller_is_passed() -> None:
    locations = [
        location
        for host in hosts()
        for location in (*host.histories, *host.history_indexes, host.project_history)
        if location
    ]
    asked = {location.variable for location in locations if location.variable} | {"HOME", "TZ"}
    asked |= {"PALAZZO_REDACT", "XDG_CONFIG_HOME"}
    passed = rpc.surroundings("/", dict.fromkeys([*asked, "AWS_SECRET_ACCESS_KEY"], "x"))["variables"]
    assert set(passed) == asked


def test_it_loads_nothing_that_takes_long() -> None:
    program = (
        f"import sys; sys.path.append({SOURCES!r}); from palazzo.client import rpc as client; import os;"
        "client.address(client.chosen_palace(None, os.environ), os.environ); client.build(); print(*sys.modules)"
    )
    bare = [sys.executable, "-I", "-S", "-E", "-c"]
    before = set(
        subprocess.run([*bare, "import sys; print(*sys.modules)"], capture_output=True, text=True).stdout.split()
    )
    after = set(subprocess.run([*bare, program], capture_output=True, text=True, check=True).stdout.split())
    assert not {"json", "re", "socket", "pathlib", "subprocess", "typing", "hashlib", "collections", "enum"} & after
    assert len(after - before) < 20


@pytest.mark.parametrize("kind", [name for name, kind in vars(errors).items() if isinstance(kind, type)])
def test_an_error_is_raised_here_as_it_was_there(kind: str) -> None:
    found = rebuild_error({"kind": kind, "message": "what is wrong"})
    assert isinstance(found, PalazzoError)
    assert type(found).__name__ == kind
    assert str(found) == "what is wrong"


def test_a_bug_is_no_error_for_a_person() -> None:
    assert rebuild_error({"kind": "Bug", "message": "…"}) is None
    assert rebuild_error({"kind": "Path", "message": "…"}) is None
    assert isinstance(rebuild_error({"kind": AmbiguousId.__name__, "message": "…"}), AmbiguousId)
