"""Filter options: every command uses the same words for the same filter."""

from __future__ import annotations

from typing import Annotated

from palazzo.model import DrawerKind
from palazzo.operations.operation import About

InWing = Annotated[str | None, About("Only in this wing.")]
InRoom = Annotated[str | None, About("Only in rooms with this name.")]
OfKind = Annotated[DrawerKind | None, About("Only drawers of this kind.")]
Since = Annotated[str | None, About("Only from this time on: a date, an age such as 3d, or a name such as monday.")]
UNTIL_HELP = "Only from before this time."
Until = Annotated[str | None, About(UNTIL_HELP)]
OnBranch = Annotated[str | None, About("Only drawers written on this git branch.")]
WithTags = Annotated[tuple[str, ...], About("Only drawers with this tag; may be given several times.", option="--tag")]
FromSource = Annotated[str | None, About("Only drawers that came from this file, directory, address or session.")]
FromHost = Annotated[str | None, About("Only drawers of sessions of this host, such as claude-code or codex.")]
FiledAs = Annotated[
    tuple[str, ...],
    About("Only notes filed as this kind; may be given several times.", option="--filed-as", metavar="KIND"),
]
MinImportance = Annotated[
    float | None, About("Only notes of at least this importance; a note without one counts as 0.5.", metavar="N")
]
External = Annotated[
    bool,
    About(
        "Also untrusted content: pages, answers of MCP servers, files of dependencies.",
        negated_help="Leave out untrusted content: pages, answers of MCP servers, files of dependencies.",
    ),
]
Reasoning = Annotated[
    bool,
    About(
        "Also what agents thought before they spoke, below what was said.",
        negated_help="Leave out what agents thought before they spoke.",
    ),
]
