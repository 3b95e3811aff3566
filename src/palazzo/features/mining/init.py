"""init: create the palace, and report what was found."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import NotFound, PalazzoError, UsageError
from palazzo.features.mining.contract import InitRequest, InitResult
from palazzo.git.project_rooms import room_for_document
from palazzo.hosts.installed_hosts import hosts_found
from palazzo.security import known_palaces
from palazzo.sources.discovery import Candidate, Rules, discover
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.git.project_identity import ProjectIdentity
    from palazzo.operations.context import Context
    from palazzo.sources.source_places import Placer

MOST_LOOKED_AT = 2000
"""The most documents from which rooms are derived; more documents add nothing and take time."""


def init(context: Context, request: InitRequest) -> InitResult:
    """Create the palace, and detect this project's wing and rooms and the installed agents."""
    directory = context.led_to(request.directory)
    if not directory.is_dir():
        raise NotFound(f"{directory} is not a directory.")
    created = not context.has_palace
    if request.new and created:
        _forget_gone(context)
    database = context.writing().database
    place_finder = context.place_finder
    project = place_finder.project(directory)
    rooms = _rooms(place_finder, project)
    config = _write_config(project.root, place_finder.wing(project), rooms) if request.write_config else None
    with database.transaction() as connection:
        wing_created = place_rows.wing_led_to(connection, place_finder.wing(project)) is None
        place_finder.record(connection, project, context.now)
    return InitResult(
        palace=str(context.palace_path),
        created=created,
        project=project.identity,
        root=str(project.root),
        branch=project.branch,
        wing=place_finder.wing(project),
        rooms=rooms,
        hosts=hosts_found(context.variables),
        config=config,
        wing_created=wing_created,
    )


def _forget_gone(context: Context) -> None:
    try:
        known_palaces.forget(context.palace_path, context.variables)
    except OSError as error:
        raise PalazzoError(f"The record of the earlier palace cannot be removed ({error.strerror or error}).") from None


def _rooms(place_finder: Placer, project: ProjectIdentity) -> tuple[str, ...]:
    """Return the rooms that the project names, else those in which its documents would be filed."""
    config = place_finder.config(project)
    if config.rooms:
        return tuple(room.name for room in config.rooms)
    documents = (
        document for document in discover([project.root], Rules(mode="docs")) if isinstance(document, Candidate)
    )
    rooms = {
        room_for_document(config, document.relative, "")
        for document in islice(documents, MOST_LOOKED_AT)
        if document.root == project.root
    }
    return tuple(sorted(rooms))


def _write_config(root: Path, wing: str, rooms: tuple[str, ...]) -> str:
    path = root / "palazzo.toml"
    lines = [
        "# Palazzo's settings for this project. All entries are optional.",
        f"wing = {json.dumps(wing, ensure_ascii=False)}",
        *(line for room in rooms for line in ("", "[[rooms]]", f"name = {json.dumps(room, ensure_ascii=False)}")),
    ]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise UsageError(f"{path} already exists, and was left unchanged.") from None
    except OSError as error:
        raise PalazzoError(f"{path} cannot be written ({error.strerror}).") from error
    return str(path)
