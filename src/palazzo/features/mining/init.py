"""init: create the palace, and say what is here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NotFound, PalazzoError, UsageError
from palazzo.features.mining.installed_hosts import HostFound, hosts_found
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.git.project_identity import ProjectIdentity
    from palazzo.operations.context import Context
    from palazzo.sources.source_places import Placer

MOST_LOOKED_AT = 2000
"""Documents from which rooms are told; more say nothing new and take time."""


@dataclass(frozen=True, slots=True)
class InitRequest:
    """Which project, and what to write."""

    directory: Annotated[
        Path, About("The project; the working directory if left out.", positional=True, option="DIR")
    ] = Path()
    yes: Annotated[bool, About("Ask nothing, and take what was found.")] = False
    new: Annotated[bool, About("Begin an empty palace also where one was before and is gone.")] = False
    write_config: Annotated[bool, About("Also write palazzo.toml into the project, with its wing and rooms.")] = False


@dataclass(frozen=True, slots=True)
class InitResult:
    """What is here."""

    palace: str
    created: bool
    project: str
    root: str
    branch: str
    wing: str
    rooms: tuple[str, ...]
    hosts: tuple[HostFound, ...]
    config: str | None


def init(context: Context, request: InitRequest) -> InitResult:
    """Create the palace, and find out about the project here: its wing, its rooms, and the agents installed.

    Nothing is written into the project unless asked for.
    """
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
    )


def _forget_gone(context: Context) -> None:
    from palazzo.security import known_palaces

    try:
        known_palaces.forget(context.palace_path, context.variables)
    except OSError as error:
        raise PalazzoError(f"That a palace was there before cannot be forgotten ({error.strerror or error}).") from None


def _rooms(place_finder: Placer, project: ProjectIdentity) -> tuple[str, ...]:
    """The rooms that the project names, else those that its documents would be filed in."""
    from itertools import islice

    from palazzo.git.project_rooms import room_for_document
    from palazzo.sources.discovery import Candidate, Rules, discover

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
        "# What Palazzo needs to know about this project. Everything here is optional.",
        f"wing = {json.dumps(wing, ensure_ascii=False)}",
        *(line for room in rooms for line in ("", "[[rooms]]", f"name = {json.dumps(room, ensure_ascii=False)}")),
    ]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise UsageError(f"{path} is there already, and was left as it is.") from None
    except OSError as error:
        raise PalazzoError(f"{path} cannot be written ({error.strerror}).") from error
    return str(path)


OPERATION = Operation("init", InitRequest, InitResult, init, writes=True, steps=True)
