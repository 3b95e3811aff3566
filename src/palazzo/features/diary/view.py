"""Terminal output of diaries, the agents that keep them, and checkpoints."""

from __future__ import annotations

from palazzo.features.diary.contract import (
    CheckpointResult,
    DiaryHandoffResult,
    DiaryReadResult,
    DiaryWriteResult,
    EntryView,
    ListAgentsResult,
)
from palazzo.features.screen import INDENT, Screen
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso


def diary_write(screen: Screen, result: DiaryWriteResult) -> None:
    """Show whose diary has the entry, and the entry's id."""
    about = f", about {result.project}" if result.project else ""
    screen.say("Written to the diary of ", (result.agent, "cyan"), f" ({result.wing}{about}): {result.id}")


def diary_read(screen: Screen, result: DiaryReadResult) -> None:
    """Show entries in full, newest first, or a sentence if there are none."""
    if not result.entries:
        screen.say((result.note, "yellow"))
        return
    for entry in result.entries:
        _entry(screen, entry)
    more = f" of {result.total:,}; raise --limit for more" if result.showing < result.total else ""
    screen.say((f"{count_noun(result.showing, 'entry')}{more}", "dim"))


def _entry(screen: Screen, entry: EntryView) -> None:
    screen.say(
        (entry.date, "bold"),
        f"  {to_iso(entry.timestamp)[11:]}  ",
        (entry.topic, "cyan"),
        f"  {entry.project}" if entry.project else "",
        (f"  {entry.id}", "dim"),
        wrap_indent=len(INDENT),
    )
    screen.read(entry.content.rstrip("\n"))
    screen.gap()


def diary_handoff(screen: Screen, result: DiaryHandoffResult) -> None:
    """Show the hand-over as the other agent receives it."""
    screen.read(result.text, indent="")
    screen.say((count_noun(result.tokens, "token"), "dim"))


def list_agents(screen: Screen, result: ListAgentsResult) -> None:
    """Show the agents that keep a diary."""
    if not result.agents:
        screen.say("No agent has a diary yet: ", ("palazzo diary write AGENT TEXT", "bold"), " begins one.")
        return
    rows = [
        (
            (agent.name, "bold"),
            f"{agent.entries:,}",
            to_iso(agent.first_at)[:10],
            to_iso(agent.last_at)[:10],
            agent.wing,
        )
        for agent in result.agents
    ]
    screen.table(("agent", "entries", "first", "last", "wing"), rows, right=(1,))
    screen.say((f"{INDENT}{count_noun(len(rows), 'agent')}", "dim"))


def checkpoint(screen: Screen, result: CheckpointResult) -> None:
    """Show what was saved, and what was already there."""
    items = sum(entry.part == "item" for entry in result.added)
    fact_count = sum(entry.new or bool(entry.changed) for entry in result.facts)
    parts = [count_noun(items, "note")] if items else []
    parts += ["a diary entry"] if len(result.added) > items else []
    parts += [count_noun(fact_count, "fact")] if fact_count else []
    screen.say((f"Saved {', '.join(parts)}" if parts else "Everything was already stored: nothing was saved", "bold"))
    for entry in result.added:
        screen.say((f"{INDENT}{entry.id}  ", "dim"), (f"{entry.wing}/{entry.room}", "cyan"))
    for copy in result.duplicates:
        label = f"item {copy.number}" if copy.part == "item" else "the diary entry"
        verdict = f"is {copy.similarity:.0%} in" if copy.filed else "is already stored and was not filed again:"
        screen.say((f"{label} {verdict} ", "yellow"), (copy.id, "dim"), f"  {copy.text}")
    for fact in result.facts:
        for conflict in fact.conflicts:
            screen.say((f"fact {fact.number} conflicts with another: ", "yellow"), (conflict, "dim"))
