"""Tools of shodh's server that Palazzo does not support: each fails with one sentence that names the alternative."""

from __future__ import annotations

from palazzo.faces.mcp.profiles.shodh.shodh_shapes import DECIMAL, enum_schema, unbound_argument
from palazzo.operations.agent_tools.tool import Answer, Argument, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, TEXT


def _unsupported_tool(name: str, sentence: str, *arguments: Argument) -> Tool:
    return Tool(
        name=name,
        operation="instructions",
        description=sentence,
        arguments=arguments,
        steps=lambda call: (),
        answer=lambda results, call: Answer({"notice": sentence}, sentence, failed=True),
    )


_TOKENS = "Palazzo does not count a session's tokens: 'palazzo why SESSION' shows what hooks added to it."
_PROJECT = "A project is a wing here, which"
_CAUSES = "Palazzo stores no links of cause and effect between memories: state the cause in a memory, with remember."
_RELATIONS = enum_schema(
    "Caused", "ResolvedBy", "InformedBy", "SupersededBy", "TriggeredBy", "BranchedFrom", "RelatedTo"
)
_BACKUP_ID = unbound_argument("backup_id", DECIMAL, is_required=True)

TOOLS = (
    _unsupported_tool(
        "backup_verify",
        "Each backup is checked when it is written; 'palazzo restore FILE --dry-run' shows its contents.",
        _BACKUP_ID,
    ),
    _unsupported_tool(
        "backup_purge",
        "Old backups are deleted only when a new one is written: 'palazzo backup DIR --keep N'.",
        unbound_argument("keep_count", DECIMAL, default=7),
    ),
    _unsupported_tool(
        "backup_restore",
        "Only a person restores a palace, with 'palazzo restore FILE'; backup_list names the files.",
        _BACKUP_ID,
    ),
    _unsupported_tool("token_status", _TOKENS),
    _unsupported_tool("reset_token_session", _TOKENS),
    _unsupported_tool(
        "session_history",
        "Palazzo does not list sessions here: session_digest shows the latest work, and recall searches all sessions.",
        unbound_argument("limit", DECIMAL, default=10),
        unbound_argument("group_by_project", FLAG, default=False),
    ),
    _unsupported_tool(
        "purge_facts",
        "Facts cannot be deleted by a pattern: 'palazzo kg end SUBJECT PREDICATE OBJECT' ends one.",
        unbound_argument("pattern", TEXT, is_required=True),
        unbound_argument("dry_run", FLAG, default=False),
    ),
    _unsupported_tool(
        "reorder_todo",
        "To-dos cannot be reordered: the earliest due comes first.",
        unbound_argument("todo_id", TEXT, is_required=True),
        unbound_argument("direction", enum_schema("up", "down"), is_required=True),
    ),
    _unsupported_tool(
        "add_project",
        f"{_PROJECT} its first memory or to-do creates: call add_todo with 'project'.",
        unbound_argument("name", TEXT, is_required=True),
        unbound_argument("prefix", TEXT),
        unbound_argument("description", TEXT),
        unbound_argument("parent", TEXT),
    ),
    _unsupported_tool(
        "archive_project",
        f"{_PROJECT} cannot be archived: search keeps finding its contents.",
        unbound_argument("project", TEXT, is_required=True),
    ),
    _unsupported_tool(
        "delete_project",
        f"{_PROJECT} a person empties with 'palazzo forget --wing WING'; delete_todo drops one to-do.",
        unbound_argument("project", TEXT, is_required=True),
        unbound_argument("delete_todos", FLAG),
    ),
    _unsupported_tool(
        "trace_lineage",
        _CAUSES,
        unbound_argument("memory_id", TEXT, is_required=True),
        unbound_argument("direction", enum_schema("backward", "forward", "both"), default="backward"),
        unbound_argument("max_depth", DECIMAL, default=10),
    ),
    _unsupported_tool("list_causal_edges", _CAUSES, unbound_argument("limit", DECIMAL, default=15)),
    _unsupported_tool(
        "add_causal_link",
        _CAUSES,
        unbound_argument("from_memory_id", TEXT, is_required=True),
        unbound_argument("to_memory_id", TEXT, is_required=True),
        unbound_argument("relation", _RELATIONS, is_required=True),
    ),
    _unsupported_tool(
        "validate_causal_link",
        _CAUSES,
        unbound_argument("edge_id", TEXT, is_required=True),
        unbound_argument("verdict", enum_schema("confirm", "reject"), is_required=True),
    ),
    _unsupported_tool(
        "list_anomalies",
        "Palazzo does not compare memories with a baseline: audit lists noise, repetitions and outdated memories.",
        unbound_argument("limit", DECIMAL, default=10),
        unbound_argument("min_sigma", DECIMAL, default=2),
    ),
)
