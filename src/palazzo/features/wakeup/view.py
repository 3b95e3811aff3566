"""Terminal output of proactive context, the context summary, memory statistics and instructions."""

from __future__ import annotations

from palazzo.features.hosts.instructions import InstructionsResult
from palazzo.features.notes.context_summary import ContextSummaryResult
from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.hit_view import day
from palazzo.features.search.list_view import rows
from palazzo.features.upkeep.memory_stats import MemoryStatsResult
from palazzo.features.wakeup.proactive_context import ProactiveContextResult
from palazzo.text.count_phrases import count_noun


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


def context_summary(screen: Screen, result: ContextSummaryResult) -> None:
    """Show decisions, lessons learned, and other notes."""
    sections = (("Decided", result.decisions), ("Learned", result.learnings), ("Noted", result.context))
    for title, notes in sections:
        if notes:
            screen.say((f"{title}:", "bold"))
            rows(screen, notes)
    if not any(notes for _, notes in sections):
        screen.say(("There are no notes: 'palazzo remember' files one.", "dim"))


def memory_stats(screen: Screen, result: MemoryStatsResult) -> None:
    """Show the counts, a line for each way of counting."""
    scope = f" in {result.wing}" if result.wing else ""
    totals = f"{count_noun(result.items, 'item')}, {count_noun(result.drawers, 'drawer')}{scope}"
    screen.say((totals, "bold"), f"; {result.retired:,} no longer searchable; {count_noun(result.facts, 'fact')}")
    names = {entity.name: entity.drawers for entity in result.entities}
    counts_by_title = (
        ("kinds", result.by_kind),
        ("filed as", result.filed_as),
        ("tags", result.by_tag),
        ("said within", {name: number for name, number in result.by_age.items() if number}),
        ("trust", result.by_trust),
        ("names", names),
    )
    lines = [
        (title, ", ".join(f"{name} {number:,}" for name, number in counts.items())) for title, counts in counts_by_title
    ]
    screen.table(("", ""), [((title, "dim"), line) for title, line in lines if line])


def instructions(screen: Screen, result: InstructionsResult) -> None:
    """Print the text, and nothing else."""
    screen.exact(result.text.rstrip("\n"), indent="")
