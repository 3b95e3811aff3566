"""Redaction: secrets become marks, private spans become `[private]`, all else keeps every character.

A mark is `[redacted:<rule>:<fingerprint>]`; the fingerprint is keyed, so that two mentions of one secret are
seen to be the same, and nobody without the palace's key can try candidates against it. Redacting twice changes
nothing.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from palazzo.guard.private import private_spans
from palazzo.model import Part
from palazzo.security.secret_phrases import Found
from palazzo.security.secrets import find_secrets, merged, outside_marks

PRIVATE, PRIVATE_RULE = "[private]", "private"
NOTHING_KNOWN: Mapping[str, str] = {}
_PASSES = 16
"""A mark may lay bare what stood beside a secret, so the result is looked through again. Each pass leaves less
to look at; text that was not made for it needs no third."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of the original text (code points, half-open), the rule it falls under, the mark in its place."""

    start: int
    end: int
    rule: str
    mark: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and where each of them stood in the original."""

    text: str
    edits: tuple[Edit, ...]

    def shift(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Return `parts` of the original text as parts of the redacted one.

        A mark belongs to the part that its secret began in. A part of which nothing is left is left out.
        """
        starts = [edit.start for edit in self.edits]
        grown = [0, *accumulate(len(edit.mark) - (edit.end - edit.start) for edit in self.edits)]

        def moved(at: int) -> int:
            before = bisect_left(starts, at)
            return max(at, self.edits[before - 1].end) + grown[before] if before else at

        shifted = (replace(part, start=moved(part.start), end=moved(part.end)) for part in parts)
        return tuple(part for part in shifted if part.start < part.end)

    def secrets(self, original: str) -> dict[str, str]:
        """Return what was taken out of `original`, each with its rule. For `known`; never to be kept."""
        return {original[edit.start : edit.end]: edit.rule for edit in self.edits}

    @property
    def rules(self) -> Counter[str]:
        """How many stretches were replaced, by rule."""
        return Counter(edit.rule for edit in self.edits)


def redact(
    text: str,
    key: bytes,
    within: Sequence[tuple[int, int]] | None = None,
    known: Mapping[str, str] = NOTHING_KNOWN,
) -> Redacted:
    """Return `text` with its secrets and private spans replaced.

    `key` fingerprints the secrets (1 to 64 bytes; ValueError otherwise). Private spans count `within` these
    stretches, everywhere without; one that is never closed ends with the stretch it began in. `known` are
    secrets and private spans found elsewhere in the same message, with their rules: where they stand here as
    words, they go too.
    """
    if not 1 <= len(key) <= 64:
        raise ValueError(f"the fingerprint key has {len(key)} bytes; it takes 1 to 64")
    stretches = [(0, len(text))] if within is None else within
    edits = [Edit(*span, PRIVATE_RULE, PRIVATE) for stretch in stretches for span in private_spans(text, *stretch)]
    current = _applied(text, edits)
    for _ in range(_PASSES):
        found: list[Found] = [(span.start, span.end, span.rule) for span in find_secrets(current)]
        if known:
            found = merged(outside_marks(current, [*found, *_occurrences(current, known)]))
        if not found:
            break
        edits = _joined(edits, [Edit(a, b, rule, mark(current[a:b], rule, key)) for a, b, rule in found])
        current = _applied(text, edits)
    return Redacted(current, tuple(edits))


def mark(secret: str, rule: str, key: bytes) -> str:
    """Return what stands for `secret`: under one key, the same for the same secret and rule."""
    if rule == PRIVATE_RULE:
        return PRIVATE
    digest = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), key=key, digest_size=4)
    return f"[redacted:{rule}:{digest.hexdigest()}]"


def _occurrences(text: str, known: Mapping[str, str]) -> Iterator[Found]:
    for secret, rule in known.items():
        if secret and secret in text:
            for found in re.finditer(rf"(?<!\w){re.escape(secret)}(?!\w)", text):
                yield found.start(), found.end(), rule


def _applied(text: str, edits: Sequence[Edit]) -> str:
    if not edits:
        return text
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += (text[at : edit.start], edit.mark)
        at = edit.end
    return "".join([*pieces, text[at:]])


def _joined(edits: Sequence[Edit], found: Sequence[Edit]) -> list[Edit]:
    """Edits of the original text and edits of what they made of it, as edits of the original.

    What was found in the second lies between the marks that the first put there, never across one.
    """
    grown = list(accumulate((len(edit.mark) - (edit.end - edit.start) for edit in edits), initial=0))
    mark_ends = [edit.end + grown[n + 1] for n, edit in enumerate(edits)]
    moved = []
    for edit in found:
        by = grown[bisect_right(mark_ends, edit.start)]
        moved.append(replace(edit, start=edit.start - by, end=edit.end - by))
    return sorted([*edits, *moved], key=lambda edit: edit.start)
