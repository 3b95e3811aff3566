"""Names of agents' tools in six hosts, and the names of the arguments that give a call's object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.bench.poison_session import Tool, Used

Row = dict[str, Any]
_NAMES: Mapping[str, Mapping[Tool, tuple[str, str]]] = {
    "claude-code": {
        "fetch": ("WebFetch", "url"),
        "search": ("WebSearch", "query"),
        "shell": ("Bash", "command"),
        "read": ("Read", "file_path"),
        "grep": ("Grep", "path"),
        "edit": ("Edit", "new_string"),
        "glob": ("Glob", "pattern"),
        "write": ("Write", "content"),
    },
    "codex": {
        "fetch": ("mcp__fetch__fetch", "url"),
        "search": ("web_search", "query"),
        "shell": ("exec_command", "cmd"),
        "read": ("read_file", "file_path"),
        "grep": ("grep_files", "path"),
        "edit": ("apply_patch", "input"),
        "glob": ("list_dir", "dir_path"),
        "write": ("apply_patch", "input"),
    },
    "opencode": {
        "fetch": ("webfetch", "url"),
        "search": ("websearch", "query"),
        "shell": ("bash", "command"),
        "read": ("read", "filePath"),
        "grep": ("grep", "path"),
        "edit": ("edit", "newString"),
        "glob": ("glob", "pattern"),
        "write": ("write", "content"),
    },
    "pi": {
        "fetch": ("web_fetch", "url"),
        "search": ("web_search", "query"),
        "shell": ("bash", "command"),
        "read": ("read", "path"),
        "grep": ("grep", "path"),
        "edit": ("edit", "newText"),
        "glob": ("find", "pattern"),
        "write": ("write", "content"),
    },
    "gemini-cli": {
        "fetch": ("web_fetch", "prompt"),
        "search": ("google_web_search", "query"),
        "shell": ("run_shell_command", "command"),
        "read": ("read_file", "file_path"),
        "grep": ("search_file_content", "path"),
        "edit": ("replace", "new_string"),
        "glob": ("glob", "pattern"),
        "write": ("write_file", "content"),
    },
    "copilot": {
        "fetch": ("web_fetch", "url"),
        "search": ("web_search", "query"),
        "shell": ("bash", "command"),
        "read": ("view", "path"),
        "grep": ("grep", "path"),
        "edit": ("edit", "new_str"),
        "glob": ("glob", "pattern"),
        "write": ("create", "file_text"),
    },
}
"""Each host's name of a tool, and the argument that names the object of a call."""
_MCP = {"opencode": "{0}_{1}", "gemini-cli": "mcp_{0}_{1}", "copilot": "{0}-{1}"}
"""A host's form of an MCP tool's name, if it is not `mcp__server__tool`."""
DELEGATES: Mapping[str, str] = {
    "claude-code": "Agent",
    "codex": "spawn_agent",
    "opencode": "task",
    "pi": "subagent",
    "gemini-cli": "codebase_investigator",
    "copilot": "task",
}
"""The tool of each host that delegates work to a sub-agent."""


def call_of(host: str, used: Used) -> tuple[str, Row]:
    """Return the name and the arguments with which a host calls the tool."""
    if used.tool == "mcp":
        server, tool, query = used.argument.split(" ", 2)
        return _MCP.get(host, "mcp__{0}__{1}").format(server, tool), {"query": query}
    name, argument = _NAMES[host][used.tool]
    if used.tool == "grep" and used.path:
        return name, {"pattern": used.argument, "path": used.path}
    if used.tool in ("grep", "edit"):
        return name, {"pattern": ".", "file_path": used.path or "ports.py", argument: used.argument}
    if used.tool == "write":
        return name, {_NAMES[host]["read"][1]: used.path, argument: used.argument}
    return name, {argument: used.argument}
