"""Paths that a walk never enters, and files that look like conversations but are not."""

from __future__ import annotations

from palazzo.sources.formats.jsonl_rows import JsonObject, objects_in_head

DIRECTORIES = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", ".bzr"),
        *("node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store", ".npm"),
        *(".venv", "__pycache__", "site-packages", ".tox", ".nox", ".eggs", "__pypackages__"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".cache", ".parcel-cache", ".turbo"),
        *(".gradle", ".terraform", ".next", ".nuxt", ".svelte-kit", ".angular", ".dart_tool", ".bloop", ".metals"),
        *("DerivedData", "Pods", ".build", ".zig-cache", ".ipynb_checkpoints", ".Trash"),
    }
)
"""Directories with generated content: version control, dependencies, caches."""

_MARKS = {
    "CACHEDIR.TAG": "a cache directory (it says so in CACHEDIR.TAG)",
    "pyvenv.cfg": "a Python environment",
}


_STREAMED_TYPES = frozenset(
    {
        *("thread.started", "turn.started", "turn.completed", "item.completed"),  # codex exec --json
        *("agent_start", "message_start", "message_update", "message_end", "turn_start", "response"),  # pi
    }
)


def refusal_of_directory(name: str) -> str | None:
    """Return why a directory of this name is not entered, or None if it is."""
    if name in DIRECTORIES or name.endswith(".egg-info"):
        return "a directory that programs write"
    return None


def refusal_by_contents(names: set[str]) -> str | None:
    """Return why a directory that holds these names is not entered, or None if it is.

    CACHEDIR.TAG is the Cache Directory Tagging Specification's; build tools put it into their output.
    """
    return next((why for mark, why in _MARKS.items() if mark in names), None)


def why_not_a_transcript(head: bytes) -> str:
    """Return what a JSON file that no feeder recognises is instead, as far as known."""
    objects, _ = objects_in_head(head)
    if any(map(_is_hook_call, objects)):
        return "a log of hook calls, not a transcript"
    if any(map(_is_streamed, objects)):
        return "an agent's output stream to a program; the session's own transcript contains it"
    if any(map(_is_traffic, objects)):
        return "messages between two programs (JSON-RPC), not a transcript"
    if not head.strip():
        return "empty"
    return "not a transcript in a supported format"


def _is_hook_call(row: JsonObject) -> bool:
    return "hook_event_name" in row or ("event" in row and ("stdin" in row or "payload" in row))


def _is_streamed(row: JsonObject) -> bool:
    """Recognise streamed output: Claude Code puts its session in every row, Codex and pi use special types."""
    is_claude_stream = "session_id" in row and "type" in row and "sessionId" not in row
    return is_claude_stream or row.get("type") in _STREAMED_TYPES


def _is_traffic(row: JsonObject) -> bool:
    return "jsonrpc" in row or isinstance(row.get("msg"), dict)
