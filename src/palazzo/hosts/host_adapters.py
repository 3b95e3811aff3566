"""All hosts with supported hooks, by name."""

from __future__ import annotations

from palazzo.errors import UsageError
from palazzo.hosts.adapter import HostAdapter
from palazzo.hosts.claude_code import ClaudeCode
from palazzo.hosts.codex import Codex
from palazzo.hosts.copilot import Copilot
from palazzo.hosts.extension import extension
from palazzo.hosts.gemini_cli import GeminiCli

ADAPTERS: dict[str, HostAdapter] = {
    adapter.name: adapter
    for adapter in (
        ClaudeCode(),
        Codex(),
        extension("opencode", holds_back=False),
        extension("pi", holds_back=True),
        GeminiCli(),
        Copilot(),
    )
}


def adapter_of(host: str) -> HostAdapter:
    """Return the adapter of a host; raises UsageError if its hooks are not known."""
    adapter = ADAPTERS.get(host)
    if adapter is None:
        raise UsageError(f"Palazzo knows no hooks of the host '{host}'; known hosts: {', '.join(ADAPTERS)}.")
    return adapter
