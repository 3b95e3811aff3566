"""Terminal output of lists of drawers."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.contract import CheckDuplicateResult, ListDrawersResult
from palazzo.features.search.hit_view import day
from palazzo.operations.shared_views import DrawerRow
from palazzo.text.count_phrases import count_noun

_BRANCH_TAG = "branch:"
"""The tag by rule that names a drawer's branch; the branch label says it already."""


def list_drawers(screen: Screen, result: ListDrawersResult) -> None:
    """Show a page of drawers, and how to get the next one."""
    rows(screen, result.drawers)
    end = result.offset + len(result.drawers)
    if not result.drawers:
        screen.say(("Nothing there." if not result.total else f"There are only {result.total:,}.", "dim"))
    elif end < result.total:
        screen.say((f"{end:,} of {result.total:,}; --offset {end} shows more", "dim"))
    else:
        screen.say((count_noun(result.total, "drawer"), "dim"))


def rows(screen: Screen, drawers: Sequence[DrawerRow]) -> None:
    """Show drawers, two lines each: the beginning of the text, as wide as the terminal, and the details."""
    for drawer in drawers:
        screen.trim(_words(drawer.text, drawer.truncated))
        tags = [tag for tag in drawer.tags if not (drawer.label and tag.startswith(_BRANCH_TAG))]
        marks = (drawer.label, drawer.filed_as, *tags, "untrusted" if drawer.trust == "external" else "")
        screen.say(
            (f"{INDENT}{drawer.short_id or drawer.id}  {day(drawer.created_at)}  ", "dim"),
            (f"{drawer.wing}/{drawer.room}", "cyan"),
            (f"  {drawer.kind}", "dim"),
            ("".join(f"  {mark}" for mark in marks if mark), "yellow"),
            wrap_indent=len(INDENT),
        )


def check_duplicate(screen: Screen, result: CheckDuplicateResult) -> None:
    """Show the drawers that already contain a text."""
    for match in result.matches:
        screen.say((f"{match.similarity:.2f}  ", "green"), _words(match.text, match.truncated), wrap_indent=len(INDENT))
        place = f"{match.wing}/{match.room}"
        screen.say(
            (f"{INDENT}{match.id}  {day(match.created_at)}  ", "dim"),
            (place, "cyan"),
            (f"  {match.kind}", "dim"),
            wrap_indent=len(INDENT),
        )
    if not result.is_duplicate:
        screen.say("The palace does not contain this text.")


def _words(text: str, is_cut: bool) -> str:
    """Return text on one line."""
    return f"{' '.join(text.split())}{' …' if is_cut else ''}"
