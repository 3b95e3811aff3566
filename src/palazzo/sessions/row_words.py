"""The words of a row, in the form that `security/echo_detection` compares. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from palazzo.index.cut_material import StoredWords
from palazzo.index.cut_rules import CutItem, belief
from palazzo.index.visible_text import quoted_ranges, subtract_ranges
from palazzo.model import Part
from palazzo.security.echo_detection import Utterance
from palazzo.store import items
from palazzo.store.taint_rows import Mark

_SHORT = 2_000
"""Bytes of a row up to which what was read of it is remembered: 4,096 such rows take 16 MB at most, and usually two."""


def read_heard_words(words: StoredWords, marks: frozenset[Mark], is_local: bool) -> tuple[Utterance, ...]:
    """Return the words of a stored row with these marks; a service reads the same rows at each turn of a session."""
    read = _read_short if len(words.text) <= _SHORT else _read_stored
    return read(words, marks, is_local)


def _read_stored(words: StoredWords, marks: frozenset[Mark], is_local: bool) -> tuple[Utterance, ...]:
    text, parts = items.decode_text(words.text, words.codec), items.load_parts(words.parts)
    return tuple(heard_words(CutItem(0, b"", words.role, "", text, parts, words.trust, 0), marks, is_local))


_read_short = lru_cache(maxsize=4096)(_read_stored)


def heard_words(item: CutItem, marks: Iterable[Mark], is_local: bool) -> list[Utterance]:
    """Return the words of a row with these marks; `is_local`: no untrusted words came before it.

    After untrusted words, only a person's words count as trusted: an agent or a file may repeat the untrusted ones.
    """
    untrusted_starts, tainted_starts, local_starts = set(), set(), set()
    for mark in marks:
        if mark.kind == "met":
            untrusted_starts.add(mark.start)
        elif mark.kind == "tainted":
            tainted_starts.add(mark.start)
        elif mark.kind == "local":
            local_starts.add(mark.start)
    utterances: list[Utterance] = []
    for part in item.parts or (Part("text", 0, len(item.text)),):
        words = item.text[part.start : part.end]
        part_belief = belief(item, part)
        if part.start in untrusted_starts:
            utterances.append(Utterance(words, "untrusted"))
        elif part.start in tainted_starts or (part_belief.is_outside and part.start not in local_starts):
            continue  # tainted words of an agent, or words that a person approved
        elif part_belief.trust == "user":
            quotations = quoted_ranges(item.text, part, item.role, item.trust)
            utterances += [
                Utterance(item.text[quotation.start : quotation.end], "untrusted") for quotation in quotations
            ]
            own_ranges = subtract_ranges(
                part.start, part.end, [(quotation.start, quotation.end) for quotation in quotations]
            )
            utterances += [Utterance(item.text[low:high], "person") for low, high in own_ranges]
        elif is_local:
            utterances.append(Utterance(words, "local"))
    return utterances


def holds_echo(item: CutItem, part: Part) -> bool:
    """Return whether a part is an agent's words: text, thinking or calls."""
    return item.role == "assistant" and part.kind in ("text", "thinking", "tool_call")
