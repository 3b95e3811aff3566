"""Erasure certificates: which items, where and when, what was examined, and how the erased words are recognised
again.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from palazzo.archive import device_chain
from palazzo.archive.erasure import ErasureResult, SurveyResult
from palazzo.model import Certificate, ErasedItem, Micros
from palazzo.store import items
from palazzo.store.database import Connection


def dump(proof: Certificate) -> str:
    """Return a certificate as JSON, in the form that the palace keeps."""
    return json.dumps(asdict(proof), separators=(",", ":"))


def certificate(
    connection: Connection,
    uid: bytes,
    at: Micros,
    result: ErasureResult,
    survey_result: SurveyResult,
    remaining_count: int,
) -> Certificate:
    """Return the certificate of the erasure just done, in the same transaction."""
    (palace,) = next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))
    seq, head = items.last_link(connection, device_chain.OWN_DEVICE)
    return Certificate(
        palace=str(palace),
        erasure=uid.hex(),
        at=at,
        items=tuple(ErasedItem(item_id, spans) for item_id, spans in result.items),
        names=dict(result.names),
        packs=result.packs,
        tombstones=tuple(words.hash.hex() for words in result.words),
        left=remaining_count,
        looked=dict(survey_result.scan_counts),
        unreadable=tuple(survey_result.unreadable),
        chain_seq=seq,
        chain_head=head.hex(),
    )


def load(json_text: str) -> Certificate:
    """Return the certificate that `dump` wrote."""
    record = json.loads(json_text)
    record["items"] = tuple(
        ErasedItem(item["id"], tuple(tuple(span) for span in item["spans"])) for item in record["items"]
    )
    return Certificate(
        **{**record, "tombstones": tuple(record["tombstones"]), "unreadable": tuple(record["unreadable"])}
    )
