"""The tools digest and why: the main points of a session, and the text that hooks injected for its agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.entry_lines import LIST, NOTICE, TEXT, minute, rows, shape
from palazzo.faces.mcp.tool import Answer, Argument, CallArguments, Tool
from palazzo.features.ledger.why import InjectionView, WhyResult
from palazzo.features.wakeup.digest import KINDS, DigestLineView, DigestResult
from palazzo.security.display_names import quoted_name
from palazzo.text.count_phrases import count_noun

_LONGEST = 1000
"""Maximum characters of one line or injection that an answer shows."""


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" if line.strip() else "" for line in text.splitlines())


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
