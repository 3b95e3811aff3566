"""Tools that take documents and histories in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.features.mining.contract import MineResult, SyncSourcesResult
from palazzo.operations.agent_tools.tool import CHANGES, Answer, Argument, CallArguments, Hints, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, TEXT, shape
from palazzo.text.count_phrases import agree, count_noun

_MOST_WINGS, _MOST_NAMED = 40, 20


_TAKES_IN = Hints(idempotent=True)


def answer_mining(result: MineResult, call: CallArguments) -> Answer:
    """Return counts of what was read, and why the rest was not."""
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
    answer=answer_mining,
    output=_MINE_OUTPUT,
)


FEED = Tool(
    name="feed",
    description="Index what is new in the histories of the coding agents on this machine.",
    arguments=(
        Argument("hosts", "claude-code, codex, opencode, pi, …; all if omitted."),
        Argument("since", "Sessions continued from this time on: 2026-03-04, 30d."),
        Argument("dry_run"),
    ),
    hints=_TAKES_IN,
    answer=answer_mining,
    output=_MINE_OUTPUT,
)


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


FULL = (
    MINE,
    FEED,
    SYNC_SOURCES,
)
