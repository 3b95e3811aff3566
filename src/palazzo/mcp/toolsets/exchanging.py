"""export and import: what the memory holds as a file, and what another memory held."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.mcp.telling import FLAG, LIST, OBJECT, TEXT, shape
from palazzo.mcp.tools import Answer, Argument, Given, Hints, Tool
from palazzo.operations.export import ExportResult
from palazzo.operations.importing import ImportResult
from palazzo.text.counts import agree, count_noun

_MOST_NAMED = 20
_AGAIN = Hints(idempotent=True)


# --- export ------------------------------------------------------------------------------------------------


def _exported(result: ExportResult, given: Given) -> Answer:
    told = {"path": result.path, "format": result.format, "size": result.size, "counts": result.counts}
    kinds = ", ".join(f"{number:,} {kind.replace('_', ' ')}" for kind, number in result.counts.items())
    return Answer(told, f"Wrote {result.path} ({result.size:,} bytes): {kinds}.")


def _out(given: Given) -> Mapping[str, Any]:
    return {"out": Path(given["path"])}


EXPORT = Tool(
    name="export",
    operation="export",
    description="Write the memory, or some of it, into a file (jsonl, to import) or a directory (markdown, to read).",
    arguments=(
        Argument("path", "Where to; packed if it ends in .gz or .zst.", None, TEXT, required=True),
        Argument("format"),
        Argument("wing"),
        Argument("room"),
        Argument("kind"),
        Argument("since", "From then on."),
        Argument("until", "Before then."),
        Argument("tags", "Has all of these."),
    ),
    hints=_AGAIN,
    fields=_out,
    answer=_exported,
    output=shape(path=TEXT, counts=OBJECT),
)


# --- import ------------------------------------------------------------------------------------------------


def _imported(result: ImportResult, given: Given) -> Answer:
    told: dict[str, Any] = {
        "dry_run": result.dry_run,
        "from": result.store,
        "counts": [_nonzero(one) for one in result.counts],
    }
    verb = "Would take over" if result.dry_run else "Took over"
    lines = [f"{verb} {result.title or result.store} from {result.path}."]
    lines += [
        f"{one.what.replace('_', ' ')}: {one.new:,} new, {one.changed:,} changed, {one.merged:,} merged,"
        f" {one.there:,} here already"
        for one in result.counts
    ]
    if result.left_out:
        told["left_out"] = [
            {"what": one.what, "reason": one.reason, "count": one.count} for one in result.left_out[:_MOST_NAMED]
        ]
        lines += [f"no place for {one.count:,} {one.what}: {one.reason}" for one in result.left_out[:_MOST_NAMED]]
    if result.renamed:
        told["renamed"] = {one.was: one.now for one in result.renamed[:_MOST_NAMED]}
        lines += [f"{one.what} {one.was} is called {one.now} here" for one in result.renamed[:_MOST_NAMED]]
    if result.conflicts:
        told["conflicts"] = len(result.conflicts)
        lines.append(f"{count_noun(len(result.conflicts), 'conflict')} between facts: kg_conflicts shows them.")
    if result.variants:
        told["variants"] = [*result.variants[:_MOST_NAMED]]
        number = len(result.variants)
        verb = agree(number, "has", "have")
        lines.append(f"{count_noun(number, 'item')} {verb} another text there; the palace keeps its own.")
    if result.trust == "external":
        lines.append("It counts as somebody else's; a person says otherwise: palazzo import PATH --trust user.")
    if result.change is not None:
        told["change"] = result.change
        lines.append("undo takes that back.")
    return Answer(told, "\n".join(lines))


def _nonzero(one: Any) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in ("what", "new", "changed", "merged", "there")}
    return {name: value for name, value in told.items() if value}


def _path(given: Given) -> Mapping[str, Any]:
    return {"path": Path(given["path"])}


IMPORT = Tool(
    name="import",
    operation="import",
    description="Take over another memory's store (found out, or named by from). An export of Palazzo is only looked"
    " into here: a person imports it by palazzo import.",
    arguments=(
        Argument("path", "A file or a directory.", None, TEXT, required=True),
        Argument("from", "mempalace, shodh, wt-memory, mnemograph, claude-mem, mcp-memory, claude-memory.", "store"),
        Argument("wing", "File all of it there."),
        Argument("dry_run", default=True),
    ),
    hints=_AGAIN,
    fields=_path,
    answer=_imported,
    output=shape(dry_run=FLAG, counts=LIST),
)
