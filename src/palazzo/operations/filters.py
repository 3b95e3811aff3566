"""The options by which what is wanted is narrowed: in every command the same words for the same thing."""

from __future__ import annotations

from typing import Annotated

from palazzo.model import DrawerKind
from palazzo.operations.operation import About

InWing = Annotated[str | None, About("Only in this wing.")]
InRoom = Annotated[str | None, About("Only in rooms of this name.")]
OfKind = Annotated[DrawerKind | None, About("Only drawers of this kind.")]
Since = Annotated[str | None, About("Only from this time on: a date, an age such as 3d, or a name such as monday.")]
Until = Annotated[str | None, About("Only before this time.")]
OnBranch = Annotated[str | None, About("Only what was written on this git branch.")]
WithTags = Annotated[tuple[str, ...], About("Only what has this tag; may be given several times.", option="--tag")]
FromSource = Annotated[str | None, About("Only what came from this file, directory, address or session.")]
FiledAs = Annotated[
    tuple[str, ...],
    About("Only notes that were filed as this; may be given several times.", option="--filed-as", metavar="KIND"),
]
MinImportance = Annotated[
    float | None, About("Only notes of at least this importance; what was given none has 0.5.", metavar="N")
]
External = Annotated[bool, About("Leave out what strangers said: pages, MCP servers, files of dependencies.")]
