"""Tools of the published server that have no like here: each says in one sentence what there is instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from palazzo.mcp.profiles.shodh.shaping import DECIMAL, TEXTS
from palazzo.mcp.telling import FLAG, TEXT
from palazzo.mcp.tools import Answer, Argument, Tool


@dataclass(frozen=True, slots=True)
class _Absent:
    """What is said, and the parameters: those without a default in `defaults` or in `optional` are required."""

    instead: str
    parameters: Mapping[str, Mapping[str, Any]]
    optional: tuple[str, ...] = ()
    defaults: Mapping[str, Any] | None = None


_CAUSES = "Links of cause and effect between memories are not kept here: say the cause in words, with remember."
_RELATIONS = ["Caused", "ResolvedBy", "InformedBy", "SupersededBy", "TriggeredBy", "BranchedFrom", "RelatedTo"]
_PROJECTS = "A project is a wing here, which "
_TOKENS = "Tokens of a session are not counted here: 'palazzo why SESSION' says what was put into it, with its tokens."

_ABSENT = {
    "backup_verify": _Absent(
        "A backup was checked when it was written; 'palazzo restore FILE --dry-run' says what it holds.",
        {"backup_id": DECIMAL},
    ),
    "backup_purge": _Absent(
        "Old backups are deleted only for a new one: 'palazzo backup DIR --keep N'.",
        {"keep_count": DECIMAL},
        defaults={"keep_count": 7},
    ),
    "backup_restore": _Absent(
        "A palace is restored by a person, with 'palazzo restore FILE'; backup_list names the files.",
        {"backup_id": DECIMAL},
    ),
    "token_status": _Absent(_TOKENS, {}),
    "reset_token_session": _Absent(_TOKENS, {}),
    "session_history": _Absent(
        "Sessions are not listed here: session_digest says what was done last, and recall finds what was said in them.",
        {"limit": DECIMAL, "group_by_project": FLAG},
        defaults={"limit": 10, "group_by_project": False},
    ),
    "purge_facts": _Absent(
        "Facts are not deleted by a pattern: 'palazzo kg end SUBJECT PREDICATE OBJECT' ends one.",
        {"pattern": TEXT, "dry_run": FLAG},
        defaults={"dry_run": False},
    ),
    "reorder_todo": _Absent(
        "To-dos have no order of their own: what is due first comes first.",
        {"todo_id": TEXT, "direction": {"type": "string", "enum": ["up", "down"]}},
    ),
    "add_project": _Absent(
        f"{_PROJECTS}the first memory or to-do makes: add_todo with 'project'.",
        {"name": TEXT, "prefix": TEXT, "description": TEXT, "parent": TEXT},
        optional=("prefix", "description", "parent"),
    ),
    "archive_project": _Absent(
        f"{_PROJECTS}is not archived: what is in it stays and is found by its own words.", {"project": TEXT}
    ),
    "delete_project": _Absent(
        f"{_PROJECTS}a person empties with 'palazzo forget --wing WING'; delete_todo drops one to-do.",
        {"project": TEXT, "delete_todos": FLAG},
        optional=("delete_todos",),
    ),
    "trace_lineage": _Absent(
        _CAUSES,
        {
            "memory_id": TEXT,
            "direction": {"type": "string", "enum": ["backward", "forward", "both"]},
            "max_depth": DECIMAL,
        },
        defaults={"direction": "backward", "max_depth": 10},
    ),
    "list_causal_edges": _Absent(_CAUSES, {"limit": DECIMAL}, defaults={"limit": 15}),
    "add_causal_link": _Absent(
        _CAUSES,
        {
            "from_memory_id": TEXT,
            "to_memory_id": TEXT,
            "relation": {"type": "string", "enum": _RELATIONS},
        },
    ),
    "validate_causal_link": _Absent(
        _CAUSES, {"edge_id": TEXT, "verdict": {"type": "string", "enum": ["confirm", "reject"]}}
    ),
    "list_anomalies": _Absent(
        "Memories are not compared with a baseline here: audit says which are noise, repeated or out of date.",
        {"limit": DECIMAL, "min_sigma": DECIMAL},
        defaults={"limit": 10, "min_sigma": 2},
    ),
    "reinforce_memories": _Absent(
        "Memories are not weighed by what is said of them: forget lets a misleading one be found no longer.",
        {"memory_ids": TEXTS, "outcome": {"type": "string", "enum": ["helpful", "misleading", "neutral"]}},
    ),
}


def _tool(name: str, absent: _Absent) -> Tool:
    defaults = absent.defaults or {}
    arguments = tuple(
        Argument(
            parameter,
            "",
            None,
            kind,
            defaults.get(parameter),
            required=parameter not in defaults and parameter not in absent.optional,
        )
        for parameter, kind in absent.parameters.items()
    )
    return Tool(
        name=name,
        operation="instructions",
        description=absent.instead,
        arguments=arguments,
        steps=lambda given: (),
        answer=lambda results, given: Answer({"notice": absent.instead}, absent.instead, failed=True),
    )


TOOLS = tuple(_tool(name, absent) for name, absent in _ABSENT.items())
