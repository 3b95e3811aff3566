"""digest, why: what a session came to, and what hooks told its agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.mcp.telling import LIST, NOTICE, TEXT, minute, rows, shape
from palazzo.mcp.tools import Answer, Argument, Given, Tool
from palazzo.mcp.toolsets.facts import counted
from palazzo.operations.digest import KINDS, DigestLineView, DigestResult
from palazzo.operations.why import InjectionView, WhyResult

_LONGEST = 1000
"""Characters of one line or injection that an answer shows."""


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line.strip() else "" for line in text.splitlines())


# --- digest ------------------------------------------------------------------------------------------------


def _digest_line(view: DigestLineView) -> dict[str, str]:
    return {
        "id": view.words.drawer or view.words.item,
        "kind": view.kind,
        "by": view.by,
        "when": view.said_at,
        "text": _shortened(view.words.text),
    }


def _shown_line(line: Mapping[str, Any]) -> str:
    return f"[{line['id']}] {line['kind']} · {line['when']} · {line['by']}:\n{_indented(line['text'])}"


def _digested(result: DigestResult, given: Given) -> Answer:
    lines = [_digest_line(view) for view in result.lines]
    title = f", '{' '.join(result.title.split())[:80]}'" if result.title else ""
    parts = [{"session": one.session, "title": one.title, "lines": one.lines} for one in result.sub_agents]
    notice = f"{NOTICE}: {counted(len(lines), 'line')} of the session {result.session}{title}, found by rules."
    return rows(notice, "lines", lines, _shown_line, sub_agents=parts)


DIGEST = Tool(
    name="digest",
    operation="digest",
    description="What a session came to, in its own words: asked, decided, changed, failed, fixed, left open.",
    arguments=(
        Argument("session", "Its id, or the beginning of it."),
        Argument("kind", "Only lines of these kinds.", schema={"items": {"type": "string", "enum": list(KINDS)}}),
    ),
    answer=_digested,
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
        "text": "" if view.text is None else _shortened(view.text),
        "erased": view.erased,
        "parts": uses,
    }
    return {name: value for name, value in fields.items() if value not in ("", False, [])}


def _shown_injection(row: Mapping[str, Any]) -> str:
    used = [f"{part['id']} was used ({', '.join(part['used'])})" for part in row.get("parts", ()) if part["used"]]
    words = "erased" if row.get("erased") else "its words are not kept"
    head = f"{row['when']} · {row['event']} · {row['reason']} · {row['tokens']} tokens"
    return "\n".join([head, _indented(row.get("text", words)), *(f"  {use}" for use in used)])


def _explained(result: WhyResult, given: Given) -> Answer:
    injections = [_injection(view) for view in result.injections]
    notice = f"{NOTICE}: what hooks told {result.host} in the session {result.session}, {len(injections)} times."
    return rows(notice, "injections", injections, _shown_injection)


WHY = Tool(
    name="why",
    operation="why",
    description="What hooks told an agent in a session, when, by which rule, and what it used of it.",
    arguments=(
        Argument("session", "Its id, or the beginning of it."),
        Argument("host", "Where it ran, if two hosts have a session of that id."),
    ),
    answer=_explained,
    output=shape(notice=TEXT, injections=LIST),
)
