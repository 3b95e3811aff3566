"""sync private: manage private wings, whose content never leaves this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.features.sync.contract import MergedPrivate, SyncPrivateRequest, SyncPrivateResult
from palazzo.operations.arguments import place_name
from palazzo.store import place_rows, remote_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


def sync_private(context: Context, request: SyncPrivateRequest) -> SyncPrivateResult:
    """Keep wings on this machine: nothing in them goes to any remote, and what was ever in one stays here."""
    palace = context.writing() if request.wings else context.reading()
    pushed_names: list[str] = []
    created: list[str] = []
    if request.wings:
        with palace.database.transaction() as connection:
            for name in request.wings:
                wing = place_rows.wing_led_to(connection, name) or place_rows.wing_led_to(
                    connection, place_name("WING", name)
                )
                if request.public:
                    if wing is None:
                        raise NoSuchPlace(f"There is no wing '{name}'; 'palazzo wing list' shows all wings.")
                    remote_rows.make_public(connection, _resolve_private_wing(connection, name, wing))
                    continue
                if wing is None:  # created now, so that its first note is private, whoever files it
                    wing = place_rows.wing_id(connection, place_name("WING", name))
                    created.append(name)
                remote_rows.make_private(connection, wing, palace.clock())
                pushed_names += [name] if remote_rows.has_left(connection, wing) else []
    with palace.database.snapshot() as connection:
        private, merged_wings = list_private_wings(connection)
    return SyncPrivateResult(private, tuple(pushed_names), merged_wings, tuple(created))


def list_private_wings(connection: Connection) -> tuple[tuple[str, ...], tuple[MergedPrivate, ...]]:
    """Return the names of the private wings, and the private wings that are merged into another."""
    names = place_rows.wings(connection)
    private_wings = remote_rows.listed_private(connection)
    merged = (MergedPrivate(wing.name, names[wing.part_of]) for wing in private_wings if wing.part_of is not None)
    return tuple(wing.name for wing in private_wings if wing.part_of is None), tuple(merged)


def _resolve_private_wing(connection: Connection, name: str, wing: int) -> int:
    """Return the wing to make public: the private one with that name, else a private one merged into it."""
    private_wings = remote_rows.listed_private(connection)
    if any(private_wing.row == wing for private_wing in private_wings):
        return wing
    own = [
        private_wing for private_wing in private_wings if private_wing.part_of is not None and private_wing.name == name
    ]
    parts = own or [private_wing for private_wing in private_wings if private_wing.part_of == wing]
    if len(parts) > 1:
        quoted_names = ", ".join(f"'{private_wing.name}'" for private_wing in parts)
        raise UsageError(
            f"'{name}' has several private wings merged into it: {quoted_names}; name the one to make public."
        )
    return parts[0].row if parts else wing
