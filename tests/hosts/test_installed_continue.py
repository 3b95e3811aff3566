"""Continue: the MCP server is written into `config.yaml` where there is one, else into a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.hosts.test_host_conformance import Machine, Options, machine

from palazzo.hosts.continue_dev.install import INSTALLER
from palazzo.hosts.own_program import own_program

__all__ = ["machine"]
MINE = "# mine\nname: Mine\nmodels:\n  - name: x\n    provider: openai\n"


def texts_after(machine: Machine, texts: dict[Path, str | None]) -> dict[Path, str | None]:
    """The texts of the files after an installation."""
    after = dict(texts)
    for edit in INSTALLER.plan(machine, Options()).edits:
        after[edit.path] = edit.change(after.get(edit.path))
    return after


@pytest.fixture
def settings(machine: Machine) -> Path:
    path = machine.home / ".continue" / "config.yaml"
    path.parent.mkdir()
    path.write_text(MINE)
    return path


def test_the_settings_list_the_server_and_lose_it_without_a_trace(machine: Machine, settings: Path) -> None:
    installed = texts_after(machine, {settings: MINE})[settings] or ""
    entry = {"name": "palazzo", "command": own_program(machine.variables), "args": ["mcp"]}
    assert yaml.safe_load(installed) == {**yaml.safe_load(MINE), "mcpServers": [entry]}
    assert INSTALLER.servers(installed) == [("palazzo", entry)]
    assert texts_after(machine, {settings: installed})[settings] == installed
    (removed,) = (edit for edit in INSTALLER.removal(machine, False, False) if edit.path == settings)
    assert removed.change(installed) == MINE


def test_an_entry_of_an_older_installation_keeps_what_a_person_set_in_it(machine: Machine, settings: Path) -> None:
    older = (
        f"{MINE}mcpServers:\n  - name: palazzo\n    command: /old/palazzo\n    args: [mcp, --toolset, full]\n"
        "    env: {LANG: C}\n  - name: other\n    command: other\n"
    )
    installed = texts_after(machine, {settings: older})[settings] or ""
    ours, other = yaml.safe_load(installed)["mcpServers"]
    program = own_program(machine.variables)
    assert ours == {
        "name": "palazzo",
        "command": program,
        "args": ["mcp", "--toolset", "full"],
        "env": {"LANG": "C"},
    }
    assert other == {"name": "other", "command": "other"}


def test_a_server_of_that_name_that_is_another_program_is_refused(machine: Machine, settings: Path) -> None:
    with pytest.raises(ValueError, match="starts another program"):
        texts_after(machine, {settings: f"{MINE}mcpServers:\n  - {{name: palazzo, command: other, args: []}}\n"})


def test_the_file_of_an_installation_before_the_settings_goes(machine: Machine) -> None:
    directory = machine.home / ".continue"
    own_file, settings = directory / "mcpServers" / "palazzo.json", directory / "config.yaml"
    own_file.parent.mkdir(parents=True)
    before = texts_after(machine, {})
    assert before[own_file] is not None
    own_file.write_text(before[own_file] or "")
    settings.write_text(MINE)
    after = texts_after(machine, {**before, settings: MINE})
    assert after[own_file] is None
    assert "palazzo" in (after[settings] or "")
