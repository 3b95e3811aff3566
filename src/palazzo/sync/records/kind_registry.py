"""Kind registry: all kinds of records, in the order of their lines.

A record refers to kinds before its own, or to its own. A new kind is a module of this folder, and its descriptor here.
"""

from __future__ import annotations

from typing import Any

from palazzo.sync.records.act_records import ACT
from palazzo.sync.records.chain_records import DEVICE, LINK
from palazzo.sync.records.conflict_records import CONFLICT
from palazzo.sync.records.entity_records import ENTITY, ENTITY_LINK, PREDICATE_RULE
from palazzo.sync.records.erasure_records import ERASURE
from palazzo.sync.records.fact_records import FACT, FACT_VERSION, UNWANTED_FACT
from palazzo.sync.records.group_records import GROUP, MEMBER
from palazzo.sync.records.header_record import HEADER
from palazzo.sync.records.item_records import ITEM
from palazzo.sync.records.place_records import ARRANGEMENT, PROJECT, ROOM, WING
from palazzo.sync.records.record_kind import Record, RecordKind
from palazzo.sync.records.source_records import REPETITION, REVISION, SOURCE
from palazzo.sync.records.task_records import TASK, TASK_STATE
from palazzo.sync.records.tunnel_records import TUNNEL

_KINDS: tuple[RecordKind[Any], ...] = (
    HEADER,
    DEVICE,
    WING,
    ROOM,
    PROJECT,
    SOURCE,
    ITEM,
    REPETITION,
    REVISION,
    LINK,
    GROUP,
    ACT,
    TASK,
    TASK_STATE,
    ENTITY,
    ENTITY_LINK,
    PREDICATE_RULE,
    FACT,
    FACT_VERSION,
    CONFLICT,
    ARRANGEMENT,
    TUNNEL,
    ERASURE,
    UNWANTED_FACT,
    MEMBER,
)
RECORD_KINDS = {kind.name: kind for kind in _KINDS}
"""The kinds by name, in their order."""
REFERENCED_KINDS = frozenset(kind for descriptor in _KINDS for kind in descriptor.references.values())
"""Kinds to which other records refer."""
_BY_CLASS: dict[type[Record], RecordKind[Any]] = {kind.record_class: kind for kind in _KINDS}


def descriptor_of(record: Record) -> RecordKind[Any]:
    """Return the descriptor of a record's kind."""
    return _BY_CLASS[type(record)]
