"""Tools that check the index, make backups, report on a period or a session, and judge memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import iso
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import answer_list, memories, memory, reading, unbound_argument
from palazzo.features.backup.contract import BackupResult
from palazzo.features.feedback.contract import FeedbackResult
from palazzo.features.search.contract import ListDrawersResult
from palazzo.features.upkeep.contract import RepairResult, StatusResult, VerifyResult
from palazzo.features.upkeep.tools import check_fields, check_line
from palazzo.features.wakeup.contract import WakeUpResult
from palazzo.injection.wake_up_text import MORE
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Hints, Step, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NOTICE, NUMBER, TEXT, shape

_DEFAULT_PERIOD = "24h"
_MOST_NOTES = 50
_OUTCOMES = ("helpful", "misleading", "neutral")


# --- the index ---------------------------------------------------------------------------------------------


def _render_checks(result: VerifyResult | RepairResult) -> str:
    return "\n".join(check_line(check, "not ok") for check in result.checks)


def _answer_verify(results: Sequence[Any], call: CallArguments) -> Answer:
    verification: VerifyResult = results[0]
    status: StatusResult = results[1]
    fields = {
        "is_healthy": verification.ok,
        "total_storage": status.drawers,
        "total_indexed": status.drawers - status.pending,
        "orphaned_count": status.pending,
        "checks": list(map(check_fields, verification.checks)),
    }
    backlog = f"{status.pending:,} of {status.drawers:,} memories have no vectors yet; search finds them by keywords."
    return Answer(fields, f"{_render_checks(verification)}\n{backlog}")


VERIFY_INDEX = Tool(
    name="verify_index",
    operation="verify",
    description="Check the palace, from its file to its vectors.",
    steps=lambda call: [Step("verify", {}), Step("status", {})],
    answer=_answer_verify,
    output=shape(is_healthy=FLAG, total_storage=NUMBER, total_indexed=NUMBER, orphaned_count=NUMBER),
)


def _answer_repair(result: RepairResult, call: CallArguments) -> Answer:
    rebuilt = ", ".join(result.rebuilt) or "nothing"
    fields = {
        "is_healthy": result.ok,
        "rebuilt": list(result.rebuilt),
        "checks": list(map(check_fields, result.checks)),
    }
    return Answer(fields, f"Rebuilt: {rebuilt}.\n{_render_checks(result)}")


REPAIR_INDEX = Tool(
    name="repair_index",
    operation="repair",
    description="Check the palace, and rebuild drawers, the keyword index and vectors that are wrong.",
    hints=Hints(idempotent=True),
    answer=_answer_repair,
    output=shape(is_healthy=FLAG, rebuilt=LIST),
)


# --- backups -----------------------------------------------------------------------------------------------


def _answer_backup(result: BackupResult, call: CallArguments) -> Answer:
    fields = {"file": result.file, "size_bytes": result.size_bytes, "items": result.items}
    return Answer(fields, f"Wrote and checked {result.file} ({result.size_bytes:,} bytes).")


BACKUP_CREATE = Tool(
    name="backup_create",
    operation="backup",
    description="Back up the palace into one file beside it, and check that file.",
    hints=ADDS,
    answer=_answer_backup,
    output=shape(file=TEXT, size_bytes=NUMBER),
)


def _answer_backups(result: BackupResult, call: CallArguments) -> Answer:
    rows = [
        {
            "backup_id": number,
            "created_at": iso(backup.at),
            "backup_type": "full",
            "size_bytes": backup.size_bytes,
            "file": backup.file,
            "there": backup.there,
        }
        for number, backup in enumerate(result.known, 1)
    ]
    return answer_list("backups", rows, _render_backup, "No backup of this palace is known.")


def _render_backup(row: Mapping[str, Any]) -> str:
    remark = "" if row["there"] else " (file not found)"
    return f"{row['backup_id']}. {row['created_at']} {row['file']}{remark}"


BACKUP_LIST = Tool(
    name="backup_list",
    operation="backup",
    description="List the known backups, newest first.",
    fields=lambda call: {"list": True},
    answer=_answer_backups,
    output=shape(backups=LIST, count=NUMBER),
)


# --- a period, a session -----------------------------------------------------------------------------------


def _request_report(call: CallArguments) -> Mapping[str, Any]:
    return {
        "kind": "note",
        "since": call["since"] or _DEFAULT_PERIOD,
        "until": call["until"],
        "limit": _MOST_NOTES,
    }


def _answer_report(result: ListDrawersResult, call: CallArguments) -> Answer:
    rows = [memory(drawer) for drawer in result.drawers if drawer.trust != "external"]
    return memories(rows, "Nothing was remembered in this period.", total=result.total)


CONSOLIDATION_REPORT = Tool(
    name="consolidation_report",
    operation="list_drawers",
    description="List what was remembered in a period, newest first. Nothing is consolidated: texts stay unchanged.",
    arguments=(
        unbound_argument("since", TEXT, "Defaults to the last 24 hours."),
        unbound_argument("until", TEXT),
    ),
    fields=_request_report,
    options={"--since": "since", "--until": "until"},
    answer=_answer_report,
    output=shape(notice=TEXT, memories=LIST, total=NUMBER),
)


def _answer_digest(result: WakeUpResult, call: CallArguments) -> Answer:
    notice = f"{NOTICE}; a sample: recall more."
    text = result.text.removesuffix(MORE).rstrip()
    return Answer({"notice": notice, "text": text}, reading(notice, [text]))


SESSION_DIGEST = Tool(
    name="session_digest",
    operation="wake_up",
    description="Show open and due tasks, decisions and the latest work in this project.",
    fields=lambda call: {"agent": call.host or None},
    answer=_answer_digest,
    output=shape(notice=TEXT, text=TEXT),
)

# --- judging -----------------------------------------------------------------------------------------------


def _request_feedback(call: CallArguments) -> Mapping[str, Any]:
    first, *also = call["memory_ids"]
    return {"id": first, "also": tuple(also), "verdict": call["outcome"], "by": call.host}


def _answer_feedback(result: FeedbackResult, call: CallArguments) -> Answer:
    fields = {"success": True, "processed": len(result.drawers), "outcome": result.verdict}
    return Answer(fields, f"{result.verdict}: {', '.join(result.drawers)}")


REINFORCE = Tool(
    name="reinforce_memories",
    operation="feedback",
    description="Say that memories were helpful or misleading: later recalls rank them by that. neutral withdraws it.",
    arguments=(
        Argument("memory_ids", "", None, {"type": "array", "items": TEXT, "minItems": 1}, is_required=True),
        Argument("outcome", "", None, {"type": "string", "enum": list(_OUTCOMES)}, is_required=True),
    ),
    hints=ADDS,
    fields=_request_feedback,
    answer=_answer_feedback,
    output=shape(success=FLAG, processed=NUMBER),
)

TOOLS = (
    VERIFY_INDEX,
    REPAIR_INDEX,
    BACKUP_CREATE,
    BACKUP_LIST,
    CONSOLIDATION_REPORT,
    SESSION_DIGEST,
    REINFORCE,
)
