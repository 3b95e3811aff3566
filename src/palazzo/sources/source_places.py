"""Where mined content is filed: the wing of its project, the room of its topic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from palazzo.git.project_file import ProjectConfig, read_project_config
from palazzo.git.project_identity import ProjectIdentity, project_identity
from palazzo.git.project_rooms import room_for_conversation, room_for_document, slug
from palazzo.model import Micros, Place
from palazzo.store import place_rows
from palazzo.store.database import Connection, Database

NO_PROJECT = "conversations"
"""The wing of conversations that name no directory."""


class Placer:
    """Determines wings and rooms for one run of mining; queries git and the palace once for each project.

    `wing` and `room` override the result.
    """

    def __init__(self, database: Database | None, wing: str | None = None, room: str | None = None) -> None:
        self._database, self._wing, self._room = database, wing, room
        self._projects: dict[Path, ProjectIdentity] = {}
        self._configs: dict[Path, ProjectConfig] = {}
        self._wings: dict[str, str] = {}

    def project(self, directory: Path) -> ProjectIdentity:
        """Return the project of a directory, with an identity that is unique in this palace."""
        if directory not in self._projects:
            self._projects[directory] = self._resolve_identity(project_identity(directory))
        return self._projects[directory]

    def config(self, project: ProjectIdentity) -> ProjectConfig:
        """Return the configuration in the project's own file."""
        if project.root not in self._configs:
            self._configs[project.root] = read_project_config(project.root)
        return self._configs[project.root]

    def of_document(self, project: ProjectIdentity, relative: str, head: str) -> Place:
        """Return the place in which to file a document."""
        room = self._room or room_for_document(self.config(project), relative, head)
        return Place(self._wing or self.wing(project), room)

    def of_conversation(self, project: ProjectIdentity | None, words: str) -> Place:
        """Return the place of a conversation that was held in `project` and begins with `words`."""
        if project is None:
            return Place(self._wing or NO_PROJECT, self._room or room_for_conversation(ProjectConfig(), words))
        room = self._room or room_for_conversation(self.config(project), words)
        return Place(self._wing or self.wing(project), room)

    def wing(self, project: ProjectIdentity) -> str:
        """Return the project's wing; if another project has that name, a number is added."""
        if project.identity not in self._wings:
            self._wings[project.identity] = self._known_wing(project) or self._new_wing(project)
        return self._wings[project.identity]

    def record(self, connection: Connection, project: ProjectIdentity | None, at: Micros) -> None:
        """Remember the project's wing and its directory, in this transaction of `at`."""
        if project is not None and self._wing is None:
            place_rows.file_project(connection, project.identity, self.wing(project), str(project.root), at)

    def current(self, connection: Connection, project: ProjectIdentity | None, place: Place) -> Place:
        """Return a place with the current name of its project's wing: it may have been renamed."""
        if project is None or self._wing is not None:
            return place
        return replace(place, wing=place_rows.wing_of_project(connection, project.identity) or place.wing)

    def _resolve_identity(self, project: ProjectIdentity) -> ProjectIdentity:
        """Number directories without a repository that share a name: they are identified by name."""
        if self._database is None or (project.is_final and not _is_by_name(project.identity)):
            return project
        with self._database.snapshot() as connection:
            stored_identity = place_rows.project_at(connection, str(project.root))
            if stored_identity is not None:
                return replace(project, identity=stored_identity)
            number, identity = 1, project.identity
            while place_rows.wing_of_project(connection, identity) is not None:
                number += 1
                identity = f"{project.identity}~{number}"
        return replace(project, identity=identity)

    def _known_wing(self, project: ProjectIdentity) -> str | None:
        """Return the project's wing, also if its directory had no repository yet when the wing was recorded."""
        if self._database is None:
            return None
        with self._database.snapshot() as connection:
            wing = place_rows.wing_of_project(connection, project.identity)
            if wing is None and not _is_by_name(project.identity):
                earlier_identity = place_rows.project_at(connection, str(project.root))
                if earlier_identity is not None and _is_by_name(earlier_identity):
                    wing = place_rows.wing_of_project(connection, earlier_identity)
            return wing

    def _new_wing(self, project: ProjectIdentity) -> str:
        base = slug(self.config(project).wing or project.name)
        used_names = set(self._wings.values())
        if self._database is not None:
            with self._database.snapshot() as connection:
                used_names |= place_rows.names_of_projects(connection)
        name, number = base, 1
        while name in used_names:
            number += 1
            name = f"{base}-{number}"
        return name


def _is_by_name(identity: str) -> bool:
    """Whether a project is identified by its directory's name: it has no repository."""
    return identity.startswith("dir:")
