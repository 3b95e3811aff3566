"""sync private: manage private wings, whose content never leaves this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class SyncPrivateRequest:
    """The wings to make private or public; without any, private wings are listed."""

    wings: Annotated[
        tuple[str, ...],
        About(
            "Names of wings, which need not exist yet. Without a name, the private wings are listed.",
            positional=True,
            option="WING",
        ),
    ] = ()
    public: Annotated[bool, About("Let the wings leave this machine again, with the next push.")] = False


@dataclass(frozen=True, slots=True)
class MergedPrivate:
    """A private wing that is part of another: therefore that wing is not pushed either."""

    wing: str
    into: str


@dataclass(frozen=True, slots=True)
class SyncPrivateResult:
    """The wings that are never pushed, and those of which something was pushed before."""

    private: tuple[str, ...]
    left_already: tuple[str, ...] = ()
    """The given wings of which something was pushed to a remote before."""
    merged: tuple[MergedPrivate, ...] = ()
    """Private wings that are part of another; `private` has the others."""
    created: tuple[str, ...] = ()
    """The given wings that did not exist before."""


def sync_private(context: Context, request: SyncPrivateRequest) -> SyncPrivateResult:
    """Keep wings on this machine: nothing in them goes to any remote, and what was ever in one stays here.

    A wing can be made private before anything is filed in it and before a remote exists. Renaming it keeps it private.
    What went to a remote before stays there, and on the devices that pulled it; 'palazzo erase' also erases it there.
    If a wing was merged while it was private, the other one also stays here, until either is made --public.
    """
    from palazzo.operations.arguments import place_name
    from palazzo.store import place_rows, remote_rows

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
    from palazzo.store import place_rows, remote_rows

    names = place_rows.wings(connection)
    private_wings = remote_rows.listed_private(connection)
    merged = (MergedPrivate(wing.name, names[wing.part_of]) for wing in private_wings if wing.part_of is not None)
    return tuple(wing.name for wing in private_wings if wing.part_of is None), tuple(merged)


def _resolve_private_wing(connection: Connection, name: str, wing: int) -> int:
    """Return the wing to make public: the private one with that name, else a private one merged into it."""
    from palazzo.store import remote_rows

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


OPERATION = Operation(
    "sync_private",
    SyncPrivateRequest,
    SyncPrivateResult,
    sync_private,
    scope="admin",
    writes=True,
    examples=("palazzo sync private diary-ada", "palazzo sync private"),
)
