"""The tool that indexes files and conversations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import document
from palazzo.features.mining.contract import MineResult
from palazzo.features.mining.tools import answer_mining
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Hints, Tool, argument_without_effect
from palazzo.operations.agent_tools.tool_answers import FLAG, TEXT, shape

_MODES = {"projects": "auto", "convos": "convos", "extract": "docs"}
_MOST_NAMED = 20
_LONGEST_OUTPUT = 4000


def _fill_mine(call: CallArguments) -> Mapping[str, Any]:
    """Return the paths and the mode. A path that is named is read also where an ignore file leaves it out."""
    source, ignored_paths = Path(call["source"]).expanduser(), call["include_ignored"] or []
    if not call["source"].strip():
        raise UsageError("The source is empty: give a directory or a file.")
    if not all(path.strip() for path in ignored_paths):
        raise UsageError("include_ignored must be a list of paths in the project, and none may be empty.")
    if ignored_paths and call["mode"] != "projects":
        raise UsageError("include_ignored has a meaning only in the mode projects.")
    return {"paths": (source, *(source / path for path in ignored_paths)), "mode": _MODES[call["mode"]]}


def _answer_mine(result: MineResult, call: CallArguments) -> Answer:
    output = answer_mining(result, call).text
    fields: dict[str, Any] = {
        "success": not result.failed,
        "mode": call["mode"],
        "dry_run": result.dry_run,
        "output": output[-_LONGEST_OUTPUT:],
    }
    if len(output) > _LONGEST_OUTPUT:
        fields["output_truncated"] = True
    if not result.failed:
        return document(fields)
    failed_files = [file.uri for file in result.failed]
    problem = {
        "error": f"{len(failed_files)} of {result.sources} files could not be read.",
        "error_class": "MineFileErrors",
        "files_failed": len(failed_files),
        "failed_files": failed_files[:_MOST_NAMED],
    }
    return Answer({**fields, **problem}, failed=True)


MINE = Tool(
    name="mempalace_mine",
    operation="mine",
    description=(
        "Index a directory or a file, word for word. Unchanged files are skipped. Keyword search finds the text at"
        " once, search by meaning when its vectors are computed in the background."
    ),
    arguments=(
        Argument("source", "A directory or a file.", None, TEXT, is_required=True),
        Argument(
            "mode",
            "projects: the files of a project; convos: conversations only; extract: documents only.",
            None,
            {"type": "string", "enum": list(_MODES)},
            "projects",
        ),
        Argument("wing", "A wing other than the project's own."),
        argument_without_effect("agent", {"type": "string"}, "mempalace"),
        argument_without_effect("limit", {"type": "integer"}, 0),
        Argument("dry_run", "Only show what would be read."),
        Argument("extract", "", None, {"type": "string", "enum": ["exchange", "general"]}, "exchange", is_ignored=True),
        Argument(
            "include_ignored",
            "Paths in the directory to read although ignore files leave them out.",
            None,
            {"type": "array", "items": TEXT},
        ),
        argument_without_effect("include_subagents", {"type": "boolean"}, False),
    ),
    hints=Hints(idempotent=True),
    fields=_fill_mine,
    answer=_answer_mine,
    output=shape(success=FLAG, mode=TEXT, dry_run=FLAG, output=TEXT),
)

TOOLS = (MINE,)
