"""What doctor says of a palace that another version derived, and of broken homes; and what it mends."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.hosts.test_installed import SERVES

from palazzo.client import rpc, startup
from palazzo.derived.cutter import Cutter
from palazzo.features.service.service_state import address_of
from palazzo.hosts import own_program
from palazzo.hosts.codex.install import trust_keys
from palazzo.index import minilm
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.palace import Palace
from palazzo.store import change_log


def findings(path: Path) -> dict[str, bool]:
    doctor = operation("doctor")
    with Context(palace=path, cwd=path.parent, variables={"HOME": str(path.parent)}) as context:
        return {finding.name: finding.ok for finding in doctor.run(context, doctor.request()).findings}


def test_drawers_that_another_version_cut_are_a_finding_until_they_are_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "palace.db"
    with Palace.open(path) as palace:
        palace.remember("Port 8443, because of the proxy.", Place("api", "decisions"))
        with palace.database.transaction() as connection:
            _, seq = change_log.cursor(connection, Cutter.name)
            change_log.advance(connection, Cutter.name, Cutter.version - 1, seq)
        assert findings(path).get("drawers") is False
        palace.rebuild("drawers")
        assert "drawers" not in findings(path)


# --- broken homes ------------------------------------------------------------------------------------------

REAL = Path("/nowhere/at/all/palazzo")
Break = Callable[[Path, pytest.MonkeyPatch], None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a palace and both hosts, into which a program that answers was installed."""
    program = tmp_path / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n[ $1 = mcp ] && echo '{SERVES}' || echo '{{}}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([program]))
    for directory in (".claude", ".codex", "shop"):
        (tmp_path / directory).mkdir()
    with around(tmp_path) as context:
        context.writing()
        for host in ("claude-code", "codex"):
            operation("install").run(context, operation("install").request(host))
    trust(tmp_path)
    return tmp_path


def around(home: Path) -> Context:
    variables = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PALAZZO_SERVICE": "on"}
    variables["PATH"] = f"{home}/bin{os.pathsep}/usr/bin{os.pathsep}/bin"
    return Context(cwd=home / "shop", variables=variables)


def trust(home: Path) -> None:
    config = home / ".codex" / "config.toml"
    keys = trust_keys(home / ".codex" / "hooks.json")
    kept = (f"\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(said)}\n" for key, said in keys.items())
    config.write_text(config.read_text() + "".join(kept))


def wrong(home: Path, **asked: bool) -> list[tuple[str, str, str]]:
    """The findings that are not in order: what, how, and what mends it."""
    with around(home) as context:
        request = operation("doctor").request(**asked)
        found = operation("doctor").run(context, request).findings
    return [(one.name, one.detail, one.mend) for one in found if not one.ok]


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def settings_of(home: Path, **more: object) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "bin" / "palazzo").unlink()


def another_palace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(home / ".claude.json", '"mcp"', '"mcp", "--palace", "/other/palace.db"')


def plugin_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_of(home, enabledPlugins={"palazzo@palazzo": True})


def untrusted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(home / ".codex" / "config.toml", "sha256:", "sha256:0")


def switched_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_of(home, disableAllHooks=True)


def unreadable(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".claude" / "settings.json").write_text('{"hooks": {,}}')


def no_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.features.upkeep.doctor.LEAST_FREE", 1 << 60)


def model_lost(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = home / "data"
    data.mkdir()
    monkeypatch.setattr(minilm, "DATA", data)


def wrong_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / ".config" / "palazzo" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("save_interval = 'often'\n")


def others_may_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".local" / "share" / "palazzo" / "palace.db").chmod(0o644)


def never_comes_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with around(home) as context:
        where = address_of(context)
        rpc.make_directory(where)
        startup._write(startup._note(where, context.variables), "failed", 1_700_000_000)


def line_of_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_of(home, statusLine={"type": "command", "command": f"{REAL} statusline"})


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
@pytest.mark.parametrize(
    ("breaks", "name", "detail", "mend"),
    [
        (gone, "Claude Code", "which does not exist", "palazzo install claude-code"),
        (another_palace, "Claude Code", "another palace: /other/palace.db", "palazzo install claude-code"),
        (plugin_too, "Claude Code", "hooks are installed in user and plugin", "palazzo uninstall claude-code --user"),
        (untrusted, "Codex", "until you trust them", "start codex and type /hooks"),
        (switched_off, "Claude Code", "`disableAllHooks` is true", "set it to false there"),
        (unreadable, "Claude Code", "cannot be read: it is not valid JSON", "mend "),
        (no_room, "disk space", "free", "free some space"),
        (model_lost, "model files", "missing or damaged", "pip install --force-reinstall palazzo"),
        (wrong_settings, "settings", "save_interval", "palazzo settings"),
        (others_may_read, "permissions", "others may read", "chmod 600 "),
        (never_comes_up, "service", "did not come up", "palazzo service start"),
        (line_of_nothing, "Claude Code", f"the status line starts {REAL}", "palazzo install claude-code"),
    ],
)
def test_what_is_broken_is_found_and_said_how_to_mend(
    home: Path, monkeypatch: pytest.MonkeyPatch, breaks: Break, name: str, detail: str, mend: str
) -> None:
    breaks(home, monkeypatch)
    first = wrong(home, canaries=False)[0]
    assert first[0] == name
    assert detail in first[1]
    assert first[2].startswith(mend)


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_a_home_that_is_whole_has_nothing_wrong_and_what_is_set_says_where(home: Path) -> None:
    assert wrong(home) == []
    with around(home) as context:
        found = operation("doctor").run(context, operation("doctor").request(canaries=False)).findings
    assert next(one.detail for one in found if one.name == "settings") == "service = true (PALAZZO_SERVICE)"


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_fix_mends_what_is_ours_and_says_what_it_did(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(home / ".claude" / "settings.json", '"Stop"', '"Stopped"')
    switched_off(home, monkeypatch)
    others_may_read(home, monkeypatch)
    with around(home) as context:
        result = operation("doctor").run(context, operation("doctor").request(canaries=False, fix=True))
    assert [(one.command.split("'")[0], one.done) for one in result.fixed] == [
        ("chmod 600 ", True),
        ("palazzo install claude-code", True),
    ]
    assert str(home / ".claude" / "settings.json") in result.fixed[1].detail
    assert [one.mend for one in result.findings if not one.ok] == ["set it to false there"]
    assert '"Stop"' in (home / ".claude" / "settings.json").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
def test_fix_leaves_what_is_another_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(home / ".claude" / "settings.json", '"Stop"', '"Stopped"')
    servers = home / ".claude.json"
    servers.write_text('{"mcpServers": {"palazzo": {"command": "another", "args": []}}}')
    before = servers.read_bytes()
    with around(home) as context:
        (fixed,) = operation("doctor").run(context, operation("doctor").request(canaries=False, fix=True)).fixed
    assert not fixed.done
    assert "starts another program" in fixed.detail
    assert servers.read_bytes() == before


@contextmanager
def serving(home: Path, version: str) -> Iterator[None]:
    """Something that says that it is the palace's service, of a version."""
    with around(home) as context:
        where = address_of(context)
    rpc.make_directory(where)
    told = {"since": 0, "guests": 0, "running": 0, "calls": 0, "memory_mb": 1, "watching": False}
    answer = {"palazzo": rpc.PROTOCOL, "ok": True, "version": version, "pid": 4711, "state": told}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(where.socket)
        listening.listen()

        def answer_all() -> None:
            while True:
                try:
                    guest, _ = listening.accept()
                except OSError:
                    return  # it is closed
                with guest:
                    guest.recv(1 << 16)
                    guest.sendall(json.dumps(answer).encode() + b"\n")

        thread = threading.Thread(target=answer_all)
        thread.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            Path(where.socket).unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="it listens on a socket of Unix")
@pytest.mark.parametrize(
    ("version", "says", "mend"),
    [
        ("0.0.1", "which replaces it", "palazzo service start"),
        ("9000.1", "of another installation", "pip install --upgrade palazzo"),
    ],
)
def test_a_service_of_another_version_is_named(home: Path, version: str, says: str, mend: str) -> None:
    with serving(home, version):
        ((name, detail, how),) = wrong(home, canaries=False)
    assert name == "service"
    assert f"process 4711 has version {version}" in detail
    assert says in detail
    assert how.startswith(mend)
