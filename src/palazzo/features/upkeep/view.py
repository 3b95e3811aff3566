"""Terminal output of status, doctor, verify, repair and settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.features.screen import Part, Screen
from palazzo.features.sessions.view import resumption
from palazzo.features.upkeep.contract import (
    IMPORTS,
    CheckView,
    DoctorResult,
    InjectedStatus,
    MemoryStatsResult,
    RepairResult,
    SettingsResult,
    StatusResult,
    VerifyResult,
)
from palazzo.operations.check_finding import Diagnosis
from palazzo.operations.damage import SalvageView
from palazzo.text.count_phrases import agree, count_noun, format_bytes
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.features.upkeep.contract import PauseResult, ResumeResult

_OK: Part = ("ok", "green")
_BAD: Part = ("wrong", "bold red")
_NOTE: Part = ("note", "yellow")
_MOST_ROOMS = 6


def status(screen: Screen, result: StatusResult) -> None:
    """Show the palace in a few lines, then its wings."""
    facts = [
        ("palace", f"{result.palace}, {format_bytes(result.size_bytes)}, schema {result.schema}"),
        (
            "holds",
            f"{count_noun(result.items, 'item')}, {count_noun(result.drawers, 'drawer')}"
            + f" in {count_noun(len(result.wings), 'wing')}"
            + (f", {count_noun(result.open_todos, 'open to-do')}" if result.open_todos else "")
            + (f", {count_noun(result.tunnels, 'tunnel')}" if result.tunnels else ""),
        ),
        *([("knows", ", ".join(contents))] if (contents := list(_list_contents(result))) else []),
        ("filed last", _format_ingest(result)),
        ("vectors", _vectors(result)),
        *(
            [("injected", _format_injections(result.injected))]
            if result.injected and result.injected.injections
            else []
        ),
        *(
            [("quarantine", f"{result.quarantine:,} pending review: palazzo quarantine list")]
            if result.quarantine
            else []
        ),
        *([("backup", f"{to_iso(result.backup_at)}, the last")] if result.backup_at is not None else []),
        ("version", result.version),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in facts])
    if result.as_of is not None:
        screen.say((result.note or f"Items, drawers, facts and wings are as of {to_iso(result.as_of)}.", "yellow"))
    if result.off:
        screen.say(("PALAZZO_OFF is set: nothing is captured or injected.", "yellow"))
    if result.paused:
        until = "" if result.paused_until is None else f" until {to_iso(result.paused_until)}"
        screen.say((f"Paused{until}: nothing is captured or injected. Run 'palazzo resume' to continue.", "yellow"))
    for file in result.unfinished_imports:
        screen.say(
            (f"The import of {_at_home(file)} is incomplete: if it is not still running, import it again.", "yellow")
        )
    for name, why in result.sync_failed.items():
        screen.say((f"Syncing with '{name}' failed: {why}", "yellow"))
    if result.service.viewer_trouble:
        screen.say((result.service.viewer_trouble, "yellow"))
    if result.set_aside:
        texts, pronoun = count_noun(result.set_aside, "text"), agree(result.set_aside, "it", "them")
        screen.say((f"{texts} could not be fully processed: 'palazzo verify' lists {pronoun}.", "yellow"))
    if result.wings:
        screen.gap()
        rows = [
            (wing, f"{wing_counts.drawers:,}", _rooms(wing_counts.rooms)) for wing, wing_counts in result.wings.items()
        ]
        screen.table(("wing", "drawers", "rooms"), rows, right=(1,))


def _list_contents(result: StatusResult) -> Iterator[str]:
    if result.facts:
        yield f"{count_noun(result.facts, 'fact')} about {count_noun(result.entities, 'entity')}"
    if result.connections:
        yield count_noun(result.connections, "connection")
    if result.mentions:
        yield f"{count_noun(result.mentions, 'mention')} of names"


def _format_ingest(result: StatusResult) -> str:
    last_ingest = result.filed
    return (
        f"{count_noun(last_ingest.items, 'item')}, the last at {to_iso(last_ingest.at)}"
        if last_ingest
        else "nothing yet"
    )


def _vectors(result: StatusResult) -> str:
    embedder = result.embedder
    match embedder.state:
        case "empty":
            return f"none needed yet ({embedder.id})"
        case "changed":
            return f"made by {embedder.id}, but the settings name another embedder: palazzo repair --rebuild vectors"
        case "building":
            progress = "being computed now" if result.embedding else "computed when the palace is next used"
            return f"{result.pending:,} pending, {progress} ({embedder.id})"
        case "ready":
            return f"all made ({embedder.id})"


def _format_injections(injection_status: InjectedStatus) -> str:
    used = (
        ""
        if injection_status.used_share is None
        else f", {injection_status.used_share:.0%} of {injection_status.given:,} used"
    )
    took = f"p50 {injection_status.p50_ms:,.0f} ms, p95 {injection_status.p95_ms:,.0f} ms"
    tokens, injections = injection_status.tokens, injection_status.injections
    return f"{count_noun(tokens, 'token')} in {count_noun(injections, 'injection')}{used}, {took}"


def _rooms(rooms: dict[str, int]) -> str:
    largest = sorted(rooms.items(), key=lambda pair: (-pair[1], pair[0]))
    room_list = ", ".join(f"{name} {number:,}" for name, number in largest[:_MOST_ROOMS])
    return f"{room_list}, and {len(rooms) - _MOST_ROOMS} more" if len(rooms) > _MOST_ROOMS else room_list


def doctor(screen: Screen, result: DoctorResult) -> None:
    """Show repairs, then every finding; below a problem, the command that repairs it."""
    for fix in result.fixed:
        screen.say(("Fixed: " if fix.done else "Could not: ", "green" if fix.done else "bold red"), fix.command)
        screen.say((f"    {_at_home(fix.detail)}", "dim"), wrap_indent=4)
    if result.fixed:
        screen.gap()
    rows: list[Sequence[Part]] = []
    for n, diagnosis in enumerate(result.findings):
        goes_on = n > 0 and result.findings[n - 1].name == diagnosis.name
        rows.append((_mark(diagnosis), "" if goes_on else (diagnosis.name, "bold"), _at_home(diagnosis.detail)))
        if diagnosis.mend:
            rows.append(("", "", (f"→ {diagnosis.mend}", "bold yellow")))
    screen.table(("", "", ""), rows)
    wrong = [diagnosis for diagnosis in result.findings if not diagnosis.ok]
    if not wrong:
        screen.say(("No problems found.", "green"))
        return
    fixable = len({diagnosis.mend for diagnosis in wrong if diagnosis.fixable})
    screen.say((f"Problems: {len(wrong)} of {count_noun(len(result.findings), 'finding')}.", "bold"))
    if fixable and not result.fixed:
        screen.say("Fix what needs no decision with: ", ("palazzo doctor --fix", "bold"))


def _mark(diagnosis: Diagnosis) -> Part:
    """Return the mark of a finding; one that is no problem, but that a command can change, is a note."""
    if not diagnosis.ok:
        return _BAD
    return _NOTE if diagnosis.mend else _OK


def _at_home(words: str) -> str:
    """Return text with `~` for the home in paths, except in commands: no shell expands `~` in quotes."""
    try:
        return words.replace(f"{Path.home()}{os.sep}", f"~{os.sep}")
    except RuntimeError:  # nobody knows where it is
        return words


def verify(screen: Screen, result: VerifyResult) -> None:
    """Show every check."""
    _checks(screen, result.checks)
    if any(not check.ok and check.name != IMPORTS for check in result.checks):
        screen.say(
            "Rebuild derived data with ", ("palazzo repair", "bold"), "; restore a damaged archive from a backup."
        )


def repair(screen: Screen, result: RepairResult) -> None:
    """Show what was rebuilt, and the checks."""
    artifacts = ", ".join(result.rebuilt) or "nothing"
    screen.say((f"Would make anew: {artifacts}" if result.dry_run else f"Made anew: {artifacts}", "bold"))
    if result.retried_texts:
        retried_texts = count_noun(result.retried_texts, "text")
        screen.say(f"Retried {retried_texts} that had been set aside; still set aside: {result.set_aside:,}.")
    if result.salvage is not None:
        show_losses(screen, result.salvage)
    _checks(screen, result.checks)


def show_losses(screen: Screen, salvage: SalvageView) -> None:
    """Show the losses of a damaged palace, and the path of the damaged file."""
    if salvage.is_whole:
        screen.say(("Pages of the palace were damaged. The whole archive could be read.", "green"))
    else:
        screen.say(("Pages of the palace were damaged, and some data could not be read:", "yellow"))
    for loss in salvage.losses:
        ids = ", ".join(loss.ids)
        count = "an unknown number of rows" if loss.count is None else count_noun(loss.count, "row")
        pages = ", ".join(map(str, loss.pages))
        screen.say(
            ("lost  ", "red"), f"{loss.kind}: {count}{f' on page {pages}' if pages else ''}{f': {ids}' if ids else ''}"
        )
    for item in salvage.altered_items:
        screen.say(("lost  ", "red"), f"item {item}: its text or its source bytes are lost or changed")
    for table in salvage.doubtful:
        screen.say(("doubtful  ", "yellow"), f"{table}: one of its pages had a wrong checksum, but was read anyway")
    if salvage.kept is not None:
        screen.say(("kept  ", "bold"), f"{salvage.kept}, the damaged file")


def settings(screen: Screen, result: SettingsResult) -> None:
    """Show settings with their origin; the bare value if one setting was requested."""
    if result.written:
        screen.say(f"Wrote {result.written}.")
        for setting in result.settings:
            if not setting.origin.startswith(result.written):
                screen.say(
                    (
                        f"The effective value of {setting.key} here is {setting.shown or 'empty'}, from "
                        f"{setting.origin}.",
                        "yellow",
                    )
                )
    elif result.single:
        for setting in result.settings:
            screen.say(setting.shown)
    else:
        rows = [
            (
                setting.key,
                (setting.shown, "" if setting.origin == "default" else "bold"),
                (setting.origin, "dim"),
                setting.help,
            )
            for setting in result.settings
        ]
        screen.table(("setting", "value", "from", "description"), rows)
    for problem in result.problems:
        screen.say((problem, "yellow"))


def _checks(screen: Screen, checks: Sequence[CheckView]) -> None:
    screen.table(("", "", ""), [(_OK if check.ok else _BAD, check.name, check.detail) for check in checks])


def pause(screen: Screen, result: PauseResult) -> None:
    """Say when the pause ends."""
    until = "'palazzo resume'" if result.until is None else to_iso(result.until)
    screen.say(f"Paused until {until}: nothing is captured or injected for {result.palace}.")


def resume(screen: Screen, result: ResumeResult) -> None:
    """Say whether it was paused; for a session, show the command that resumes it."""
    if result.resumption is not None:
        resumption(screen, result.resumption)
        return
    screen.say("Capture and injection are on again." if result.was_paused else "Capture and injection were not paused.")
    if result.off:
        screen.say(("PALAZZO_OFF is set here: nothing is captured or injected anyway.", "yellow"))


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
