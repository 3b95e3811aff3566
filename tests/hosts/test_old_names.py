"""doctor lists what uses an old name, in one note, and the commands that it names write the present names."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from palazzo.hosts import own_program
from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.context import Context
from palazzo.operations.registry import operation

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")

HOSTS = ("claude-code", "codex", "opencode", "pi")
FORMER = ["/usr/bin/python3", "-m", "palazzo.cli"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a palace and four hosts, into which a program was installed."""
    program = tmp_path / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([program]))
    for directory in (".claude", ".codex", ".config/opencode", ".pi/agent", "shop/.git"):
        (tmp_path / directory).mkdir(parents=True)
    with around(tmp_path) as context:
        context.writing()
    for host in HOSTS:
        install(tmp_path, host)
    return tmp_path


def around(home: Path, **more: str) -> Context:
    variables = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", **more}
    return Context(cwd=home / "shop", variables=variables)


def install(home: Path, *words: str) -> None:
    host, *options = words
    with around(home) as context:
        request = operation("install").request
        operation("install").run(context, request(host, project="--project" in options))


def diagnose(home: Path, **more: str) -> list[Diagnosis]:
    with around(home, **more) as context:
        doctor = operation("doctor")
        return [*doctor.run(context, doctor.request(canaries=False)).findings]


def note(home: Path, **more: str) -> Diagnosis | None:
    """The note on old names; there is never a second one, and it is never a problem."""
    notes = [finding for finding in diagnose(home, **more) if finding.name == "old names"]
    assert len(notes) <= 1
    assert all(finding.ok and not finding.fixable for finding in notes)
    return notes[0] if notes else None


def places(home: Path, **more: str) -> list[str]:
    found = note(home, **more)
    assert found is not None
    return found.detail.removeprefix("these still work: ").split("; ")


def settings(home: Path, text: str) -> Path:
    path = home / ".config" / "palazzo" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def start_by_former_module(home: Path) -> list[Path]:
    """Write the former module into the hooks and the MCP servers of all hosts that store a command line."""
    program = str(home / "bin" / "palazzo")
    claude, servers = home / ".claude" / "settings.json", home / ".claude.json"
    hooks, config = home / ".codex" / "hooks.json", home / ".codex" / "config.toml"
    opencode = home / ".config" / "opencode" / "opencode.json"
    for path in (claude, servers):
        text = path.read_text().replace(f'"command": "{program} ', f'"command": "{shlex.join(FORMER)} ')
        text = text.replace(f'"command": "{program}"', f'"command": "{FORMER[0]}"')
        path.write_text(text.replace('"args": [', '"args": ["-m", "palazzo.cli", '))
    hooks.write_text(hooks.read_text().replace(program, shlex.join(FORMER)))
    config.write_text(config.read_text().replace(program, FORMER[0]).replace('["mcp"', '["-m", "palazzo.cli", "mcp"'))
    opencode.write_text(opencode.read_text().replace(json.dumps(program), json.dumps(FORMER)[1:-1]))
    return [claude, servers, hooks, config, opencode]


def test_a_machine_without_old_names_shows_nothing(home: Path) -> None:
    settings(home, 'save_mode = "ask"\n')
    assert note(home) is None


def test_hook_lines_and_servers_of_every_host_are_one_note_until_each_host_is_installed_again(home: Path) -> None:
    files = start_by_former_module(home)
    found = note(home)
    assert found is not None
    assert places(home) == [f"`palazzo.cli` in {path}" for path in files]
    assert found.mend == "palazzo install claude-code; palazzo install codex; palazzo install opencode"
    for host in HOSTS:
        install(home, host)
    assert note(home) is None
    assert all("palazzo.cli" not in path.read_text() for path in files)


def test_installing_again_replaces_the_old_line_and_adds_no_second_one(home: Path) -> None:
    files = start_by_former_module(home)
    before = [path.read_text().count("hook") for path in files]
    for host in HOSTS:
        install(home, host)
    assert [path.read_text().count("hook") for path in files] == before


def test_a_status_line_counts_and_is_renewed(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    line = {"type": "command", "command": f"{shlex.join(FORMER)} statusline"}
    path.write_text(json.dumps({**json.loads(path.read_text()), "statusLine": line}))
    assert places(home) == [f"`palazzo.cli` in {path}"]
    install(home, "claude-code")
    assert note(home) is None


def test_files_of_the_project_are_renewed_in_the_project(home: Path) -> None:
    path = home / "shop" / ".mcp.json"
    entry = {"type": "stdio", "command": FORMER[0], "args": [*FORMER[1:], "mcp"]}
    path.write_text(json.dumps({"mcpServers": {"palazzo": entry}}))
    found = note(home)
    assert found is not None
    assert found.mend == f"cd {home / 'shop'} && palazzo install claude-code --project"
    install(home, "claude-code", "--project")
    assert note(home) is None


@pytest.mark.parametrize("name", ["memory", "palazzo"])
def test_a_line_that_a_person_wrote_is_left_to_that_person(home: Path, name: str) -> None:
    path = home / ".claude.json"
    words = [*FORMER[1:], "mcp"] if name == "memory" else [*FORMER[1:], "mcp", "--own-option"]
    path.write_text(json.dumps({"mcpServers": {name: {"command": FORMER[0], "args": words}}}))
    found = note(home)
    assert found is not None
    assert found.mend == f"write palazzo instead of palazzo.cli in {path}"


def test_settings_under_old_names_are_named_with_their_lines_until_they_are_written(home: Path) -> None:
    path = settings(home, "# mine\nsilent_save = true\nprompt_to_save = true  # ask me\nsave_interval = 20\n")
    found = note(home)
    assert found is not None
    assert places(home) == [f"`silent_save` in {path}, line 2", f"`prompt_to_save` in {path}, line 3"]
    assert found.mend == "palazzo settings set save_mode ask"
    with around(home) as context:
        change = operation("settings")
        change.run(context, change.request("set", "save_mode", "ask"))
    assert path.read_text() == '# mine\nsave_interval = 20\nsave_mode = "ask"\n'
    assert note(home) is None


def test_a_value_under_an_old_name_does_not_hide_the_one_that_is_set(home: Path) -> None:
    settings(home, 'save_mode = "ask"\nprompt_to_save = true\n')
    with around(home) as context:
        change = operation("settings")
        change.run(context, change.request("set", "save_mode", "silent"))
    with around(home) as context:
        assert context.settings.text("save_mode") == "silent"


def test_a_variable_has_a_step_instead_of_a_command(home: Path) -> None:
    found = note(home, PALAZZO_PROMPT_TO_SAVE="yes")
    assert found is not None
    assert found.detail == "these still work: `prompt_to_save` in PALAZZO_PROMPT_TO_SAVE"
    assert found.mend == "set PALAZZO_SAVE_MODE=ask instead of PALAZZO_PROMPT_TO_SAVE"


def test_a_person_s_file_in_the_project_has_a_step_instead_of_a_command(home: Path) -> None:
    path = home / "shop" / ".claude" / "palazzo.local.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\nsilent_save: false\n---\n")
    found = note(home)
    assert found is not None
    assert found.mend == f"give save_mode the value ask instead of silent_save in {path}, line 2"


def test_an_old_name_where_the_setting_has_no_effect_is_no_note(home: Path) -> None:
    (home / "shop" / "palazzo.toml").write_text("silent_save = false\n")
    assert note(home) is None


def test_a_wrong_value_under_an_old_name_is_a_problem_of_the_settings_alone(home: Path) -> None:
    settings(home, "prompt_to_save = 'often'\n")
    assert note(home) is None
    assert "settings" in [finding.name for finding in diagnose(home) if not finding.ok]


def test_a_launcher_that_names_the_former_file_is_written_again(home: Path) -> None:
    directory = home / "compat dir"
    with around(home) as context:
        operation("install").run(context, operation("install").request("mempalace-compat", str(directory)))
    path = {"PATH": f"{directory}:/usr/bin:/bin"}
    assert note(home, **path) is None
    launcher = directory / "mempalace"
    launcher.write_text(launcher.read_text().replace("faces/cli/mempalace_command.py", "cli/mempalace.py"))
    found = note(home, **path)
    assert found is not None
    assert found.detail == f"these still work: `palazzo/cli/mempalace.py` in {launcher}"
    assert found.mend == f"palazzo install mempalace-compat '{directory}'"
    with around(home) as context:
        operation("install").run(context, operation("install").request("mempalace-compat", str(directory)))
    assert note(home, **path) is None


def test_a_launcher_that_a_host_starts_by_its_path_counts(home: Path) -> None:
    directory = home / "compat"
    with around(home) as context:
        operation("install").run(context, operation("install").request("mempalace-compat", str(directory)))
    launcher = directory / "mempalace-mcp"
    launcher.write_text(launcher.read_text().replace("faces/cli/mempalace_command.py", "cli/mempalace.py"))
    path = home / ".claude.json"
    entry = {"command": str(launcher), "args": []}
    path.write_text(json.dumps({"mcpServers": {"mempalace": entry}}))
    assert places(home) == [f"`palazzo/cli/mempalace.py` in {launcher}"]


def test_a_file_that_cannot_be_read_as_settings_yields_no_note(home: Path) -> None:
    (home / ".claude" / "settings.json").write_text('{"hooks": {, "palazzo.cli"')
    assert note(home) is None
