"""The slash commands of MemPalace in Claude Code: `/mempalace:search` and the like, and `/mempalace-diary`.

MemPalace's plugin has the former, extensions for it the latter. Here they are files in Claude Code's directory of
commands, which run the program `mempalace` that `install mempalace-compat` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from palazzo.features.hosts.install_files import plan_file
from palazzo.hosts.host_files import home
from palazzo.hosts.install_plan import PlannedFile

_NAMES = {
    "help": "Show what the memory can do",
    "init": "Set up the memory for this project",
    "mine": "Index files and conversations",
    "search": "Search the memory",
    "status": "Show what the memory contains",
}
_COMMAND = """\
---
description: {description}
argument-hint: '[words]'
allowed-tools: Bash(mempalace instructions:*)
---
<!-- {mark} -->

!`mempalace instructions {name}`

The person says: $ARGUMENTS
"""
_DIARY = """\
---
description: Write a diary entry about this session
argument-hint: '[words]'
---
<!-- {mark} -->

Write one entry with the tool `mempalace_diary_write`: what was done in this session, what was decided and why, and what
is open. Use the person's words for facts; leave out secrets.

The person says: $ARGUMENTS
"""


def plan_slash_commands(variables: Mapping[str, str], mark: str) -> Iterator[PlannedFile]:
    """Yield the files to write; none if Claude Code is not here. UsageError if such a file is another program's."""
    custom_directory = variables.get("CLAUDE_CONFIG_DIR")
    directory = Path(custom_directory).expanduser() if custom_directory else home(variables) / ".claude"
    if not directory.is_dir():
        return
    for name, description in _NAMES.items():
        text = _COMMAND.format(description=description, mark=mark, name=name)
        yield plan_file(directory / "commands" / "mempalace" / f"{name}.md", text, mark)
    yield plan_file(directory / "commands" / "mempalace-diary.md", _DIARY.format(mark=mark), mark)
