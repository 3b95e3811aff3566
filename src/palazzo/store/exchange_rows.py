"""Events and artifacts that agents exchange: items that are never cut into drawers, in one source per device.

The order of arrival is that of the items' row ids, so a reader that resumes after an event misses none that another
device's sync brings later. The fields of an event stand in its item's `meta`, its words in the text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Trust
from palazzo.store.database import Connection
from palazzo.store.items import decode_text

SOURCE_KIND = "exchange"
"""The kind of the sources; the key of each is the id of the device whose agents wrote it."""
EVENT, ARTIFACT = "event", "artifact"
"""The key in an item's `meta` under which its fields stand."""
BROADCAST = "*"
"""The recipient of an event that every agent reads."""

_SELECT = (
    "SELECT item.id, item.uid, json_extract(source.key, '$[0]'), item.ordinal, item.author, item.branch,"
    " item.commit_id, item.created_at, item.trust, item.meta, {text} FROM source"
    f" CROSS JOIN item ON item.source = source.id WHERE source.kind = '{SOURCE_KIND}' AND item.kind = 'noise'"
)
_WITH_TEXT, _WITHOUT_TEXT = _SELECT.format(text="item.text, item.text_codec"), _SELECT.format(text="x'', 0")
_FIELDS = ("stream", "room", "topic", "type", "correlation", "status")


@frozen
class ExchangeRow:
    """One event or artifact. `row` is its place in the order of arrival, `device_seq` its number on its device."""

    row: int
    uid: str
    device: str
    device_seq: int
    author: str
    branch: str
    commit: str
    at: Micros
    trust: Trust
    fields: Mapping[str, Any]
    text: str


@frozen
class EventFilter:
    """Which events to list. `fields` are exact values of an event's fields; `to` also matches broadcasts.

    `after` and `before` are row ids, `since` a time.
    """

    fields: Mapping[str, str]
    to: str | None = None
    author: str | None = None
    after: int | None = None
    before: int | None = None
    since: Micros | None = None


def list_events(connection: Connection, wanted: EventFilter, limit: int, newest_first: bool) -> list[ExchangeRow]:
    """Return events in the order of arrival, or the newest first."""
    conditions, values = _conditions(wanted)
    order = "DESC" if newest_first else "ASC"
    query = f"{_WITH_TEXT} AND {' AND '.join(conditions)} ORDER BY item.id {order} LIMIT ?"
    return [_read(row, EVENT) for row in connection.execute(query, (*values, limit))]


def find(connection: Connection, kind: str, uid: str) -> ExchangeRow | None:
    """Return the event or artifact with that id."""
    query = f"{_WITH_TEXT} AND item.uid = ? AND json_type(item.meta, '$.{kind}') = 'object'"
    return next((_read(row, kind) for row in connection.execute(query, (bytes.fromhex(uid),))), None)


def missing_artifacts(connection: Connection, uids: Sequence[str]) -> list[str]:
    """Return those of the ids that no artifact has."""
    query = f"{_WITHOUT_TEXT} AND item.uid = ? AND json_type(item.meta, '$.{ARTIFACT}') = 'object'"
    return [uid for uid in uids if not any(True for _ in connection.execute(query, (bytes.fromhex(uid),)))]


def next_number(connection: Connection, source_uid: bytes) -> int:
    """Return the number of the next event or artifact of a source: one more than the last."""
    rows = connection.execute(
        "SELECT coalesce(max(item.ordinal), 0) FROM source JOIN item ON item.source = source.id WHERE source.uid = ?",
        (source_uid,),
    )
    return int(next(rows)[0]) + 1


def last_numbers(connection: Connection) -> dict[str, int]:
    """Return, by device, the number of its last event or artifact that is known here."""
    rows = connection.execute(
        "SELECT json_extract(source.key, '$[0]'), max(item.ordinal) FROM source"
        f" JOIN item ON item.source = source.id WHERE source.kind = '{SOURCE_KIND}' GROUP BY source.id ORDER BY 1"
    )
    return {str(device): int(number) for device, number in rows}


def _conditions(wanted: EventFilter) -> tuple[list[str], list[Any]]:
    conditions, values = [f"json_type(item.meta, '$.{EVENT}') = 'object'"], list[Any]()
    for name in _FIELDS:
        if name in wanted.fields:
            conditions.append(f"json_extract(item.meta, '$.{EVENT}.{name}') = ?")
            values.append(wanted.fields[name])
    if wanted.to is not None:
        conditions.append(f"json_extract(item.meta, '$.{EVENT}.to') IN (?, '{BROADCAST}')")
        values.append(wanted.to)
    for condition, value in (
        ("item.author = ?", wanted.author),
        ("item.id > ?", wanted.after),
        ("item.id < ?", wanted.before),
        ("item.created_at >= ?", wanted.since),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    return conditions, values


def _read(row: tuple[Any, ...], kind: str) -> ExchangeRow:
    own, uid, device, number, author, branch, commit, at, trust, meta, text, codec = row
    fields = json.loads(meta)[kind]
    return ExchangeRow(
        int(own),
        bytes(uid).hex(),
        str(device),
        int(number),
        author,
        branch,
        commit,
        Micros(at),
        trust,
        fields,
        decode_text(text, codec),
    )
