"""Payloads and answers in Claude Code's format, which other hosts have partly adopted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from palazzo.hosts import adapter
from palazzo.hosts.adapter import Answer, Payload
from palazzo.injection.hook_events import Event, HookEvent, Reaction, ToolUse


def parse_event(host: str, event: Event, payload: Payload, used: ToolUse | None) -> HookEvent:
    """Return the event of a payload. `SubagentStop` also names its parent's transcript; its own is used."""
    return HookEvent(
        host=host,
        event=event,
        session=adapter.text(payload, "session_id"),
        cwd=adapter.text(payload, "cwd"),
        transcript=adapter.text(payload, "agent_transcript_path", "transcript_path"),
        beginning=adapter.beginning(payload),
        prompt=adapter.text(payload, "prompt"),
        tool=used,
        agent=adapter.text(payload, "agent_id"),
        agent_kind=adapter.text(payload, "agent_type"),
        last_message=adapter.text(payload, "last_assistant_message", "prompt_response"),
        trigger=adapter.text(payload, "trigger", "reason"),
        is_continuation=payload.get("stop_hook_active") is True,
    )


def tool(payload: Payload) -> ToolUse | None:
    """Return the tool call of a payload, if any."""
    name = adapter.text(payload, "tool_name")
    if not name:
        return None
    return ToolUse(
        name=name,
        kind=adapter.kind(name),
        arguments=adapter.mapping(payload, "tool_input"),
        output=adapter.words(payload.get("tool_response")),
        error=adapter.text(payload, "error"),
    )


def parse_by_output(host: str, event: Event, payload: Payload, failed: re.Pattern[str]) -> HookEvent:
    """Return the event of a payload. A command that failed is recognised by its output, where the host says no more.

    Only of a command: a file that was read may have the same line.
    """
    used = tool(payload)
    if event == "post-tool" and used is not None and used.kind == "command" and failed.search(used.output):
        return parse_event(host, "tool-failure", payload, replace(used, error=used.output))
    return parse_event(host, event, payload, used)


def answer(names: Mapping[Event, str], injects: Collection[Event], event: Event, reaction: Reaction) -> Answer:
    """Return an answer: a line for the person, and context for the model under the host's name of this event."""
    fields: Answer = {"systemMessage": reaction.tell} if reaction.tell else {}
    if reaction.inject and event in injects:
        fields["hookSpecificOutput"] = {"hookEventName": names[event], "additionalContext": reaction.inject}
    return fields
