"""The tools brain, memory_stats, health, audit, cleanup and dedup: the state of the memory, and cleanup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import iso
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import reading
from palazzo.features.upkeep.contract import (
    AuditFinding,
    AuditResult,
    CleanupResult,
    DedupResult,
    DoctorResult,
    MemoryStatsResult,
)
from palazzo.features.upkeep.tools import check_fields
from palazzo.operations.agent_tools.tool import CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NOTICE, NUMBER, OBJECT, TEXT, shape
from palazzo.operations.check_finding import Diagnosis

_MOST = 50
_SHARE = {"minimum": 0, "maximum": 1}
_DRY_RUN = Argument("dry_run", "Unless false, only report what would be done.", default=True)


# --- brain, memory_stats -----------------------------------------------------------------------------------


def _answer_stats(result: MemoryStatsResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {
        "memories": result.drawers,
        "total_memories": result.drawers,
        "by_type": {**{kind.capitalize(): n for kind, n in result.filed_as.items()}, **result.by_kind},
        "by_tag": result.by_tag,
        "by_age": result.by_age,
        "by_trust": result.by_trust,
        "entities": [{"name": entry.name, "kind": entry.kind, "memories": entry.drawers} for entry in result.entities],
        "facts": result.facts,
        "forgotten": result.retired,
        "size_bytes": result.size_bytes,
    }
    lines = [f"{result.drawers:,} memories, {result.facts:,} facts, {result.size_bytes:,} bytes."]
    lines += [
        f"{name.removeprefix('by_')}: {', '.join(f'{entry} {n:,}' for entry, n in fields[name].items())}"
        for name in ("by_type", "by_tag", "by_age", "by_trust")
        if fields[name]
    ]
    if result.entities:
        lines.append(f"mentioned most: {', '.join(f'{entry.name} ({entry.drawers:,})' for entry in result.entities)}")
    return Answer(fields, "\n".join(lines))


def _stats(name: str) -> Tool:
    return Tool(
        name=name,
        operation="memory_stats",
        description="Count memories by type, tag, age and trust, and list the most mentioned people and things.",
        answer=_answer_stats,
        output=shape(memories=NUMBER, by_type=OBJECT, by_tag=OBJECT, by_age=OBJECT, by_trust=OBJECT, entities=LIST),
    )


BRAIN, MEMORY_STATS = _stats("brain"), _stats("memory_stats")


# --- health, audit -----------------------------------------------------------------------------------------


def _describe_finding(check: Diagnosis | AuditFinding) -> dict[str, Any]:
    return check_fields(check) | ({"mend": check.mend} if check.mend and not check.ok else {})


def _check_line(check: Mapping[str, Any]) -> str:
    mend = f"\n  mend with: {check['mend']}" if "mend" in check else ""
    return f"{'ok' if check['ok'] else 'not ok'}  {check['name']}: {check['detail']}{mend}"


def _health(result: DoctorResult, call: CallArguments) -> Answer:
    checks = [_describe_finding(check) for check in result.findings]
    return Answer({"checks": checks}, "\n".join(map(_check_line, checks)))


HEALTH = Tool(
    name="health",
    operation="doctor",
    description="Check the memory, and name the command that fixes each problem.",
    answer=_health,
    output=shape(checks=LIST),
)


def _answer_audit(result: AuditResult, call: CallArguments) -> Answer:
    findings = [
        {
            **_describe_finding(check),
            "count": check.count,
            **({"examples": list(check.examples)} if check.examples else {}),
        }
        for check in result.findings
    ]
    lines = [
        "\n".join([_check_line(check), *(f"  {example}" for example in check.get("examples", ()))])
        for check in findings
    ]
    notice = f"{NOTICE}: what could be tidied up."
    return Answer({"notice": notice, "findings": findings}, reading(notice, lines))


AUDIT = Tool(
    name="audit",
    description="List what could be tidied up, with commands: noise, repeated memories, deleted documents.",
    arguments=(Argument("threshold", "The similarity from which memories count as repeated.", schema=_SHARE),),
    answer=_answer_audit,
    output=shape(notice=TEXT, findings=LIST),
)


# --- cleanup, dedup ----------------------------------------------------------------------------------------


def _answer_cleanup(result: CleanupResult, call: CallArguments) -> Answer:
    candidates = [
        {
            "id": candidate.id,
            "content": candidate.text,
            "reason": candidate.reason,
            "importance": candidate.importance,
            "created_at": iso(candidate.created_at),
        }
        for candidate in result.candidates[:_MOST]
    ]
    removed = len(result.forgotten) if not result.dry_run else 0
    did = f"{len(result.candidates):,} would be forgotten" if result.dry_run else f"{removed:,} were forgotten"
    notice = f"{NOTICE}: {did}."
    lines = [f"[{candidate['id']}] {candidate['reason']}: {candidate['content']}" for candidate in candidates]
    return Answer({"notice": notice, "candidates": candidates, "removed": removed}, reading(notice, lines))


CLEANUP = Tool(
    name="cleanup",
    description="Forget very short or low-importance memories. 'palazzo undo' restores them.",
    arguments=(
        Argument("threshold", "Memories below this importance are candidates.", schema=_SHARE),
        Argument("min_length", "Memories with fewer characters are candidates.", schema={"minimum": 0}),
        _DRY_RUN,
    ),
    hints=CHANGES,
    answer=_answer_cleanup,
    output=shape(notice=TEXT, candidates=LIST, removed=NUMBER),
)


def _answer_dedup(result: DedupResult, call: CallArguments) -> Answer:
    clusters: list[dict[str, Any]] = [
        {
            "survivor": cluster.survivor,
            "copies": list(cluster.copies),
            "similarity": round(cluster.similarity, 3),
            "text": cluster.text,
        }
        for cluster in result.clusters[:_MOST]
    ]
    fold_count = len(result.folded) if not result.dry_run else 0
    did = f"{len(result.folded):,} copies would be folded" if result.dry_run else f"{fold_count:,} copies were folded"
    notice = f"{NOTICE}: {did}."
    lines = [
        f"[{cluster['survivor']}] keeps for {', '.join(cluster['copies'])}: {cluster['text']}" for cluster in clusters
    ]
    return Answer({"notice": notice, "clusters": clusters, "folded": fold_count}, reading(notice, lines))


DEDUP = Tool(
    name="dedup",
    description="Merge memories that say the same. 'palazzo undo' restores them.",
    arguments=(Argument("threshold", "The minimum similarity.", schema=_SHARE), _DRY_RUN),
    hints=CHANGES,
    answer=_answer_dedup,
    output=shape(notice=TEXT, clusters=LIST, folded=NUMBER),
)

TOOLS = (BRAIN, MEMORY_STATS, HEALTH, AUDIT, CLEANUP, DEDUP)
