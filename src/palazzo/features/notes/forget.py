"""forget: retire drawers, so that searches no longer find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.errors import NotFound, UsageError
from palazzo.features.notes.contract import ForgetRequest, ForgetResult
from palazzo.features.trust.revocation import withdraw, withdrawn
from palazzo.features.trust.tainted_descendants import derived_from
from palazzo.operations import source_filter
from palazzo.operations.caller_taint import change_actor
from palazzo.operations.source_filter import AT_ONCE
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import palace_overview

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@marks_taint
def forget(context: Context, request: ForgetRequest) -> ForgetResult:
    """Retire drawers, so that searches no longer find them and rebuilds do not restore them."""
    selectors = (request.source, request.session, request.wing, request.derived_from)
    if bool(request.ids) + bool(request.tags) + sum(selector is not None for selector in selectors) != 1:
        raise UsageError("Name what to forget: ids, or one of --source, --session, --wing, --tag and --derived-from.")
    if request.derived_from is not None:
        return _forget_derived(context, request.derived_from, request.dry_run)
    with context.reading().database.snapshot() as connection:
        by_id, missing = _select_given(connection, request)
        given_drawers = list(dict.fromkeys(drawer for drawers in by_id.values() for drawer in drawers))
        ids = given_drawers if request.ids else _select_ids(context, connection, request)
        sample, places = _sample(connection, ids), _count_places(connection, ids)
    if ids and not request.dry_run:
        palace = context.writing()
        actor = change_actor(context)
        group = palace.begin_group(actor, "forget")
        for start in range(0, len(ids), AT_ONCE):
            palace.forget(ids[start : start + AT_ONCE], actor, group=group)
            context.report("forgetting", min(start + AT_ONCE, len(ids)), len(ids))
    return ForgetResult(tuple(ids), (), request.dry_run, sample, by_id, missing, places)


def _select_given(connection: Connection, request: ForgetRequest) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the drawers of each given id; and the reasons for those that are skipped, if that is requested."""
    if request.skip_missing:
        return source_filter.resolve_existing_drawers(connection, request.ids)
    return {given_id: tuple(source_filter.resolve_drawers(connection, (given_id,))) for given_id in request.ids}, {}


def _forget_derived(context: Context, origin: str, dry_run: bool) -> ForgetResult:
    """Retire what is derived from untrusted content."""
    with context.reading().database.snapshot() as connection:
        descendants = derived_from(context, connection, origin)
        if not descendants.chosen.drawers and not descendants.chosen.facts:
            raise NotFound(f"There is nothing left that is derived from '{origin}'.")
        sample = _sample(connection, descendants.chosen.drawers)
        facts = withdrawn(connection, descendants.chosen.facts, descendants.items)
    if not dry_run:
        facts = withdraw(
            context, descendants.chosen, "forget", "derived from untrusted content", descendants.items
        ).facts
    return ForgetResult(descendants.chosen.drawers, facts, dry_run, sample)


def _select_ids(context: Context, connection: Connection, request: ForgetRequest) -> list[str]:
    if request.source is not None and request.only_file:
        return source_filter.of_file(context, connection, request.source)
    if request.source is not None:
        return source_filter.of_source(context, connection, request.source)
    if request.session is not None:
        return source_filter.of_session(connection, request.session)
    if request.wing is not None:
        return source_filter.of_wing(context, connection, request.wing)
    ids_by_tag = (source_filter.of_tag(connection, tag) for tag in dict.fromkeys(request.tags))
    return list(dict.fromkeys(drawer for own in ids_by_tag for drawer in own))


def _count_places(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    counts = palace_overview.count_by_place(connection, [bytes.fromhex(drawer_id) for drawer_id in ids])
    return {f"{place.wing}/{place.room}": number for place, number in counts.items()}


def _sample(connection: Connection, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    drawers = [
        archive_reader.read_drawer(connection, archive_reader.resolve_drawer(connection, drawer_id))
        for drawer_id in ids[:5]
    ]
    return tuple((drawer.id, " ".join(drawer.text[:400].split())[:80]) for drawer in drawers)
