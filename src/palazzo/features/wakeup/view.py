"""Terminal output of wake-up and of proactive context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.hit_view import day
from palazzo.features.wakeup.contract import ProactiveContextResult

if TYPE_CHECKING:
    from palazzo.features.wakeup.contract import WakeUpResult


def proactive_context(screen: Screen, result: ProactiveContextResult) -> None:
    """Show what would be injected for an agent, or that nothing would be."""

    def format_id(uid: str) -> tuple[str, str]:
        label = result.labels.get(uid, "")
        return f"  {uid}{f'  {label}' if label else ''}", "dim"

    for reminder in result.reminders:
        screen.say(("due  ", "bold yellow"), reminder.text, format_id(reminder.id), wrap_indent=len(INDENT))
    for todo in result.todos:
        mark = "overdue  " if todo.overdue else "to do  "
        screen.say((mark, "yellow"), todo.text, format_id(todo.id), wrap_indent=len(INDENT))
    for fact in result.facts:
        since = (f"  since {fact.valid_from[:10]}" if fact.valid_from else "", "dim")
        sentence = f"{fact.subject} {fact.predicate} {fact.object}"
        screen.say(("fact  ", "cyan"), sentence, since, format_id(fact.id), wrap_indent=len(INDENT))
    for thread in result.threads:
        date_part = (f"  {day(thread.said_at)}", "dim")
        screen.say(("left open  ", "yellow"), thread.text, date_part, format_id(thread.id), wrap_indent=len(INDENT))
    for memory in result.memories:
        location = f"{memory.wing}/{memory.room}"
        screen.say((f"{memory.score:.2f}  ", "green"), f"{day(memory.created_at)}  ", (location, "cyan"))
        label = result.labels.get(memory.id, "")
        screen.say((f"{INDENT}{memory.id}  {memory.role}", "dim"), (f"  {label}" if label else "", "yellow"))
        screen.read(memory.text)
        if memory.truncated:
            screen.say((f"{INDENT}… more: palazzo show {memory.id}", "dim"))
    if not (result.reminders or result.todos or result.facts or result.threads or result.memories):
        location = ", ".join(result.wings) or "no wing of this project"
        screen.say(
            (f"Nothing relevant found (searched: {location}; a memory must score at least {result.floor:g}).", "dim")
        )


def wake_up(screen: Screen, result: WakeUpResult) -> None:
    """Show the text as an agent receives it."""
    screen.exact(result.text, indent="")
