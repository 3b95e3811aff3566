"""Size samples: the size of the palace's file once a day, as one row of `meta`; and the size of the archive by day."""

from __future__ import annotations

import json

from palazzo.store.database import Connection
from palazzo.store.palace_overview import size_in_bytes

HOUR = 3_600_000_000
_KEY = "sizes"
_MOST_DAYS = 731
"""Two years; older samples are dropped."""


def read(connection: Connection) -> dict[str, int]:
    """Return the bytes of the palace's file by local date, in order."""
    for (value,) in connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)):
        return {str(day): int(size) for day, size in sorted(json.loads(str(value)).items())}
    return {}


def record(connection: Connection, day: str) -> None:
    """Record the size of the palace's file for a local date; a later sample of the same date replaces it."""
    samples = {**read(connection), day: size_in_bytes(connection)}
    kept_days = sorted(samples)[-_MOST_DAYS:]
    document = json.dumps({kept_day: samples[kept_day] for kept_day in kept_days})
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", (_KEY, document))


def archived_by_hour(connection: Connection, after: int) -> tuple[dict[int, int], int]:
    """Return the bytes of text that were archived in each hour since 1970, as they are stored; and the last item.

    Only items (row ids) after `after` count; without any, the last item is `after`.
    """
    rows = list(
        connection.execute(
            f"SELECT recorded_at / {HOUR}, sum(length(text)), max(id) FROM item WHERE id > ? GROUP BY 1 ORDER BY 1",
            (after,),
        )
    )
    return {int(hour): int(size) for hour, size, _ in rows}, max((int(row) for _, _, row in rows), default=after)
