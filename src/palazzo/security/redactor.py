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

from palazzo.model import Part
from palazzo.security.private_spans import private_spans
from palazzo.security.secret_phrases import RuleSpan
from palazzo.security.secret_scanner import find_secrets, merged, outside_marks

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
class Redaction:
    """A text without its secrets, and where each of them stood in the original."""

    text: str
    edits: tuple[Edit, ...]

    def shift(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Return `parts` of the original text as parts of the redacted one.

        A mark belongs to the part that its secret began in. A part of which nothing is left is left out.
        """
        starts = [edit.start for edit in self.edits]
        offsets = [0, *accumulate(len(edit.mark) - (edit.end - edit.start) for edit in self.edits)]

        def shift_position(at: int) -> int:
            edit_count = bisect_left(starts, at)
            return max(at, self.edits[edit_count - 1].end) + offsets[edit_count] if edit_count else at

        redacted_parts = (
            replace(part, start=shift_position(part.start), end=shift_position(part.end)) for part in parts
        )
        return tuple(part for part in redacted_parts if part.start < part.end)

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
    ranges: Sequence[tuple[int, int]] | None = None,
    secret_rules: Mapping[str, str] = NOTHING_KNOWN,
) -> Redaction:
    """Return `text` with its secrets and private spans replaced.

    `key` fingerprints the secrets (1 to 64 bytes; ValueError otherwise). Private spans count `within` these
    stretches, everywhere without; one that is never closed ends with the stretch it began in. `known` are
    secrets and private spans found elsewhere in the same message, with their rules: where they stand here as
    words, they go too.
    """
    if not 1 <= len(key) <= 64:
        raise ValueError(f"the fingerprint key has {len(key)} bytes; it takes 1 to 64")
    stretches = [(0, len(text))] if ranges is None else ranges
    edits = [Edit(*span, PRIVATE_RULE, PRIVATE) for stretch in stretches for span in private_spans(text, *stretch)]
    current = _apply_edits(text, edits)
    for _ in range(_PASSES):
        matches: list[RuleSpan] = [(span.start, span.end, span.rule) for span in find_secrets(current)]
        if secret_rules:
            matches = merged(outside_marks(current, [*matches, *_occurrences(current, secret_rules)]))
        if not matches:
            break
        edits = _merge_edits(edits, [Edit(a, b, rule, mark(current[a:b], rule, key)) for a, b, rule in matches])
        current = _apply_edits(text, edits)
    return Redaction(current, tuple(edits))


def mark(secret: str, rule: str, key: bytes) -> str:
    """Return what stands for `secret`: under one key, the same for the same secret and rule."""
    if rule == PRIVATE_RULE:
        return PRIVATE
    digest = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), key=key, digest_size=4)
    return f"[redacted:{rule}:{digest.hexdigest()}]"


def _occurrences(text: str, secret_rules: Mapping[str, str]) -> Iterator[RuleSpan]:
    for secret, rule in secret_rules.items():
        if secret and secret in text:
            for match in re.finditer(rf"(?<!\w){re.escape(secret)}(?!\w)", text):
                yield match.start(), match.end(), rule


def _apply_edits(text: str, edits: Sequence[Edit]) -> str:
    if not edits:
        return text
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += (text[at : edit.start], edit.mark)
        at = edit.end
    return "".join([*pieces, text[at:]])


def _merge_edits(edits: Sequence[Edit], later_edits: Sequence[Edit]) -> list[Edit]:
    """Edits of the original text and edits of what they made of it, as edits of the original.

    What was found in the second lies between the marks that the first put there, never across one.
    """
    offsets = list(accumulate((len(edit.mark) - (edit.end - edit.start) for edit in edits), initial=0))
    mark_ends = [edit.end + offsets[n + 1] for n, edit in enumerate(edits)]
    rebased_edits = []
    for edit in later_edits:
        by = offsets[bisect_right(mark_ends, edit.start)]
        rebased_edits.append(replace(edit, start=edit.start - by, end=edit.end - by))
    return sorted([*edits, *rebased_edits], key=lambda edit: edit.start)
