"""The reference pages are what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from palazzo.faces.mcp.profile import profile_called

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("tool", ["make_reference", "make_command_index"])
def test_generated_files_are_made_from_this_code(tool: str) -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "tools" / f"{tool}.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pages_count_the_tools_that_there_are() -> None:
    counts = {
        ("docs/how-to/tools.md", r"`core`: (\d+) tools"): ("palazzo", "core"),
        ("docs/how-to/tools.md", r"`--toolset full` has (\d+) tools"): ("palazzo", "full"),
        ("docs/how-to/switch-from-mempalace.md", r"the (\d+) tools of its profile"): ("mempalace", "core"),
        ("docs/how-to/switch-from-mempalace.md", r"`palazzo mcp --profile shodh` has (\d+) tools"): ("shodh", "core"),
    }
    for (page, sentence), (profile, toolset) in counts.items():
        (count,) = re.findall(sentence, (ROOT / page).read_text(encoding="utf-8"))
        assert int(count) == len(profile_called(profile).tools(toolset)), (page, sentence)
    page_counts = [
        (page.name, count)
        for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for count in re.findall(r"\b(\d+) tools\b", page.read_text(encoding="utf-8"))
        if page.parent.name != "reference"
    ]
    assert len(page_counts) == len(counts), f"a count that is not looked at: {page_counts}"
