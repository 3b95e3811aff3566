"""What an erase certifies: which items, where, when, what was looked at, and how the words are known again."""

from __future__ import annotations

import json
from dataclasses import asdict

from palazzo.archive import chain
from palazzo.archive.erasing import Erased, Found
from palazzo.model import Certificate, ErasedItem, Micros
from palazzo.store import items
from palazzo.store.database import Connection


def dump(proof: Certificate) -> str:
    """Return a certificate as JSON, as the palace keeps it."""
    return json.dumps(asdict(proof), separators=(",", ":"))


def certificate(connection: Connection, uid: bytes, at: Micros, erased: Erased, found: Found, left: int) -> Certificate:
    """Return the certificate of what was just done, in the same transaction."""
    (palace,) = next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))
    seq, head = items.last_link(connection, chain.OWN_DEVICE)
    return Certificate(
        palace=str(palace),
        erasure=uid.hex(),
        at=at,
        items=tuple(ErasedItem(one, spans) for one, spans in erased.items),
        names=dict(erased.names),
        packs=erased.packs,
        tombstones=tuple(words.hash.hex() for words in erased.words),
        left=left,
        looked=dict(found.looked),
        unreadable=tuple(found.unreadable),
        chain_seq=seq,
        chain_head=head.hex(),
    )


def load(stored: str) -> Certificate:
    """Return the certificate that `dump` wrote."""
    told = json.loads(stored)
    told["items"] = tuple(ErasedItem(one["id"], tuple(tuple(span) for span in one["spans"])) for one in told["items"])
    return Certificate(**{**told, "tombstones": tuple(told["tombstones"]), "unreadable": tuple(told["unreadable"])})
