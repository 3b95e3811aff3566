"""How restore-session and watch look to a person."""

from __future__ import annotations

import time
from urllib.parse import unquote

from palazzo.cli.screen import Screen, count
from palazzo.operations.restore_session import RestoreSessionResult
from palazzo.operations.watch import WatchResult
from palazzo.operations.watching import WatchEvent

_MOST_NAMED = 6
_STANDINGS = {"written": "wrote", "there": "is there already", "would": "would write"}


def restore_session(screen: Screen, result: RestoreSessionResult) -> None:
    """Show the files that were written."""
    for file in result.files:
        screen.say((f"{_STANDINGS[file.standing]}  ", "bold"), f"{file.path} ({file.size:,} bytes)")
    if result.note:
        screen.say((result.note, "yellow"))


def watch(screen: Screen, result: WatchResult) -> None:
    """Show what was taken in."""
    screen.say(f"{count(result.items, 'item')} archived, {count(result.drawers, 'drawer')} to find.")


def watch_event(screen: Screen, event: WatchEvent) -> None:
    """Show one thing that happened, on one line."""
    at = time.strftime("%H:%M:%S", time.localtime(event.at / 1_000_000))
    screen.say((f"{at}  ", "dim"), *_told(event))


def _told(event: WatchEvent) -> tuple[str | tuple[str, str], ...]:
    places = ", ".join(unquote(uri).removeprefix("file://") for uri in event.uris[:_MOST_NAMED])
    if len(event.uris) > _MOST_NAMED:
        places += f" and {len(event.uris) - _MOST_NAMED:,} more"
    taken = f"{count(event.items, 'item')}, {count(event.drawers, 'drawer')}"
    match event.event:
        case "watching":
            return (("watching  ", "bold"), places or "nothing yet: no agent's history, no project that was read")
        case "caught-up":
            return (("caught up  ", "bold"), f"{taken} in {event.took_s:,.1f} s")
        case "read":
            return (("read  ", "green"), f"{taken}  ", (places, "dim"))
        case "found":
            return (("found  ", "bold"), places)
        case "failed":
            return (("failed  ", "red"), f"{places}: {event.detail}")
        case "looking":
            return (("note  ", "yellow"), event.detail)
