"""Facts as faces show them, and statements as faces pass them in. The fact operations share this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.facts.contract import ACTOR
from palazzo.features.facts.fact_scope import check_scope, wing_to_state_in
from palazzo.knowledge import entity_names
from palazzo.knowledge.assertions import Statement, Triple, stated_everywhere
from palazzo.knowledge.entity_names import entity_name
from palazzo.knowledge.fact_change import Change
from palazzo.model import Micros
from palazzo.operations import cited_files
from palazzo.operations.arguments import LONGEST_SPEAKER, place_name, where_it_leads
from palazzo.operations.caller_taint import change_actor, whom_to_believe
from palazzo.operations.shared_views import FactView, ProvenanceView
from palazzo.security.note_taint import assess_trust
from palazzo.store import drawers as drawers_store
from palazzo.store import items, tombstones
from palazzo.store.anchors import name_of
from palazzo.store.fact_rows import Provenance
from palazzo.text.names import tidy
from palazzo.text.times import parse_end, parse_start, to_iso

if TYPE_CHECKING:
    from palazzo.knowledge.facts_as_of import Beliefs, Fact
    from palazzo.operations.context import Context
    from palazzo.security.note_taint import TrustAssessment
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Version


def views(beliefs: Beliefs, versions: Sequence[Version], moment: Micros) -> tuple[FactView, ...]:
    """Return versions as views; `moment` is the time for which a fact counts as current."""
    fact_list = beliefs.tell(versions)
    return tuple(_view(fact, version.holds_at(moment)) for fact, version in zip(fact_list, versions, strict=True))


def _view(fact: Fact, current: bool) -> FactView:
    return FactView(
        id=fact.id,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        scope=fact.wing,
        valid_from=iso(fact.valid_from),
        valid_to=iso(fact.valid_to),
        current=current,
        confidence=fact.confidence,
        recorded_at=to_iso(fact.recorded_at),
        retired_at=iso(fact.retired_at),
        superseded_by=fact.superseded_by,
        trust=fact.trust,
        provenance=tuple(ProvenanceView(*entry[:-1], tuple(map(name_of, entry.anchors))) for entry in fact.provenance),
    )


def iso(moment: Micros | None) -> str | None:
    """Return a time as text, or None."""
    return None if moment is None else to_iso(moment)


# --- what is given -----------------------------------------------------------------------------------------


def now_in(context: Context) -> Micros:
    """Return the current time in whole milliseconds, the printed precision, so that a printed time finds its fact."""
    return Micros(context.now - context.now % 1000)


def moment(option: str, text: str | None, read: Callable[[str, Micros], Micros], now: Micros) -> Micros | None:
    """Return the time that an option gives; UsageError, naming the option, if it is not a time."""
    if text is None:
        return None
    try:
        return read(text, now)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def triple(context: Context, subject: str, predicate: str, thing: str, wing: str | None) -> Triple:
    """Return the statement with validated and redacted names. Opens the palace for writing only after validation."""
    place = None if wing is None else where_it_leads(context, place_name("--wing", wing))[0]
    words = (
        entity_names.entity_name("subject", subject),
        entity_names.predicate_name(predicate),
        entity_names.entity_name("object", thing),
    )
    return Triple(*entity_names.redact_fact(Guard.of(context.writing().database), *words), place)


def name_to_find(context: Context, name: str, *, writing: bool = False) -> str:
    """Return a name in its stored form, to look it up."""
    plain = entity_name("name", name)
    return Guard.of((context.writing() if writing else context.reading()).database).words(plain)


def provenance(
    context: Context, stated_by: str, sources: Sequence[str], belief: TrustAssessment | None = None
) -> tuple[Provenance, ...]:
    """Return who states a fact and which drawers or items (ids or id prefixes) support it.

    `belief` is the trust to record, if it is known already. An agent is trusted no more than the sources that it cites.
    """
    belief = belief or whom_to_believe(context)
    speaker = tidy(stated_by)
    if not speaker or len(speaker) > LONGEST_SPEAKER or not speaker.isprintable():
        raise UsageError(f"The name of whoever states it must have 1 to {LONGEST_SPEAKER} characters, on one line.")
    database = context.writing().database
    # An agent does not speak as the person, whatever it says, and whatever a command line says of whoever types.
    speaker = "agent" if speaker == ACTOR and belief.trust != "user" else Guard.of(database).words(speaker)
    spans: list[tuple[str, int | None, int | None]] = []
    taint_ids = list(belief.tainted_by)
    with database.snapshot() as connection:
        for prefix in sources:
            kind, row = archive_reader.resolve(connection, prefix)
            if kind == "item":
                item = items.read_item(connection, row)
                spans.append((item.id, None, None))
                drawers = archive_reader.read_drawers(connection, drawers_store.live_drawers_of_item(connection, row))
                taint_ids += (
                    [item.id] if any(item_drawer.trust == "external" for item_drawer in drawers.values()) else []
                )
            else:
                drawer = archive_reader.read_drawer(connection, row)
                spans.extend((span.item, span.start, span.end) for span in drawer.spans)
                taint_ids += [span.item for span in drawer.spans] if drawer.trust == "external" else []
    final_belief = assess_trust(belief.trust, taint_ids)
    if not spans:
        project = context.project
        return (
            Provenance(
                speaker, None, None, None, final_belief.trust, final_belief.tainted_by, project.branch, project.commit
            ),
        )
    return tuple(
        Provenance(speaker, *place, final_belief.trust, final_belief.tainted_by) for place in dict.fromkeys(spans)
    )


def statement(
    context: Context,
    words: tuple[str, str, str],
    *,
    wing: str | None,
    valid_from: str | None,
    valid_to: str | None,
    confidence: float | None,
    sources: Sequence[str],
    stated_by: str,
    belief: TrustAssessment | None = None,
    anchors: Sequence[str] = (),
    everywhere: bool = False,
) -> Statement:
    """Return the statement of a fact in the given wing, else in the project's wing, or `everywhere`.

    Raises UsageError. Writes nothing.
    """
    now = now_in(context)
    check_scope(wing, everywhere)
    if everywhere and anchors:
        raise UsageError("A fact that cites files holds in their project: leave out either --everywhere or the files.")
    if confidence is not None and not 0 <= confidence <= 1:  # also refuses NaN
        raise UsageError(f"The confidence is {confidence}; it must be between 0 and 1.")
    start = moment("--from", valid_from, parse_start, now)
    end = moment("--to", valid_to, parse_end, now)
    if start is not None and end is not None and start >= end:
        raise UsageError(
            f"The fact would end ({to_iso(end)}) before it begins ({to_iso(start)}): give a start before the end."
        )
    file_anchors = cited_files.anchors(context, anchors)
    fact = triple(context, *words, wing)
    if wing is None and not everywhere:
        fact = replace(fact, wing=wing_to_state_in(context))
    said_by = provenance(context, stated_by, sources, belief)
    if everywhere:
        said_by = stated_everywhere(said_by)
    if file_anchors:  # what they show is what is checked out here, whoever says so too
        project = context.project
        said_by = tuple(
            entry._replace(branch=project.branch, commit=project.commit, anchors=file_anchors) for entry in said_by
        )
    return Statement(fact, said_by, start, end, confidence)


def change(
    context: Context, connection: Connection, verb: str, group: int | None = None, about: Triple | None = None
) -> Change:
    """Begin a change to facts in an open transaction; `about` describes it in the list of changes."""
    summary = tombstones.title(connection, str(about)) if about is not None else ""
    return Change(connection, change_actor(context), verb, context.now, group, summary)
