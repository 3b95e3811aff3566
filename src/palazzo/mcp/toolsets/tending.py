"""status and what looks after a palace: taking in, checking, taking back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from palazzo.mcp.telling import FLAG, LIST, NUMBER, OBJECT, TEXT, shape
from palazzo.mcp.tools import CHANGES, Answer, Argument, Given, Hints, Tool
from palazzo.operations.audit import AuditResult
from palazzo.operations.mine import MineResult
from palazzo.operations.settings import SettingsResult
from palazzo.operations.status import StatusResult
from palazzo.operations.sync_sources import SyncSourcesResult
from palazzo.operations.undo import Change, UndoResult
from palazzo.operations.verify import VerifyResult
from palazzo.text.counts import agree, count_noun

_MOST_WINGS, _MOST_NAMED = 40, 20
_TAKES_IN = Hints(idempotent=True)


# --- status ------------------------------------------------------------------------------------------------

_INDEX = {"ready": "ready", "building": "being built", "empty": "empty"}


def _status(result: StatusResult, given: Given) -> Answer:
    largest = sorted(result.wings.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
    wings = {name: held.drawers for name, held in largest[:_MOST_WINGS]}
    index = _INDEX.get(result.embedder.state, "of another embedder than the settings name: palazzo repair mends it")
    if result.pending:
        index += f", {count_noun(result.pending, 'passage')} to go"
    told: dict[str, Any] = {
        "palace": result.palace,
        "version": result.version,
        "items": result.items,
        "drawers": result.drawers,
        "facts": result.facts,
        "open_todos": result.open_todos,
        "index": index,
        "wings": wings,
    }
    named = ", ".join(f"{name} {count:,}" for name, count in wings.items()) or "none yet"
    if len(largest) > _MOST_WINGS:
        told["more_wings"] = len(largest) - _MOST_WINGS
        named += f", and {told['more_wings']} more"
    text = (
        f"{result.palace}: {count_noun(result.drawers, 'drawer')} of {count_noun(result.items, 'item')},"
        f" {count_noun(result.facts, 'fact')}, {count_noun(result.open_todos, 'open to-do')};"
        f" index {index}.\nWings: {named}"
    )
    return Answer(told, text)


STATUS = Tool(
    name="status",
    operation="status",
    description="What the memory holds, by project, and whether it is in order.",
    answer=_status,
    output=shape(drawers=NUMBER, index=TEXT, wings=OBJECT),
)


# --- mine and feed -----------------------------------------------------------------------------------------


def _taken_in(result: MineResult, given: Given) -> Answer:
    told: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("dry_run", "sources", "new", "grown", "unchanged", "items", "drawers", "took_s")
    }
    lines = [
        f"{'Would read' if result.dry_run else 'Read'} {count_noun(result.sources, 'source')}: {result.new:,} new,"
        f" {result.grown:,} grown, {result.unchanged:,} unchanged;"
        f" {count_noun(result.items, 'item')} archived, {count_noun(result.drawers, 'drawer')} to find."
    ]
    for name, left in (("failed", [f"{one.uri}: {one.error}" for one in result.failed]), ("skipped", _reasons(result))):
        if left:
            told[name] = left[:_MOST_NAMED]
            lines += [f"{name}: {one}" for one in left[:_MOST_NAMED]]
            if len(left) > _MOST_NAMED:
                lines.append(f"and {len(left) - _MOST_NAMED:,} more {name}")
    if result.note:
        told["note"] = result.note
        lines.append(result.note)
    return Answer(told, "\n".join(lines))


def _reasons(result: MineResult) -> list[str]:
    """What was left out, by reason: there may be thousands of files, and a model needs to know the rules."""
    reasons: dict[str, list[str]] = {}
    for one in result.skipped:
        reasons.setdefault(one.reason, []).append(one.uri)
    return [f"{reason}: {count_noun(len(uris), 'file')}, such as {uris[0]}" for reason, uris in reasons.items()]


def _paths(given: Given) -> Mapping[str, Any]:
    return {"paths": tuple(Path(one) for one in given["paths"])}


_TAKEN = shape(dry_run=FLAG, sources=NUMBER, new=NUMBER, drawers=NUMBER)

MINE = Tool(
    name="mine",
    operation="mine",
    description="Read files or directories into the memory, to the word: documents, code, transcripts, exports.",
    arguments=(
        Argument("paths", "", None, {"type": "array", "items": TEXT, "minItems": 1}, required=True),
        Argument("mode", "docs: documentation only; all: code too; convos: conversations only."),
        Argument("wing", "Another wing than each project's own."),
        Argument("room"),
        Argument("include", "Only files that match these globs."),
        Argument("exclude", "Not files that match these."),
        Argument("dry_run"),
    ),
    hints=_TAKES_IN,
    fields=_paths,
    answer=_taken_in,
    output=_TAKEN,
)

FEED = Tool(
    name="feed",
    operation="feed",
    description="Take in what is new in the histories of the coding agents on this machine.",
    arguments=(
        Argument("hosts", "claude-code, codex, opencode, pi, …; all if left out."),
        Argument("since", "Sessions gone on with from then on: 2026-03-04, 30d."),
        Argument("dry_run"),
    ),
    hints=_TAKES_IN,
    answer=_taken_in,
    output=_TAKEN,
)


# --- verify ------------------------------------------------------------------------------------------------


def _verified(result: VerifyResult, given: Given) -> Answer:
    checks = [{"name": one.name, "ok": one.ok, "detail": one.detail} for one in result.checks]
    lines = [f"{'ok' if one.ok else 'WRONG'}  {one.name}: {one.detail}" for one in result.checks]
    return Answer({"ok": result.ok, "checks": checks}, "\n".join(lines))


VERIFY = Tool(
    name="verify",
    operation="verify",
    description="Check that the palace is sound and whole. Reads all of it, which takes a while.",
    answer=_verified,
    output=shape(ok=FLAG, checks=LIST),
)


# --- settings ----------------------------------------------------------------------------------------------


def _settings(result: SettingsResult, given: Given) -> Answer:
    told = {one.key: one.shown for one in result.settings}
    lines = [
        f"{one.key} = {one.shown} ({one.origin})" + (f"; {one.help}" if given["key"] is not None else "")
        for one in result.settings
    ]
    fields: dict[str, Any] = {"settings": told}
    if result.problems:
        fields["problems"] = list(result.problems)
    return Answer(fields, "\n".join([*lines, *result.problems]))


SETTINGS = Tool(
    name="settings",
    operation="settings",
    description="The settings that hold here. A person changes them: palazzo settings set KEY VALUE.",
    arguments=(Argument("key", "One of them."),),
    fields=lambda given: {"action": "get"},
    answer=_settings,
    output=shape(settings=OBJECT),
)


# --- undo --------------------------------------------------------------------------------------------------


def _undone(result: UndoResult, given: Given) -> Answer:
    told: dict[str, Any] = {}
    lines = []
    if result.undone is not None:
        told["undone"] = _told_change(result.undone)
        lines.append(f"Taken back: {_change_line(result.undone)}")
    if given["list"]:
        told["changes"] = _told_changes(result.changes)
        lines += [_change_line(one) for one in result.changes]
    return Answer(told, "\n".join(lines) or "There is nothing to take back.")


def _told_changes(changes: Sequence[Change]) -> list[dict[str, Any]]:
    return [_told_change(one) for one in changes]


def _told_change(one: Change) -> dict[str, Any]:
    told = {
        "id": one.id,
        "at": one.at,
        "by": one.actor,
        "verb": one.verb,
        "size": one.size,
        "summary": one.summary,
        "undone": one.undone,
    }
    return {name: value for name, value in told.items() if value not in ("", False)}


def _change_line(one: Change) -> str:
    return (
        f"[{one.id}] {one.at[:16]}Z {one.actor} {one.verb} ({one.size}){' ' + one.summary if one.summary else ''}"
        + (" (taken back)" if one.undone else "")
    )


UNDO = Tool(
    name="undo",
    operation="undo",
    description="Take back the last change of this memory, or one by its id: forget, remember, facts. See list first.",
    arguments=(
        Argument("id", "Of the change; the last one if left out."),
        Argument("list", "Only show the last changes."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
    ),
    hints=CHANGES,
    answer=_undone,
    output=shape(),
)


# --- sync_sources ------------------------------------------------------------------------------------------


def _synced(result: SyncSourcesResult, given: Given) -> Answer:
    told: dict[str, Any] = {
        name: getattr(result, name)
        for name in ("dry_run", "scanned", "kept", "ignored", "missing", "unreachable", "drawers")
    }
    told["documents"] = [
        {"uri": one.uri, "state": one.state, "reason": one.reason} for one in result.documents[:_MOST_NAMED]
    ]
    left = result.ignored + result.missing
    lines = [
        f"{count_noun(result.scanned, 'document')}: {result.kept:,} as they were, {result.ignored:,} left out by rules,"
        f" {result.missing:,} gone, {result.unreachable:,} out of reach (those are never touched).",
        f"apply=true would make search leave out {count_noun(result.drawers, 'drawer')} of {left:,}."
        if result.dry_run and left
        else "",
        f"{count_noun(result.drawers, 'drawer')} {agree(result.drawers)} found no more; undo brings them back."
        if result.change
        else "",
        *(f"{one.state} {one.uri}: {one.reason}" for one in result.documents[:_MOST_NAMED]),
    ]
    if len(result.documents) > _MOST_NAMED:
        lines.append(f"and {len(result.documents) - _MOST_NAMED:,} more")
    return Answer(told, "\n".join(filter(None, lines)))


SYNC_SOURCES = Tool(
    name="sync_sources",
    operation="sync_sources",
    description="Which documents in the memory are gone from disk or left out by rules now; apply stops finding them.",
    arguments=(
        Argument("path", "A directory or document; the project if left out.", None, TEXT),
        Argument("wing", "Only in this wing."),
        Argument("apply"),
    ),
    hints=CHANGES,
    fields=lambda given: {"path": None if given["path"] is None else Path(given["path"])},
    answer=_synced,
    output=shape(dry_run=FLAG, scanned=NUMBER, documents=LIST),
)


# --- audit -------------------------------------------------------------------------------------------------


def _audited(result: AuditResult, given: Given) -> Answer:
    findings = [
        {"name": one.name, "ok": one.ok, "detail": one.detail, "examples": list(one.examples), "mends": list(one.mends)}
        for one in result.findings
    ]
    told = [{name: value for name, value in one.items() if value not in ("", [])} for one in findings]
    lines = []
    for one in result.findings:
        lines.append(f"{'ok' if one.ok else 'untidy'}  {one.name}: {one.detail}")
        if not one.ok:
            lines += [f"  {example}" for example in one.examples]
            lines += [f"  mend with: {mend}" for mend in one.mends]
    return Answer({"ok": result.ok, "findings": told}, "\n".join(lines))


AUDIT = Tool(
    name="audit",
    operation="audit",
    description="What could be tidied up: repeated notes, gone documents, odd rooms, stale files, and what mends each.",
    arguments=(Argument("threshold", "How alike is alike.", schema={"minimum": 0, "maximum": 1}),),
    answer=_audited,
    output=shape(ok=FLAG, findings=LIST),
)
