"""brain, memory_stats, health, audit, cleanup, dedup: how the memory is, and tidying it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.mcp.profiles.shodh.shaping import iso, reading
from palazzo.mcp.telling import LIST, NOTICE, NUMBER, OBJECT, TEXT, shape
from palazzo.mcp.tools import CHANGES, Answer, Argument, Given, Tool
from palazzo.operations.audit import AuditFinding, AuditResult
from palazzo.operations.cleanup import CleanupResult
from palazzo.operations.dedup import DedupResult
from palazzo.operations.doctor import DoctorResult
from palazzo.operations.finding import Finding
from palazzo.operations.memory_stats import MemoryStatsResult

_MOST = 50
_SHARE = {"minimum": 0, "maximum": 1}
_DRY_RUN = Argument("dry_run", "Only says what it would do unless this is false.", default=True)


# --- brain, memory_stats -----------------------------------------------------------------------------------


def _counted(result: MemoryStatsResult, given: Given) -> Answer:
    told: dict[str, Any] = {
        "memories": result.drawers,
        "total_memories": result.drawers,
        "by_type": {**{kind.capitalize(): n for kind, n in result.filed_as.items()}, **result.by_kind},
        "by_tag": result.by_tag,
        "by_age": result.by_age,
        "by_trust": result.by_trust,
        "entities": [{"name": one.name, "kind": one.kind, "memories": one.drawers} for one in result.entities],
        "facts": result.facts,
        "forgotten": result.retired,
        "size_bytes": result.size_bytes,
    }
    lines = [f"{result.drawers:,} memories, {result.facts:,} facts, {result.size_bytes:,} bytes."]
    lines += [
        f"{name.removeprefix('by_')}: {', '.join(f'{one} {n:,}' for one, n in told[name].items())}"
        for name in ("by_type", "by_tag", "by_age", "by_trust")
        if told[name]
    ]
    if result.entities:
        lines.append(f"mentioned most: {', '.join(f'{one.name} ({one.drawers:,})' for one in result.entities)}")
    return Answer(told, "\n".join(lines))


def _stats(name: str) -> Tool:
    return Tool(
        name=name,
        operation="memory_stats",
        description="How much is remembered: by type, tag, age and trust, and who and what it mentions most.",
        answer=_counted,
        output=shape(memories=NUMBER, by_type=OBJECT, by_tag=OBJECT, by_age=OBJECT, by_trust=OBJECT, entities=LIST),
    )


BRAIN, MEMORY_STATS = _stats("brain"), _stats("memory_stats")


# --- health, audit -----------------------------------------------------------------------------------------


def _checked(one: Finding | AuditFinding) -> dict[str, Any]:
    told = {"name": one.name, "ok": one.ok, "detail": one.detail}
    return {**told, "mend": one.mend} if one.mend and not one.ok else told


def _check_line(told: Mapping[str, Any]) -> str:
    mend = f"\n  mend with: {told['mend']}" if "mend" in told else ""
    return f"{'ok' if told['ok'] else 'not ok'}  {told['name']}: {told['detail']}{mend}"


def _health(result: DoctorResult, given: Given) -> Answer:
    checks = [_checked(one) for one in result.findings]
    return Answer({"checks": checks}, "\n".join(map(_check_line, checks)))


HEALTH = Tool(
    name="health",
    operation="doctor",
    description="Whether the memory is in order, and the command that mends what is not.",
    answer=_health,
    output=shape(checks=LIST),
)


def _audited(result: AuditResult, given: Given) -> Answer:
    findings = [
        {**_checked(one), "count": one.count, **({"examples": list(one.examples)} if one.examples else {})}
        for one in result.findings
    ]
    lines = [
        "\n".join([_check_line(one), *(f"  {example}" for example in one.get("examples", ()))]) for one in findings
    ]
    notice = f"{NOTICE}: what could be tidied up."
    return Answer({"notice": notice, "findings": findings}, reading(notice, lines))


AUDIT = Tool(
    name="audit",
    operation="audit",
    description="What could be tidied up: noise, repeated memories, gone documents; each with the command that does.",
    arguments=(Argument("threshold", "How alike is alike.", schema=_SHARE),),
    answer=_audited,
    output=shape(notice=TEXT, findings=LIST),
)


# --- cleanup, dedup ----------------------------------------------------------------------------------------


def _cleaned(result: CleanupResult, given: Given) -> Answer:
    candidates = [
        {
            "id": one.id,
            "content": one.text,
            "reason": one.reason,
            "importance": one.importance,
            "created_at": iso(one.created_at),
        }
        for one in result.candidates[:_MOST]
    ]
    removed = len(result.forgotten) if not result.dry_run else 0
    did = f"{len(result.candidates):,} would be forgotten" if result.dry_run else f"{removed:,} were forgotten"
    notice = f"{NOTICE}: {did}."
    lines = [f"[{one['id']}] {one['reason']}: {one['content']}" for one in candidates]
    return Answer({"notice": notice, "candidates": candidates, "removed": removed}, reading(notice, lines))


CLEANUP = Tool(
    name="cleanup",
    operation="cleanup",
    description="Forget memories of little importance or too short to say anything. 'palazzo undo' takes it back.",
    arguments=(
        Argument("threshold", "Importance below which one is a candidate.", schema=_SHARE),
        Argument("min_length", "Characters below which one is.", schema={"minimum": 0}),
        _DRY_RUN,
    ),
    hints=CHANGES,
    answer=_cleaned,
    output=shape(notice=TEXT, candidates=LIST, removed=NUMBER),
)


def _folded(result: DedupResult, given: Given) -> Answer:
    clusters: list[dict[str, Any]] = [
        {"survivor": one.survivor, "copies": list(one.copies), "similarity": round(one.similarity, 3), "text": one.text}
        for one in result.clusters[:_MOST]
    ]
    folded = len(result.folded) if not result.dry_run else 0
    did = f"{len(result.folded):,} copies would be folded" if result.dry_run else f"{folded:,} copies were folded"
    notice = f"{NOTICE}: {did}."
    lines = [f"[{one['survivor']}] keeps for {', '.join(one['copies'])}: {one['text']}" for one in clusters]
    return Answer({"notice": notice, "clusters": clusters, "folded": folded}, reading(notice, lines))


DEDUP = Tool(
    name="dedup",
    operation="dedup",
    description="Fold memories that say the same into one. 'palazzo undo' takes it back.",
    arguments=(Argument("threshold", "How alike they must be.", schema=_SHARE), _DRY_RUN),
    hints=CHANGES,
    answer=_folded,
    output=shape(notice=TEXT, clusters=LIST, folded=NUMBER),
)

TOOLS = (BRAIN, MEMORY_STATS, HEALTH, AUDIT, CLEANUP, DEDUP)
