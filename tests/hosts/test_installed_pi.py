"""What doctor says of pi: the extension, the server that it starts or pi's own, and what is wrong with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.hosts.test_installed import kinds, look, program, wire

from palazzo.hosts.pi import install as install_pi

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")

__all__ = ["program"]


@pytest.fixture
def extension(tmp_path: Path, program: Path) -> Path:
    """pi, wired."""
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    wire(tmp_path, "pi")
    return tmp_path / ".pi" / "agent" / "extensions" / "palazzo.ts"


def native(home: Path, **more: object) -> Path:
    """Name the server to pi's own MCP client, with another palace."""
    path = home / ".pi" / "agent" / "mcp.json"
    entry = {"command": f"{home}/b in/palazzo", "args": ["mcp", "--palace", "/other/palace.db"], **more}
    path.write_text(json.dumps({"mcpServers": {"memory": entry}}))
    return path


def test_the_extension_is_found_and_what_it_starts_is_tried(tmp_path: Path, program: Path, extension: Path) -> None:
    found = look(tmp_path, "pi")
    assert (found.scopes, found.hooks, found.wired, found.server) == (("user",), 1, 1, True)
    assert (found.hook_answers, found.server_answers, found.troubles) == (True, True, ())
    assert [Path(one.strip("'")) for one in found.programs] == [program]


def test_without_the_extension_or_with_somebody_else_s_it_is_not_wired(tmp_path: Path, extension: Path) -> None:
    extension.write_text("export default () => {}\n")
    assert not look(tmp_path, "pi").is_wired
    extension.unlink()
    assert not look(tmp_path, "pi").is_wired


def test_a_program_that_is_not_there_any_more_is_told(tmp_path: Path, program: Path, extension: Path) -> None:
    program.unlink()
    assert kinds(look(tmp_path, "pi")) == ["silent", "silent"]


@pytest.mark.parametrize(
    ("loads", "says"), [("gone.ts", "which does not exist"), ("there.ts", "the extension of another installation")]
)
def test_an_extension_of_another_installation_is_told(tmp_path: Path, extension: Path, loads: str, says: str) -> None:
    (tmp_path / "there.ts").write_text("")
    here = json.dumps(str(install_pi.extension()))
    extension.write_text(extension.read_text().replace(here, json.dumps(str(tmp_path / loads))))
    (trouble,) = look(tmp_path, "pi").troubles
    assert says in trouble.detail
    assert str(tmp_path / loads) in trouble.detail
    assert trouble.mend == "palazzo install pi"


def test_a_file_of_another_version_is_told(tmp_path: Path, extension: Path) -> None:
    extension.write_text(extension.read_text() + "// older\n")
    (trouble,) = look(tmp_path, "pi").troubles
    assert trouble.detail == f"{extension} is from another version"


def test_pi_s_own_entry_that_names_another_palace_is_told_with_where_it_stands(tmp_path: Path, extension: Path) -> None:
    path = native(tmp_path)
    (trouble,) = look(tmp_path, "pi").troubles
    assert (trouble.kind, trouble.mend) == ("other-palace", f"change 'memory' in {path}")
    assert "/other/palace.db" in trouble.detail
    native(tmp_path, enabled=False)
    assert look(tmp_path, "pi").troubles == ()
