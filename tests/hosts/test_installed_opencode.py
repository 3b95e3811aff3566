"""What doctor says of opencode: the plugin, the MCP server, and what is wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.hosts.test_installed import kinds, look, program, wire

from palazzo.hosts.opencode import install as install_opencode

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")

__all__ = ["program"]


@pytest.fixture
def plugin(tmp_path: Path, program: Path) -> Path:
    """opencode, wired."""
    directory = tmp_path / ".config" / "opencode"
    directory.mkdir(parents=True)
    wire(tmp_path, "opencode")
    return directory / "plugin" / "palazzo.ts"


def test_the_plugin_and_the_server_are_found_and_tried(tmp_path: Path, program: Path, plugin: Path) -> None:
    found = look(tmp_path, "opencode")
    assert (found.scopes, found.hooks, found.wired, found.server) == (("user",), 1, 1, True)
    assert (found.hook_answers, found.server_answers, found.troubles) == (True, True, ())
    assert [Path(one.strip("'")) for one in found.programs] == [program]


def test_without_the_plugin_it_is_not_wired_whole(tmp_path: Path, plugin: Path) -> None:
    plugin.write_text("export const Other = async () => ({})\n")
    assert look(tmp_path, "opencode").scopes == ()


def test_a_program_that_is_not_there_any_more_is_told(tmp_path: Path, program: Path, plugin: Path) -> None:
    program.unlink()
    assert set(kinds(look(tmp_path, "opencode"))) == {"silent"}


def test_a_plugin_of_another_installation_is_told_with_what_mends_it(
    tmp_path: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_opencode, "plugin", lambda: tmp_path / "elsewhere.ts")
    (trouble,) = look(tmp_path, "opencode").troubles
    assert (trouble.kind, trouble.mend) == ("incomplete", "palazzo install opencode")


def test_a_project_s_plugin_of_another_version_is_told_and_two_copies_are_no_trouble(
    tmp_path: Path, plugin: Path
) -> None:
    wire(tmp_path, "opencode", project=True)
    found = look(tmp_path, "opencode")
    assert (found.scopes, found.troubles) == (("user", "project"), ())
    shared = tmp_path / "shop" / ".opencode" / "plugin" / "palazzo.ts"
    shared.write_text(shared.read_text() + "// older\n")
    (trouble,) = look(tmp_path, "opencode").troubles
    assert trouble.mend == f"cd {tmp_path / 'shop'} && palazzo install opencode --project"
