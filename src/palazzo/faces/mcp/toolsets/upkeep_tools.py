"""The tool status and the administration tools: take content in, check the palace, undo changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from palazzo.faces.mcp.entry_lines import FLAG, LIST, NUMBER, OBJECT, TEXT, shape
from palazzo.faces.mcp.tool import CHANGES, Answer, Argument, CallArguments, Hints, Tool
from palazzo.features.mining.mine import MineResult
from palazzo.features.mining.sync_sources import SyncSourcesResult
from palazzo.features.notes.undo import Change, UndoResult
from palazzo.features.upkeep.audit import AuditResult
from palazzo.features.upkeep.settings import SettingsResult
from palazzo.features.upkeep.status import StatusResult
from palazzo.features.upkeep.verify import VerifyResult
from palazzo.text.count_phrases import agree, count_noun

_MOST_WINGS, _MOST_NAMED = 40, 20
_TAKES_IN = Hints(idempotent=True)


# --- status ------------------------------------------------------------------------------------------------

_INDEX = {"ready": "ready", "building": "being built", "empty": "empty"}


def _status(result: StatusResult, call: CallArguments) -> Answer:
    largest = sorted(result.wings.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
    wings = {name: wing.drawers for name, wing in largest[:_MOST_WINGS]}
    index = _INDEX.get(result.embedder.state, "from another embedder than the settings name: palazzo repair fixes it")
    if result.pending:
        index += f", {count_noun(result.pending, 'passage')} to go"
    fields: dict[str, Any] = {
        "palace": result.palace,
        "version": result.version,
        "items": result.items,
        "drawers": result.drawers,
        "facts": result.facts,
        "open_todos": result.open_todos,
        "index": index,
        "wings": wings,
    }
    wing_list = ", ".join(f"{name} {count:,}" for name, count in wings.items()) or "none yet"
    if len(largest) > _MOST_WINGS:
        fields["more_wings"] = len(largest) - _MOST_WINGS
        wing_list += f", and {fields['more_wings']} more"
    text = (
        f"{result.palace}: {count_noun(result.drawers, 'drawer')} of {count_noun(result.items, 'item')},"
        f" {count_noun(result.facts, 'fact')}, {count_noun(result.open_todos, 'open to-do')};"
        f" index {index}.\nWings: {wing_list}"
    )
    return Answer(fields, text)


STATUS = Tool(
    name="status",
    operation="status",
    description="Show what the memory contains, by project, and its state.",
    answer=_status,
    output=shape(drawers=NUMBER, index=TEXT, wings=OBJECT),
)


# --- mine and feed -----------------------------------------------------------------------------------------


def _taken_in(result: MineResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("dry_run", "sources", "new", "grown", "unchanged", "items", "drawers", "took_s")
    }
    lines = [
        f"{'Would read' if result.dry_run else 'Read'} {count_noun(result.sources, 'source')}: {result.new:,} new, "
        f"{result.grown:,} grown, {result.unchanged:,} unchanged; {count_noun(result.items, 'item')} archived, "
        f"{count_noun(result.drawers, 'drawer')} searchable."
    ]
    for name, problems in (
        ("failed", [f"{problem.uri}: {problem.error}" for problem in result.failed]),
        ("skipped", _reasons(result)),
    ):
        if problems:
            fields[name] = problems[:_MOST_NAMED]
            lines += [f"{name}: {problem}" for problem in problems[:_MOST_NAMED]]
            if len(problems) > _MOST_NAMED:
                lines.append(f"and {len(problems) - _MOST_NAMED:,} more {name}")
    if result.note:
        fields["note"] = result.note
        lines.append(result.note)
    return Answer(fields, "\n".join(lines))


def _reasons(result: MineResult) -> list[str]:
    """Return what was left out, by reason: there may be thousands of files, and a model needs the rules."""
    reasons: dict[str, list[str]] = {}
    for skip in result.skipped:
        reasons.setdefault(skip.reason, []).append(skip.uri)
    return [f"{reason}: {count_noun(len(uris), 'file')}, such as {uris[0]}" for reason, uris in reasons.items()]


def _paths(call: CallArguments) -> Mapping[str, Any]:
    return {"paths": tuple(Path(path) for path in call["paths"])}


_MINE_OUTPUT = shape(dry_run=FLAG, sources=NUMBER, new=NUMBER, drawers=NUMBER)

MINE = Tool(
    name="mine",
    operation="mine",
    description="Index files or directories, word for word: documents, code, transcripts, exports.",
    arguments=(
        Argument("paths", "", None, {"type": "array", "items": TEXT, "minItems": 1}, is_required=True),
        Argument("mode", "docs: documentation only; all: code too; convos: conversations only."),
        Argument("wing", "A wing other than each project's own."),
        Argument("room"),
        Argument("include", "Only files that match these globs."),
        Argument("exclude", "Skip files that match these globs."),
        Argument("dry_run"),
    ),
    hints=_TAKES_IN,
    fields=_paths,
    answer=_taken_in,
    output=_MINE_OUTPUT,
)

FEED = Tool(
    name="feed",
    operation="feed",
    description="Index what is new in the histories of the coding agents on this machine.",
    arguments=(
        Argument("hosts", "claude-code, codex, opencode, pi, …; all if omitted."),
        Argument("since", "Sessions continued from this time on: 2026-03-04, 30d."),
        Argument("dry_run"),
    ),
    hints=_TAKES_IN,
    answer=_taken_in,
    output=_MINE_OUTPUT,
)


# --- verify ------------------------------------------------------------------------------------------------


def _answer_verify(result: VerifyResult, call: CallArguments) -> Answer:
    checks = [{"name": check.name, "ok": check.ok, "detail": check.detail} for check in result.checks]
    lines = [f"{'ok' if check.ok else 'WRONG'}  {check.name}: {check.detail}" for check in result.checks]
    return Answer({"ok": result.ok, "checks": checks}, "\n".join(lines))


VERIFY = Tool(
    name="verify",
    operation="verify",
    description="Check that the palace is intact and complete. It reads everything, which takes a while.",
    answer=_answer_verify,
    output=shape(ok=FLAG, checks=LIST),
)


# --- settings ----------------------------------------------------------------------------------------------


def _settings(result: SettingsResult, call: CallArguments) -> Answer:
    values = {setting.key: setting.shown for setting in result.settings}
    lines = [
        f"{setting.key} = {setting.shown} ({setting.origin})" + (f"; {setting.help}" if call["key"] is not None else "")
        for setting in result.settings
    ]
    fields: dict[str, Any] = {"settings": values}
    if result.problems:
        fields["problems"] = list(result.problems)
    return Answer(fields, "\n".join([*lines, *result.problems]))


SETTINGS = Tool(
    name="settings",
    operation="settings",
    description="Show the effective settings. A person changes them: palazzo settings set KEY VALUE.",
    arguments=(Argument("key", "The key of one setting."),),
    fields=lambda given: {"action": "get"},
    answer=_settings,
    output=shape(settings=OBJECT),
)


# --- undo --------------------------------------------------------------------------------------------------


def _undone(result: UndoResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {}
    lines = []
    if result.undone is not None:
        fields["undone"] = _told_change(result.undone)
        lines.append(f"Taken back: {_change_line(result.undone)}")
    if call["list"]:
        fields["changes"] = _told_changes(result.changes)
        lines += [_change_line(change) for change in result.changes]
    return Answer(fields, "\n".join(lines) or "There is nothing to undo.")


def _told_changes(changes: Sequence[Change]) -> list[dict[str, Any]]:
    return [_told_change(change) for change in changes]


def _told_change(change: Change) -> dict[str, Any]:
    fields = {
        "id": change.id,
        "at": change.at,
        "by": change.actor,
        "verb": change.verb,
        "size": change.size,
        "summary": change.summary,
        "undone": change.undone,
    }
    return {name: value for name, value in fields.items() if value not in ("", False)}


def _change_line(change: Change) -> str:
    return (
        f"[{change.id}] {change.at[:16]}Z {change.actor} {change.verb} ({change.size})"
        f"{' ' + change.summary if change.summary else ''}" + (" (taken back)" if change.undone else "")
    )


UNDO = Tool(
    name="undo",
    operation="undo",
    description="Undo the last change of this memory, or one by its id: forget, remember, facts. Use list first.",
    arguments=(
        Argument("id", "Id of the change; the last one if omitted."),
        Argument("list", "Only show the last changes."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
    ),
    hints=CHANGES,
    answer=_undone,
    output=shape(),
)


# --- sync_sources ------------------------------------------------------------------------------------------


def _answer_sync(result: SyncSourcesResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("dry_run", "scanned", "kept", "ignored", "missing", "unreachable", "drawers")
    }
    fields["documents"] = [
        {"uri": document.uri, "state": document.state, "reason": document.reason}
        for document in result.documents[:_MOST_NAMED]
    ]
    absent_count = result.ignored + result.missing
    lines = [
        f"{count_noun(result.scanned, 'document')}: {result.kept:,} unchanged, {result.ignored:,} excluded by rules, "
        f"{result.missing:,} gone, {result.unreachable:,} unreachable (those are never changed).",
        f"apply=true would remove {count_noun(result.drawers, 'drawer')} of {absent_count:,} from search."
        if result.dry_run and absent_count
        else "",
        f"{count_noun(result.drawers, 'drawer')} {agree(result.drawers)} no longer searchable; undo restores them."
        if result.change
        else "",
        *(f"{document.state} {document.uri}: {document.reason}" for document in result.documents[:_MOST_NAMED]),
    ]
    if len(result.documents) > _MOST_NAMED:
        lines.append(f"and {len(result.documents) - _MOST_NAMED:,} more")
    return Answer(fields, "\n".join(filter(None, lines)))


SYNC_SOURCES = Tool(
    name="sync_sources",
    operation="sync_sources",
    description="Find indexed documents that are gone from disk or excluded by rules now; apply removes them from "
    "search.",
    arguments=(
        Argument("path", "A directory or document; the project if omitted.", None, TEXT),
        Argument("wing", "Only in this wing."),
        Argument("apply"),
    ),
    hints=CHANGES,
    fields=lambda given: {"path": None if given["path"] is None else Path(given["path"])},
    answer=_answer_sync,
    output=shape(dry_run=FLAG, scanned=NUMBER, documents=LIST),
)


# --- audit -------------------------------------------------------------------------------------------------


def _answer_audit(result: AuditResult, call: CallArguments) -> Answer:
    findings = [
        {
            "name": check.name,
            "ok": check.ok,
            "detail": check.detail,
            "examples": list(check.examples),
            "mends": list(check.mends),
        }
        for check in result.findings
    ]
    finding_rows = [{name: value for name, value in check.items() if value not in ("", [])} for check in findings]
    lines = []
    for check in result.findings:
        lines.append(f"{'ok' if check.ok else 'untidy'}  {check.name}: {check.detail}")
        if not check.ok:
            lines += [f"  {example}" for example in check.examples]
            lines += [f"  mend with: {mend}" for mend in check.mends]
    return Answer({"ok": result.ok, "findings": finding_rows}, "\n".join(lines))


AUDIT = Tool(
    name="audit",
    operation="audit",
    description="Find what could be tidied up: repeated notes, gone documents, odd rooms, stale files, with a fix "
    "for each.",
    arguments=(Argument("threshold", "Required similarity.", schema={"minimum": 0, "maximum": 1}),),
    answer=_answer_audit,
    output=shape(ok=FLAG, findings=LIST),
)
