"""Filter for erased words: words that tombstones recognise are removed from new items before anything is packed.

If a row holds such words, its own bytes are not kept at all: they may spell the words in ways that no rule recognises.
Its text is kept, with █ for each code point of the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.store.tombstones import mask_text
from palazzo.text.escapes import spellings, strings
from palazzo.text.hashed_words import COVER, Finder

if TYPE_CHECKING:
    from palazzo.archive.ingest import NewItem


_KEPT_NOTES = frozenset(["uuid", "parent", "cwd", "variant_of", "noise", "redacted", "decoder"])
"""Metadata keys that remain when an item's whole text was erased: those that give its position and its origin."""


def bare_notes(notes: Mapping[str, object]) -> str:
    """Return what is left of an item's stored notes when its whole text was erased."""
    return json.dumps({name: value for name, value in notes.items() if name in _KEPT_NOTES})


def at_moment(text: str, moment: Micros) -> str:
    """Return a key for a short text, made with its time: many items say `ok`, few in the same microsecond."""
    return f"{moment} {text.strip()}"


def decode_spellings(raw: bytes) -> Iterator[str]:
    """Yield the possible readings of bytes as text: as they are, and with the escapes of JSON undone."""
    yield from spellings(raw.decode("utf-8", "surrogateescape"))
    if b"\0" in raw[:4096]:
        for encoding in ("utf-16-le", "utf-16-be"):
            yield raw[: len(raw) // 2 * 2].decode(encoding, "replace")


def cover_erased_items(filings: Sequence[NewItem], finder: Finder) -> list[NewItem]:
    """Return new items as they are to be kept; an item without erased text is returned unchanged."""
    if not finder:
        return list(filings)
    item_texts = [list(_collect_texts(new_item)) for new_item in filings]
    owners = [n for n, texts in enumerate(item_texts) for _ in texts]
    match_indices = {owners[n] for n in finder.suspects([text for texts in item_texts for text in texts])}
    match_indices.update(
        n for n, new_item in enumerate(filings) if new_item.kind == "noise" and _is_cut_off(new_item.raw, finder)
    )
    return [_cover_item(new_item, finder) if n in match_indices else new_item for n, new_item in enumerate(filings)]


def _is_cut_off(raw: bytes | None, finder: Finder) -> bool:
    """Return whether a host's own row quotes the beginning of an erased text, as `last-prompt` rows do."""
    return raw is not None and any(finder.begins(text) for text in strings(raw))


def _collect_texts(new_item: NewItem) -> Iterator[str]:
    yield new_item.text
    yield at_moment(new_item.text, new_item.created_at)
    yield from (new_item.author, new_item.thread, new_item.branch, new_item.commit)
    yield from (name for part in new_item.parts for name in (part.name, part.call) if name)
    yield from _strings(new_item.meta)
    if new_item.raw is not None and not (
        new_item.kind == "document" and new_item.raw == new_item.text.encode(errors="ignore")
    ):
        yield from decode_spellings(new_item.raw)


def _cover_item(new_item: NewItem, finder: Finder) -> NewItem:
    whole = finder.is_whole(at_moment(new_item.text, new_item.created_at))
    clean_item = replace(
        new_item,
        text=COVER * len(new_item.text) if whole else finder.cover_text(new_item.text),
        raw=None,
        author=mask_text(finder, new_item.author),
        thread=mask_text(finder, new_item.thread),
        branch=mask_text(finder, new_item.branch),
        commit=mask_text(finder, new_item.commit),
        parts=tuple(
            replace(part, name=mask_text(finder, part.name), call=mask_text(finder, part.call))
            for part in new_item.parts
        ),
        meta={name: _mark_value(value, finder) for name, value in new_item.meta.items()},
    )
    return replace(clean_item, id=new_item.name(clean_item)) if new_item.name else clean_item


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for element in value.values():
            yield from _strings(element)
        yield from (key for key in value if isinstance(key, str))
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _strings(element)


def _mark_value(value: object, finder: Finder) -> object:
    if isinstance(value, str):
        return mask_text(finder, value)
    if isinstance(value, dict):
        return {
            mask_text(finder, key) if isinstance(key, str) else key: _mark_value(element, finder)
            for key, element in value.items()
        }
    return [_mark_value(element, finder) for element in value] if isinstance(value, list | tuple) else value
