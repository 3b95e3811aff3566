"""A session as those read it that follow sessions: what was said in it, but not what came from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from palazzo.derive import material
from palazzo.derive.digest_turns import Said
from palazzo.model import Micros, Part
from palazzo.store import digests
from palazzo.store.changes import Change, ChangeKind
from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class Session:
    """What was said, in order; by item, when it was and which words of it are forgotten."""

    said: list[Said]
    times: dict[int, Micros]
    holes: dict[int, tuple[tuple[int, int], ...]]

    def is_forgotten(self, places: Iterable[tuple[int, int, int]]) -> bool:
        """Whether somebody forgot words of one of these places (item, from, to)."""
        return any(low < end and start < high for item, start, end in places for low, high in self.holes.get(item, ()))


class OfSessions:
    """What consumers have in common that read a session anew when it has grown, or words of it went."""

    kinds: tuple[ChangeKind, ...] = ("item", "act", "erased", "reset")
    at_once = 1

    def touched(self, connection: Connection, log: Sequence[Change]) -> list[int]:
        """Return the sessions that these changes are about."""
        items = {change.ref for change in log if change.kind in ("item", "erased")}
        acts = {change.ref for change in log if change.kind == "act"}
        return sorted({*digests.sessions_of(connection, items), *digests.sessions_of_acts(connection, acts)})


def session(connection: Connection, source: int) -> Session:
    """Read a session.

    A sub-agent's session is its own thread; where a session has its sub-agents' words beside it, its own are read.
    """
    threads = digests.threads_of(connection, source)
    read = threads[:1] if "" in threads else threads
    rows = [row for thread in read for row, _, _ in material.thread_rows(connection, source, thread, -1)]
    loaded, _ = material.load(connection, rows)
    said = [
        Said(
            item.row,
            item.role,
            item.text,
            tuple(one for one in item.parts or (Part("text", 0, len(item.text)),) if one.trust != "external"),
        )
        for item in loaded
        if item.trust != "external"
    ]
    times = {item.row: Micros(item.filed.created_at) for item in loaded}
    return Session(said, times, {item.row: item.holes for item in loaded})
