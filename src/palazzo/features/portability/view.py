"""Terminal output of export and import."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.portability.contract import Came, ExportResult, ImportResult
from palazzo.features.screen import INDENT, Screen
from palazzo.text.count_phrases import count_noun, count_plural

_ROW_LIMIT = 20


def export(screen: Screen, result: ExportResult) -> None:
    """Show what was written, unless it went to standard output."""
    if result.path == "-":
        return
    if result.format == "markdown":
        parts = [count_noun(result.counts[name], name.removesuffix("s")) for name in ("drawers", "facts", "tasks")]
        pages = count_noun(result.counts["pages"], "page")
        screen.say(("Wrote ", "bold"), f"{pages} with {', '.join(parts)} into {result.path}.")
        return
    records = sum(result.counts.values())
    screen.say(("Wrote ", "bold"), f"{count_noun(records, 'record')} ({result.size:,} bytes) to {result.path}.")
    _kinds(screen, result.counts)


def import_(screen: Screen, result: ImportResult) -> None:
    """Show what was imported, what was already here, and what could not be imported."""
    verb = "Would take over" if result.dry_run else "Took over"
    screen.say((f"{verb} ", "bold"), f"{result.title} from {result.path}:")
    rows = [
        (counts.what.replace("_", " "), *(f"{number:,}" if number else "" for number in _numbers(counts)))
        for counts in result.counts
        if any(_numbers(counts))
    ]
    if rows:
        screen.table(("", "new", "changed", "merged", "here already"), rows, right=(1, 2, 3, 4))
    else:
        screen.say("It is empty.")
    for name_change in result.renamed[:_ROW_LIMIT]:
        screen.say((f"{name_change.what} ", "dim"), f"{name_change.was} is called ", (name_change.now, "cyan"), " here")
    _more(screen, len(result.renamed), "renamed")
    for omission in result.left_out[:_ROW_LIMIT]:
        screen.say(
            ("left out  ", "yellow"),
            f"{count_plural(omission.count, omission.what.replace('_', ' '))}: {omission.reason}",
        )
        if omission.keys:
            screen.say((f"{INDENT}such as {', '.join(omission.keys)}", "dim"))
    _more(screen, len(result.left_out), "reasons")
    if result.conflicts:
        screen.say(
            (f"{count_noun(len(result.conflicts), 'conflict')} between facts: ", "yellow"),
            "palazzo kg conflicts shows them.",
        )
    if result.forked:
        screen.say(
            ("The palace and its copy have diverged: ", "yellow"), "the content of both is here and can be searched."
        )
    show_variants(screen, result.variants)
    _speakers(screen, result)
    if result.trust not in (None, "user"):
        remedy = "give" if result.dry_run else "'palazzo undo' reverts it; then import it again with"
        screen.say(
            (f"It counts as another person's: the trust of its text is at most '{result.trust}'. ", "yellow"),
            f"If it is yours, {remedy} --trust user.",
        )
    if result.change is not None:
        screen.say("'palazzo undo' reverts the import.")
    if result.note:
        screen.say((result.note, "yellow"))


def _speakers(screen: Screen, result: ImportResult) -> None:
    """Show the speakers of the import, and the records that hooks may inject."""
    if result.speakers:
        names = ", ".join(f"{speaker.name} ({speaker.count:,})" for speaker in result.speakers)
        screen.say(("said by  ", "dim"), names)
    if result.kinds:
        kinds = ", ".join(f"{count_plural(kind.count, kind.what)} ({kind.trust})" for kind in result.kinds)
        screen.say(("trusted as  ", "dim"), kinds)
    if not result.unasked and result.kinds:
        screen.say(("Hooks inject none of it; searches show it with its label.", "dim"))
    for kind in result.unasked:
        screen.say((f"{count_plural(kind.count, kind.what)} that hooks may inject", "yellow"))
        for line in kind.lines:
            screen.say((f"{INDENT}| {line}", "dim"))


def show_variants(screen: Screen, variants: Sequence[str]) -> None:
    """List the items whose imported text differs from the text here."""
    if not variants:
        return
    screen.say(
        (f"{count_noun(len(variants), 'item')} came with text that differs from yours, and yours was kept. ", "yellow"),
        "'palazzo show ID' shows the text here:",
    )
    for item in variants[:_ROW_LIMIT]:
        screen.say((f"{INDENT}{item}", "dim"))
    _more(screen, len(variants), "items")


def _numbers(counts: Came) -> tuple[int, int, int, int]:
    return counts.new, counts.changed, counts.merged, counts.there


def _kinds(screen: Screen, counts: dict[str, int]) -> None:
    parts = [count_noun(number, kind.replace("_", " ")) for kind, number in counts.items() if kind != "header"]
    screen.say((", ".join(parts), "dim"))


def _more(screen: Screen, number: int, noun: str) -> None:
    if number > _ROW_LIMIT:
        screen.say((f"{INDENT}and {number - _ROW_LIMIT:,} more {noun}", "dim"))
