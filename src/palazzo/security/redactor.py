"""Redaction: secrets become marks, private spans become `[private]`, all other characters stay unchanged.

A mark is `[redacted:<rule>:<fingerprint>]`. The fingerprint is keyed: two mentions of one secret have the same
fingerprint, and without the palace's key it is impossible to test candidates against it. Redacting a text twice changes
nothing.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from palazzo.frozen_class import frozen
from palazzo.model import Part
from palazzo.security.private_spans import private_spans
from palazzo.security.secret_phrases import RuleSpan
from palazzo.security.secret_scanner import find_secrets, merged, outside_marks

PRIVATE, PRIVATE_RULE = "[private]", "private"
NOTHING_KNOWN: Mapping[str, str] = {}
_PASSES = 16
"""A mark may expose text next to a secret, so the result is searched again. Each pass leaves less to search; a text
that was not constructed for this needs no third pass.
"""


@frozen
class Edit:
    """A range of the original text (code points, half-open), the matching rule, and the mark that replaces it."""

    start: int
    end: int
    rule: str
    mark: str


@frozen
class Redaction:
    """A text without its secrets, and the position of each secret in the original."""

    text: str
    edits: tuple[Edit, ...]

    def shift(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Return `parts` of the original text as parts of the redacted one.

        A mark belongs to the part that its secret began in. A part that becomes empty is left out.
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
        """Return what was removed from `original`, each with its rule. For `known`; must never be stored."""
        return {original[edit.start : edit.end]: edit.rule for edit in self.edits}

    @property
    def rules(self) -> Counter[str]:
        """Return how many spans were replaced, by rule."""
        return Counter(edit.rule for edit in self.edits)


def redact(
    text: str,
    key: bytes,
    ranges: Sequence[tuple[int, int]] | None = None,
    secret_rules: Mapping[str, str] = NOTHING_KNOWN,
) -> Redaction:
    """Return `text` with its secrets and private spans replaced.

    `key` fingerprints the secrets (1 to 64 bytes; ValueError otherwise). Private spans are recognised `ranges` these
    stretches, everywhere if it is None; an unclosed one ends with the stretch it began in. `secret_rules` are secrets
    and private spans found elsewhere in the same message, with their rules: where they occur here as words, they are
    replaced too.
    """
    if not 1 <= len(key) <= 64:
        raise ValueError(f"the fingerprint key has {len(key)} bytes; it must have 1 to 64")
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
    """Return the mark that replaces `secret`: for one key, equal for equal secrets and rules."""
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
    """Combine edits of the original text and edits of the result as edits of the original.

    Second edits lie between the marks of the first ones, never across one.
    """
    offsets = list(accumulate((len(edit.mark) - (edit.end - edit.start) for edit in edits), initial=0))
    mark_ends = [edit.end + offsets[n + 1] for n, edit in enumerate(edits)]
    rebased_edits = []
    for edit in later_edits:
        by = offsets[bisect_right(mark_ends, edit.start)]
        rebased_edits.append(replace(edit, start=edit.start - by, end=edit.end - by))
    return sorted([*edits, *rebased_edits], key=lambda edit: edit.start)
