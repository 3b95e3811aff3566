"""Terminal output of restore-session, watch and erase."""

from __future__ import annotations

import time

from palazzo.features.erase.erase import LARGE_SHARE, EraseResult
from palazzo.features.mining.restore_session import RestoreSessionResult
from palazzo.features.mining.source_watch import WatchEvent
from palazzo.features.mining.watch import WatchResult
from palazzo.features.screen import INDENT, Screen, place
from palazzo.model import Certificate
from palazzo.text.count_phrases import count_noun

_MOST_NAMED = 6
_STANDINGS = {"written": "wrote", "there": "already exists", "would": "would write"}


def restore_session(screen: Screen, result: RestoreSessionResult) -> None:
    """Show the files that were written."""
    for file in result.files:
        screen.say((f"{_STANDINGS[file.standing]}  ", "bold"), f"{file.path} ({file.size:,} bytes)")
    if result.note:
        screen.say((result.note, "yellow"))


def erase(screen: Screen, result: EraseResult) -> None:
    """Show how much is to be erased, or what was done and its certificate."""
    if result.dry_run:
        _would_erase(screen, result)
    for certificate in result.certificates:
        _certificate(screen, certificate)
    if result.left:
        screen.say(
            (
                f"{count_noun(result.left, 'text')} at these places also found in many other sources, and kept there; ",
                "yellow",
            ),
            "palazzo erase --match erases them everywhere.",
        )
    for path in result.backups:
        screen.say(("backup       ", "dim"), f"{path}, erased there as well")
    for path in result.away:
        screen.say(("not seen     ", "yellow"), f"{path}; restoring it erases the words from it again")
    for path in result.exports:
        screen.say(("export       ", "red"), f"{path} may still contain the words; delete it or export it again")
    for path in result.removed:
        screen.say(("removed  ", "bold"), path)
    for path in result.mend:
        screen.say(("still there  ", "red"), f"{path} contains the words; change it yourself")


def _would_erase(screen: Screen, result: EraseResult) -> None:
    names = f", and {count_noun(result.names, 'name')}" if result.names else ""
    words = f"{count_noun(result.characters, 'character')} in {count_noun(result.items, 'item')}{names}"
    screen.say((f"{words} would be erased", "bold"), ", for good.")
    if result.share > LARGE_SHARE:
        screen.say((f"That is {result.share:.0%} of everything in the palace.", "red"))
    for item, around in result.sample:
        screen.say((f"{INDENT}{item}  ", "dim"), around)


def _certificate(screen: Screen, certificate: Certificate) -> None:
    spans = sum(len(item.spans) for item in certificate.items)
    at = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(certificate.at / 1_000_000))
    names = sum(certificate.names.values())
    screen.say(
        ("Erased", "bold"),
        f"  {count_noun(spans, 'place')} in {count_noun(len(certificate.items), 'item')}, {count_noun(names, 'name')}",
    )
    screen.say(("certificate  ", "dim"), f"{certificate.erasure}, palace {certificate.palace}, {at}")
    scan_text = ", ".join(count_noun(number, noun.removesuffix("s")) for noun, number in certificate.looked.items())
    screen.say(("looked at    ", "dim"), scan_text)
    screen.say(("tombstones   ", "dim"), f"{len(certificate.tombstones):,}")
    screen.say(("chain        ", "dim"), f"{certificate.chain_seq:,} {certificate.chain_head}")
    for pack in certificate.unreadable:
        screen.say(("damaged      ", "red"), f"pack {pack} could not be checked; see palazzo verify")


def watch(screen: Screen, result: WatchResult) -> None:
    """Show what was imported."""
    screen.say(f"{count_noun(result.items, 'item')} archived, {count_noun(result.drawers, 'drawer')} searchable.")


def watch_event(screen: Screen, event: WatchEvent) -> None:
    """Show one event, on one line."""
    at = time.strftime("%H:%M:%S", time.localtime(event.at / 1_000_000))
    screen.say((f"{at}  ", "dim"), *_format_event(event))


def _format_event(event: WatchEvent) -> tuple[str | tuple[str, str], ...]:
    places = ", ".join(place(uri) for uri in event.uris[:_MOST_NAMED])
    if len(event.uris) > _MOST_NAMED:
        places += f" and {len(event.uris) - _MOST_NAMED:,} more"
    counts = f"{count_noun(event.items, 'item')}, {count_noun(event.drawers, 'drawer')}"
    match event.event:
        case "watching":
            return (("watching  ", "bold"), places or "nothing yet: no agent history and no project that was read")
        case "caught-up":
            return (("caught up  ", "bold"), f"{counts} in {event.took_s:,.1f} s")
        case "read":
            return (("read  ", "green"), f"{counts}  ", (places, "dim"))
        case "found":
            return (("found  ", "bold"), places)
        case "failed":
            return (("failed  ", "red"), f"{places}: {event.detail}")
        case "looking":
            return (("note  ", "yellow"), event.detail)
