"""Terminal output of sessions, timelines, statistics, and of resuming and handing over a session."""

from __future__ import annotations

import shlex
from datetime import date
from typing import TYPE_CHECKING

from palazzo.features.screen import INDENT
from palazzo.security.display_names import plain_name, quoted_name, shown_name
from palazzo.text.ages import describe_age
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from palazzo.features.screen import Screen
    from palazzo.features.sessions.contract import (
        HandoffResult,
        PeriodView,
        Resumption,
        SessionsResult,
        SessionView,
        StatsResult,
        TimelineResult,
    )

_MOST_SESSIONS, _MOST_DECISIONS = 8, 5
"""The most sessions and decisions that are shown of one day or week."""
_LONGEST_DECISION = 200
_MOST_NAMES = 6


def sessions(screen: Screen, result: SessionsResult) -> None:
    """Show sessions: a line with id, time, host, project and turns; the title; and what came of it."""
    for session in result.sessions:
        _session(screen, session, describe_age(session.ended_at, result.now))
    if not result.total:
        screen.say(("No sessions match. 'palazzo feed' reads the histories of your agents.", "dim"))
    elif len(result.sessions) < result.total:
        shown = f"{len(result.sessions):,} of {count_noun(result.total, 'session')}; --limit N shows more"
        screen.say((shown, "dim"))
    else:
        screen.say((count_noun(result.total, "session"), "dim"))
    if result.note:
        screen.say((result.note, "yellow"))


def _session(screen: Screen, session: SessionView, when: str, indent: str = "") -> None:
    branch = f"  branch {quoted_name(session.branch)}" if session.branch not in ("", "main", "master") else ""
    screen.say(
        f"{indent}{session_title(session)}",
        (f"  {shown_name(session.project)}", "cyan"),
        wrap_indent=len(indent) + len(INDENT),
    )
    screen.say(
        (f"{indent}{INDENT}{plain_name(session.short)}  {when}  {plain_name(session.host)}", "dim"),
        (f"  {count_noun(session.turns, 'turn')}{branch}", "dim"),
        ("  read untrusted content" if session.trust == "external" else "", "yellow"),
        wrap_indent=len(indent) + len(INDENT),
    )
    if session.outcome:
        screen.say((f"{indent}{INDENT}{outcome_line(session)}", ""), wrap_indent=len(indent) + 2 * len(INDENT))


def session_title(session: SessionView) -> str:
    """Return the title of a session for display."""
    return plain_name(session.title) if session.title else "untitled"


def outcome_line(session: SessionView) -> str:
    """Return what came of a session for display."""
    return plain_name(session.outcome, 120)


def timeline(screen: Screen, result: TimelineResult) -> None:
    """Show periods, newest first."""
    for period in result.periods:
        _period(screen, period)
        screen.gap()
    shown = sum(len(period.sessions) for period in result.periods)
    if not result.total:
        screen.say(("No sessions match. 'palazzo feed' reads the histories of your agents.", "dim"))
    elif shown < result.total:
        screen.say((f"{shown:,} of {count_noun(result.total, 'session')}; --limit N shows more {result.unit}s", "dim"))
    if result.note:
        screen.say((result.note, "yellow"))


def _period(screen: Screen, period: PeriodView) -> None:
    screen.say((_period_name(period), "bold"), (f"  {count_noun(len(period.sessions), 'session')}", "dim"))
    screen.say((f"{INDENT}{_count_names(period.projects)}", "cyan"), (f"  {_count_names(period.hosts)}", "dim"))
    for session in period.sessions[:_MOST_SESSIONS]:
        screen.say(
            f"{INDENT}{session_title(session)}",
            (f"  {shown_name(session.project)}  {plain_name(session.host)}  {plain_name(session.short)}", "dim"),
            wrap_indent=2 * len(INDENT),
        )
    _rest(screen, len(period.sessions) - _MOST_SESSIONS, "session", period)
    if period.decided:
        screen.say((f"{INDENT}Decided", "bold"))
    for decision in period.decided[:_MOST_DECISIONS]:
        by = decision.by if decision.trust != "external" else f"{decision.by}  external"
        text = plain_name(decision.text, _LONGEST_DECISION)
        screen.say(f"{INDENT}{text}", (f"  {by}  {decision.item[:12]}", "dim"), wrap_indent=2 * len(INDENT))
    _rest(screen, len(period.decided) - _MOST_DECISIONS, "decision", period)


def _rest(screen: Screen, count: int, noun: str, period: PeriodView) -> None:
    if count > 0:
        screen.say((f"{INDENT}and {count_noun(count, noun)} more (--json shows all)", "dim"))


def _period_name(period: PeriodView) -> str:
    first = date.fromisoformat(period.first_day)
    if period.first_day == period.last_day:
        return f"{first:%A}, {period.first_day}"
    return f"Week {first.isocalendar().week}, {period.first_day} to {period.last_day}"


def _count_names(counts: Mapping[str, int]) -> str:
    names = [f"{shown_name(name)} {count:,}" for name, count in counts.items()]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*names[:_MOST_NAMES], *more])


def handoff(screen: Screen, result: HandoffResult) -> None:
    """Show the prompt, and nothing else: unchanged, but a terminal breaks long lines between words."""
    screen.read(result.prompt, indent="")


def resumption(screen: Screen, result: Resumption) -> None:
    """Show the command that resumes a session, as a shell reads it; on a terminal, also what was restored."""
    for path in result.restored:
        screen.say((f"# restored {path}", "dim"))
    screen.say(command_line(result), is_whole=True)


def command_line(result: Resumption) -> str:
    """Return the command that resumes a session, with the change to its directory."""
    command = shlex.join(result.command)
    return f"cd {shlex.quote(result.directory)} && {command}" if result.directory else command


def stats(screen: Screen, result: StatsResult) -> None:
    """Show the figures, a bar for each host, and the last weeks as a line."""
    rows = [
        ("sessions", f"{result.sessions:,}"),
        ("days with sessions", f"{result.days:,}"),
        ("longest streak", count_noun(result.longest_streak, "day")),
        ("exchanges", f"{result.exchanges:,}"),
        ("words kept", f"{result.words:,}"),
        ("answers given", f"{result.answers:,}"),
        ("parts that agents used", f"{result.used:,} of {result.parts:,}"),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in rows], right=(1,))
    if result.by_host:
        screen.gap()
        hosts = [(plain_name(host), f"{count:,}") for host, count in result.by_host.items()]
        screen.table(("host", "sessions"), hosts, right=(1,))
    if result.card is not None:
        screen.gap()
        screen.say(f"Wrote {result.card}")
