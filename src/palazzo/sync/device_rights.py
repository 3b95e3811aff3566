"""Device rights: which records of a device count, according to its right.

erase    everything
change   no erasures: nothing that covers words or says that they are gone
add      new records that change nothing that was here, as from another person's export, but with their own trust
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from palazzo.store.device_rows import Right
from palazzo.sync.merge import OWN_DEVICE, Origin
from palazzo.sync.record_lines import kind_of
from palazzo.sync.records.chain_records import Device, Link
from palazzo.sync.records.erasure_records import Erasure
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record

LIMITED_RIGHT = Origin("other", "user")


def origin_of(may: Right) -> Origin:
    """Return the origin that vouches for the records of a device."""
    return LIMITED_RIGHT if may == "add" else OWN_DEVICE


def allowed_records(records: Iterable[Record], device: str, may: Right) -> tuple[list[Record], Counter[str]]:
    """Return the records that a device may write, and how many of each kind it may not."""
    if may == "erase":
        return list(records), Counter()
    permitted_records: list[Record] = []
    refused_counts: Counter[str] = Counter()
    for record in records:
        match record:
            case Erasure():
                refused_counts["erasure"] += 1
            case Item(salt=b""):  # some of its words were erased; it would hide the local ones
                refused_counts["erased item"] += 1
            case Device() if record.id != device:
                pass
            case Link() if record.device != device:
                refused_counts[kind_of(record)] += 1
            case Link(absent="erased"):
                permitted_records.append(replace(record, absent="withheld"))
            case _:
                permitted_records.append(record)
    return permitted_records, refused_counts
