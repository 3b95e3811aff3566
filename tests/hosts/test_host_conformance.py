"""What every host owes: its description and the modules of its folder fit each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path, PurePath

import pytest
import yaml

from palazzo.client import rpc
from palazzo.errors import UsageError
from palazzo.faces.mcp.profile import profile_called
from palazzo.hosts import entry_matcher, host_histories, host_registry
from palazzo.hosts.claude_code import install as claude_code
from palazzo.hosts.edited_files import Edit, carry_out
from palazzo.hosts.host_descriptor import Host
from palazzo.hosts.installer import Installer
from palazzo.hosts.memory_block import SERVER_BODY
from palazzo.hosts.session_layout import SessionOrigin, place_in
from palazzo.model import Micros
from palazzo.security import call_origin, note_taint
from palazzo.settings import Settings, load

FIXTURES = Path(__file__).parents[1] / "fixtures"
SOURCES = Path(host_registry.__file__).parents[2]
HOSTS = host_registry.hosts()
each_host = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
INSTALLABLE = host_registry.installers()
each_installer = pytest.mark.parametrize(("host", "installer"), INSTALLABLE, ids=[host.name for host, _ in INSTALLABLE])


def moving_variable(host: Host, installer: Installer) -> str:
    """Return the variable that moves a host's settings, if there is one."""
    names = [location.variable for location in (*host.directories, *host.histories)]
    usual = installer.files_of({"HOME": "/home/dev"}, None)
    moving = [
        name for name in names if name and installer.files_of({"HOME": "/home/dev", name: "/other"}, None) != usual
    ]
    return next((name for name in moving if not name.startswith("XDG_")), "")


# --- the description ---------------------------------------------------------------------------------------


def test_every_folder_is_a_host_and_no_name_stands_twice() -> None:
    folders = host_registry.folders()
    assert {path.name for path in (SOURCES / "palazzo" / "hosts").iterdir() if (path / "__init__.py").exists()} == {
        *folders
    }
    names = [name for host in HOSTS for name in (host.name, *host.aliases)]
    assert len(set(names)) == len(names)
    kinds = [kind for host in HOSTS for kind in host.kinds]
    assert len(set(kinds)) == len(kinds)


@each_host
def test_a_host_is_found_by_its_name_and_by_its_kinds(host: Host) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", host.name)
    assert host_registry.find_host(host.name) is host
    assert [host_registry.host_of_kind(kind) for kind in host.kinds] == [host.name] * len(host.kinds)
    assert host_registry.find_host(f"{host.name}-of-nobody") is None


@each_host
def test_a_host_whose_program_was_run_names_its_versions_and_has_captured_files(host: Host) -> None:
    assert (host.evidence == "program") == bool(host.versions)
    if host.versions:
        captured = [FIXTURES / name for name in (*host.kinds, host.name)]
        captured += [] if host.kinds else [FIXTURES / "hooks" / host.name]  # without a reader, payloads of hooks
        assert any(path.is_dir() or path.with_suffix(".zip").exists() for path in captured)


# --- transcripts -------------------------------------------------------------------------------------------


@each_host
def test_the_kinds_are_those_of_its_readers(host: Host) -> None:
    module = host_registry.find_part(host.name, "transcript")
    readers = [*getattr(module, "FEEDERS", ()), *getattr(module, "COLLECTIONS", ())]
    assert {reader.kind for reader in readers} == {*host.kinds}
    if host.has_history:
        assert readers


@each_host
def test_its_histories_are_found_where_the_service_runs(host: Host, tmp_path: Path) -> None:
    locations = [*host.histories, *host.history_indexes, *([host.project_history] if host.project_history else [])]
    variables = {location.variable: "x" for location in locations if location.variable}
    assert rpc.surroundings("/", variables)["variables"] == variables
    for location in host.histories:
        if location.default:
            for entry in location.entries:
                (tmp_path / location.default / entry.replace("*", "x")).mkdir(parents=True, exist_ok=True)
    if host.project_history:
        (tmp_path / host.project_history.default).touch()
    if host.history_indexes:
        assert host_registry.find_part(host.name, "paths") is not None  # its own tests read a list
        return
    histories = host_histories.histories({"HOME": str(tmp_path)}, [host.name], tmp_path)
    assert bool(histories) == bool(locations)
    assert {history.host for history in histories} <= {host.name}
    assert bool(host.retention_setting) == any(history.deletes_after_days is not None for history in histories)


@each_host
def test_its_session_files_lie_in_directories(host: Host) -> None:
    if host.session_files:
        re.compile(host.session_files)
        assert host.histories


# --- resuming ----------------------------------------------------------------------------------------------


@each_host
def test_it_resumes_a_session_by_its_own_program(host: Host) -> None:
    if host.resume is None:
        return
    assert host.resume.arguments[0] == host.program
    assert "ID" in host.resume.arguments
    assert all("ID" in pattern or "*" in pattern for pattern in host.resume.files)
    restore = host_registry.find_part(host.name, "restore")
    if host.resume.preparation:
        assert host.resume.preparation[0] == host.program
        assert "FILE" in host.resume.preparation
        assert restore is not None
        assert restore.import_file(b"") is None
        assert hasattr(restore, "has_session")
    elif host.resume.is_restorable:
        assert host.resume.files
        assert hasattr(restore, "place")
    else:
        assert host.resume.files or hasattr(restore, "has_session")


@each_host
@pytest.mark.parametrize("session", ["01a1ffee-52ac", "../../outside", "a/../../../b", ".."])
def test_a_restored_session_stays_in_the_directory_that_was_named(host: Host, session: str, tmp_path: Path) -> None:
    names = {PurePath(entry).name for location in host.histories for entry in location.entries} | {"elsewhere"}
    for kind in host.kinds:
        for name in names - {"."}:
            origin = SessionOrigin(kind, session, PurePath("/home/dev/x/session.jsonl"), "/home/dev/acme", Micros(0))
            place = place_in(tmp_path / name, origin)
            assert place.is_relative_to(tmp_path / name)
            assert ".." not in place.parts


def test_a_session_with_a_prompt_is_started_by_the_host_s_program() -> None:
    assert all(host.prompt_command.split()[0] == host.program for host in HOSTS if host.prompt_command)


# --- hooks -------------------------------------------------------------------------------------------------


@each_host
def test_its_adapter_knows_palazzo_s_names_of_its_events_too(host: Host) -> None:
    adapter = host_registry.find_adapter(host.name)
    if adapter is not None:
        assert adapter.name == host.name
        assert {event: event for event in adapter.events.values()}.items() <= adapter.events.items()


@each_host
def test_its_agents_are_recognised_by_their_variables(host: Host) -> None:
    assert {*host.agent_variables} <= {*note_taint.AGENTS_VARIABLES}
    assert rpc.surroundings("/", dict.fromkeys(host.agent_variables, "x"))["variables"].keys() == {
        *host.agent_variables
    }
    if host.session_variable:
        caller = call_origin.caller_of({host.session_variable: "s-1"}, in_shell=True)
        assert [(session.id, session.host) for session in caller.sessions] == [("s-1", host.name)]


@pytest.mark.parametrize("host", host_registry.adapters())
def test_a_hook_imports_its_own_host_s_folder_alone(host: str) -> None:
    program = (
        "import sys; from palazzo.hosts.host_registry import find_adapter;"
        f"assert find_adapter({host!r}).name == {host!r}; print(*sys.modules)"
    )
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, env={"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, check=True)
    folders = {name.split(".")[2] for name in loaded.stdout.split() if name.startswith("palazzo.hosts.")}
    own = folders & {*host_registry.folders()}
    assert len(own) == 1
    assert import_module(f"palazzo.hosts.{own.pop()}.host").HOST.name == host


# --- wiring ------------------------------------------------------------------------------------------------


@dataclass
class Machine:
    """A machine without any settings, on which a host is wired."""

    home: Path
    moved: Mapping[str, str] = field(default_factory=dict)
    """Variables that name the directory of another installation of a host."""

    @property
    def settings(self) -> Settings:
        return load(self.home / "config.toml", None, self.variables)

    @property
    def variables(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": str(self.home / "bin"), **self.moved}

    @property
    def project_root(self) -> Path:
        return self.home / "acme"

    @property
    def palace_path(self) -> Path:
        return Path(rpc.chosen_palace(None, self.variables))


@dataclass
class Options:
    project: bool = False
    user: bool = False
    clean: bool = False
    status_line: bool = False


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    program = tmp_path / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return Machine(tmp_path)


@each_installer
def test_what_is_wired_is_removed_to_nothing(host: Host, installer: Installer, machine: Machine) -> None:
    files = installer.files_of(machine.variables, None)
    assert files.directory.is_relative_to(machine.home)
    files.directory.mkdir(parents=True, exist_ok=True)
    texts: dict[Path, str | None] = {}
    for edit in installer.plan(machine, Options()).edits:
        texts[edit.path] = edit.change(texts.get(edit.path))
    assert all(texts.values())
    hook_texts = [texts[path] for path in installer.hook_files(files) if path in texts]
    found = [pair for text in hook_texts for pair in installer.our_hooks(text or "")]
    assert {handler.event for handler, _ in found} == {
        hook.name for hook in installer.wiring.hooks if not hook.optional
    }
    assert all(launch.asks[:2] == ("hook", host.name) for _, launch in found)
    for edit in installer.removal(machine, False, False):
        texts[edit.path] = edit.change(texts.get(edit.path))
    assert not any(texts.values())


FOREIGN = {
    ".json": ['{"theme":"dark", "deep": {"list": [1, 2]}}', '{\r\n\t"mcpServers": {},\r\n\t"theme": "dark"\r\n}\r\n'],
    ".md": ["# Mine\n\nNo line ends here", "\r\n# Mine\r\n"],
    ".yaml": [
        "# mine\nGOOSE_MODEL: x\nextensions:\n  # the first\n  developer:\n    enabled: true\n\n# last\nother: 1\n",
        "extensions:\r\n    developer:\r\n        name: developer\r\n",
        "GOOSE_MODEL: x",
        "# only mine\n",
    ],
    ".yml": ["# mine\nmodel: x\nread: NOTES.md\n", "read:\r\n- NOTES.md\r\n", "# only mine\n"],
    "": ["#!/bin/sh\nexit 0\n"],  # a script, or Goose's hints
    ".toml": ['model = "x"\n\n[mcp_servers.other]\ncommand = "other"'],
}
"""What a person may have in a file, by its suffix. The other files are Palazzo's own."""
OWN_FILES = {"copilot": ".copilot/hooks/palazzo.json", "kiro": ".kiro/hooks/palazzo.json"}
"""Files with one of these suffixes that contain nothing but Palazzo's."""
COMMENTED = '// mine\n{\n  // dark\n  "theme": "dark", /* last */\n}\n'


def edits_by_path(installer: Installer, machine: Machine) -> dict[Path, list[tuple[Edit, Edit]]]:
    """Return the edits of an installation and of its removal, by the file that they change."""
    installer.files_of(machine.variables, None).directory.mkdir(parents=True, exist_ok=True)
    pairs = zip(installer.plan(machine, Options()).edits, installer.removal(machine, False, False), strict=True)
    by_path: dict[Path, list[tuple[Edit, Edit]]] = {}
    for added, removed in pairs:
        assert (added.path, added.what) == (removed.path, removed.what)
        by_path.setdefault(added.path, []).append((added, removed))
    return by_path


@each_installer
def test_what_a_person_has_in_a_file_stays_byte_for_byte(host: Host, installer: Installer, machine: Machine) -> None:
    for path, edits in edits_by_path(installer, machine).items():
        for foreign in FOREIGN.get(path.suffix, ()):
            text: str | None = foreign
            if path == machine.home / OWN_FILES.get(host.name, ""):
                with pytest.raises(ValueError, match="was not written by"):
                    edits[0][0].change(foreign)
                assert edits[0][1].change(foreign) == foreign
                continue
            for added, _ in edits:
                text = added.change(text)
            installed = text
            assert (text == foreign) == edits[0][0].is_program  # a script can only be theirs or ours
            for added, _ in edits:
                text = added.change(text)
            assert text == installed
            for _, removed in reversed(edits):
                text = removed.change(text)
            assert text == foreign


@each_installer
def test_settings_that_cannot_be_understood_are_refused(host: Host, installer: Installer, machine: Machine) -> None:
    for path, edits in edits_by_path(installer, machine).items():
        for added, _ in edits if path.suffix in (".json", ".toml", ".yaml", ".yml") else ():
            for broken in ("", "[1, 2]", '{"mcpServers": ', '{"hooks": 3, "mcp": 3}{'):
                if broken or path.suffix == ".json":  # an empty text is valid in the other forms
                    with pytest.raises(ValueError, match=r"it is|not|which"):
                        added.change(broken)


@each_installer
def test_settings_of_a_newer_version_are_kept_or_refused(host: Host, installer: Installer, machine: Machine) -> None:
    for path, edits in edits_by_path(installer, machine).items():
        text: str | None = None
        for added, _ in edits if path.suffix == ".json" else ():
            text = added.change(text)
        for key in json.loads(text or "{}"):
            for value in ("2031", [1], {"version": 99, "entries": [{"id": 1}]}, {"palazzo": {"added_in_2031": [1]}}):
                newer = json.dumps({"$version": 99, key: value, "added_in_2031": {"deep": [1]}}, indent=2)
                is_kept_or_refused(edits, newer, key)


def is_kept_or_refused(edits: list[tuple[Edit, Edit]], newer: str, key: str) -> None:
    """Wire and remove settings, and compare them; or read in one sentence why that is refused."""
    text: str | None = newer
    reason = ""
    try:
        for added, _ in edits:
            text = added.change(text)
    except ValueError as refusal:
        reason = str(refusal)
    if reason:
        assert key in reason or "palazzo" in reason
        return
    assert text != newer
    for _, removed in reversed(edits):
        text = removed.change(text)
    assert text == newer


@each_installer
def test_settings_with_comments_keep_them_or_are_refused(host: Host, installer: Installer, machine: Machine) -> None:
    for path, edits in edits_by_path(installer, machine).items():
        for added, removed in edits if path.suffix in (".json", ".jsonc") else ():
            try:
                text = added.change(COMMENTED)
            except ValueError:
                continue
            assert text is not None
            assert "// dark" in text
            assert removed.change(text) == COMMENTED


@each_installer
@pytest.mark.parametrize("state", ["link", "read-only", "link to read-only", "written meanwhile"])
def test_settings_that_are_hard_to_write_lose_nothing(
    host: Host, installer: Installer, machine: Machine, state: str
) -> None:
    installer.files_of(machine.variables, None).directory.mkdir(parents=True, exist_ok=True)
    own_file = machine.home / OWN_FILES.get(host.name, "-")
    shared = {edit.path for edit in installer.plan(machine, Options()).edits} - {own_file}
    for path in sorted(path for path in shared if path.suffix in (".json", ".toml", ".yaml", ".yml")):
        carries_through(installer, machine, path, state)


def carries_through(installer: Installer, machine: Machine, path: Path, state: str) -> None:
    """Wire and remove while one file is hard to write, and compare it."""
    foreign, lock = FOREIGN[path.suffix][0], machine.home / "lock"
    target = machine.home / "dotfiles" / path.name if "link" in state else path
    for directory in (target.parent, path.parent):
        directory.mkdir(parents=True, exist_ok=True)
    target.write_text(foreign)
    if target != path:
        path.symlink_to(target)
    edits = installer.plan(machine, Options()).edits
    if "read-only" in state:
        target.chmod(0o444)
        with pytest.raises(UsageError, match="is read-only"):
            carry_out(edits, lock)
        assert target.read_text() == foreign
        assert not [edit.path for edit in edits if edit.path != path and edit.path.exists()]
        path.unlink()
        return
    left = foreign
    if state == "written meanwhile":
        left = foreign + "\n"
        edits = tuple(writes_once(edit, left) if edit.path == path else edit for edit in edits)
    carry_out(edits, lock)
    assert "palazzo" in target.read_text()
    assert path.is_symlink() == (target != path)
    carry_out(installer.removal(machine, False, False), lock)
    assert target.read_text() == left
    path.unlink()


def writes_once(edit: Edit, text: str) -> Edit:
    """Return an edit while which the host writes `text` into the file, once: after it was read to be changed."""
    calls: list[None] = []

    def change(before: str | None) -> str | None:
        calls.append(None)
        if len(calls) == 2:
            edit.path.write_text(text)
        return edit.change(before)

    return replace(edit, change=change)


@each_installer
def test_only_directories_that_were_created_for_it_go_again(host: Host, installer: Installer, machine: Machine) -> None:
    lock = machine.home / "state" / "lock"
    lock.parent.mkdir()
    installer.files_of(machine.variables, None).directory.mkdir(parents=True, exist_ok=True)
    edits = installer.plan(machine, Options()).edits
    edits[-1].path.parent.mkdir(parents=True, exist_ok=True)  # empty, and somebody else's
    before = directories_in(machine.home)
    carry_out(edits, lock)
    carry_out(installer.plan(machine, Options()).edits, lock)
    carry_out(installer.removal(machine, False, False), lock)
    assert directories_in(machine.home) == before
    assert [path.name for path in lock.parent.iterdir()] == ["lock"]


def directories_in(directory: Path) -> set[Path]:
    return {path for path in directory.rglob("*") if path.is_dir()}


MOVED = [(host, installer, name) for host, installer in INSTALLABLE if (name := moving_variable(host, installer))]


@pytest.mark.parametrize(("host", "installer", "variable"), MOVED, ids=[host.name for host, _, _ in MOVED])
def test_of_two_installations_each_is_wired_and_cleared_alone(
    host: Host, installer: Installer, variable: str, machine: Machine
) -> None:
    other, lock = replace(machine, moved={variable: str(machine.home / "other")}), machine.home / "lock"
    for place in (machine, other):
        installer.files_of(place.variables, None).directory.mkdir(parents=True)
    carry_out(installer.plan(machine, Options()).edits, lock)
    first = files_in(machine.home)
    carry_out(installer.plan(other, Options()).edits, lock)
    assert first.items() <= files_in(machine.home).items()
    assert files_in(machine.home / "other")
    carry_out(installer.removal(other, False, False), lock)
    assert {
        path: text for path, text in files_in(machine.home).items() if path.is_relative_to(machine.home / "other")
    } == {}
    carry_out(installer.removal(machine, False, False), lock)
    assert not any("palazzo" in text for path, text in files_in(machine.home).items() if "backup" not in path.name)


def files_in(directory: Path) -> dict[Path, str]:
    """Return the text of each file but the program, and the record of directories."""
    files = (path for path in directory.rglob("*") if path.is_file() and path.name != "install-directories.json")
    return {path: path.read_text() for path in files if path.parent.name != "bin"}


def test_of_two_installations_the_current_one_is_wired_and_both_are_cleared(machine: Machine) -> None:
    installer = host_registry.find_installer("cline")
    assert installer is not None
    older = machine.home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
    older.mkdir(parents=True)
    assert installer.files_of(machine.variables, None).servers.is_relative_to(older)
    carry_out(installer.plan(machine, Options()).edits, machine.home / "lock")
    settings = machine.home / ".cline/data/settings/cline_mcp_settings.json"
    settings.parent.mkdir(parents=True)
    migrated = {"transport": {"type": "stdio", "command": "/old/palazzo", "args": ["mcp"]}, "disabled": False}
    settings.write_text(json.dumps({"mcpServers": {"palazzo": migrated, "other": {"url": "http://127.0.0.1/"}}}))
    carry_out(installer.plan(machine, Options()).edits, machine.home / "lock")
    servers = json.loads(settings.read_text())["mcpServers"]
    assert servers["palazzo"]["transport"]["command"] != "/old/palazzo"
    assert [entry_matcher.server(entry) is not None for _, entry in installer.servers(settings.read_text())] == [
        True,
        False,
    ]
    carry_out(installer.removal(machine, False, False), machine.home / "lock")
    assert list(json.loads(settings.read_text())["mcpServers"]) == ["other"]
    assert [path for path in machine.home.rglob("*") if path.is_file() and "palazzo" in path.read_text()] == [
        *machine.home.rglob("*palazzo-backup*"),
    ]


def test_scripts_can_be_executed_and_one_of_the_person_s_stays(machine: Machine) -> None:
    installer = host_registry.find_installer("cline")
    assert installer is not None
    files = installer.files_of(machine.variables, None)
    files.directory.mkdir(parents=True)
    files.hooks.mkdir(parents=True)
    theirs = files.hooks / "PostToolUse"
    theirs.write_text("#!/bin/sh\nexit 0\n")
    carry_out(installer.plan(machine, Options()).edits, machine.home / "lock")
    assert theirs.read_text() == "#!/bin/sh\nexit 0\n"
    scripts = [path for path in files.hooks.iterdir() if path != theirs]
    assert sorted(path.name for path in scripts) == ["TaskComplete", "UserPromptSubmit"]
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in scripts)
    (finding,) = installer.findings(machine.variables, files, files)
    assert str(theirs) in finding.detail
    carry_out(installer.removal(machine, False, False), machine.home / "lock")
    assert list(files.hooks.iterdir()) == [theirs]


@pytest.mark.parametrize(
    ("name", "variable", "text"),
    [
        ("gemini-cli", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", '{"hooksConfig": {"enabled": false}}'),
        ("qwen-code", "QWEN_CODE_SYSTEM_SETTINGS_PATH", '{"disableAllHooks": true}'),
        ("claude-code", "", '{"allowManagedHooksOnly": true}'),
    ],
)
def test_settings_of_an_organisation_that_stop_hooks_are_named(
    name: str, variable: str, text: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer = host_registry.find_installer(name)
    assert installer is not None
    managed, files = machine.home / "managed.json", installer.files_of(machine.variables, None)
    monkeypatch.setattr(claude_code, "MANAGED", replace(claude_code.MANAGED, paths={"linux": str(managed)}))
    monkeypatch.setattr(sys, "platform", "linux")
    for settings, expected in ((text, 1), ("{}", 0), ("{", 0)):
        managed.write_text(settings)
        variables = machine.variables | ({variable: str(managed)} if variable else {})
        findings = [*installer.findings(variables, files, files)]
        assert [finding.kind for finding in findings] == ["off"] * expected
        assert all(str(managed) in finding.detail and "ask" in finding.mend for finding in findings)


@each_installer
def test_the_wired_server_is_found_again(host: Host, installer: Installer, machine: Machine) -> None:
    path = installer.files_of(machine.variables, None).servers
    text: str | None = None
    for added, _ in edits_by_path(installer, machine).get(path, ()):
        text = added.change(text)
    entries = [entry for name, entry in installer.servers(text or "{}") if name == "palazzo"]
    has_server = host_registry.find_part(host.name, "server") is not None
    assert len(entries) == (1 if has_server and not installer.starts_server else 0)
    assert all(entry_matcher.server(entry) for entry in entries)


@each_installer
def test_the_wired_hooks_are_events_that_its_adapter_reads(host: Host, installer: Installer) -> None:
    assert (installer.wiring.host, installer.wiring.title) == (host.name, host.title)
    if installer.wiring.hooks:
        adapter = host_registry.find_adapter(host.name)
        assert adapter is not None
        assert all(hook.event in adapter.events for hook in installer.wiring.hooks)
        assert host.program


def test_instructions_name_tools_that_there_are() -> None:
    core = {tool.name for tool in profile_called("palazzo").tools("core")}
    named = re.findall(r"`([a-z_]+)`", SERVER_BODY)
    assert {*named} - core == {"palazzo"}


@pytest.mark.parametrize("name", host_registry.server_settings())
def test_the_settings_for_an_mcp_server_can_be_read_and_name_the_program(name: str) -> None:
    _, settings = host_registry.server_settings()[name]
    text = settings.form("/opt/palazzo", ["mcp"])
    parse = json.loads if text.startswith("{") else yaml.safe_load if name == "goose" else tomllib.loads
    document = parse(text)
    assert "/opt/palazzo" in json.dumps(document)
    if settings.http is not None:
        assert "https://memory.lan" in settings.http("https://memory.lan")
