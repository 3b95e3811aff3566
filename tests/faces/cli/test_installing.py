"""install mempalace-compat: what is written, what is left alone, and that MemPalace's verbs do what they did."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.faces.cli.mempalace_command import CommandLineError, translate
from palazzo.features.hosts.contract import TARGETS

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="programs are .cmd files there")
MODULES = [f"mempalace-modules/{name}.py" for name in ("mcp_server", "config", "convo_miner")]
NAMES = ["mempalace", "mempalace-mcp", "mempalace.py", *MODULES]


def there(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


# --- what is written ---------------------------------------------------------------------------------------


@POSIX
def test_programs_and_a_module_are_written_and_nothing_changes_the_second_time(palazzo: Command, home: Path) -> None:
    directory = home / "my bin"
    told = palazzo.json("install", "mempalace-compat", str(directory))
    assert [one["state"] for one in told["files"]] == ["new"] * 7
    assert sorted(there(directory)) == sorted(NAMES)
    assert (directory / "mempalace").stat().st_mode & stat.S_IXUSR
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in directory.rglob("*")}
    again = palazzo.json("install", "mempalace-compat", str(directory))
    assert [one["state"] for one in again["files"]] == ["same"] * 7
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in directory.rglob("*")} == before


@POSIX
def test_the_directory_that_is_not_on_path_is_named_with_what_is_found_there(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, other = home / "my bin", home / "other" / "mempalace"

    def printed(search_path: str) -> str:
        monkeypatch.setenv("PATH", search_path)
        return palazzo("install", "mempalace-compat", str(directory)).out

    assert f"{directory} is not on PATH, so 'mempalace' is not found." in printed("/nowhere")
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert f"{directory} is not on PATH, so 'mempalace' starts {other}." in printed(str(other.parent))
    assert f"{other} comes before {directory} on PATH." in printed(f"{other.parent}:{directory}")
    assert f"{directory} is on PATH." in printed(f"{directory}:{other.parent}")


@POSIX
def test_claude_code_gets_the_slash_commands_of_mempalace_and_keeps_those_of_others(
    palazzo: Command, home: Path
) -> None:
    commands = home / ".claude" / "commands"
    commands.mkdir(parents=True)
    palazzo.json("install", "mempalace-compat", str(home / "my bin"))
    names = ("help", "init", "mine", "search", "status")
    assert sorted(there(commands)) == ["mempalace-diary.md", *(f"mempalace/{name}.md" for name in names)]
    for name in names:
        assert f"!`mempalace instructions {name}`" in (commands / "mempalace" / f"{name}.md").read_text()
        assert palazzo("instructions", name, "--profile", "mempalace").code == 0
    (commands / "mempalace-diary.md").write_text("mine")
    assert "was not written by Palazzo" in palazzo("install", "mempalace-compat", str(home / "my bin")).error


@POSIX
def test_a_dry_run_says_what_it_would_write_and_writes_nothing(palazzo: Command, home: Path) -> None:
    ran = palazzo("install", "mempalace-compat", "bin", "--dry-run")
    assert ran.out.count("would be written") == 7
    assert not (home / "shop" / "bin").exists()


@POSIX
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "directory"])
def test_what_is_not_ours_is_never_touched_and_nothing_else_is_written(
    palazzo: Command, home: Path, name: str, kind: str
) -> None:
    directory = home / "bin"
    foreign = directory / name
    foreign.parent.mkdir(parents=True)
    elsewhere = home / "elsewhere"
    match kind:
        case "file":
            foreign.write_text("#!/bin/sh\necho the real one\n")
        case "directory":
            foreign.mkdir()
        case _:
            foreign.symlink_to(elsewhere)
            if kind == "link":
                elsewhere.write_text("the real one\n")
    before = there(directory)
    ran = palazzo("install", "mempalace-compat", str(directory))
    assert ran.code == 2
    assert f"{foreign} was not written by Palazzo; nothing was written." in ran.error
    assert there(directory) == before


@POSIX
def test_ours_of_another_installation_is_written_anew(palazzo: Command, home: Path) -> None:
    directory = home / "bin"
    palazzo.json("install", "mempalace-compat", str(directory))
    program = directory / "mempalace"
    held = program.read_text()
    program.write_text(held.replace(sys.executable, "/gone/python"))
    told = palazzo.json("install", "mempalace-compat", str(directory))
    assert [one["state"] for one in told["files"]] == ["changed", *["same"] * 6]
    assert program.read_text() == held


@POSIX
def test_the_server_of_that_name_becomes_the_users_own_beside_what_the_user_lists(palazzo: Command, home: Path) -> None:
    palazzo("settings", "set", "trust.own", "kubectl")
    palazzo.json("install", "mempalace-compat", str(home / "bin"), "--dry-run")
    assert palazzo.json("settings", "get", "trust.own")["settings"][0]["value"] == ["kubectl"]
    palazzo.json("install", "mempalace-compat", str(home / "bin"))
    assert palazzo.json("settings", "get", "trust.own")["settings"][0]["value"] == ["kubectl", "mempalace"]


def test_what_cannot_be_installed_is_named_with_what_can(palazzo: Command) -> None:
    ran = palazzo("install", "emacs")
    assert ran.code == 2
    assert f"choose one of: {', '.join(TARGETS)}" in ran.error
    assert "Name a directory that is on PATH" in palazzo("install", "mempalace-compat").error
    assert "is not a directory" in palazzo("install", "mempalace-compat", "palazzo.toml").error


# --- MemPalace's words in ours -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("init proj", "init -- proj"),
        ("init proj --yes", "init --yes -- proj"),
        ("init proj --yes --no-llm --lang en", "init --yes -- proj"),
        ("mine proj", "mine --wait -- proj"),
        ("mine proj --mode projects --wing w", "mine --mode auto --wing w --wait -- proj"),
        ("mine chats --mode=convos", "mine --mode convos --wait -- chats"),
        ("mine papers --mode extract --direct", "mine --mode docs --wait -- papers"),
        ("mine proj --dry-run --agent me", "mine --dry-run -- proj"),
        ("mine proj --dry-run --read-only", "mine --dry-run -- proj"),
        ("mine / --dry-run --include-ignored proc,sys/ --include-ignored no-such", "mine --dry-run -- / /proc /sys/"),
        ("sweep chats", "mine --mode convos --wait -- chats"),
        ("search why sqlite --results 3 --room db", "search --limit 3 --room db -- why sqlite"),
        ("search why --since 2026-01-01 --before 2026-02-01", "search --since 2026-01-01 --until 2026-02-01 -- why"),
        ("wake-up --wing w", "wake-up --wing w"),
        ("status", "status"),
        ("repair --yes", "repair"),
        ("repair --dry-run --read-only", "repair --dry-run"),
        ("hook run --hook stop --harness claude-code", "hook claude-code stop"),
        ("hook run --hook precompact --harness codex", "hook codex pre-compact"),
        ("instructions search", "instructions search --profile mempalace"),
        ("mcp", "mcp --profile mempalace"),
        ("mcp --palace /x --transport stdio", "mcp --profile mempalace --palace /x/palace.db"),
        ("mcp --read-only", "mcp --profile mempalace --read-only"),
        ("--palace /x status", "status --palace /x/palace.db"),
        ("status --palace=/x", "status --palace /x/palace.db"),
        ("--palace ~/.mempalace/palace status", "status"),
        ("--palace ~/.config/mempalace/palace status", "status"),
        ("hook run --hook stop --harness codex --palace /x", "hook codex stop --palace /x/palace.db"),
        ("split chats", ""),
    ],
)
def test_a_verb_of_mempalace_is_one_of_ours(theirs: str, ours: str) -> None:
    assert translate(theirs.split()) == ours.split()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("sync", "sync-sources"),
        ("sync . --dry-run --daemon", "sync-sources -- ."),
        ("sync --root . --apply", "sync-sources --apply -- ."),
        ("sync --wing zoo --apply", "sync-sources --wing zoo --apply"),
        ("sync --read-only", "sync-sources"),
        ("audit --json --quiet", "audit --json"),
    ],
)
def test_documents_that_are_gone_and_the_audit_are_those_of_palazzo(given: str, words: str) -> None:
    assert translate(given.split()) == words.split()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("compress", "there is no 'compress'"),
        ("mine proj --frobnicate", "mine has no option --frobnicate"),
        ("mine proj --wing", "--wing needs a value"),
        ("hook run --hook stop", "say which hook"),
        ("--palace /x", "say what to do"),
        ("status --palace", "--palace needs a value"),
        ("search", "say what to search for"),
        ("sync a --root b", "one directory"),
        ("sync --apply", "needs a directory or --wing"),
        ("audit --fail-under 80", "audit has no option --fail-under"),
        ("rules", "rules needs --host NAME"),
    ],
)
def test_what_mempalace_does_not_know_either_is_named(given: str, says: str) -> None:
    with pytest.raises(CommandLineError, match=says):
        translate(given.split())
