"""Requests, results and operations of `hooks`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from palazzo.frozen_class import frozen
from palazzo.injection.hook_events import Beginning, Event, ToolKind
from palazzo.operations.operation import About, Operation


@frozen
class ToolCall:
    """A tool call, as the host reports it."""

    name: str
    kind: ToolKind = "other"
    given: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    error: str = ""


@frozen
class HookRequest:
    """Return the text or the request for an agent at this moment of its session; usually nothing."""

    host: Annotated[str, About("The program that runs the agent.")]
    event: Annotated[Event, About("What happened.")]
    session: Annotated[str, About("The session id of the host.")]
    cwd: Annotated[str, About("The working directory.")] = ""
    transcript: Annotated[str, About("The session's transcript file.")] = ""
    beginning: Annotated[Beginning, About("How the session begins.")] = "startup"
    prompt: Annotated[str, About("The person's prompt.")] = ""
    tool: Annotated[ToolCall | None, About("The tool call.")] = None
    agent: Annotated[str, About("The sub-agent's id.")] = ""
    agent_kind: Annotated[str, About("The kind of sub-agent.")] = ""
    last_message: Annotated[str, About("The agent's last message.")] = ""
    trigger: Annotated[str, About("What triggered the event.")] = ""
    asked: Annotated[bool, About("The session continues because a hook asked for it.")] = False
    takes_answer: Annotated[bool, About("The host shows its agent an answer to this event.")] = True


@frozen
class HookResult:
    """The answer: text for the agent, a reason for one more turn, a line for the person, and why, in our own words.

    Transcripts to read `again` a little later may not be completely written yet. `checkpoint` is the agent whose diary
    then gets a summary of the session. `unread` is for the log: why a transcript was not read.
    """

    inject: str = ""
    ask: str = ""
    tell: str = ""
    reason: str = ""
    again: tuple[Path, ...] = ()
    checkpoint: str = ""
    unread: str = ""


HOOK = Operation(
    "hook",
    HookRequest,
    HookResult,
    scope="admin",
    callers="programs",
)
