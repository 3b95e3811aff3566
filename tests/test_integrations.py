"""The plugins in integrations/ are what the code says, and point at what is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from palazzo.faces.mcp.profile import profile_called
from palazzo.settings.setting_keys import BY_NAME
from palazzo.settings.setting_layers import UNSET

ROOT = Path(__file__).resolve().parents[1]
INTEGRATIONS = ROOT / "integrations"


def test_what_is_made_is_what_the_code_says() -> None:
    tool = ROOT / "tools" / "make_integrations.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_plugin_s_options_are_settings_and_leave_them_as_they_are() -> None:
    manifest = json.loads((INTEGRATIONS / "claude-code" / ".claude-plugin" / "plugin.json").read_text())
    for name, option in manifest["userConfig"].items():
        key = BY_NAME[name]
        assert option["default"] == UNSET
        assert option["options"] == [UNSET, *(key.choices or ("true", "false"))]


@pytest.mark.parametrize(
    "agent", sorted((INTEGRATIONS / "claude-code" / "agents").glob("*.md")), ids=lambda one: one.stem
)
def test_agents_are_given_tools_that_there_are(agent: Path) -> None:
    known = {tool.name for tool in profile_called("palazzo").tools("core")}
    given = next(line for line in agent.read_text().splitlines() if line.startswith("tools: "))
    ours = [name.rpartition("__")[2] for name in given.removeprefix("tools: ").split(", ") if "palazzo" in name]
    assert set(ours) <= known


def test_marketplaces_name_directories_that_hold_a_plugin() -> None:
    claude = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"][0]
    codex = json.loads((ROOT / ".agents" / "plugins" / "marketplace.json").read_text())["plugins"][0]
    assert (ROOT / claude["source"] / ".claude-plugin" / "plugin.json").exists()
    assert (ROOT / codex["source"]["path"] / ".codex-plugin" / "plugin.json").exists()
