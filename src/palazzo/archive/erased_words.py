"""What was erased is not taken in again: words that tombstones know leave what is filed, before anything is packed.

Where a row holds such words its own bytes are not kept at all: they may spell the words in ways that no rule sees
through. Its text is kept, with █ for each code point of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.store.tombstones import marked
from palazzo.text.escapes import spellings, strings
from palazzo.text.hashed import COVER, Finder

if TYPE_CHECKING:
    from palazzo.archive.door import Filing


_KEPT_NOTES = frozenset(["uuid", "parent", "cwd", "variant_of", "noise", "redacted", "decoder"])
"""What stays in the notes of an item whose whole text went: what places it, and how it came."""


def bare_notes(notes: Mapping[str, object]) -> str:
    """Return what is left of an item's notes, as they are stored, where its whole text went."""
    return json.dumps({name: value for name, value in notes.items() if name in _KEPT_NOTES})


def at_moment(text: str, moment: Micros) -> str:
    """Return what a short text is known by: many say `ok`, few at the same microsecond."""
    return f"{moment} {text.strip()}"


def spelled(raw: bytes) -> Iterator[str]:
    """Yield the ways in which bytes may be read as text: as they are, and with the escapes of JSON undone."""
    yield from spellings(raw.decode("utf-8", "surrogateescape"))
    if b"\0" in raw[:4096]:
        for encoding in ("utf-16-le", "utf-16-be"):
            yield raw[: len(raw) // 2 * 2].decode(encoding, "replace")


def without_erased(filings: Sequence[Filing], known: Finder) -> list[Filing]:
    """Return filings as they are to be kept; one in which nothing is known is returned as it is."""
    if not known:
        return list(filings)
    told = [list(_told(filing)) for filing in filings]
    owners = [n for n, texts in enumerate(told) for _ in texts]
    found = {owners[n] for n in known.suspects([text for texts in told for text in texts])}
    found.update(n for n, filing in enumerate(filings) if filing.kind == "noise" and _is_cut_off(filing.raw, known))
    return [_covered(filing, known) if n in found else filing for n, filing in enumerate(filings)]


def _is_cut_off(raw: bytes | None, known: Finder) -> bool:
    """Whether a host's own row quotes the beginning of what was erased, as `last-prompt` rows do."""
    return raw is not None and any(known.begins(text) for text in strings(raw))


def _told(filing: Filing) -> Iterator[str]:
    yield filing.text
    yield at_moment(filing.text, filing.created_at)
    yield from (filing.author, filing.thread, filing.branch, filing.commit)
    yield from (name for part in filing.parts for name in (part.name, part.call) if name)
    yield from _strings(filing.meta)
    if filing.raw is not None and not (filing.kind == "document" and filing.raw == filing.text.encode(errors="ignore")):
        yield from spelled(filing.raw)


def _covered(filing: Filing, known: Finder) -> Filing:
    whole = known.is_whole(at_moment(filing.text, filing.created_at))
    kept = replace(
        filing,
        text=COVER * len(filing.text) if whole else known.covered(filing.text),
        raw=None,
        author=marked(known, filing.author),
        thread=marked(known, filing.thread),
        branch=marked(known, filing.branch),
        commit=marked(known, filing.commit),
        parts=tuple(
            replace(part, name=marked(known, part.name), call=marked(known, part.call)) for part in filing.parts
        ),
        meta={name: _marked(value, known) for name, value in filing.meta.items()},
    )
    return replace(kept, id=filing.name(kept)) if filing.name else kept


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
        yield from (key for key in value if isinstance(key, str))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def _marked(value: object, known: Finder) -> object:
    if isinstance(value, str):
        return marked(known, value)
    if isinstance(value, dict):
        return {marked(known, key) if isinstance(key, str) else key: _marked(one, known) for key, one in value.items()}
    return [_marked(one, known) for one in value] if isinstance(value, list | tuple) else value
