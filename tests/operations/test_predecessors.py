"""Other memories are known by the program that a line starts, never by its arguments or by who owns a directory."""

from __future__ import annotations

import pytest

from palazzo.features.hosts import predecessors


@pytest.mark.parametrize(
    ("line", "memory"),
    [
        ("mempalace hook run --hook stop --harness claude-code", "MemPalace"),
        ("/home/a/.local/bin/mempalace-mcp", "MemPalace"),
        ("python3 -m mempalace.mcp_server", "MemPalace"),
        ("bash '/home/a b/mempal_precompact_hook.sh'", "MemPalace"),
        ("MEMPAL_DIR=/x /venv/bin/python3.12 -m mempalace status", "MemPalace"),
        ("uv run --quiet mempalace wake-up", "MemPalace"),
        ("node /home/a/.claude/plugins/claude-mem/scripts/hook.js", "claude-mem"),
        ("npx -y claude-mem@latest context", "claude-mem"),
        ("npx -y @shodh/memory-mcp@0.1.5", "Shodh"),
        ("shodh-memory serve", "Shodh"),
        ("uvx wt-memory", "wt-memory"),
        ("mnemograph-mcp", "Mnemograph"),
        ("grep -q mempalace log.txt", None),
        ("echo mempalace", None),
        ("/home/shodh/bin/notify", None),
        ("python3 check.py --not mempalace", None),
        ("palazzo hook claude-code stop", None),
        ("sh -c 'mempalace status'", None),
        ("'unbalanced", None),
        ("", None),
    ],
)
def test_a_memory_is_known_by_what_a_line_starts(line: str, memory: str | None) -> None:
    handler = {"type": "command", "command": line}
    assert predecessors.is_hook(handler) is (memory is not None)
    assert predecessors.servers_in([("x", handler)]) == ([(memory, "MCP server 'x'")] if memory else [])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n\n<!-- mempalace:begin -->\nold\n<!-- mempalace:end -->\n", "a\n"),
        ("a\n\n<!-- BEGIN of mine -->\nold\n<!-- END -->\n", None),
        ("# A\n\n# Using claude-mem\n\nold\n\n## Deeper\n\n# B\n", "# A\n\n# B\n"),
        ("a\n\nMemPalace\n=========\n\nold\n\nMore\n====\n", "a\n\nMore\n====\n"),
        ("a\n\n## MemPalace\n\n```sh\n# start it\nmempalace serve\n```\n\n## B\n", "a\n\n## B\n"),
        (
            "## MemPalace\n\nold\n\n<!-- x:begin -->\n## X\n<!-- x:end -->\n",
            "\n<!-- x:begin -->\n## X\n<!-- x:end -->\n",
        ),
        ("```sh\n# mempalace\nmempalace serve\n```\n", None),
        ("```\n<!-- mempalace:begin -->\nold\n<!-- mempalace:end -->\n```\n", None),
        ("# My mempalace-like notes\n\nold\n", None),
        ("Say mempalace.\n", None),
        ("<claude-mem-context>\nnever closed\n", None),
    ],
)
def test_blocks_are_known_by_their_marks_and_headings(text: str, left: str | None) -> None:
    assert bool(predecessors.blocks_in(text)) is (left is not None)
    assert predecessors.without_blocks(text) == (text if left is None else left)
