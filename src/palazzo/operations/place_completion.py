"""Names of wings and rooms, for completion in a shell: it asks at every press of Tab, so only SQLite is loaded."""

from __future__ import annotations

from palazzo.client import rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def place_names(kind: str, palace: str | None, variables: Mapping[str, str]) -> list[str]:
    """Return the names of the wings or rooms of a palace; none if it cannot be read now."""
    from contextlib import closing
    from pathlib import Path

    from palazzo.store import place_rows, schema
    from palazzo.store.database import Database

    try:
        with closing(Database(Path(rpc.chosen_palace(palace, variables)), "read")) as database:
            schema.check(database)
            with database.snapshot() as connection:
                return place_rows.wing_names(connection) if kind == "wing" else place_rows.room_names(connection)
    except Exception:  # noqa: BLE001 - a shell has no place for an error, and the command itself will report it
        return []
