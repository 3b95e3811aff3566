"""Terminal output of the maintenance of documents and notes."""

from __future__ import annotations

from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.hit_view import day
from palazzo.features.upkeep.contract import AuditResult, CleanupResult, DedupResult
from palazzo.text.count_phrases import count_noun

_LIST_LIMIT = 20


def cleanup(screen: Screen, result: CleanupResult) -> None:
    """Show notes with little content, and whether they were forgotten."""
    for candidate in result.candidates[:_LIST_LIMIT]:
        screen.say((f"{candidate.reason}  ", "yellow"), " ".join(candidate.text.split()), wrap_indent=len(INDENT))
        importance = "" if candidate.importance is None else f"  importance {candidate.importance:g}"
        location = f"{candidate.wing}/{candidate.room}"
        screen.say(
            (f"{INDENT}{candidate.id}  {day(candidate.created_at)}  ", "dim"), (location, "cyan"), (importance, "dim")
        )
    _more(screen, len(result.candidates))
    verb = "would be forgotten" if result.dry_run else "forgotten"
    screen.say((f"{count_noun(len(result.forgotten), 'drawer')} {verb}", "bold"))


def dedup(screen: Screen, result: DedupResult) -> None:
    """Show notes with the same content, and which of them stays."""
    for cluster in result.clusters[:_LIST_LIMIT]:
        screen.say((f"{cluster.similarity:.2f}  ", "green"), " ".join(cluster.text.split()), wrap_indent=len(INDENT))
        for n, origin in enumerate(cluster.origins):
            mark: tuple[str, str] = ("forget  ", "yellow") if n else ("keep    ", "green")
            facts = f"  {day(origin.created_at)}  {origin.author or origin.trust}"
            screen.say(INDENT, mark, (f"{origin.id}{facts}  ", "dim"), (f"{cluster.wing}/{origin.room}", "cyan"))
    _more(screen, len(result.clusters))
    verb = "would be forgotten" if result.dry_run else "forgotten"
    kept = f"; {count_noun(len(result.clusters), 'note')} kept" if result.clusters else ""
    screen.say((f"{count_noun(len(result.folded), 'drawer')} {verb}{kept}", "bold"))


def audit(screen: Screen, result: AuditResult) -> None:
    """Show what can be tidied up, and with which command."""
    for issue in result.findings:
        mark: tuple[str, str] = ("tidy  ", "green") if issue.ok else ("look  ", "yellow")
        screen.say(mark, (issue.name, "bold"), f"  {issue.detail}")
        by_itself = len(issue.mends) == len(issue.examples)
        for n, example in enumerate(issue.examples):
            screen.say((f"{INDENT}{example}", "dim"))
            if by_itself:
                screen.say(INDENT, INDENT, (issue.mends[n], "bold"))
        if issue.mend and not by_itself:
            screen.say(INDENT, (issue.mend, "bold"))


def _more(screen: Screen, number: int) -> None:
    if number > _LIST_LIMIT:
        screen.say((f"{INDENT}and {number - _LIST_LIMIT:,} more", "dim"))
