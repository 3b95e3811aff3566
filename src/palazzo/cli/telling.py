"""How what is told unasked looks to a person."""

from __future__ import annotations

from palazzo.cli.hits import day
from palazzo.cli.screen import INDENT, Screen
from palazzo.operations.proactive_context import ProactiveContextResult


def proactive_context(screen: Screen, result: ProactiveContextResult) -> None:
    """Show what an agent would be told, or that it would be told nothing."""
    for one in result.reminders:
        screen.say(("due  ", "bold yellow"), one.text, (f"  {one.id}", "dim"), hanging=len(INDENT))
    for todo in result.todos:
        mark = "overdue  " if todo.overdue else "to do  "
        screen.say((mark, "yellow"), todo.text, (f"  {todo.id}", "dim"), hanging=len(INDENT))
    for fact in result.facts:
        since = f"  since {fact.valid_from[:10]}" if fact.valid_from else ""
        said = f"{fact.subject} {fact.predicate} {fact.object}"
        screen.say(("fact  ", "cyan"), said, (f"{since}  {fact.id}", "dim"), hanging=len(INDENT))
    for memory in result.memories:
        where = f"{memory.wing}/{memory.room}"
        screen.say((f"{memory.score:.2f}  ", "green"), f"{day(memory.created_at)}  ", (where, "cyan"))
        screen.say((f"{INDENT}{memory.id}  {memory.role}", "dim"))
        screen.read(memory.text)
        if memory.truncated:
            screen.say((f"{INDENT}… the rest: palazzo show {memory.id}", "dim"))
    if not (result.reminders or result.todos or result.facts or result.memories):
        where = ", ".join(result.wings) or "no wing of this project"
        screen.say((f"Nothing is called for (looked in: {where}; a memory must score {result.floor:g}).", "dim"))
