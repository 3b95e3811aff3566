"""Terminal output of digests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.screen import INDENT
from palazzo.security.display_names import quoted_name, shown_name
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.features.screen import Screen
    from palazzo.features.wakeup.contract import DigestLineView, DigestResult

HEADINGS = {
    "asked": "Asked",
    "decided": "Decided",
    "changed": "Changed",
    "failed": "Failed",
    "fixed": "Fixed",
    "open": "Left open",
}


def digest(screen: Screen, result: DigestResult) -> None:
    """Show a digest: its lines by kind, each with the prefix of the id for 'palazzo show'."""
    screen.say((_title(result.title), "bold"), (f"  {shown_name(result.wing)}" if result.wing else "", "cyan"))
    screen.say((result.session, "dim"))
    for kind, heading in HEADINGS.items():
        lines = [line for line in result.lines if line.kind == kind]
        if lines:
            screen.gap()
            screen.say((heading, "bold"))
        for line in lines:
            _line(screen, line)
    if result.sub_agents:
        screen.gap()
        screen.say(("Sub-agents", "bold"))
    for agent in result.sub_agents:
        screen.say(f"{INDENT}{_title(agent.title)}", (f"  {count_noun(agent.lines, 'line')}  {agent.session}", "dim"))
    screen.gap()
    if result.lines:
        summary = (
            f"{count_noun(len(result.lines), 'line')}, selected by rules. palazzo show ID shows a line in its context."
        )
        screen.say((summary, "dim"))
    else:
        screen.say(("No lines for a digest were found.", "dim"))


def _title(title: str) -> str:
    return quoted_name(title) if title else "untitled"


def _line(screen: Screen, line: DigestLineView) -> None:
    by = "" if line.kind in ("changed", "failed") else f"  {line.by}"
    by += "  external" if line.trust == "external" else ""
    source_id = (line.words.drawer or line.words.item)[:12]
    screen.say((f"{INDENT}{' '.join(line.words.text.split())}", ""), (f"{by}  {line.said_at[:10]}  {source_id}", "dim"))
    if line.about is not None:
        label = "  external" if line.about_trust == "external" else ""
        screen.say((f"{INDENT}{INDENT}to: {' '.join(line.about.text.split())}{label}", "dim"))
