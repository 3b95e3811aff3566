"""The tools that MemPalace 3.11 lists, by names and parameters: all are here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palazzo.faces.mcp.profiles.mempalace import TOOLS

PUBLISHED = json.loads((Path(__file__).parent / "mempalace_published.json").read_text())
"""The names, types, choices and requirements of `tools/list`; `test_real_mempalace_tools` compares them with it."""
FORMER = {"mempalace_list_agents"}
"""Tools of earlier versions of MemPalace."""
OWN_CHOICES = {("mempalace_kg_query", "direction")}
"""Parameters whose choices only the description names there."""
BY_NAME = {tool.name: tool for tool in TOOLS}


def test_each_tool_is_here() -> None:
    assert len(PUBLISHED["tools"]) == 47
    assert set(PUBLISHED["tools"]) == set(BY_NAME) - FORMER
    assert not FORMER & set(PUBLISHED["tools"])


@pytest.mark.parametrize("name", sorted(PUBLISHED["tools"]))
def test_its_parameters_are_those_that_are_listed(name: str) -> None:
    published, schema = PUBLISHED["tools"][name], BY_NAME[name].input
    assert set(schema["properties"]) == set(published["parameters"])
    assert set(schema.get("required", [])) == set(published["required"])
    for parameter, wanted in published["parameters"].items():
        own: dict[str, Any] = schema["properties"][parameter]
        assert own["type"] == wanted["type"], parameter
        if (name, parameter) not in OWN_CHOICES:
            assert own.get("enum") == wanted.get("enum"), parameter
