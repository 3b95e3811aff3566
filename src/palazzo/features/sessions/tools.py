"""Tools to look back on sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.features.sessions.contract import MOST_SESSIONS, DecisionView, SessionsResult, SessionView, TimelineResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NOTICE, TEXT, indent, minute, rows, shape, shorten
from palazzo.security.display_names import plain_name, quoted_name, shown_name
from palazzo.text.count_phrases import count_noun

_LONGEST_OUTCOME = 120


_MOST_OF_PERIOD = 20
"""Maximum sessions, and maximum decisions, of one day or week in an answer."""


def _session(view: SessionView) -> dict[str, Any]:
    return {
        "id": view.id,
        "when": minute(view.ended_at),
        "host": plain_name(view.host),
        "project": shown_name(view.project),
        "title": quoted_name(view.title) if view.title else "untitled",
        "turns": view.turns,
        "branch": plain_name(view.branch),
        "outcome": quoted_name(view.outcome, _LONGEST_OUTCOME) if view.outcome else "",
        "trust": view.trust,
    }


def _render_session(row: Mapping[str, Any]) -> str:
    head = " · ".join(f"{row[name]}" for name in ("when", "project", "host", "title"))
    external = " · read untrusted content" if row["trust"] == "external" else ""
    outcome = f"\n  {row['outcome']}" if row["outcome"] else ""
    return f"[{row['id']}] {head} · {count_noun(row['turns'], 'turn')}{external}{outcome}"


def _answer_sessions(result: SessionsResult, call: CallArguments) -> Answer:
    sessions = [_session(view) for view in result.sessions]
    notice = f"{NOTICE}: {len(sessions):,} of {count_noun(result.total, 'session')}, newest first. {result.note}"
    return rows(notice.strip(), "sessions", sessions, _render_session)


SESSIONS = Tool(
    name="sessions",
    description="List past sessions, newest first: host, project, title, turns, and what came of each.",
    arguments=(
        Argument("text", "Words in the title, project, host or id."),
        Argument("wing"),
        Argument("since"),
        Argument("until"),
        Argument("branch"),
        Argument("host"),
        Argument("limit", schema={"minimum": 1, "maximum": MOST_SESSIONS}),
    ),
    answer=_answer_sessions,
    output=shape(notice=TEXT, sessions=LIST),
)


def _decision(view: DecisionView) -> dict[str, str]:
    return {"id": view.item, "by": view.by, "trust": view.trust, "text": shorten(view.text)}


def _render_period(row: Mapping[str, Any]) -> str:
    sessions = "\n".join(map(_render_session, row["sessions"]))
    decided = "".join(
        f"\n[{line['id']}] decided · {line['by']} · {line['trust']}:\n{indent(line['text'])}" for line in row["decided"]
    )
    counts = ", ".join(f"{name} {count}" for name, count in row["projects"].items())
    return f"{row['first_day']} to {row['last_day']}: {counts}\n{sessions}{decided}"


def _answer_timeline(result: TimelineResult, call: CallArguments) -> Answer:
    periods = [
        {
            "first_day": period.first_day,
            "last_day": period.last_day,
            "projects": {shown_name(name): count for name, count in period.projects.items()},
            "sessions": [_session(view) for view in period.sessions[:_MOST_OF_PERIOD]],
            "decided": [_decision(view) for view in period.decided[:_MOST_OF_PERIOD]],
            "left_out": max(0, len(period.sessions) - _MOST_OF_PERIOD) + max(0, len(period.decided) - _MOST_OF_PERIOD),
        }
        for period in result.periods
    ]
    notice = f"{NOTICE}: {count_noun(len(periods), result.unit)} with sessions, newest first. {result.note}"
    return rows(notice.strip(), "periods", periods, _render_period)


TIMELINE = Tool(
    name="timeline",
    description="Show past days or weeks: their sessions, counts per project, and what was decided.",
    arguments=(
        Argument("week", "Weeks instead of days."),
        Argument("wing"),
        Argument("since"),
        Argument("until"),
        Argument("branch"),
        Argument("host"),
        Argument("limit", "Maximum number of days or weeks.", schema={"minimum": 1, "maximum": 31}),
    ),
    answer=_answer_timeline,
    output=shape(notice=TEXT, periods=LIST),
)


FULL = (
    SESSIONS,
    TIMELINE,
)
