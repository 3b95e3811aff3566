"""Terminal output of feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from palazzo.features.mining.contract import FeedResult, HistoryFed
from palazzo.features.mining.view import left_out, show_timing
from palazzo.features.screen import Part, Screen
from palazzo.model import Micros
from palazzo.text.count_phrases import count_noun, format_bytes
from palazzo.text.times import to_iso

_MOST_LINES = 5
"""The number of lines that a host's histories take up at most."""


def feed(screen: Screen, result: FeedResult) -> None:
    """Show each history with its counts and the times of its files, then what was done with it."""
    if not result.histories:
        screen.say("No agent history was found on this machine.")
        screen.say(("'palazzo mine PATH' indexes transcripts and exports in other places.", "dim"))
        return
    header = (
        "host",
        "history",
        "sessions",
        "new",
        "grown",
        "oldest file",
        "newest file",
        "to read" if result.dry_run else "read",
    )
    screen.table(header, [_row(history) for history in _joined(result.histories)], right=(2, 3, 4, 5, 6, 7))
    if result.dry_run:
        screen.say(("Dry run: nothing was read.", "yellow"))
        changed = result.new + result.grown
        if changed:
            screen.say(f"Reading the {count_noun(changed, 'session')} would take about {_long(result.estimate_s)}.")
    elif not result.new and not result.grown:
        has_sessions = any(history.sessions for history in result.histories)
        screen.say("Everything had already been read." if has_sessions else "There is nothing to read.")
    else:
        noise = f" (and {count_noun(result.noise, 'row')} kept but not searchable)" if result.noise else ""
        screen.say(
            (f"{count_noun(result.items, 'item')} archived", "bold"),
            f", {count_noun(result.drawers, 'drawer')} searchable{noise}.",
        )
        if result.wings:
            screen.say((f"in {count_noun(len(result.wings), 'wing')}: {', '.join(result.wings)}", "dim"))
    left_out(screen, result)
    show_timing(screen, result)


def _joined(histories: Sequence[HistoryFed]) -> Iterator[HistoryFed]:
    """Yield the histories; those of a host that keeps one for each project or session as one."""
    for _, of_host in groupby(histories, lambda history: history.host):
        several = list(of_host)
        if len(several) <= _MOST_LINES:
            yield from several
            continue
        first = several[0]
        days = [day for one in several for day in (one.earliest, one.latest) if day]
        yield HistoryFed(
            first.host,
            first.path,
            f"{len(several):,} places",
            sum(one.sessions for one in several),
            sum(one.new for one in several),
            sum(one.grown for one in several),
            sum(one.unchanged for one in several),
            sum(one.bytes for one in several),
            min(days, default=None),
            max(days, default=None),
        )


def _row(history: HistoryFed) -> tuple[Part, ...]:
    return (
        (history.host, "cyan"),
        history.shown_as,
        f"{history.sessions:,}",
        (f"{history.new:,}", "green" if history.new else "dim"),
        (f"{history.grown:,}", "green" if history.grown else "dim"),
        _day(history.earliest),
        _day(history.latest),
        _size(history.bytes),
    )


def _day(moment: Micros | None) -> str:
    return to_iso(moment)[:10] if moment else "–"


def _size(size: int) -> str:
    return format_bytes(size) if size else "–"


def _long(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
