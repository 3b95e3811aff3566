"""Terminal output of events and artifacts."""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.features.exchange.contract import (
    ArtifactGetResult,
    ArtifactPutResult,
    EventAppendResult,
    EventListResult,
    EventPatchResult,
    EventPeersResult,
    EventTaskResult,
    EventView,
    EventWaitResult,
)
from palazzo.features.screen import INDENT, Screen
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

_REDACTED = "A secret or a private span was removed before it was stored."


def event_append(screen: Screen, result: EventAppendResult) -> None:
    """Show the event's place and id."""
    event = result.event
    screen.say("Event in ", (f"{event.stream}/{event.room}", "cyan"), f": {event.id}")
    _notes(screen, result.redacted)


event_ack = event_append


def event_task(screen: Screen, result: EventTaskResult) -> None:
    """Show the task's id, and the line for the other agent."""
    screen.say("Task ", (result.event.correlation or "", "bold"), f" in {result.event.stream}: {result.event.id}")
    screen.say(result.handoff)
    _notes(screen, result.redacted)


def event_patch(screen: Screen, result: EventPatchResult) -> None:
    """Show the ids of the patch and of its event."""
    screen.say(f"Patch {result.artifact.id}, event {result.event.id}")
    _notes(screen, result.redacted, result.warnings)


def event_list(screen: Screen, result: EventListResult) -> None:
    """Show events with their words."""
    for event in result.events:
        _show_event(screen, event)
    screen.say((count_noun(len(result.events), "event") if result.events else "No events.", "dim"))


def event_wait(screen: Screen, result: EventWaitResult) -> None:
    """Show the events that came, or that none came."""
    for event in result.events:
        _show_event(screen, event)
    if result.timed_out:
        screen.say(("No event came in time.", "yellow"))


def event_peers(screen: Screen, result: EventPeersResult) -> None:
    """Show devices and remotes."""
    screen.say("This device: ", (result.name, "bold"), f" {result.device}")
    for writer in result.writers:
        screen.say(f"{INDENT}{writer.name or 'unnamed'} {writer.device}: up to number {writer.last:,}")
    for peer in result.peers:
        times = (("pushed", peer.pushed_at), ("pulled", peer.pulled_at))
        done = ", ".join(f"{verb} {to_iso(at)}" for verb, at in times if at) or "never used"
        screen.say(f"Remote {peer.name}: {done}", (f"  {peer.failure}" if peer.failure else "", "red"))


def artifact_put(screen: Screen, result: ArtifactPutResult) -> None:
    """Show the artifact's id and hash."""
    screen.say(f"{result.artifact.kind.capitalize()} {result.artifact.id}", (f"  {result.artifact.sha256}", "dim"))
    _notes(screen, result.redacted, result.warnings)


def artifact_get(screen: Screen, result: ArtifactGetResult) -> None:
    """Print the content, byte for byte; on a terminal without characters that would command it."""
    if screen.is_terminal:
        screen.exact(result.content, indent="")
        return
    screen.bytes(result.content.encode("utf-8", "surrogateescape"))


def _notes(screen: Screen, is_redacted: bool, warnings: Iterable[str] = ()) -> None:
    for sentence in (*([_REDACTED] if is_redacted else []), *warnings):
        screen.say((sentence, "yellow"))


def _show_event(screen: Screen, event: EventView) -> None:
    route = " → ".join(filter(None, (event.by or "unnamed", event.to)))
    about = filter(None, (event.correlation, event.status, event.trust if event.trust == "external" else None))
    head = " · ".join((to_iso(event.at), f"{event.stream}/{event.room}", event.type, route, *about))
    screen.say((head, "bold"), (f"  {event.id}", "dim"))
    if event.body:
        screen.read(event.body)
    for artifact in event.artifacts:
        screen.say((f"{INDENT}artifact {artifact}", "dim"))
