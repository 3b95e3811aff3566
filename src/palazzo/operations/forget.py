"""forget: retire drawers, so that no search finds them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound, UsageError
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

AT_ONCE = 100
"""Drawers that one transaction retires, so that nobody waits for long."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to retire: ids, all of a source, or all of a wing."""

    ids: Annotated[
        tuple[str, ...], About("Ids of drawers or notes, or their beginnings.", positional=True, option="ID")
    ] = ()
    source: Annotated[str | None, About("All that came from this file, directory, address or session.")] = None
    wing: Annotated[str | None, About("All that is filed in this wing.")] = None
    dry_run: Annotated[bool, About("Only say what would be forgotten.")] = False


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The drawers that were retired (or would be)."""

    forgotten: tuple[str, ...]
    dry_run: bool
    sample: Annotated[tuple[tuple[str, str], ...], PERSON_ONLY] = ()
    """The first few: (id, how the text begins)."""


def forget(context: Context, request: ForgetRequest) -> ForgetResult:
    """Retire drawers, so that no search finds them again and no rebuild brings them back.

    The archive keeps the words; their ids still resolve, and 'palazzo undo' brings them back.
    """
    chosen = [bool(request.ids), request.source is not None, request.wing is not None]
    if sum(chosen) != 1:
        raise UsageError("Say what to forget: ids, or --source, or --wing (one of them).")
    with context.reading().database.snapshot() as connection:
        ids = _chosen(context, connection, request)
        sample = _sample(connection, ids)
    if not request.dry_run:
        palace = context.writing()
        group = palace.begin_group("user", "forget")
        for start in range(0, len(ids), AT_ONCE):
            palace.forget(ids[start : start + AT_ONCE], group=group)
            context.report("forgetting", min(start + AT_ONCE, len(ids)), len(ids))
    return ForgetResult(tuple(ids), request.dry_run, sample)


def _chosen(context: Context, connection: Connection, request: ForgetRequest) -> list[str]:
    from palazzo.operations.search import check_place
    from palazzo.store import overview

    if request.ids:
        return list(dict.fromkeys(drawer for prefix in request.ids for drawer in _named(connection, prefix)))
    if request.wing is not None:
        check_place(connection, request.wing, None)
        found = overview.live_drawers_of_wing(connection, request.wing)
        what = f"The wing '{request.wing}'"
    else:
        found = overview.live_drawers_of_sources(connection, _sources(context, connection, request.source or ""))
        what = f"'{request.source}'"
    if not found:
        raise NotFound(f"{what} holds nothing that is not forgotten already.")
    return [uid.hex() for uid in found]


def _named(connection: Connection, prefix: str) -> Sequence[str]:
    """The live drawers that an id names: itself, or those of an item."""
    from palazzo.archive import reading

    kind, row = reading.resolve(connection, prefix)
    if kind == "item":
        drawers = reading.drawers_of_item(connection, row)
        if not drawers:
            raise NotFound(f"'{prefix}' holds nothing that is not forgotten already.")
        return drawers
    drawer = reading.read_drawer(connection, row)
    if drawer.retired_at is not None:
        raise NotFound(f"The drawer {drawer.id} is retired already, and no search finds it.")
    return [drawer.id]


def _sources(context: Context, connection: Connection, named: str) -> list[int]:
    """The sources that an address, a path, a directory or a session names."""
    from palazzo.errors import AmbiguousId
    from palazzo.store import overview, sources

    path = (context.cwd / Path(named).expanduser()).absolute()
    for uri in (named, path.as_uri(), f"{path.as_uri()}/", path.resolve().as_uri(), f"{path.resolve().as_uri()}/"):
        found = overview.sources_at(connection, uri)
        if found:
            return found
    sessions = overview.session_ids(connection, named, 9) if named else []
    if len(sessions) > 1:
        raise AmbiguousId(named, sessions)
    if not sessions:
        raise NotFound(f"Nothing in the palace came from '{named}'. Give a file, a directory or a session id.")
    rows = sources.sources_of_session(connection, sessions[0])
    return [row for row in rows if sources.read_source(connection, row).session_id == sessions[0]]


def _sample(connection: Connection, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    from palazzo.archive import reading

    found = [reading.read_drawer(connection, reading.resolve_drawer(connection, one)) for one in ids[:5]]
    return tuple((drawer.id, " ".join(drawer.text[:400].split())[:80]) for drawer in found)


OPERATION = Operation("forget", ForgetRequest, ForgetResult, forget, writes=True, destructive=True)
