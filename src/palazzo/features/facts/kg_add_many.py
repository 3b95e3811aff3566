"""kg add-many: state facts from JSON, one per line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from palazzo.errors import UsageError
from palazzo.features.facts.contract import ACTOR, KgAddManyRequest, KgAddManyResult, LineError
from palazzo.features.facts.fact_results import change, statement
from palazzo.knowledge import assertions
from palazzo.operations.caller_taint import whom_to_believe

if TYPE_CHECKING:
    from palazzo.knowledge.assertions import Statement
    from palazzo.operations.context import Context
    from palazzo.security.note_taint import TrustAssessment

_HOLD = 0.02
"""The longest time, in seconds, that one transaction adds facts before it lets other writers go on."""
_TEXTS = ("subject", "predicate", "object", "from", "valid_from", "to", "valid_to", "wing", "stated_by")
_FIELDS = (*_TEXTS, "everywhere", "confidence", "sources")
_MOST_CHARACTERS = 60


def kg_add_many(context: Context, request: KgAddManyRequest) -> KgAddManyResult:
    """State many facts at once; an invalid line is reported and does not stop the others."""
    belief = whom_to_believe(context, *_wings_named(request.facts))
    statements: list[Statement] = []
    failed: list[LineError] = []
    for number, line in _lines(request.facts):
        try:
            statements.append(_statement(context, line, belief))
        except UsageError as error:
            failed.append(LineError(number, str(error)))
    counts, ids, conflicts = _add(context, statements)
    return KgAddManyResult(*counts, tuple(ids), tuple(dict.fromkeys(conflicts)), tuple(failed))


def _add(context: Context, statements: Sequence[Statement]) -> tuple[tuple[int, int, int], list[str], list[str]]:
    """State facts in short transactions; return (new, changed, unchanged), ids, conflicts."""
    counts = [0, 0, 0]
    ids: list[str] = []
    conflicts: list[str] = []
    group: int | None = None
    while len(ids) < len(statements):
        if ids:
            context.writing().database.step()
        with context.writing().database.transaction() as connection:
            fact_change = change(context, connection, "kg add-many", group)
            start_count = sum(counts[:2])
            while len(ids) < len(statements) and connection.age < _HOLD:
                added = assertions.add(fact_change, statements[len(ids)])
                counts[0 if added.new else 1 if added.changed else 2] += 1
                ids.append(added.version.uid)
                conflicts += added.conflicts
            fact_change.count(sum(counts[:2]) - start_count)
            group = fact_change.group
        context.report("facts", len(ids), len(statements))
    return (counts[0], counts[1], counts[2]), ids, conflicts


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            yield number, line


def _wings_named(text: str) -> tuple[str, ...]:
    """Return the wings that the lines name; errors in a line are reported when its fact is stated."""
    wings = []
    for _, line in _lines(text):
        try:
            fact = json.loads(line)
        except (ValueError, RecursionError):
            continue
        wings += [str(fact["wing"])] if isinstance(fact, dict) and fact.get("wing") else []
    return tuple(dict.fromkeys(wings))


def _statement(context: Context, line: str, belief: TrustAssessment) -> Statement:
    record = _object(line)
    subject, predicate, thing = (_text(record, name, is_required=True) for name in ("subject", "predicate", "object"))
    confidence, sources = record.get("confidence"), record.get("sources") or ()
    if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
        raise UsageError(
            f"The confidence is {json.dumps(confidence)[:_MOST_CHARACTERS]}; it must be a number between 0 and 1."
        )
    if not isinstance(sources, list | tuple) or not all(isinstance(source, str) for source in sources):
        raise UsageError("'sources' must be a list of ids.")
    everywhere = record.get("everywhere", False)
    if not isinstance(everywhere, bool):
        raise UsageError("'everywhere' must be true or false.")
    return statement(
        context,
        (subject or "", predicate or "", thing or ""),
        wing=_text(record, "wing"),
        valid_from=_text(record, "from") or _text(record, "valid_from"),
        valid_to=_text(record, "to") or _text(record, "valid_to"),
        confidence=confidence,
        sources=sources,
        stated_by=_text(record, "stated_by") or ACTOR,
        belief=belief,
        everywhere=everywhere,
    )


def _object(line: str) -> Mapping[str, Any]:
    try:
        line.encode("utf-8")  # bytes that are not UTF-8 have come as lone surrogates
    except UnicodeEncodeError:
        raise UsageError("This line is not valid UTF-8.") from None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"This is not JSON: {line[:_MOST_CHARACTERS]!r}.") from None
    if not isinstance(record, dict):
        raise UsageError("This is not a JSON object with a subject, a predicate and an object.")
    strange = [name for name in record if name not in _FIELDS]
    if strange:
        raise UsageError(
            f"'{strange[0][:_MOST_CHARACTERS]}' is not a field of a fact; the fields are: {', '.join(_FIELDS)}."
        )
    return record


def _text(record: Mapping[str, Any], name: str, is_required: bool = False) -> str | None:
    value = record.get(name)
    if value is None and is_required:
        raise UsageError(f"The {name} is missing: a fact is a subject, a predicate and an object.")
    if value is not None and not isinstance(value, str):
        raise UsageError(f"'{name}' must be a string, in quotes.")
    return value
