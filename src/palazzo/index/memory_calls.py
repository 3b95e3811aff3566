"""Shell calls whose output is text from a memory, recognised by the command that is run. Pure.

Only its call, found by its id, identifies such a result; a memory's tools are identified by their names.
"""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.index import digest_work as work
from palazzo.model import Part
from palazzo.security.memory_commands import tells_memory


def asks_in_shell(text: str, call: Part) -> bool:
    """Return whether a call only runs a command that prints memory content; `text` is its item's."""
    place = work.command_place(text, call.start, call.end)
    if place is None:
        return False
    match = work.LISTED_SHELL.match(text, *place)
    return tells_memory(text[match.end() if match else place[0] : place[1]])


def answers_of_memory(rows: Iterable[tuple[str, Iterable[Part]]]) -> frozenset[str]:
    """Return the ids of the shell calls in these rows, each a text with its parts, that a memory answered.

    A call's result shows whether it failed: its output is then no memory content.
    """
    call_ids: set[str] = set()
    failed: set[str] = set()
    for text, parts in rows:
        for part in parts:
            if part.kind == "tool_call" and part.call and asks_in_shell(text, part):
                call_ids.add(part.call)
            elif part.kind == "tool_result" and part.failed:
                failed.add(part.call)
    return frozenset(call_ids - failed)
