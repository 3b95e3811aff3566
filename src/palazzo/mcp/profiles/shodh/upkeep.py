"""Indexes, backups, and what was learned in a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.attention.waking import MORE
from palazzo.mcp.profiles.shodh.shaping import iso, memories, memory, reading
from palazzo.mcp.telling import FLAG, LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, Answer, Argument, Given, Hints, Step, Tool
from palazzo.operations.backup import BackupResult
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.repair import RepairResult
from palazzo.operations.status import StatusResult
from palazzo.operations.verify import VerifyResult
from palazzo.operations.wake_up import WakeUpResult

_DEFAULT_PERIOD = "24h"
_MOST_NOTES = 50


# --- the index ---------------------------------------------------------------------------------------------


def _checks(result: VerifyResult | RepairResult) -> list[dict[str, Any]]:
    return [{"name": one.name, "ok": one.ok, "detail": one.detail} for one in result.checks]


def _check_lines(result: VerifyResult | RepairResult) -> str:
    return "\n".join(f"{'ok' if one.ok else 'not ok'}  {one.name}: {one.detail}" for one in result.checks)


def _verified(results: Sequence[Any], given: Given) -> Answer:
    checked: VerifyResult = results[0]
    status: StatusResult = results[1]
    fields = {
        "is_healthy": checked.ok,
        "total_storage": status.drawers,
        "total_indexed": status.drawers - status.pending,
        "orphaned_count": status.pending,
        "checks": _checks(checked),
    }
    waiting = f"{status.pending:,} of {status.drawers:,} memories wait to be found by meaning; words find them already."
    return Answer(fields, f"{_check_lines(checked)}\n{waiting}")


VERIFY_INDEX = Tool(
    name="verify_index",
    operation="verify",
    description="Check the palace from its file to its vectors.",
    steps=lambda given: [Step("verify", {}), Step("status", {})],
    answer=_verified,
    output=shape(is_healthy=FLAG, total_storage=NUMBER, total_indexed=NUMBER, orphaned_count=NUMBER),
)


def _repaired(result: RepairResult, given: Given) -> Answer:
    made = ", ".join(result.rebuilt) or "nothing had to be"
    fields = {"is_healthy": result.ok, "rebuilt": list(result.rebuilt), "checks": _checks(result)}
    return Answer(fields, f"Made anew: {made}.\n{_check_lines(result)}")


REPAIR_INDEX = Tool(
    name="repair_index",
    operation="repair",
    description="Check the palace, and make anew of drawers, the keyword index and vectors what is wrong.",
    hints=Hints(idempotent=True),
    answer=_repaired,
    output=shape(is_healthy=FLAG, rebuilt=LIST),
)


# --- backups -----------------------------------------------------------------------------------------------


def _backup_rows(result: BackupResult) -> list[dict[str, Any]]:
    return [
        {
            "backup_id": n,
            "created_at": iso(one.at),
            "backup_type": "full",
            "size_bytes": one.size_bytes,
            "file": one.file,
            "there": one.there,
        }
        for n, one in enumerate(result.known, 1)
    ]


def _backed_up(result: BackupResult, given: Given) -> Answer:
    fields = {"file": result.file, "size_bytes": result.size_bytes, "items": result.items}
    return Answer(fields, f"Wrote and checked {result.file} ({result.size_bytes:,} bytes).")


BACKUP_CREATE = Tool(
    name="backup_create",
    operation="backup",
    description="Write the palace into one file beside it, and check that file.",
    hints=ADDS,
    answer=_backed_up,
    output=shape(file=TEXT, size_bytes=NUMBER),
)


def _backups(result: BackupResult, given: Given) -> Answer:
    rows = _backup_rows(result)
    lines = [
        f"{row['backup_id']}. {row['created_at']} {row['file']}{'' if row['there'] else ' (cannot be seen now)'}"
        for row in rows
    ]
    return Answer({"backups": rows, "count": len(rows)}, "\n".join(lines) or "No backup of this palace is known.")


BACKUP_LIST = Tool(
    name="backup_list",
    operation="backup",
    description="The backups that are known, the newest first.",
    fields=lambda given: {"list": True},
    answer=_backups,
    output=shape(backups=LIST, count=NUMBER),
)


# --- a time, a session -------------------------------------------------------------------------------------


def _learned(result: ListDrawersResult, given: Given) -> Answer:
    rows = [memory(one) for one in result.drawers if one.trust != "external"]
    return memories(rows, "Nothing was remembered in this time.", total=result.total)


def _period(given: Given) -> Mapping[str, Any]:
    return {
        "kind": "note",
        "since": given["since"] or _DEFAULT_PERIOD,
        "before": given["until"],
        "limit": _MOST_NOTES,
    }


CONSOLIDATION_REPORT = Tool(
    name="consolidation_report",
    operation="list_drawers",
    description="What was remembered in a time, newest first. Nothing is consolidated: words stay as they are.",
    arguments=(
        Argument("since", "The last 24 hours if left out.", None, TEXT),
        Argument("until", "", None, TEXT),
    ),
    fields=_period,
    options={"--since": "since", "--before": "until"},
    answer=_learned,
    output=shape(notice=TEXT, memories=LIST, total=NUMBER),
)


def _oriented(result: WakeUpResult, given: Given) -> Answer:
    notice = f"{NOTICE}; a sample: recall more."
    text = result.text.removesuffix(MORE).rstrip()
    return Answer({"notice": notice, "text": text}, reading(notice, [text]))


SESSION_DIGEST = Tool(
    name="session_digest",
    operation="wake_up",
    description="What is open, due, decided and was done last in this project.",
    fields=lambda given: {"agent": given.host or None},
    answer=_oriented,
    output=shape(notice=TEXT, text=TEXT),
)

TOOLS = (
    VERIFY_INDEX,
    REPAIR_INDEX,
    BACKUP_CREATE,
    BACKUP_LIST,
    CONSOLIDATION_REPORT,
    SESSION_DIGEST,
)
