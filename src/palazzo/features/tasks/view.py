"""Terminal output of to-dos and reminders."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.screen import INDENT, Part, Screen
from palazzo.features.tasks.contract import (
    RemindersResult,
    RemindResult,
    TodoAddResult,
    TodoDoneResult,
    TodoDropResult,
    TodoListResult,
)
from palazzo.operations.shared_views import ReminderView, TodoView
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

_STYLES = {"open": "", "due": "bold yellow", "waiting": "", "done": "green", "dropped": "dim"}


def todo_add(screen: Screen, result: TodoAddResult) -> None:
    """Show the to-do's place, due date and id."""
    todo = result.todo
    due = f", due before {to_iso(todo.due_at)}" if todo.due_at else ""
    screen.say("To do in ", (todo.wing, "cyan"), f"{due}: {todo.id}")


def todo_list(screen: Screen, result: TodoListResult) -> None:
    """Show to-dos, the earliest due first."""
    if result.as_of:
        screen.say((f"As of {result.as_of}:", "yellow"))
    for todo in result.todos:
        _todo(screen, todo, everywhere=result.wing is None)
    scope = f" in {result.wing}" if result.wing else ""
    screen.say((f"{count_noun(result.open, 'to-do')} open{scope}" if result.open else f"No open to-dos{scope}.", "dim"))


def todo_done(screen: Screen, result: TodoDoneResult) -> None:
    """Show what is done now, and what was already closed."""
    _closed_todos(screen, "Done", result.done, result.before)


def todo_drop(screen: Screen, result: TodoDropResult) -> None:
    """Show what is dropped now, and what was already closed."""
    _closed_todos(screen, "Dropped", result.dropped, result.before)


def _closed_todos(screen: Screen, verb: str, todos: Sequence[TodoView], earlier_todos: Sequence[TodoView]) -> None:
    for todo in todos:
        screen.say((f"{verb}  ", "bold"), todo.text, (f"  {todo.id}", "dim"))
    for todo in earlier_todos:
        closing_time = to_iso(todo.closed_at) if todo.closed_at else "before"
        screen.say((f"Was {todo.state} already, {closing_time}  ", "yellow"), todo.text, (f"  {todo.id}", "dim"))


def _todo(screen: Screen, todo: TodoView, everywhere: bool) -> None:
    facts: list[Part] = [(f"{INDENT}{todo.id}  {to_iso(todo.created_at)[:10]}", "dim")]
    if everywhere:
        facts.append((f"  {todo.wing}", "cyan"))
    if todo.by:
        facts.append((f"  by {todo.by}", "dim"))
    if todo.due_at:
        facts.append((f"  due before {to_iso(todo.due_at)}{', overdue' if todo.overdue else ''}", "yellow"))
    if todo.closed_at:
        facts.append((f"  {to_iso(todo.closed_at)}", "dim"))
    if todo.trust == "external":
        facts.append(("  external, in quarantine", "yellow"))
    if todo.label:
        facts.append((f"  {todo.label}", "yellow"))
    mark = "" if todo.state == "open" else f"{todo.state}  "
    screen.say((mark, _STYLES[todo.state]), todo.text, wrap_indent=len(INDENT))
    screen.say(*facts)


def remind(screen: Screen, result: RemindResult) -> None:
    """Show when the reminder is due, and its id."""
    reminder = result.reminder
    occasions = [f"at {result.local} ({to_iso(reminder.at)})"] if reminder.at else []
    screen.say(f"Will remind {_occasions(reminder, occasions)}: {reminder.id}")
    if result.note:
        screen.say((result.note, "yellow"))


def reminders(screen: Screen, result: RemindersResult) -> None:
    """Show reminders, or those that were closed."""
    if result.action in ("done", "drop"):
        for reminder in result.reminders:
            screen.say((f"{reminder.state.capitalize()}  ", "bold"), reminder.text, (f"  {reminder.id}", "dim"))
        for reminder in result.before:
            closing_time = to_iso(reminder.closed_at) if reminder.closed_at else "before"
            screen.say(
                (f"Was {reminder.state} already, {closing_time}  ", "yellow"),
                reminder.text,
                (f"  {reminder.id}", "dim"),
            )
        return
    for reminder in result.reminders:
        screen.say((f"{reminder.state}  ", _STYLES[reminder.state]), reminder.text, wrap_indent=len(INDENT))
        occasions = _occasions(reminder, [f"at {to_iso(reminder.at)}"] if reminder.at else [])
        quarantine_label = [("  external, in quarantine", "yellow")] if reminder.trust == "external" else []
        screen.say((f"{INDENT}{reminder.id}  {occasions}", "dim"), (f"  {reminder.wing}", "cyan"), *quarantine_label)
    due = sum(reminder.state == "due" for reminder in result.reminders)
    screen.say(
        (f"{count_noun(due, 'reminder')} due, {result.waiting:,} waiting" if due else _describe_none_due(result), "dim")
    )


def _describe_none_due(result: RemindersResult) -> str:
    backlog = f"; {count_noun(result.waiting, 'reminder')} waiting: palazzo reminders open" if result.waiting else ""
    return f"No reminder is due{backlog}."


def _occasions(reminder: ReminderView, occasions: list[str]) -> str:
    if reminder.file:
        occasions = [*occasions, f"on {reminder.file}"]
    if reminder.topic:
        occasions = [*occasions, f"on '{reminder.topic}'"]
    return " or ".join(occasions)
