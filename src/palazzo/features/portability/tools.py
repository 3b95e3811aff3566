"""The tools export and import: write the memory to a file, and take in another memory's content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.features.portability.contract import ExportResult, ImportResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Hints, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, OBJECT, TEXT, shape
from palazzo.text.count_phrases import agree, count_noun

_MOST_NAMED = 20


_IDEMPOTENT_HINTS = Hints(idempotent=True)


def _answer_export(result: ExportResult, call: CallArguments) -> Answer:
    fields = {"path": result.path, "format": result.format, "size": result.size, "counts": result.counts}
    kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in result.counts.items())
    return Answer(fields, f"Wrote {result.path} ({result.size:,} bytes): {kinds}.")


def _out(call: CallArguments) -> Mapping[str, Any]:
    return {"out": Path(call["path"])}


EXPORT = Tool(
    name="export",
    description="Export the memory, or part of it, to a file (jsonl, to import) or a directory (markdown, to read).",
    arguments=(
        Argument("path", "Target path; compressed if it ends in .gz or .zst.", None, TEXT, is_required=True),
        Argument("format"),
        Argument("wing"),
        Argument("room"),
        Argument("kind"),
        Argument("since", "From this time on."),
        Argument("until", "Before then."),
        Argument("tags", "Must have all these tags."),
    ),
    hints=_IDEMPOTENT_HINTS,
    fields=_out,
    answer=_answer_export,
    output=shape(path=TEXT, counts=OBJECT),
)


def _answer_import(result: ImportResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {
        "dry_run": result.dry_run,
        "from": result.store,
        "counts": [_nonzero(row) for row in result.counts],
    }
    verb = "Would take over" if result.dry_run else "Took over"
    lines = [f"{verb} {result.title or result.store} from {result.path}."]
    lines += [
        f"{row.what.replace('_', ' ')}: {row.new:,} new, {row.changed:,} changed, {row.merged:,} merged,"
        f" {row.there:,} here already"
        for row in result.counts
    ]
    if result.left_out:
        fields["left_out"] = [
            {"what": row.what, "reason": row.reason, "count": row.count} for row in result.left_out[:_MOST_NAMED]
        ]
        lines += [f"skipped {row.count:,} {row.what}: {row.reason}" for row in result.left_out[:_MOST_NAMED]]
    if result.renamed:
        fields["renamed"] = {row.was: row.now for row in result.renamed[:_MOST_NAMED]}
        lines += [f"{row.what} {row.was} is called {row.now} here" for row in result.renamed[:_MOST_NAMED]]
    if result.conflicts:
        fields["conflicts"] = len(result.conflicts)
        lines.append(f"{count_noun(len(result.conflicts), 'conflict')} between facts: kg_conflicts shows them.")
    if result.variants:
        fields["variants"] = [*result.variants[:_MOST_NAMED]]
        number = len(result.variants)
        verb = agree(number, "has", "have")
        lines.append(f"{count_noun(number, 'item')} {verb} different text there; the palace keeps its own.")
    if result.trust == "external":
        lines.append("It counts as another person's; a person can change that: palazzo import PATH --trust user.")
    if result.change is not None:
        fields["change"] = result.change
        lines.append("undo reverts the import.")
    return Answer(fields, "\n".join(lines))


def _nonzero(row: Any) -> dict[str, Any]:
    fields = {name: getattr(row, name) for name in ("what", "new", "changed", "merged", "there")}
    return {name: value for name, value in fields.items() if value}


def _path(call: CallArguments) -> Mapping[str, Any]:
    return {"path": Path(call["path"])}


IMPORT = Tool(
    name="import",
    description="Import another memory's store (detected, or named by from). An export of Palazzo is only inspected "
    "here: a person imports it with palazzo import.",
    arguments=(
        Argument("path", "A file or a directory.", None, TEXT, is_required=True),
        Argument("from", "mempalace, shodh, wt-memory, mnemograph, claude-mem, mcp-memory, claude-memory.", "store"),
        Argument("wing", "File everything in this wing."),
        Argument("dry_run", default=True),
    ),
    hints=_IDEMPOTENT_HINTS,
    fields=_path,
    answer=_answer_import,
    output=shape(dry_run=FLAG, counts=LIST),
)


FULL = (
    EXPORT,
    IMPORT,
)
