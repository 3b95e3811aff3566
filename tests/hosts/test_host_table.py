"""The page of hosts is what the hosts' folders say."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_host_table.py"


def test_the_page_of_hosts_is_made_from_their_folders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_from_file_location("make_host_table", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr("sys.argv", [str(TOOL), "--check"])
    assert tool.main() == 0, capsys.readouterr().out
