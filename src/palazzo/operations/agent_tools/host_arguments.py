"""Arguments that hosts add to every tool call for their own use; every profile drops them.

A tool that declares an argument of such a name receives it. Each name has a source that shows a host sending it.
"""

from __future__ import annotations

from collections.abc import Mapping

HOST_ARGUMENTS: Mapping[str, tuple[str, str]] = {
    "wait_for_previous": ("Gemini CLI", "google-gemini/gemini-cli, packages/core/src/tools/tools.ts"),
    "task_progress": ("Cline", "cline/cline, issue 9684 and pull request 9951"),
    "toolCallId": ("n8n", "n8n-io/n8n, issue 21500; makenotion/notion-mcp-server, issue 146"),
    "_sessionID": ("SiYuan", "siyuan-note/siyuan, issue 17927"),
}
"""Each argument, with the host that adds it and the source."""
