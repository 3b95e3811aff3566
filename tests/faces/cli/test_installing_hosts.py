"""install and uninstall of Claude Code and Codex: what is written, kept, refused, and given back to the byte."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import SOURCES, Command, spawn

from palazzo.errors import UsageError
from palazzo.hosts import edited_files, hook_wiring, own_program
from palazzo.hosts.codex.wiring import WIRING as CODEX

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links are others there")
HOSTS = {
    "claude-code": (".claude/settings.json", ".claude.json", ".claude/CLAUDE.md"),
    "codex": (".codex/hooks.json", ".codex/config.toml", ".codex/AGENTS.md"),
}
SHARED = {
    "claude-code": (".claude/settings.json", ".mcp.json", "CLAUDE.md"),
    "codex": (".codex/hooks.json", ".codex/config.toml", "AGENTS.md"),
}
FOREIGN = {
    ".claude/settings.json": b'{"model" : "opus",\r\n\t"hooks":{ "Stop":[{"hooks":[{"type":"command",'
    b'"command":"say \\u00fc"}]}],\r\n\t"Stop2": [ ]}}',
    ".claude.json": b'\xef\xbb\xbf{"projects": {}, "numStartups": 12, "mcpServers": {}}',
    ".codex/hooks.json": b"{}\n",
    ".codex/config.toml": b'model = "x" # mine\n[mcp_servers.mem]\ncommand = "m"',
    ".claude/CLAUDE.md": "# Mine\n\nÜber alles.\n".encode(),
    ".codex/AGENTS.md": b"",
}


@pytest.fixture
def program(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `palazzo`, in a directory that is on PATH and has a space and other letters in its name."""
    path = home / "mein Büro" / "palazzo"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{SOURCES}" exec "{sys.executable}" -P -m palazzo "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([path]))
    for directory in (".claude", ".codex"):
        (home / directory).mkdir()
    return path


@pytest.fixture
def foreign(home: Path, program: Path) -> dict[str, bytes]:
    """Both hosts' files, full of somebody else's settings."""
    for name, content in FOREIGN.items():
        (home / name).write_bytes(content)
    return dict(FOREIGN)


def there(home: Path) -> dict[str, bytes]:
    """Every file of the hosts, but for backups."""
    found = [home / ".claude.json", *(home / ".claude").rglob("*"), *(home / ".codex").rglob("*")]
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in found
        if path.is_file() and "palazzo-backup" not in path.name
    }


def hooks_of(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text("utf-8-sig"))["hooks"])


def states(told: Any) -> list[str]:
    return [one["state"] for one in told["files"]]


# --- there and back ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_what_somebody_has_there_is_given_back_to_the_byte(
    palazzo: Command, home: Path, foreign: dict[str, bytes], host: str
) -> None:
    assert states(palazzo.json("install", host)) == ["changed"] * 3
    assert {name for name, content in there(home).items() if foreign[name] != content} == set(HOSTS[host])
    assert states(palazzo.json("install", host)) == ["same"] * 3
    assert states(palazzo.json("uninstall", host)) == ["changed"] * 3
    assert there(home) == foreign
    assert states(palazzo.json("uninstall", host)) == ["same"] * 3


@pytest.mark.parametrize("host", HOSTS)
def test_files_that_were_made_for_it_go_again(palazzo: Command, home: Path, program: Path, host: str) -> None:
    assert states(palazzo.json("install", host)) == ["new"] * 3
    assert set(there(home)) == set(HOSTS[host])
    if os.name == "posix":
        assert {stat.S_IMODE((home / name).stat().st_mode) for name in HOSTS[host]} == {0o600}
    assert states(palazzo.json("uninstall", host)) == ["removed"] * 3
    assert there(home) == {}


def test_a_directory_that_was_created_goes_when_it_is_empty(palazzo: Command, home: Path, program: Path) -> None:
    before = {path for path in home.rglob("*") if path.is_dir()}

    def created() -> set[str]:
        directories = {path for path in home.rglob("*") if path.is_dir()} - before
        return {path.relative_to(home).as_posix() for path in directories if ".local" not in path.parts}

    palazzo.json("install", "claude-code", "--skills")
    palazzo.json("install", "codex", "--project")
    palazzo.json("install", "skills")
    assert {".claude/skills", "shop/.codex", ".agents/skills"} < created()
    (home / ".agents" / "skills" / "mine").mkdir()
    palazzo.json("uninstall", "claude-code")
    palazzo.json("uninstall", "codex", "--project")
    palazzo.json("uninstall", "skills")
    assert created() == {".agents", ".agents/skills", ".agents/skills/mine"}
    (home / ".agents" / "skills" / "mine").rmdir()
    palazzo.json("install", "skills")
    palazzo.json("uninstall", "skills")
    assert created() == set()


def test_a_failed_installation_leaves_no_directory(tmp_path: Path) -> None:
    def fails_late(text: str | None, calls: list[None] = []) -> str:  # noqa: B006 (it counts)
        calls.append(None)
        if len(calls) > 1:
            raise ValueError("it changed")
        return "x"

    first = edited_files.Edit(tmp_path / "a" / "b" / "first", "x", lambda text: "x")
    with pytest.raises(UsageError):
        edited_files.carry_out(
            [first, edited_files.Edit(tmp_path / "second", "x", fails_late)], tmp_path / "s" / "lock"
        )
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("host", HOSTS)
def test_a_project_gets_files_that_name_nothing_of_this_machine(
    palazzo: Command, home: Path, program: Path, host: str
) -> None:
    told = palazzo.json("install", host, "--project")
    assert [Path(one["path"]) for one in told["files"]] == [home / "shop" / name for name in SHARED[host]]
    assert there(home) == {}
    assert all(str(home) not in (home / "shop" / name).read_text() for name in SHARED[host])
    assert states(palazzo.json("uninstall", host, "--project")) == ["removed"] * 3


def test_what_is_written_is_what_hosts_read(palazzo: Command, home: Path, program: Path) -> None:
    palazzo.json("install", "claude-code")
    palazzo.json("install", "codex")
    stop = hooks_of(home / ".claude/settings.json")["Stop"][0]["hooks"][0]
    assert stop == {
        "type": "command",
        "command": str(program),
        "args": ["hook", "claude-code", "stop"],
        "timeout": 10,
    }
    assert json.loads((home / ".claude.json").read_text())["mcpServers"]["palazzo"] == {
        "type": "stdio",
        "command": str(program),
        "args": ["mcp"],
    }
    config = tomllib.loads((home / ".codex/config.toml").read_text())
    assert config == {"mcp_servers": {"palazzo": hook_wiring.server(CODEX, str(program))}}
    assert "`<palazzo-memory>`" in (home / ".codex/AGENTS.md").read_text()


@POSIX
def test_the_stored_lines_start_palazzo_as_the_hosts_start_them(palazzo: Command, home: Path, program: Path) -> None:
    """Claude Code starts a program with arguments; Codex gives a line to a shell. The path has a space and an ü."""
    palazzo.json("install", "claude-code")
    palazzo.json("install", "codex")
    payload = json.dumps({"session_id": "s", "cwd": str(home), "hook_event_name": "SessionStart", "source": "startup"})
    claude = hooks_of(home / ".claude/settings.json")["SessionStart"][0]["hooks"][0]
    codex = hooks_of(home / ".codex/hooks.json")["SessionStart"][0]["hooks"][0]
    for line in ([claude["command"], *claude["args"]], ["sh", "-c", codex["command"]]):
        ran = subprocess.run(line, input=payload, capture_output=True, text=True, check=False, timeout=30)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert isinstance(json.loads(ran.stdout), dict)


def test_another_palace_is_named_in_what_is_written(palazzo: Command, home: Path, program: Path) -> None:
    palazzo.json("--palace", str(home / "a palace.db"), "install", "claude-code")
    stop = hooks_of(home / ".claude/settings.json")["Stop"][0]["hooks"][0]
    assert stop["args"] == ["hook", "claude-code", "stop", "--palace", str(home / "a palace.db")]
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["palazzo"]
    assert server["args"] == ["mcp", "--palace", str(home / "a palace.db")]
    palazzo.json("install", "claude-code")
    assert "a palace.db" not in (home / ".claude.json").read_text() + (home / ".claude/settings.json").read_text()


def test_a_palazzo_that_has_moved_takes_the_place_of_the_old_one(
    palazzo: Command, home: Path, foreign: dict[str, bytes], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    palazzo.json("install", "codex")
    order = list(hooks_of(home / ".codex/hooks.json"))
    elsewhere = home / "elsewhere" / "palazzo"
    elsewhere.parent.mkdir()
    shutil.copy(program, elsewhere)
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([elsewhere]))
    ran = palazzo("install", "codex")
    assert "Your shell finds another installation first" in ran.out
    assert "mein Büro" not in (home / ".codex/hooks.json").read_text() + (home / ".codex/config.toml").read_text()
    assert list(hooks_of(home / ".codex/hooks.json")) == order
    palazzo.json("uninstall", "codex")
    assert there(home) == foreign


def test_the_name_on_path_is_stored_where_it_leads_to_this_installation(
    palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pipx and uv make what it leads to anew; the link stays."""
    link = home / "bin" / "palazzo"
    link.parent.mkdir()
    link.symlink_to(program)
    monkeypatch.setenv("PATH", f"{link.parent}{os.pathsep}{os.environ['PATH']}")
    palazzo.json("install", "claude-code")
    assert hooks_of(home / ".claude/settings.json")["Stop"][0]["hooks"][0]["command"] == str(link)


def test_a_program_that_will_be_gone_is_not_wired(
    palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`uvx palazzo install` runs one that uv keeps in its cache."""
    cached = home / ".cache" / "uv" / "archive" / "bin" / "palazzo"
    cached.parent.mkdir(parents=True)
    shutil.copy(program, cached)
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([cached]))
    ran = palazzo("install", "codex")
    assert ran.code == 2
    assert "is in a cache" in ran.error
    assert there(home) == {}


def test_a_status_line_is_shown_where_it_is_asked_for_and_there_is_none(
    palazzo: Command, home: Path, foreign: dict[str, bytes]
) -> None:
    file = home / ".claude" / "settings.json"
    palazzo.json("install", "claude-code")
    assert "statusLine" not in json.loads(file.read_bytes())
    palazzo.json("install", "claude-code", "--status-line")
    assert shlex.split(json.loads(file.read_bytes())["statusLine"]["command"])[1:] == ["statusline"]
    assert set(states(palazzo.json("install", "claude-code"))) == {"same"}
    palazzo.json("uninstall", "claude-code")
    assert there(home) == foreign
    file.write_text('{"statusLine": {"type": "command", "command": "mine.sh"}}')
    assert "stays unchanged" in palazzo("install", "claude-code", "--status-line").out
    assert json.loads(file.read_bytes())["statusLine"]["command"] == "mine.sh"
    assert palazzo("install", "codex", "--status-line").code == 2


def test_a_plugin_that_does_the_same_is_named(palazzo: Command, home: Path, program: Path) -> None:
    (home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"palazzo@palazzo": true}}')
    assert "disable it" in palazzo("install", "claude-code").out


def test_a_hook_that_is_off_by_default_is_wired_where_it_is_on(
    palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALAZZO_EVENTS_PRE_TOOL", "true")
    palazzo.json("install", "claude-code")
    assert "PreToolUse" in hooks_of(home / ".claude/settings.json")
    monkeypatch.delenv("PALAZZO_EVENTS_PRE_TOOL")
    palazzo.json("install", "claude-code")
    assert "PreToolUse" not in hooks_of(home / ".claude/settings.json")


def test_codex_loses_the_trust_that_was_for_ours_and_no_other(palazzo: Command, home: Path, program: Path) -> None:
    palazzo.json("install", "codex")
    config = home / ".codex" / "config.toml"
    key = f"{home}/.codex/hooks.json"
    before = config.read_text()
    ours = f'\n[hooks.state]\n\n[hooks.state."{key}:pre_compact:0:0"]\ntrusted_hash = "sha256:1"\n'
    theirs = f'\n[hooks.state."{key}:stop:4:0"]\ntrusted_hash = "sha256:2"\n'
    config.write_text(before + ours + theirs)
    palazzo.json("uninstall", "codex")
    assert config.read_text() == "\n[hooks.state]\n" + theirs
    config.unlink()
    palazzo.json("install", "codex")
    config.write_text(before + ours)
    assert states(palazzo.json("uninstall", "codex")) == ["removed"] * 3


# --- what is shown -----------------------------------------------------------------------------------------


def test_a_dry_run_shows_the_diff_and_writes_nothing(palazzo: Command, home: Path, foreign: dict[str, bytes]) -> None:
    ran = palazzo("install", "codex", "--dry-run")
    assert "+[mcp_servers.palazzo]" in ran.out
    assert ran.out.count("would be changed") == 3
    assert there(home) == foreign
    assert list(home.rglob("*palazzo-backup*")) == []
    palazzo("install", "codex")
    assert "-[mcp_servers.palazzo]" in palazzo("uninstall", "codex", "--dry-run").out


def test_a_person_is_told_what_was_written_and_what_to_do_next(palazzo: Command, home: Path, program: Path) -> None:
    ran = palazzo("install", "codex")
    assert "~/.codex/hooks.json" in ran.out
    assert "says that hooks need review" in ran.out
    assert "contained nothing from Palazzo" in palazzo("uninstall", "claude-code").out


def test_backups_are_kept_beside_the_file_and_not_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("0")
    edit = edited_files.Edit(path, "x", lambda text: f"{int(text or '0') + 1}")
    for n in range(5):
        (done,) = edited_files.carry_out([edit], tmp_path / "lock")
        assert done.backup is not None
        assert done.backup.read_text() == f"{n}"
    assert sorted(one.read_text() for one in tmp_path.glob("settings.json.palazzo-backup-*")) == ["2", "3", "4"]


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (".claude/settings.json", b"", "it is empty"),
        (".claude/settings.json", b"{'hooks': {}}", "not valid JSON"),
        (".claude/settings.json", b'{"hooks": []}', "is not an object"),
        (".claude/settings.json", b'{"a": "\xff"}', "is not UTF-8"),
        (".claude.json", b"[", "not valid JSON"),
        (".claude.json", b'{"mcpServers": {"palazzo": {"command": "x", "args": []}}}', "starts another program"),
        (".claude/CLAUDE.md", b"<!-- palazzo:begin claude-code -->\n", "is not followed by a line"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named_and_nothing_is_written(
    palazzo: Command, home: Path, foreign: dict[str, bytes], name: str, content: bytes, says: str
) -> None:
    (home / name).write_bytes(content)
    ran = palazzo("install", "claude-code")
    assert ran.code == 2
    assert str(home / name) in ran.error
    assert says in ran.error
    assert there(home) == {**foreign, name: content}


@POSIX
@pytest.mark.parametrize("name", HOSTS["codex"])
def test_a_file_that_is_read_only_is_refused_and_nothing_is_written(
    palazzo: Command, home: Path, foreign: dict[str, bytes], name: str
) -> None:
    (home / name).chmod(0o444)
    ran = palazzo("install", "codex")
    assert ran.code == 2
    assert f"{home / name} is read-only" in ran.error
    assert there(home) == foreign


@POSIX
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(
    palazzo: Command, home: Path, program: Path
) -> None:
    os.mkfifo(home / ".claude" / "settings.json")
    assert "is not a file" in palazzo("install", "claude-code").error
    assert there(home) == {}


@POSIX
def test_a_link_that_leads_nowhere_is_followed_and_stays(palazzo: Command, home: Path, program: Path) -> None:
    link = home / ".codex" / "hooks.json"
    link.symlink_to(home / "dotfiles" / "hooks.json")
    palazzo.json("install", "codex")
    assert "Stop" in hooks_of(home / "dotfiles" / "hooks.json")
    palazzo.json("uninstall", "codex")
    assert (link.is_symlink(), link.exists()) == (True, False)


@POSIX
def test_a_place_that_cannot_be_written_is_named(palazzo: Command, home: Path, program: Path) -> None:
    (home / ".local" / "state").mkdir(parents=True)
    (home / ".local" / "state" / "palazzo").write_text("")
    ran = palazzo("install", "claude-code")
    assert ran.code == 2
    assert "install.lock of installations cannot be created" in ran.error
    assert there(home) == {}


def test_a_home_is_no_project(palazzo: Command, home: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert "is not a project" in palazzo("install", "claude-code", "--project").error
    assert there(home) == {}


def test_a_directory_in_the_place_of_a_file_is_refused(palazzo: Command, home: Path, foreign: dict[str, bytes]) -> None:
    (home / ".claude.json").unlink()
    (home / ".claude.json").mkdir()
    assert "is not a file" in palazzo("install", "claude-code").error
    del foreign[".claude.json"]
    assert there(home) == foreign


@pytest.mark.parametrize(("name", "host"), [("claude", "claude-code"), ("openai-codex", "codex")])
def test_a_host_is_known_by_its_other_name(palazzo: Command, home: Path, program: Path, name: str, host: str) -> None:
    told = palazzo.json("install", name)
    assert (told["target"], set(there(home))) == (host, set(HOSTS[host]))
    assert palazzo.json("uninstall", name)["target"] == host
    assert there(home) == {}


def test_a_host_that_is_not_here_is_named(palazzo: Command, home: Path, program: Path) -> None:
    (home / ".codex").rmdir()
    ran = palazzo("install", "codex")
    assert ran.code == 2
    assert "Codex was not found" in ran.error
    assert not (home / ".codex").exists()


@pytest.mark.parametrize("words", [("codex", "."), ("mempalace-compat", "--clean"), ("codex", "--user", "--project")])
def test_what_makes_no_sense_is_refused(palazzo: Command, program: Path, words: tuple[str, ...]) -> None:
    assert palazzo("install", *words).code == 2


@POSIX
def test_a_link_stays_a_link_and_permissions_stay(palazzo: Command, home: Path, foreign: dict[str, bytes]) -> None:
    real = home / "dotfiles" / "settings.json"
    real.parent.mkdir()
    link = home / ".claude" / "settings.json"
    link.rename(real)
    link.symlink_to(real)
    real.chmod(0o640)
    palazzo.json("install", "claude-code")
    assert link.is_symlink()
    assert "Stop" in hooks_of(real)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    palazzo.json("uninstall", "claude-code")
    assert link.is_symlink()
    assert there(home) == foreign


# --- others write meanwhile --------------------------------------------------------------------------------


def test_what_the_host_writes_meanwhile_is_read_again_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("1")
    read: list[str | None] = []

    def change(text: str | None) -> str | None:
        if len(read) == 1:  # it was looked at before; now the host writes between reading and replacing
            path.write_text("2")
        read.append(text)
        return f"{text} and ours"

    edited_files.carry_out([edited_files.Edit(path, "x", change)], tmp_path / "state" / "lock")
    assert path.read_text() == "2 and ours"
    assert [one.read_text() for one in tmp_path.glob("*backup*")] == ["2"]


def test_a_file_that_never_rests_is_refused_and_those_before_it_are_put_back(tmp_path: Path) -> None:
    first, restless = tmp_path / "first", tmp_path / "restless"
    first.write_text("1")
    restless.write_text("0")

    def change(text: str | None) -> str | None:
        restless.write_text(f"{text}0")
        return "ours"

    edits = [edited_files.Edit(first, "x", lambda _: "ours"), edited_files.Edit(restless, "x", change)]
    with pytest.raises(UsageError, match="Another program keeps changing"):
        edited_files.carry_out(edits, tmp_path / "lock")
    assert first.read_text() == "1"
    assert "ours" not in restless.read_text()
    assert list(tmp_path.glob("*backup*")) == []


@pytest.mark.slow
def test_installations_at_once_end_in_one_of_each(palazzo: Command, home: Path, foreign: dict[str, bytes]) -> None:
    codes: list[int] = []
    host: Callable[[str], None] = lambda name: codes.append(spawn("install", name).code)  # noqa: E731
    threads = [threading.Thread(target=host, args=(name,)) for name in ("codex", "codex", "claude-code")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0, 0]
    assert all(len(groups) == 1 for groups in hooks_of(home / ".codex/hooks.json").values())
    for name in HOSTS:
        palazzo.json("uninstall", name)
    assert there(home) == foreign


# --- other memories ----------------------------------------------------------------------------------------

OLD_HOOKS: dict[str, Any] = {
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "bash /opt/mempalace/hooks/mempal_save_hook.sh", "timeout": 30}]},
            {"hooks": [{"type": "command", "command": "grep -q mempalace log && say done"}]},
        ],
        "SessionStart": [
            {
                "matcher": "*",
                "hooks": [
                    {"type": "command", "command": "npx -y claude-mem@3.1.0 context"},
                    {"type": "command", "command": "date"},
                ],
            }
        ],
    },
}
OLD_SERVERS = {
    "mcpServers": {
        "memory": {"command": "python3", "args": ["-m", "mempalace.mcp_server"]},
        "shodh": {"command": "npx", "args": ["-y", "@shodh/memory-mcp"]},
        "wt": {"command": "uvx", "args": ["wt-memory"]},
        "graph": {"type": "stdio", "command": "/usr/bin/mnemograph-mcp", "args": []},
        "notes": {"command": "notes", "args": ["mempalace"]},
    }
}
OLD_TOLD = """\
# Mine

<claude-mem-context>
# Recent
</claude-mem-context>

## MemPalace memory protocol

Call mempalace_search first.

### More of it

## Style

We moved from mempalace to something else.
"""


@pytest.fixture
def old(home: Path, program: Path) -> dict[str, bytes]:
    """Claude Code's files with what other memories left there."""
    (home / ".claude/settings.json").write_text(json.dumps(OLD_HOOKS, indent=2))
    (home / ".claude.json").write_text(json.dumps(OLD_SERVERS, indent=2))
    (home / ".claude/CLAUDE.md").write_text(OLD_TOLD)
    return there(home)


def test_other_memories_are_named_and_left_alone(palazzo: Command, home: Path, old: dict[str, bytes]) -> None:
    told = palazzo.json("install", "claude-code")
    assert [(one["name"], one["what"]) for one in told["others"]] == [
        ("MemPalace", "hook Stop"),
        ("claude-mem", "hook SessionStart"),
        ("MemPalace", "MCP server 'memory'"),
        ("Shodh", "MCP server 'shodh'"),
        ("wt-memory", "MCP server 'wt'"),
        ("Mnemograph", "MCP server 'graph'"),
        ("claude-mem", "'<claude-mem-context>' and 2 lines below"),
        ("MemPalace", "'## MemPalace memory protocol' and 4 lines below"),
    ]
    palazzo.json("uninstall", "claude-code")
    assert there(home) == old


def test_nothing_of_other_memories_goes_before_somebody_has_said_yes(
    palazzo: Command, home: Path, old: dict[str, bytes]
) -> None:
    ran = palazzo("install", "claude-code", "--clean")
    assert ran.code == 2
    assert "give --yes" in ran.error
    shown = palazzo("install", "claude-code", "--clean", "--dry-run").out
    assert "mempal_save_hook.sh" in shown
    assert there(home) == old


def test_what_other_memories_left_goes_where_palazzo_is_there_already(
    palazzo: Command, home: Path, program: Path
) -> None:
    told = home / ".claude/CLAUDE.md"
    told.write_text("# Mine\n\n## MemPalace\n\nCall it first.\n")
    palazzo.json("install", "claude-code")
    palazzo.json("install", "claude-code", "--clean", "--yes")
    assert told.read_text().count("palazzo:begin") == 1
    palazzo.json("uninstall", "claude-code")
    assert told.read_text() == "# Mine\n"


def test_what_other_memories_left_goes_and_everything_else_stays(
    palazzo: Command, home: Path, old: dict[str, bytes]
) -> None:
    told = palazzo.json("install", "claude-code", "--clean", "--yes")
    assert Path(told["files"][2]["backup"]).read_bytes() == old[".claude/CLAUDE.md"]
    palazzo.json("uninstall", "claude-code")
    kept = {
        "Stop": OLD_HOOKS["hooks"]["Stop"][1:],
        "SessionStart": [{"matcher": "*", "hooks": [{"type": "command", "command": "date"}]}],
    }
    assert json.loads((home / ".claude/settings.json").read_text()) == {"model": "opus", "hooks": kept}
    assert list(json.loads((home / ".claude.json").read_text())["mcpServers"]) == ["notes"]
    left = (home / ".claude/CLAUDE.md").read_text()
    assert left == "# Mine\n\n## Style\n\nWe moved from mempalace to something else.\n"


PLUGINS = """{
  "enabledPlugins": {
    "claude-mem@thedotmack": true, "mempalace@mempalace": true,
    "mem0@own": false,
    "palazzo@palazzo": true,
    "lint@tools": true
  }
}
"""


def test_plugins_of_other_memories_are_disabled_and_others_stay(palazzo: Command, home: Path, program: Path) -> None:
    settings, servers = home / ".claude/settings.json", home / ".claude.json"
    settings.write_text(PLUGINS)
    old_servers = {
        "claude-mem": {"command": "node", "args": ["/opt/mcp-server.cjs"]},
        "own": {"command": "own", "args": []},
    }
    servers.write_text(json.dumps({"mcpServers": old_servers}))
    told = palazzo.json("install", "claude-code", "--dry-run")["others"]
    assert [(one["name"], one["what"]) for one in told] == [
        ("claude-mem", "MCP server 'claude-mem'"),
        ("claude-mem", "enabled plugin 'claude-mem@thedotmack'"),
        ("MemPalace", "enabled plugin 'mempalace@mempalace'"),
    ]
    assert settings.read_text() == PLUGINS
    assert "claude plugin uninstall" in palazzo("install", "claude-code", "--clean", "--yes").out
    palazzo.json("uninstall", "claude-code")
    expected = PLUGINS.replace('thedotmack": true', 'thedotmack": false').replace(
        'mempalace": true', 'mempalace": false'
    )
    assert settings.read_text() == expected
    assert list(json.loads(servers.read_text())["mcpServers"]) == ["own"]


@pytest.mark.parametrize("plugins", ["null", "[]", '"claude-mem@thedotmack"', '{"claude-mem@thedotmack": null}'])
def test_settings_without_enabled_plugins_are_not_changed_by_cleaning(
    palazzo: Command, home: Path, program: Path, plugins: str
) -> None:
    settings = home / ".claude/settings.json"
    settings.write_text(f'{{"enabledPlugins": {plugins}}}')
    assert palazzo.json("install", "claude-code", "--clean", "--yes")["others"] == []
    palazzo.json("uninstall", "claude-code")
    assert settings.read_text() == f'{{"enabledPlugins": {plugins}}}'


SKILL_BLOCK = "<!-- wt-memory hooks start -->\nwt-memory recall it\n<!-- wt-memory hooks end -->"
SKILL = f"# Apply a change\n\n{SKILL_BLOCK}\n\n## Steps\n"
SLASH = "Explore.\n- Run `wt-memory recall TOPIC` first.\n- Look around.\n"


def test_what_another_memory_left_in_skills_commands_and_projects_goes_and_is_kept_beside(
    palazzo: Command, home: Path, program: Path
) -> None:
    files = {
        ".claude/skills/apply/SKILL.md": SKILL,
        ".claude/commands/opsx/explore.md": SLASH,
        ".claude/commands/wt/memory.md": "Run `wt-memory recall TOPIC`.\n",
        ".claude/hot-topics.json": "[]",
        ".claude.json": json.dumps(
            {"projects": {"/x": {"mcpServers": {"wt-memory": {"command": "python"}, "own": {"command": "own"}}}}},
            indent=2,
        ),
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    found = palazzo.json("install", "claude-code", "--dry-run")["others"]
    assert [one["what"] for one in found if one["name"] == "wt-memory"] == [
        "MCP server 'wt-memory'",
        "'<!-- wt-memory hooks start -->' and 2 lines below",
        "1 line that call it",
        "its list of topics",
    ]
    shown = palazzo("install", "claude-code", "--clean", "--dry-run").out
    assert "-- Run `wt-memory recall TOPIC` first." in shown
    assert {name: (home / name).read_text() for name in files} == files
    done = palazzo.json("install", "claude-code", "--clean", "--yes")
    backups = {Path(one["path"]).name: one["backup"] for one in done["files"] if one["backup"]}
    assert {Path(path).read_text() for path in backups.values()} >= {SKILL, SLASH, "[]", files[".claude.json"]}
    assert (home / ".claude/skills/apply/SKILL.md").read_text() == "# Apply a change\n\n## Steps\n"
    assert (home / ".claude/commands/opsx/explore.md").read_text() == "Explore.\n- Look around.\n"
    assert (home / ".claude/commands/wt/memory.md").read_text() == files[".claude/commands/wt/memory.md"]
    assert not (home / ".claude/hot-topics.json").exists()
    assert json.loads((home / ".claude.json").read_text())["projects"] == {
        "/x": {"mcpServers": {"own": {"command": "own"}}}
    }
    assert palazzo.json("install", "claude-code", "--dry-run")["others"] == []
