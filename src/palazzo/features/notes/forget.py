"""forget: retire drawers, so that searches no longer find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound, UsageError
from palazzo.operations import source_filter
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.source_filter import AT_ONCE
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to retire: ids, all of a source, session, wing or tag, or everything derived from untrusted content."""

    ids: Annotated[tuple[str, ...], About("Drawer or note ids, or id prefixes.", positional=True, option="ID")] = ()
    source: Annotated[str | None, About("Everything that came from this file, directory, address or session.")] = None
    session: Annotated[str | None, About("Everything of the session with this id or id prefix.")] = None
    wing: Annotated[str | None, About("Everything filed in this wing.")] = None
    tags: Annotated[
        tuple[str, ...],
        About("Everything with this tag; if given several times, with any of the tags.", option="--tag"),
    ] = ()
    derived_from: Annotated[
        str | None,
        About(
            "This page (address or id) or untrusted source, and everything that agents said, wrote and stated after "
            "reading it.",
            metavar="URL|ID|SOURCE",
        ),
    ] = None
    dry_run: Annotated[bool, About("Only show what would be forgotten.")] = False


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The drawers that were retired (or would be), and the facts that have no author left."""

    forgotten: tuple[str, ...]
    facts: tuple[str, ...]
    dry_run: bool
    sample: Annotated[tuple[tuple[str, str], ...], PERSON_ONLY] = ()
    """The first few: (id, beginning of the text)."""


@marks_taint
def forget(context: Context, request: ForgetRequest) -> ForgetResult:
    """Retire drawers, so that searches no longer find them and rebuilds do not restore them.

    The archive keeps the text; the ids still resolve, and 'palazzo undo' restores the drawers.
    """
    selectors = (request.source, request.session, request.wing, request.derived_from)
    if bool(request.ids) + bool(request.tags) + sum(selector is not None for selector in selectors) != 1:
        raise UsageError("Name what to forget: ids, or one of --source, --session, --wing, --tag and --derived-from.")
    if request.derived_from is not None:
        return _forget_derived(context, request.derived_from, request.dry_run)
    with context.reading().database.snapshot() as connection:
        ids = _select_ids(context, connection, request)
        sample = _sample(connection, ids)
    if not request.dry_run:
        palace = context.writing()
        group = palace.begin_group("user", "forget")
        for start in range(0, len(ids), AT_ONCE):
            palace.forget(ids[start : start + AT_ONCE], group=group)
            context.report("forgetting", min(start + AT_ONCE, len(ids)), len(ids))
    return ForgetResult(tuple(ids), (), request.dry_run, sample)


def _forget_derived(context: Context, origin: str, dry_run: bool) -> ForgetResult:
    """Retire what is derived from untrusted content."""
    from palazzo.features.trust.revocation import withdraw, withdrawn
    from palazzo.features.trust.tainted_descendants import derived_from

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
    if request.source is not None:
        return source_filter.of_source(context, connection, request.source)
    if request.session is not None:
        return source_filter.of_session(connection, request.session)
    if request.wing is not None:
        return source_filter.of_wing(context, connection, request.wing)
    if request.tags:
        ids_by_tag = (source_filter.of_tag(connection, tag) for tag in dict.fromkeys(request.tags))
        return list(dict.fromkeys(drawer for own in ids_by_tag for drawer in own))
    return source_filter.resolve_drawers(connection, request.ids)


def _sample(connection: Connection, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    from palazzo.archive import archive_reader

    drawers = [
        archive_reader.read_drawer(connection, archive_reader.resolve_drawer(connection, drawer_id))
        for drawer_id in ids[:5]
    ]
    return tuple((drawer.id, " ".join(drawer.text[:400].split())[:80]) for drawer in drawers)


OPERATION = Operation(
    "forget",
    ForgetRequest,
    ForgetResult,
    forget,
    scope="write",
    writes=True,
    destructive=True,
    examples=("palazzo forget 3f2a91", "palazzo rm --source docs/old.md --dry-run"),
)
