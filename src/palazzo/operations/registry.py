"""All operations, by name. A contract is imported when its operation is first needed, so start-up is short."""

from __future__ import annotations

import importlib

from palazzo.operations.command_index import FEATURES as FEATURES
from palazzo.operations.command_index import FOR_CLIENTS as FOR_CLIENTS
from palazzo.operations.command_index import FOR_PROGRAMS

TYPE_CHECKING = False  # the help of the whole program is quick because this module imports next to nothing
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from palazzo.operations.operation import Operation

GROUPS = {
    "kg": "Facts: what holds, between which dates, and who stated it.",
    "diary": "Diaries: dated entries that agents wrote.",
    "todo": "To-dos: open tasks of a project.",
    "event": "Events: what agents of this palace leave for each other.",
    "artifact": "Artifacts: texts that another agent must get exactly.",
    "wing": "Wings: projects, people and agents, and their names.",
    "room": "Rooms: topics within wings, with their names and places.",
    "tunnel": "Tunnels: links between rooms.",
    "quarantine": "Quarantine: notes and facts that agents wrote after reading untrusted content, pending your review.",
    "service": "Background service: one warm process that answers quickly and indexes changes.",
    "token": "Tokens: access to the palace over HTTP.",
    "sync": "Sync: one palace on several machines, through a folder or a git repository.",
    "team": "Team: wings that people share, through a team server on PostgreSQL.",
}
"""Descriptions of groups: first words of operations that are subcommands (`kg_add` is typed `kg add`)."""
_OF_NO_GROUP = ("sync_sources",)
"""Operations that begin with a group's name but do not belong to the group."""


def split_command_name(name: str) -> tuple[str, ...]:
    """Return an operation's name as a person types it, word by word."""
    group, _, rest = name.partition("_")
    words = (group, rest) if rest and group in GROUPS and name not in _OF_NO_GROUP else (name,)
    return tuple(word.replace("_", "-") for word in words)


def operation(name: str) -> Operation[Any, Any]:
    """Return the operation of that name; KeyError if there is none."""
    contract = importlib.import_module(contract_of(name))
    definition: Operation[Any, Any] = getattr(contract, name.upper())
    return definition


def contract_of(name: str) -> str:
    """Return the module that defines the operation of that name; KeyError if there is none."""
    return f"palazzo.features.{(FEATURES | FOR_CLIENTS | FOR_PROGRAMS)[name]}.contract"


def operations() -> Iterator[Operation[Any, Any]]:
    """Yield every operation."""
    return (operation(name) for name in FEATURES)
