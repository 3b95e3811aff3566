"""Selection of the live drawers of a request: by ids, or all drawers of a source, a session, a wing or a tag."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.operations.arguments import check_place
from palazzo.security.display_names import shown_name
from palazzo.store import drawers, keyword_table, palace_overview, source_rows, tag_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

AT_ONCE = 100
"""Drawers changed in one transaction, so that other writers do not wait long."""


def resolve_drawers(connection: Connection, prefixes: Sequence[str]) -> list[str]:
    """Return the live drawers that ids name, each once: a drawer itself, or all drawers of an item.

    Raises NotFound for an id that names nothing live, and AmbiguousId for the beginning of several ids.
    """
    return list(dict.fromkeys(drawer for prefix in prefixes for drawer in _resolve_prefix(connection, prefix)))


def resolve_existing_drawers(
    connection: Connection, prefixes: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the live drawers of each id, and for each id that names none, or several things, the reason."""
    by_id: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}
    for prefix in prefixes:
        try:
            by_id[prefix] = tuple(_resolve_prefix(connection, prefix))
        except UsageError as error:
            missing[prefix] = str(error)
    return by_id, missing


def of_wing(context: Context, connection: Connection, wing: str) -> list[str]:
    """Return the live drawers of a wing; raise NotFound if the wing does not exist or has no live drawers."""
    name, _ = check_place(connection, wing, None, context.notice)
    return _require_drawers(palace_overview.live_drawers_of_wing(connection, name or wing), f"The wing '{wing}'")


def of_source(context: Context, connection: Connection, source: str) -> list[str]:
    """Return the live drawers that came from a file, a directory, an address or a session."""
    rows = sources_at(context, connection, source)
    return _require_drawers(palace_overview.live_drawers_of_sources(connection, rows), f"'{source}'")


def of_file(context: Context, connection: Connection, file: str) -> list[str]:
    """Return the live drawers that came from exactly this file or address, and none from below a directory."""
    path = context.as_absolute(Path(file))
    uris = [uri for uri in (file, path.as_uri(), path.resolve().as_uri()) if not uri.endswith("/")]
    rows = {row for uri in uris for row in palace_overview.sources_at(connection, uri)}
    if not rows:
        raise NotFound(f"Nothing in the palace came from the file '{file}'.")
    return _require_drawers(palace_overview.live_drawers_of_sources(connection, sorted(rows)), f"'{file}'")


def of_session(connection: Connection, session: str) -> list[str]:
    """Return the live drawers of the session whose id is or begins with `session`."""
    rows = sources_of_session(connection, session)
    if not rows:
        raise NotFound(f"There is no session '{session}'. 'palazzo show' and 'palazzo search' print session ids.")
    return _require_drawers(palace_overview.live_drawers_of_sources(connection, rows), f"The session '{session}'")


def of_tag(connection: Connection, tag: str) -> list[str]:
    """Return the live drawers that have a tag."""
    filters = [keyword_table.tag_filter(tag_row) for tag_row in known_tags(connection, (tag,))]
    return _require_drawers(
        drawers.uids_of(connection, keyword_table.drawers_in_scope(connection, filters)), f"The tag '{tag}'"
    )


def known_tags(connection: Connection, names: Sequence[str]) -> tuple[int, ...]:
    """Return the row ids of tags; raise NotFound for a tag that is not in use, and name some that are."""
    plain = [name.strip().lower() for name in names]
    row_by_name = tag_rows.known_tags(connection, plain)
    for name in plain:
        if name not in row_by_name:
            used = [tag for tag, _ in tag_rows.live_tags(connection)][:12]
            suggestion = f"There are: {', '.join(map(shown_name, used))}." if used else "No tags are in use yet."
            raise NotFound(f"Nothing has the tag '{name}'. {suggestion}")
    return tuple(row_by_name[name] for name in plain)


def _require_drawers(uids: Sequence[bytes], subject: str) -> list[str]:
    if not uids:
        raise NotFound(f"Everything in {subject} is already forgotten.")
    return [uid.hex() for uid in uids]


def _resolve_prefix(connection: Connection, prefix: str) -> Sequence[str]:
    kind, row = archive_reader.resolve(connection, prefix)
    if kind == "item":
        drawers = archive_reader.drawers_of_item(connection, row)
        if not drawers:
            raise NotFound(f"Everything in '{prefix}' is already forgotten.")
        return drawers
    drawer = archive_reader.read_drawer(connection, row)
    if drawer.retired_at is not None:
        raise NotFound(f"The drawer {drawer.id} is already retired, and search does not find it.")
    return [drawer.id]


def sources_at(context: Context, connection: Connection, source: str) -> list[int]:
    """Return the sources that a file, a directory, an address or a session names; raise NotFound if there are none."""
    path = context.as_absolute(Path(source))
    for uri in (source, path.as_uri(), f"{path.as_uri()}/", path.resolve().as_uri(), f"{path.resolve().as_uri()}/"):
        source_rows = palace_overview.sources_at(connection, uri)
        if source_rows:
            return source_rows
    rows = sources_of_session(connection, source)
    if not rows:
        raise NotFound(f"Nothing in the palace came from '{source}'. Give a file, a directory or a session id.")
    return rows


def sources_of_session(connection: Connection, prefix: str) -> list[int]:
    """Return the sources of the one session whose id is or begins with `prefix`; raise AmbiguousId for several."""
    sessions = palace_overview.session_ids(connection, prefix, 9) if prefix else []
    if len(sessions) > 1:
        raise AmbiguousId(prefix, sessions)
    rows = source_rows.sources_of_session(connection, sessions[0]) if sessions else []
    return [row for row in rows if source_rows.read_source(connection, row).session_id == sessions[0]]
