"""Sessions of Claude Desktop's local agent mode (Cowork): Claude Code's own files, which each session has to itself.

Learned from six public readers and inventories of these files, which agree, and, for the paths inside its virtual
machine, from a description of the program's own code.

`Claude/local-agent-mode-sessions/<account>/<organisation>/local_<id>/.claude/projects/` is laid out as Claude Code's
`projects`; recent versions have one more folder, `agent`, above `local_<id>`. Beside the folder is `local_<id>.json`
with the session's `title` and its `userSelectedFolders`. `audit.jsonl` in the folder repeats the conversation as the
SDK streamed it, and is not read.

The agent runs in a virtual machine, so rows name `/sessions/<name>` as their directory, which does not exist on this
machine and is another one for every session. The first selected folder is the session's directory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from palazzo.hosts.claude_code.transcript import LOCAL_AGENT_SESSIONS, ClaudeCode, is_transcript
from palazzo.sources.file_heads import read_whole
from palazzo.sources.formats import Feeder, Identity, Message, Row

KIND = "claude-desktop"
_LONGEST_RECORD = 4 * 1024 * 1024
_IN_VIRTUAL_MACHINE = "/sessions/"


class ClaudeDesktop:
    """Reads the sessions that Claude Code keeps for Claude Desktop."""

    kind = KIND
    version = ClaudeCode.version
    appends = True

    def __init__(self) -> None:
        self._claude_code = ClaudeCode()

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file is below a session of the local agent mode and is Claude Code's."""
        return LOCAL_AGENT_SESSIONS in path.parts and is_transcript(head)

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session as Claude Code names it, in the folder that the person selected."""
        identity = self._claude_code.identify(path, head)
        return replace(identity, key=(KIND, *identity.key[1:]), cwd=_selected_folder(path))

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        for row in self._claude_code.rows(stream, start):
            if isinstance(row.content, Message) and row.content.cwd.startswith(_IN_VIRTUAL_MACHINE):
                yield replace(row, content=replace(row.content, cwd=""))
            else:
                yield row


def _selected_folder(path: Path) -> str:
    """Return the first folder that the person selected for the session at `path`; "" if there is none."""
    session = next((folder for folder in path.parents if folder.name.startswith("local_")), None)
    if session is None:
        return ""
    try:
        record: object = json.loads(read_whole(session.with_name(f"{session.name}.json"), _LONGEST_RECORD))
    except (OSError, ValueError, RecursionError):  # the session can be read without its record
        return ""
    folders = record.get("userSelectedFolders") if isinstance(record, dict) else None
    return next((one for one in folders if isinstance(one, str)), "") if isinstance(folders, list) else ""


FEEDERS: tuple[Feeder, ...] = (ClaudeDesktop(),)
