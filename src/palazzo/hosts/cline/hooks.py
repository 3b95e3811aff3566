"""Cline's hooks, as version 3.0.65 of the command-line program was run, and from the source code of version 4.1.13 of
the editor extension (cline/cline, 2026-08-22), which was not run.

The editor extension (`apps/vscode/src/core/hooks`, `src/sdk/hooks-adapter.ts`) and the command-line program
(`sdk/packages/core/src/hooks`) send the same objects for a prompt and a tool. They differ in where the last answer is.
Of what a hook returns, version 4 puts before the model only the `contextModification` of hooks for tools (pull requests
13297 and 13298); version 3 of the extension also took that of a prompt. For the prompt of a command line the program
calls no hook. To the result of commands it gives the form `[{query, result, success, error}]`, and it calls the tool
successful when one of them has failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.hosts.tool_outcomes import Outcome, read_outcomes
from palazzo.injection.hook_events import Event, HookEvent, Reaction, ToolUse

_NAMES: dict[str, Event] = {
    "UserPromptSubmit": "prompt",
    "PreToolUse": "pre-tool",
    "PostToolUse": "post-tool",
    "TaskComplete": "stop",
}
_INJECTS: frozenset[Event] = frozenset(["pre-tool", "post-tool"])
_WRAPPED = re.compile(r"<user_input\b[^>]*>(.*?)</user_input>", re.DOTALL)
"""How version 4 marks a person's words in a message that has others too."""


class Cline:
    """The adapter for Cline."""

    name = "cline"
    events: Mapping[str, Event] = _NAMES | {event: event for event in _NAMES.values()}
    shows: frozenset[Event] = frozenset()
    holds_back = False

    def read(self, event: Event, payload: Payload) -> HookEvent | None:
        """Return what happened."""
        used = _tool(adapter.mapping(payload, "postToolUse", "preToolUse"))
        roots = payload.get("workspaceRoots")
        task = adapter.mapping(adapter.mapping(payload, "taskComplete"), "taskMetadata")
        return HookEvent(
            host=self.name,
            event="tool-failure" if event == "post-tool" and used is not None and used.error else event,
            session=adapter.text(payload, "taskId"),
            cwd=roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else "",
            prompt=_prompt(adapter.text(adapter.mapping(payload, "userPromptSubmit"), "prompt")),
            tool=used,
            agent=adapter.text(payload, "agent_id") if adapter.text(payload, "parent_agent_id") else "",
            last_message=adapter.text(task, "result") or adapter.text(adapter.mapping(payload, "turn"), "outputText"),
        )

    def write(self, event: Event, reaction: Reaction) -> Answer:
        """Return the answer."""
        return {"contextModification": reaction.inject} if reaction.inject and event in _INJECTS else {}


def _prompt(text: str) -> str:
    """Return a person's own words of a message."""
    return "\n\n".join(_WRAPPED.findall(text)) or text


def _tool(payload: Payload) -> ToolUse | None:
    name = adapter.text(payload, "toolName")
    if not name:
        return None
    result = adapter.text(payload, "result")
    output, has_failed = read_outcomes(result) or Outcome(result, False)
    error = output if has_failed or payload.get("success") is False else ""
    return ToolUse(name, adapter.kind(name), _arguments(adapter.mapping(payload, "parameters")), output, error)


def _arguments(parameters: Payload) -> dict[str, Any]:
    """Return a tool's arguments, all of them texts; commands are one command line, and of several files one counts."""
    arguments = dict(parameters)
    commands, files = (_parse_list(adapter.text(parameters, name)) for name in ("commands", "files"))
    if commands and all(isinstance(command, str) for command in commands):
        arguments["command"] = "\n".join(commands)
    if files and isinstance(files[0], dict):
        arguments["path"] = adapter.text(files[0], "path")
    return arguments


def _parse_list(text: str) -> list[Any]:
    """Return a list that is given as JSON; empty if the text is anything else."""
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


ADAPTER = Cline()
