"""The owner of each item of a wing: the first person who sent it, as long as they send it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import LiteralString

from palazzo.team.server.row_batches import insert_rows
from palazzo.team.server.scratch_palace import SentRecords
from palazzo.team.server.team_database import HeldWing, Session


class ItemOwners:
    """The owners of items of one wing, as far as they were loaded; `current` says who they are after a build."""

    def __init__(self, held: HeldWing) -> None:
        self._held = held
        self._stored: dict[bytes, int] = {}
        self.current: dict[bytes, int] = {}

    def load(self, items: Collection[bytes]) -> None:
        """Load the owners of those items that are not known yet."""
        items_without_owner = [item for item in items if item not in self.current]
        if items_without_owner:
            self._load("SELECT item, person FROM team.owned WHERE wing = %s AND item = ANY (%b)", items_without_owner)

    def load_all(self) -> bool:
        """Load the owners of all items; return whether there are any."""
        self._load("SELECT item, person FROM team.owned WHERE wing = %s")
        return bool(self._stored)

    def _load(self, query: LiteralString, *parameters: object) -> None:
        with self._held.transaction() as session:
            rows = session.execute(query, (self._held.wing, *parameters)).fetchall()
        owners = {bytes(item): int(person) for item, person in rows}
        self._stored |= owners
        self.current |= owners

    def settle(self, segments: Iterable[SentRecords]) -> None:
        """Forget owners who do not send their item any more: it goes to the next who sent it."""
        senders = {(item, segment.person) for segment in segments for item in segment.own_items}
        self.current = {item: person for item, person in self.current.items() if (item, person) in senders}

    def write(self, session: Session) -> None:
        """Store what has changed."""
        stale = [item for item, person in self._stored.items() if self.current.get(item) != person]
        if stale:
            session.execute("DELETE FROM team.owned WHERE wing = %s AND item = ANY (%b)", (self._held.wing, stale))
        new = (
            (self._held.wing, item, person) for item, person in self.current.items() if self._stored.get(item) != person
        )
        insert_rows(session, "owned", {"wing": "int", "item": "bytea", "person": "int"}, new)
