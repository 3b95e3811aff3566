"""Terminal output of erase."""

from __future__ import annotations

import time

from palazzo.features.erase.contract import LARGE_SHARE, EraseResult
from palazzo.features.screen import INDENT, Screen
from palazzo.model import Certificate
from palazzo.text.count_phrases import count_noun


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
        f"  {count_noun(spans, 'place')} in {count_noun(len(certificate.items), 'item')}, and names in "
        f"{count_noun(names, 'record')}",
    )
    screen.say(("certificate  ", "dim"), f"{certificate.erasure}, palace {certificate.palace}, {at}")
    scan_text = ", ".join(count_noun(number, noun.removesuffix("s")) for noun, number in certificate.looked.items())
    screen.say(("looked at    ", "dim"), scan_text)
    screen.say(("tombstones   ", "dim"), f"{len(certificate.tombstones):,}")
    screen.say(("chain        ", "dim"), f"{certificate.chain_seq:,} {certificate.chain_head}")
    for pack in certificate.unreadable:
        screen.say(("damaged      ", "red"), f"pack {pack} could not be checked; see palazzo verify")
