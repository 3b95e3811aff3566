"""The state of a palace at a change, by which a file derived from it is recognised as derived from this palace's past.

A palace can be replaced by a backup, or by a copy that somebody put in its place. A change number alone would then
name another state, so the newest links of the chains, the newest act, the changes before it and the file's edition
belong to it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.store import chain_links, change_log, items, tombstones
from palazzo.store.database import Connection

_COMPARED_CHANGES = 64
"""The number of changes that are compared, of derived data. Two copies of a palace that get different text differ in
their chains, and where something else is done to them, in the ids of their acts.
"""


@frozen
class PalaceState:
    """A state of a palace: at the change `seq`, after `erasures`, in an edition of its file."""

    seq: int
    edition: int
    erasures: int
    changes: str
    links: tuple[tuple[int, int, str], ...]
    """(device, number, hash) of the newest link of each chain."""
    act: tuple[int, str]
    """(row, id) of the newest act, or (0, "")."""

    @classmethod
    def read(cls, connection: Connection, seq: int) -> PalaceState:
        """Return the present state of the palace, whose newest change is `seq`."""
        devices = [int(device) for (device,) in connection.execute("SELECT id FROM device ORDER BY id")]
        newest_links = ((device, *items.last_link(connection, device)) for device in devices)
        return cls(
            seq,
            _edition(connection),
            tombstones.count_erasures(connection),
            _digest_changes(connection, seq),
            tuple((device, number, code.hex()) for device, number, code in newest_links if number),
            _newest_act(connection),
        )

    def is_past_of(self, connection: Connection) -> bool:
        """Whether the palace was in this state, and nothing was erased since."""
        return (
            self.edition == _edition(connection)
            and self.erasures == tombstones.count_erasures(connection)
            and self.changes == _digest_changes(connection, self.seq)
            and all(_has_link(connection, *link) for link in self.links)
            and (not self.act[0] or _act_id(connection, self.act[0]) == self.act[1])
        )


def parse_state(fields: dict[str, Any]) -> PalaceState:
    """Return the state that was written as JSON, as `dataclasses.asdict` gives it."""
    links = tuple((device, number, code) for device, number, code in fields["links"])
    return PalaceState(**fields | {"links": links, "act": tuple(fields["act"])})


def _edition(connection: Connection) -> int:
    ((number,),) = connection.execute("PRAGMA user_version")
    return int(number)


def _newest_act(connection: Connection) -> tuple[int, str]:
    for row, uid in connection.execute("SELECT id, uid FROM act ORDER BY id DESC LIMIT 1"):
        return int(row), bytes(uid).hex()
    return 0, ""


def _act_id(connection: Connection, row: int) -> str:
    return "".join(bytes(uid).hex() for (uid,) in connection.execute("SELECT uid FROM act WHERE id = ?", (row,)))


def _has_link(connection: Connection, device: int, number: int, code: str) -> bool:
    link = chain_links.link_at(connection, device, number)
    return link is not None and link.hash.hex() == code


def _digest_changes(connection: Connection, seq: int) -> str:
    """Return a hash of the newest changes up to `seq`, which is not that of a log that ends before."""
    digest = hashlib.blake2b(digest_size=16)
    for change in change_log.newest_until(connection, seq, _COMPARED_CHANGES):
        digest.update(repr(change).encode())
    return digest.hexdigest()
