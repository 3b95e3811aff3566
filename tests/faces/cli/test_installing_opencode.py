"""install and uninstall of opencode: what is written, kept, refused, and given back to the byte."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.faces.cli.command import Command
from tests.test_script import ROOT

from palazzo.hosts import own_program

PLUGIN = Path("plugin", "palazzo.ts")
COMMENTED = '{\n  // mine\n  "model": "x", // the usual one\n  "mcp": {\n    "mem": {"type": "local"},\n  },\n}\n'


@pytest.fixture
def opencode(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """opencode's directory, on a machine with a program `palazzo`."""
    program = home / "mein Büro" / "palazzo"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([program]))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    directory = home / ".config" / "opencode"
    directory.mkdir(parents=True)
    return directory


def there(directory: Path) -> dict[str, str]:
    """Every file below, but for backups."""
    files = (path for path in directory.rglob("*") if path.is_file() and "palazzo-backup" not in path.name)
    return {path.relative_to(directory).as_posix(): path.read_bytes().decode() for path in files}


def states(told: Any) -> list[str]:
    return [one["state"] for one in told["files"]]


def test_settings_with_comments_are_given_back_to_the_byte(palazzo: Command, opencode: Path) -> None:
    (opencode / "opencode.jsonc").write_text(COMMENTED)
    assert states(palazzo.json("install", "opencode")) == ["new", "changed"]
    assert "// the usual one" in (opencode / "opencode.jsonc").read_text()
    assert states(palazzo.json("install", "opencode")) == ["same", "same"]
    assert states(palazzo.json("uninstall", "opencode")) == ["removed", "changed"]
    assert there(opencode) == {"opencode.jsonc": COMMENTED}
    assert states(palazzo.json("uninstall", "opencode")) == ["same", "same"]


def test_files_that_were_made_for_it_go_again(palazzo: Command, opencode: Path, home: Path) -> None:
    assert states(palazzo.json("install", "opencode")) == ["new", "new"]
    program = str(home / "mein Büro" / "palazzo")
    entry = json.loads(there(opencode)["opencode.json"])["mcp"]["palazzo"]
    assert entry == {"type": "local", "command": [program, "mcp"], "enabled": True, "timeout": 15000}
    assert json.dumps(program, ensure_ascii=False) in there(opencode)[PLUGIN.as_posix()]
    assert states(palazzo.json("uninstall", "opencode")) == ["removed", "removed"]
    assert there(opencode) == {}


def test_what_opencode_loads_is_the_plugin_of_this_installation(palazzo: Command, opencode: Path) -> None:
    palazzo.json("install", "opencode")
    source = ROOT / "integrations" / "opencode" / "palazzo.ts"
    assert source.is_file()
    assert json.dumps(source.as_uri()) in (opencode / PLUGIN).read_text()


def test_a_project_gets_the_plugin_itself_and_nothing_of_this_machine(
    palazzo: Command, opencode: Path, home: Path
) -> None:
    assert states(palazzo.json("install", "opencode", "--project")) == ["new", "new"]
    files = there(home / "shop")
    source = (ROOT / "integrations" / "opencode" / "palazzo.ts").read_text()
    assert files[".opencode/plugin/palazzo.ts"].partition("\n")[2] == source
    assert json.loads(files["opencode.json"])["mcp"]["palazzo"]["command"] == ["palazzo", "mcp"]
    assert str(home) not in "".join(files.values())
    assert there(opencode) == {}
    assert states(palazzo.json("uninstall", "opencode", "--project")) == ["removed", "removed"]


def test_what_a_person_said_of_our_server_stays_when_it_is_brought_up_to_date(palazzo: Command, opencode: Path) -> None:
    palazzo.json("install", "opencode")
    path = opencode / "opencode.json"
    settings = json.loads(path.read_text())
    settings["mcp"]["palazzo"] |= {"command": ["/old/palazzo", "mcp", "--toolset", "all"], "enabled": False}
    path.write_text(json.dumps(settings))
    assert states(palazzo.json("install", "opencode")) == ["same", "changed"]
    entry = json.loads(path.read_text())["mcp"]["palazzo"]
    assert entry["command"][1:] == ["mcp", "--toolset", "all"]
    assert entry["enabled"] is False


def test_our_server_is_brought_up_to_date_in_the_file_where_it_is(palazzo: Command, opencode: Path) -> None:
    palazzo.json("install", "opencode")
    (opencode / "opencode.jsonc").write_text("{ /* made later */ }\n")
    assert states(palazzo.json("install", "opencode")) == ["same", "same"]
    assert states(palazzo.json("uninstall", "opencode")) == ["removed", "removed"]
    assert there(opencode) == {"opencode.jsonc": "{ /* made later */ }\n"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"mcp": []}', "`mcp` is not an object"),
        ('{"mcp": {"palazzo": {"type": "remote", "url": "https://x"}}}', "starts another program"),
        ('{"mcp": {', "not valid JSON"),
        ("[]", "is not a JSON object"),
        ("// nothing\n", "empty"),
    ],
)
def test_settings_that_cannot_be_understood_are_named_and_nothing_is_written(
    palazzo: Command, opencode: Path, content: str, says: str
) -> None:
    (opencode / "opencode.json").write_text(content)
    ran = palazzo("install", "opencode")
    assert ran.code == 2
    assert says in ran.error
    assert there(opencode) == {"opencode.json": content}


def test_a_plugin_of_that_name_that_is_somebody_else_s_is_left_alone(palazzo: Command, opencode: Path) -> None:
    (opencode / "plugin").mkdir()
    (opencode / PLUGIN).write_text("export const Mine = async () => ({})\n")
    assert "was not written by 'palazzo install opencode'" in palazzo("install", "opencode").error
    palazzo.json("uninstall", "opencode")
    assert set(there(opencode)) == {PLUGIN.as_posix()}


def test_another_memory_s_server_is_told_of_and_goes_with_clean_alone(palazzo: Command, opencode: Path) -> None:
    theirs = '{\n  "mcp": {"mempalace": {"type": "local", "command": ["mempalace-mcp"]}} // old\n}\n'
    (opencode / "opencode.json").write_text(theirs)
    told = palazzo.json("install", "opencode", "--dry-run")
    assert [one["name"] for one in told["others"]] == ["MemPalace"]
    assert there(opencode) == {"opencode.json": theirs}
    palazzo.json("install", "opencode", "--clean", "--yes")
    assert "mempalace" not in (opencode / "opencode.json").read_text()
    assert "// old" in (opencode / "opencode.json").read_text()


def test_where_opencode_is_not_here_it_is_said(
    palazzo: Command, opencode: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opencode.rmdir()
    monkeypatch.setenv("PATH", str(opencode))
    assert "opencode was not found" in palazzo("install", "opencode").error
