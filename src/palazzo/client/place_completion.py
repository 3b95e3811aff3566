"""Names of wings and rooms, for completion in a shell: it asks at every press of Tab, so only SQLite is loaded."""

from __future__ import annotations

from palazzo.client import rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def place_names(kind: str, palace: str | None, variables: Mapping[str, str]) -> list[str]:
    """Return the names of the wings or rooms of a palace; none if it cannot be read now."""
    from palazzo.store import readonly_palace

    try:
        connection = readonly_palace.open_palace(rpc.chosen_palace(palace, variables))
        try:
            return readonly_palace.place_names(connection, kind)
        finally:
            connection.close()
    except Exception:  # noqa: BLE001 - a shell has no place for an error, and the command itself will report it
        return []
