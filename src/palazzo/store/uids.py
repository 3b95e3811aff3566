"""Ids of rows that are identified by their content, so that equal content has the same id on every device.

The input of such an id never changes: it is the id of rows on other machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

ID_BYTES = 16
_Scalar = str | bytes | int | float | None


def of_wing(first_name: str, number: int) -> bytes:
    """Return the id of the wing created under a name that `number` earlier wings had."""
    return _hash("wing", first_name, number)


def of_room(wing: bytes, first_name: str, number: int) -> bytes:
    """Return the id of the room created in the wing with that id, under a name that `number` earlier rooms had."""
    return _hash("room", wing, first_name, number)


def of_entity(name: str) -> bytes:
    """Return the id of the entity with exactly that name."""
    return _hash("entity", name)


def of_fact(subject: bytes, predicate: str, thing: bytes, wing: bytes | None, valid_to: int | None) -> bytes:
    """Return a fact's id: from entity ids, a predicate's name, a wing's id, and the end it is stated with."""
    return _hash("fact", subject, predicate, thing, wing, valid_to)


def of_version(
    fact: bytes,
    validity: tuple[int | None, int | None],
    confidence: float,
    superseded_by: bytes | None,
    recorded_at: int,
    sources: Iterable[tuple[_Scalar, ...]],
    number: int,
) -> bytes:
    """Return the id of a fact version; `number` distinguishes versions with the same statement and moment.

    A source is what `fact_source` stores of it from `stated_by` on, followed by its citations: all in one tuple.
    """
    values = (fact, *validity, confidence, superseded_by, recorded_at, number)
    return _hash("fact version", *values, *(_hash("source", *source) for source in sources))


def of_state(note: bytes, state: str, recorded_at: int, number: int) -> bytes:
    """Return the id of a task's state, from its note; `number` as in `of_version`."""
    return _hash("task state", note, state, recorded_at, number)


def of_erased(drawer: bytes) -> bytes:
    """Return the id of the act that forgets a drawer of which an erase left nothing."""
    return _hash("erased", drawer)


Side = tuple[bytes | None, bytes | None, int | None, int | None]
"""One side of a conflict: the id of a fact, or of an item with a span of it."""


def of_conflict(kind: str, first_side: Side, second_side: Side) -> bytes:
    """Return the id of a conflict between two sides (fact, item, start, end), in either order."""
    return _hash("conflict", kind, *sorted(_hash("side", *side) for side in (first_side, second_side)))


def free(known_by: Callable[[int], bytes], is_taken: Callable[[bytes], bool]) -> bytes:
    """Return the first id that `known_by` gives for 0, 1, … and that is not taken."""
    number = 0
    while is_taken(uid := known_by(number)):
        number += 1
    return uid


def _hash(*said: _Scalar) -> bytes:
    """Hash values with their types and lengths, so that different lists have different input."""
    state = hashlib.blake2b(digest_size=ID_BYTES)
    for value in said:
        mark, data = _bytes(value)
        state.update(mark + len(data).to_bytes(8) + data)
    return state.digest()


def _bytes(value: _Scalar) -> tuple[bytes, bytes]:
    if value is None:
        return b"-", b""
    if isinstance(value, bytes):
        return b"b", value
    if isinstance(value, str):
        return b"s", value.encode("utf-8", "surrogatepass")
    return (b"f", value.hex().encode()) if isinstance(value, float) else (b"i", str(value).encode())
