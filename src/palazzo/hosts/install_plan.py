"""What an installer gets, and what it plans: the machine, the options, and the changes of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

from palazzo.frozen_class import frozen
from palazzo.hosts.edited_files import Edit
from palazzo.hosts.predecessors import Predecessor
from palazzo.settings import Settings

FileState = Literal["new", "changed", "same", "removed"]


class InstallPlace(Protocol):
    """The machine, project and palace for which a host is wired."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment."""
        ...

    @property
    def project_root(self) -> Path:
        """The project of the working directory."""
        ...

    @property
    def palace_path(self) -> Path:
        """The palace that the host's entries must use."""
        ...

    @property
    def settings(self) -> Settings:
        """The person's settings and the project's."""
        ...


class InstallOptions(Protocol):
    """What a person chose on the command line of `install`."""

    @property
    def project(self) -> bool:
        """Whether to write into the project's files."""
        ...

    @property
    def user(self) -> bool:
        """Whether to write into the person's own files; the default."""
        ...

    @property
    def clean(self) -> bool:
        """Whether to remove entries of other memories."""
        ...

    @property
    def status_line(self) -> bool:
        """Whether to set the host's status line."""
        ...


@frozen
class PlannedFile:
    """A file to write for another program, and how it differs from the existing one."""

    path: Path
    content: bytes
    is_program: bool
    state: FileState


@frozen
class Plan:
    """The planned changes; `note` tells the person what to do next.

    `files` are written completely, `edits` change files of other programs. `predecessors` are entries that other memory
    programs left there.
    """

    files: tuple[PlannedFile, ...]
    note: str = ""
    edits: tuple[Edit, ...] = ()
    predecessors: tuple[Predecessor, ...] = ()
