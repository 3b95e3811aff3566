"""The tool `why`: what a session was told, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.features.ledger.contract import InjectionView, WhyResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NOTICE, TEXT, indent, minute, rows, shape, shorten
from palazzo.text.count_phrases import count_noun


def _injection(view: InjectionView) -> dict[str, Any]:
    uses = [{"id": part.id, "kind": part.kind, "used": [use.how for use in part.used]} for part in view.parts]
    fields = {
        "when": minute(view.at),
        "event": view.event,
        "reason": view.reason,
        "tokens": view.tokens,
        "agent": view.agent,
        "text": "" if view.text is None else shorten(view.text),
        "erased": view.erased,
        "parts": uses,
    }
    return {name: value for name, value in fields.items() if value not in ("", False, [])}


def _render_injection(row: Mapping[str, Any]) -> str:
    used = [f"{part['id']} was used ({', '.join(part['used'])})" for part in row.get("parts", ()) if part["used"]]
    words = "erased" if row.get("erased") else "its text is not kept"
    head = f"{row['when']} · {row['event']} · {row['reason']} · {row['tokens']} tokens"
    return "\n".join([head, indent(row.get("text", words)), *(f"  {use}" for use in used)])


def _answer_why(result: WhyResult, call: CallArguments) -> Answer:
    injections = [_injection(view) for view in result.injections]
    number = count_noun(len(injections), "injection")
    notice = f"{NOTICE}: {number} by hooks of {result.host} in the session {result.session}."
    return rows(notice, "injections", injections, _render_injection)


WHY = Tool(
    name="why",
    description="Show what hooks injected in a session: when, by which rule, and which parts the agent used.",
    arguments=(
        Argument("session", "Session id, or the beginning of one."),
        Argument("host", "Its host, if two hosts have a session with that id."),
    ),
    answer=_answer_why,
    output=shape(notice=TEXT, injections=LIST),
)


FULL = (WHY,)
