"""Tools for the state of the palace: status, audit, verification, settings, duplicates."""

from __future__ import annotations

from typing import Any

from palazzo.features.upkeep.contract import (
    AuditFinding,
    AuditResult,
    CheckView,
    DedupResult,
    SettingsResult,
    StatusResult,
    VerifyResult,
)
from palazzo.operations.agent_tools.tool import CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NOTICE, NUMBER, OBJECT, TEXT, present_fields, shape
from palazzo.operations.check_finding import Diagnosis
from palazzo.security.fences import fence_text
from palazzo.text.count_phrases import count_noun

_MOST_LISTED = 50


def _answer_dedup(result: DedupResult, call: CallArguments) -> Answer:
    n = count_noun(len(result.folded), "drawer")
    did = f"{n} would be folded" if result.dry_run else f"{n} folded; undo restores all of them"
    notice = f"{NOTICE}: {did}." if result.clusters else "No notes say the same."
    clusters = [
        {"survivor": cluster.survivor, "copies": list(cluster.copies), "where": f"{cluster.wing}/{cluster.room}",
         "similarity": round(cluster.similarity, 3), "text": cluster.text}
        for cluster in result.clusters[:_MOST_LISTED]
    ]  # fmt: skip
    lines = [
        f"[{cluster.survivor}] stays for {', '.join(cluster.copies)}: {cluster.text}"
        for cluster in result.clusters[:_MOST_LISTED]
    ]
    fields = {"notice": notice, "dry_run": result.dry_run, "clusters": clusters, "change": result.change}
    return Answer(fields, fence_text("\n".join([notice, *lines])) if clusters else notice)


DEDUP = Tool(
    name="dedup",
    description="Find notes of one wing that say the same; dry_run=false removes all but one of each from search.",
    arguments=(
        Argument("threshold", "Required similarity.", schema={"minimum": 0, "maximum": 1}),
        Argument("wing", "Only in this wing."),
        Argument("dry_run", "Only report what would change, unless this is false.", default=True),
    ),
    hints=CHANGES,
    answer=_answer_dedup,
    output=shape(notice=TEXT, dry_run=FLAG, clusters=LIST),
)


_MOST_WINGS, _MOST_NAMED = 40, 20


_INDEX = {"ready": "ready", "building": "being built", "empty": "empty"}


def _status(result: StatusResult, call: CallArguments) -> Answer:
    largest = sorted(result.wings.items(), key=lambda pair: (-pair[1].drawers, pair[0]))
    wings = {name: wing.drawers for name, wing in largest[:_MOST_WINGS]}
    index = _INDEX.get(result.embedder.state, "from another embedder than the settings name: palazzo repair fixes it")
    if result.pending:
        index += f", {count_noun(result.pending, 'passage')} to go"
    fields: dict[str, Any] = {
        "palace": result.palace,
        "version": result.version,
        "items": result.items,
        "drawers": result.drawers,
        "facts": result.facts,
        "open_todos": result.open_todos,
        "index": index,
        "wings": wings,
    }
    wing_list = ", ".join(f"{name} {count:,}" for name, count in wings.items()) or "none yet"
    if len(largest) > _MOST_WINGS:
        fields["more_wings"] = len(largest) - _MOST_WINGS
        wing_list += f", and {fields['more_wings']} more"
    text = (
        f"{result.palace}: {count_noun(result.drawers, 'drawer')} of {count_noun(result.items, 'item')},"
        f" {count_noun(result.facts, 'fact')}, {count_noun(result.open_todos, 'open to-do')};"
        f" index {index}.\nWings: {wing_list}"
    )
    return Answer(fields, text)


STATUS = Tool(
    name="status",
    description="Show what the memory contains, by project, and its state.",
    answer=_status,
    output=shape(drawers=NUMBER),
)


AnyCheck = AuditFinding | CheckView | Diagnosis


def check_fields(check: AnyCheck) -> dict[str, Any]:
    """Return the outcome of a check as JSON fields."""
    return {"name": check.name, "ok": check.ok, "detail": check.detail}


def check_line(check: AnyCheck, problem: str) -> str:
    """Return the outcome of a check as a line; `problem` is the word for one that failed."""
    return f"{'ok' if check.ok else problem}  {check.name}: {check.detail}"


def _answer_verify(result: VerifyResult, call: CallArguments) -> Answer:
    lines = [check_line(check, "WRONG") for check in result.checks]
    return Answer({"ok": result.ok, "checks": list(map(check_fields, result.checks))}, "\n".join(lines))


VERIFY = Tool(
    name="verify",
    description="Check that the palace is intact and complete. It reads everything, which takes a while.",
    answer=_answer_verify,
    output=shape(ok=FLAG, checks=LIST),
)


def _settings(result: SettingsResult, call: CallArguments) -> Answer:
    values = {setting.key: setting.shown for setting in result.settings}
    lines = [
        f"{setting.key} = {setting.shown} ({setting.origin})" + (f"; {setting.help}" if call["key"] is not None else "")
        for setting in result.settings
    ]
    fields: dict[str, Any] = {"settings": values}
    if result.problems:
        fields["problems"] = list(result.problems)
    return Answer(fields, "\n".join([*lines, *result.problems]))


SETTINGS = Tool(
    name="settings",
    description="Show the effective settings. A person changes them: palazzo settings set KEY VALUE.",
    arguments=(Argument("key", "The key of one setting."),),
    fields=lambda given: {"action": "get"},
    answer=_settings,
    output=shape(settings=OBJECT),
)


def _answer_audit(result: AuditResult, call: CallArguments) -> Answer:
    findings = [
        present_fields(**check_fields(check), examples=list(check.examples), mends=list(check.mends))
        for check in result.findings
    ]
    lines = []
    for check in result.findings:
        lines.append(check_line(check, "untidy"))
        if not check.ok:
            lines += [f"  {example}" for example in check.examples]
            lines += [f"  mend with: {mend}" for mend in check.mends]
    return Answer({"ok": result.ok, "findings": findings}, "\n".join(lines))


AUDIT = Tool(
    name="audit",
    description="Find what could be tidied up: repeated notes, gone documents, odd rooms, stale files, with a fix "
    "for each.",
    arguments=(Argument("threshold", "Required similarity.", schema={"minimum": 0, "maximum": 1}),),
    answer=_answer_audit,
    output=shape(ok=FLAG, findings=LIST),
)


CORE = (STATUS,)


FULL = (
    STATUS,
    DEDUP,
    AUDIT,
    VERIFY,
    SETTINGS,
)
