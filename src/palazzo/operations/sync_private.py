"""sync private: wings of which nothing leaves this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NoSuchPlace
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class SyncPrivateRequest:
    """Which wings; none lists them."""

    wings: Annotated[
        tuple[str, ...],
        About("The wings; without any, those that are private are listed.", positional=True, option="WING"),
    ] = ()
    public: Annotated[bool, About("Let them leave again, with the next push.")] = False


@dataclass(frozen=True, slots=True)
class SyncPrivateResult:
    """The wings of which nothing leaves, and those that have left already."""

    private: tuple[str, ...]
    left_already: tuple[str, ...] = ()
    """Of the wings named: those of which something went to a remote before."""


def sync_private(context: Context, request: SyncPrivateRequest) -> SyncPrivateResult:
    """Keep wings on this machine: nothing of them goes to any remote, and what ever stood in one stays here.

    What went to a remote before is there, and on the devices that pulled it; 'palazzo erase' reaches it.
    """
    from palazzo.store import places, syncing

    palace = context.writing() if request.wings else context.reading()
    left: list[str] = []
    if request.wings:
        with palace.database.transaction() as connection:
            for name in request.wings:
                wing = places.wing_led_to(connection, name)
                if wing is None:
                    raise NoSuchPlace(f"There is no wing '{name}'; 'palazzo wing list' shows those that there are.")
                if request.public:
                    syncing.make_public(connection, wing)
                else:
                    syncing.make_private(connection, wing, palace.clock())
                    left += [name] if syncing.has_left(connection, wing) else []
    with palace.database.snapshot() as connection:
        names = places.wings(connection)
        private = sorted(names[row] for row in syncing.private_wings(connection) if row in names)
    return SyncPrivateResult(tuple(private), tuple(left))


OPERATION = Operation("sync_private", SyncPrivateRequest, SyncPrivateResult, sync_private, writes=True)
