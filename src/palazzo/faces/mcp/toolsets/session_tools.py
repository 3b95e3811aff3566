"""Tools about sessions: their list and timeline, the main points of one, and the text that hooks injected in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.entry_lines import LIST, NOTICE, TEXT, minute, rows, shape
from palazzo.faces.mcp.tool import Answer, Argument, CallArguments, Tool
from palazzo.features.ledger.why import InjectionView, WhyResult
from palazzo.features.sessions.session_list import MOST, SessionsResult
from palazzo.features.sessions.session_rows import SessionView
from palazzo.features.sessions.timeline import DecisionView, TimelineResult
from palazzo.features.wakeup.digest import KINDS, DigestLineView, DigestResult
from palazzo.security.display_names import plain_name, quoted_name, shown_name
from palazzo.text.count_phrases import count_noun

_LONGEST = 1000
"""Maximum characters of one line or injection that an answer shows."""
_LONGEST_OUTCOME = 120
_MOST_OF_PERIOD = 20
"""Maximum sessions, and maximum decisions, of one day or week in an answer."""


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" if line.strip() else "" for line in text.splitlines())


# --- sessions and timeline ---------------------------------------------------------------------------------


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
    operation="sessions",
    description="List past sessions, newest first: host, project, title, turns, and what came of each.",
    arguments=(
        Argument("text", "Words in the title, project, host or id."),
        Argument("wing"),
        Argument("since"),
        Argument("until"),
        Argument("branch"),
        Argument("host"),
        Argument("limit", schema={"minimum": 1, "maximum": MOST}),
    ),
    answer=_answer_sessions,
    output=shape(notice=TEXT, sessions=LIST),
)


def _decision(view: DecisionView) -> dict[str, str]:
    return {"id": view.item, "by": view.by, "trust": view.trust, "text": _shorten(view.text)}


def _render_period(row: Mapping[str, Any]) -> str:
    sessions = "\n".join(map(_render_session, row["sessions"]))
    decided = "".join(
        f"\n[{line['id']}] decided · {line['by']} · {line['trust']}:\n{_indent(line['text'])}"
        for line in row["decided"]
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
    operation="timeline",
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


# --- digest ------------------------------------------------------------------------------------------------


def _digest_line(view: DigestLineView) -> dict[str, str]:
    return {
        "id": view.words.drawer or view.words.item,
        "kind": view.kind,
        "by": view.by,
        "when": view.said_at,
        "trust": view.trust,
        "text": _shorten(view.words.text),
    }


def _render_line(line: Mapping[str, Any]) -> str:
    return f"[{line['id']}] {line['kind']} · {line['when']} · {line['by']} · {line['trust']}:\n{_indent(line['text'])}"


def _answer_digest(result: DigestResult, call: CallArguments) -> Answer:
    lines = [_digest_line(view) for view in result.lines]
    title = f", {quoted_name(result.title)}" if result.title else ""
    sub_agents = [
        {"session": sub_agent.session, "title": sub_agent.title, "lines": sub_agent.lines}
        for sub_agent in result.sub_agents
    ]
    notice = f"{NOTICE}: {count_noun(len(lines), 'line')} of the session {result.session}{title}, selected by rules."
    return rows(notice, "lines", lines, _render_line, sub_agents=sub_agents)


DIGEST = Tool(
    name="digest",
    operation="digest",
    description="Show the key lines of a session: asked, decided, changed, failed, fixed, left open.",
    arguments=(
        Argument("session", "Session id, or the beginning of one."),
        Argument("kind", "Only lines of these kinds.", schema={"items": {"type": "string", "enum": list(KINDS)}}),
    ),
    answer=_answer_digest,
    output=shape(notice=TEXT, lines=LIST),
)


# --- why ---------------------------------------------------------------------------------------------------


def _injection(view: InjectionView) -> dict[str, Any]:
    uses = [{"id": part.id, "kind": part.kind, "used": [use.how for use in part.used]} for part in view.parts]
    fields = {
        "when": minute(view.at),
        "event": view.event,
        "reason": view.reason,
        "tokens": view.tokens,
        "agent": view.agent,
        "text": "" if view.text is None else _shorten(view.text),
        "erased": view.erased,
        "parts": uses,
    }
    return {name: value for name, value in fields.items() if value not in ("", False, [])}


def _render_injection(row: Mapping[str, Any]) -> str:
    used = [f"{part['id']} was used ({', '.join(part['used'])})" for part in row.get("parts", ()) if part["used"]]
    words = "erased" if row.get("erased") else "its text is not kept"
    head = f"{row['when']} · {row['event']} · {row['reason']} · {row['tokens']} tokens"
    return "\n".join([head, _indent(row.get("text", words)), *(f"  {use}" for use in used)])


def _answer_why(result: WhyResult, call: CallArguments) -> Answer:
    injections = [_injection(view) for view in result.injections]
    number = count_noun(len(injections), "injection")
    notice = f"{NOTICE}: {number} by hooks of {result.host} in the session {result.session}."
    return rows(notice, "injections", injections, _render_injection)


WHY = Tool(
    name="why",
    operation="why",
    description="Show what hooks injected in a session: when, by which rule, and which parts the agent used.",
    arguments=(
        Argument("session", "Session id, or the beginning of one."),
        Argument("host", "Its host, if two hosts have a session with that id."),
    ),
    answer=_answer_why,
    output=shape(notice=TEXT, injections=LIST),
)
