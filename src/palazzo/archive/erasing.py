"""Erasing: the one true deletion. Words become █ of equal length where they stand; bytes and salt go.

    Wanted ──survey──> Found ──erase──> Erased
           a snapshot        one transaction

`Wanted` is words, found wherever they stand, and stretches of items. A survey looks at every text, every pack (also
what no row names any more) and every name, and changes nothing. `erase` does all of it in the caller's transaction:
old state or new, never between. The links of the chain stay, and say `erased` where a body is gone.

What an item is known by (its id, which may follow from its words, and its digest, whose salt is gone) stays: the chain
is made of it. Derived data follows the log (`derive/erased`), the file's pages are written anew by
`store/scrubbing`, and other files are `archive/traces`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import zstandard

from palazzo.archive import deeds
from palazzo.archive.erased_words import at_moment, bare_notes, spelled
from palazzo.model import Micros
from palazzo.store import (
    calls,
    changes,
    drawers,
    hook_sessions,
    items,
    ledger,
    packs,
    sources,
    tombstones,
    wake_blocks,
    wording,
)
from palazzo.store.database import Connection
from palazzo.store.wording import Wording
from palazzo.text.hashed import (
    ANYWHERE,
    AS_WORDS,
    COVER,
    WHOLE,
    Finder,
    HashedWords,
    Range,
    Standing,
    cover,
    merged,
)

LEAST_ANYWHERE = 12
"""Code points from which what stood at an erased place is looked for everywhere. Shorter words are anybody's; they are
known again only where they are the same moment's whole text."""
LEAST_PARAGRAPH = 40
"""Code points from which a paragraph of a document or note is looked for by itself too: its other versions have it,
between other words. What is said in a conversation is looked for whole, or the files that an agent read in it would
lose their words."""
LEAST_INSIDE = 8
"""Code points from which a matched word is found inside others: shorter ones, matched as whole words, stay such."""
COMMON = 3
"""Other sources in which the words of an erased place may stand and go from there too. What more have is no copy but
what programs print, and is left to them."""
_AT_ONCE = 64
_BLANK_LINES = re.compile(r"\n\s*\n")
_HEADINGS = " › "
"""Between the headings that a section stands under, in its title."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be erased: words and how they must stand, and stretches of items by row id.

    `known` are words that another device erased, of which only hashes came here.
    """

    words: Mapping[str, Standing] = field(default_factory=dict)
    spans: Mapping[int, tuple[Range, ...]] = field(default_factory=dict)
    known: tuple[HashedWords, ...] = ()
    left: int = 0
    """Texts at erased places that stand in many other sources and are left there."""


@dataclass(slots=True)
class Found:
    """What a survey found. `texts` are stretches by item; `raws` items whose bytes hold words; `names` how many
    names do; `packs` all that hold any of it. `looked` says how much was looked at."""

    texts: dict[int, list[Range]] = field(default_factory=dict)
    raws: set[int] = field(default_factory=set)
    packs: set[int] = field(default_factory=set)
    names: int = 0
    looked: dict[str, int] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    newest: tuple[int, int] = (0, 0)
    """The last item and the last pack that were looked at."""

    @property
    def items(self) -> list[int]:
        """The items of which something goes, by row id."""
        return sorted({*self.texts, *self.raws})

    @property
    def characters(self) -> int:
        """How many code points become █."""
        return sum(end - start for ranges in self.texts.values() for start, end in ranges)


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erase did: the items with their stretches, rows with names by table, packs, tombstones."""

    items: tuple[tuple[str, tuple[Range, ...]], ...]
    names: Mapping[str, int]
    packs: int
    words: tuple[HashedWords, ...]


# --- what is wanted ----------------------------------------------------------------------------------------


def matched_words(matched: Mapping[str, bool]) -> Wanted:
    """Return what a pattern asks for: the words that it matched, each with whether it always was a whole word."""
    return Wanted(
        {words: AS_WORDS if alone and len(words) < LEAST_INSIDE else ANYWHERE for words, alone in matched.items()}
    )


def places(connection: Connection, spans: Mapping[int, Sequence[Range]]) -> Wanted:
    """Return what erasing these stretches of items asks for: them, and copies of their words elsewhere."""
    known = tombstones.fresh_finder(connection)
    texts = items.read_texts(connection, spans)
    units: dict[str, Standing] = {}
    for row, ranges in spans.items():
        written = items.kind_of(connection, row) in ("document", "note")
        for start, end in ranges:
            units.update(dict.fromkeys(_units(texts[row][start:end], written), ANYWHERE))
    own = {_source_of(connection, row) for row in spans}
    common = _common(connection, Finder(known.key, [known.hashed(words) for words in units]), own)
    kept = {words: standing for words, standing in units.items() if words not in common}
    return Wanted(kept, {row: tuple(ranges) for row, ranges in spans.items()}, left=len(units) - len(kept))


def _units(text: str, written: bool) -> Iterator[str]:
    """What of an erased place is looked for elsewhere: all of it, and of what was `written` each paragraph."""
    whole = text.strip()
    if len(whole) >= LEAST_ANYWHERE and COVER not in whole:
        yield whole
    for paragraph in _BLANK_LINES.split(whole) if written else ():
        if len(paragraph.strip()) >= LEAST_PARAGRAPH and COVER not in paragraph:
            yield paragraph.strip()


def _common(connection: Connection, known: Finder, own: set[int]) -> set[str]:
    """Return the words that stand in more than COMMON sources besides their own."""
    if not known:
        return set()
    where: dict[str, set[int]] = {}
    for batch in _items(connection, 0):
        texts = items.read_texts(connection, [row for row, _ in batch])
        for n in known.suspects([texts[row] for row, _ in batch]):
            row, source = batch[n]
            if source not in own:
                for start, end in known.each(texts[row]):
                    where.setdefault(texts[row][start:end], set()).add(source)
    return {words for words, found in where.items() if len(found) > COMMON}


# --- looking -----------------------------------------------------------------------------------------------


def survey(connection: Connection, wanted: Wanted, progress: Progress, beyond: tuple[int, int] = (0, 0)) -> Found:
    """Look for what is `wanted` in all that the palace holds, or in what was added `beyond` an earlier survey."""
    known = finder_of(connection, wanted)
    found = Found(texts={row: list(ranges) for row, ranges in wanted.spans.items()})
    found.newest = (_last(connection, "item"), _last(connection, "pack"))
    _look_at_texts(connection, known, found, progress, beyond[0])
    _look_at_packs(connection, known, found, progress, beyond[1])
    found.names = _names_with(connection, known)
    return found


def finder_of(connection: Connection, wanted: Wanted) -> Finder:
    """Return what finds the wanted words."""
    blank = tombstones.fresh_finder(connection)
    named = [blank.hashed(words, standing) for words, standing in wanted.words.items()]
    return Finder(blank.key, [*named, *wanted.known])


def _look_at_texts(connection: Connection, known: Finder, found: Found, progress: Progress, after: int) -> None:
    looked = 0
    for batch in _items(connection, after):
        rows = [row for row, _ in batch]
        texts = items.read_texts(connection, rows)
        for n in known.suspects([texts[row] for row in rows]):
            found.texts.setdefault(rows[n], []).extend(known.find(texts[rows[n]]))
        for row in _at_moments(connection, known, texts):
            found.texts[row] = [(0, len(texts[row]))]
        looked += len(rows)
        progress("texts", rows[-1], found.newest[0])
    found.texts = {row: merged(ranges) for row, ranges in found.texts.items()}
    found.texts = {row: ranges for row, ranges in found.texts.items() if _is_left(connection, row, ranges)}
    found.looked["items"] = looked


def _at_moments(connection: Connection, known: Finder, texts: Mapping[int, str]) -> Iterator[int]:
    """Yield the texts that are known as what was said at their moment: a device erased them at their places."""
    if known.knows_wholes:
        moments = connection.execute(
            "SELECT id, created_at FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*texts]),)
        )
        for row, moment in moments:
            if known.is_whole(at_moment(texts[row], Micros(moment))):
                yield int(row)


def _is_left(connection: Connection, row: int, ranges: Iterable[Range]) -> bool:
    """Whether an item still has bytes, or says anything at these places that is not gone already."""
    (pack,) = next(connection.execute("SELECT pack FROM item WHERE id = ?", (row,)))
    text = items.read_texts(connection, [row])[row]
    return pack is not None or any(text[start:end].strip(COVER) for start, end in ranges)


def _look_at_packs(connection: Connection, known: Finder, found: Found, progress: Progress, after: int) -> None:
    """A pack is read once for all its rows; what of it no row names may hold words as well."""
    held = items.raw_by_pack(connection)
    chosen = found.texts.keys()
    looked = 0
    for pack in packs.pack_rows(connection):
        touched = {row for row, _, _ in held.get(pack, ()) if row in chosen}
        if pack <= after and not touched:
            continue
        looked += 1
        try:
            body = packs.whole(connection, pack)
        except (zstandard.ZstdError, LookupError, ValueError):
            found.unreadable.append(pack)
            continue
        if known and known.suspects(list(spelled(body))):
            found.packs.add(pack)
            spellings = [(row, text) for row, low, high in held.get(pack, ()) for text in spelled(body[low:high])]
            found.raws.update(spellings[n][0] for n in known.suspects([text for _, text in spellings]))
        if touched:
            found.packs.add(pack)
        progress("source rows", pack, found.newest[1])
    found.looked["packs"] = looked


def _names_with(connection: Connection, known: Finder) -> int:
    if not known:
        return 0
    names: list[str] = []
    wording.reword(connection, wording.collecting(names.extend))
    return len(known.suspects(sorted(set(names))))


def _items(connection: Connection, after: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all items behind a row id, some at once, as (row id, source)."""
    while batch := [
        (int(row), int(source))
        for row, source in connection.execute(
            "SELECT id, source FROM item WHERE id > ? ORDER BY id LIMIT ?", (after, _AT_ONCE)
        )
    ]:
        yield batch
        after = batch[-1][0]


def _last(connection: Connection, table: str) -> int:
    return int(next(connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}"))[0])


def _source_of(connection: Connection, row: int) -> int:
    return int(next(connection.execute("SELECT source FROM item WHERE id = ?", (row,)))[0])


# --- doing -------------------------------------------------------------------------------------------------


def erase(connection: Connection, erasure: int, wanted: Wanted, found: Found, actor: str | None) -> Erased:
    """Erase what was found, in this transaction, under the write lock. What came since the survey is looked at too.

    Drawers of which nothing is left are forgotten by `actor`; with None they are just cut no more, as on every device
    that another one's erasure comes to.
    """
    _add(found, survey(connection, wanted, lambda what, done, total: None, found.newest))
    known = finder_of(connection, wanted)
    before = items.read_texts(connection, found.texts)
    titles = _titles(connection, before, found.texts)
    for row, ranges in found.texts.items():
        items.set_text(connection, row, cover(before[row], ranges))
        if _is_whole(before[row], ranges):
            items.set_meta(connection, row, _bare_notes(connection, row))
    words = [*_hashed(connection, wanted, known, before, found.texts), *(known.hashed(one, WHOLE) for one in titles)]
    tombstones.insert(connection, erasure, words)
    renamed = wording.reword(connection, _wording(known, titles))
    bare = sorted({*found.items, *(int(row) for row in renamed.get("item", ()))})
    _take_bodies(connection, erasure, bare, found)
    if actor is not None:
        _forget_covered(connection, erasure, bare, actor)
    forget_traces(connection, bare)
    changes.append(connection, "erased", sorted({*bare, *_items_named(connection, renamed)}))
    told = tuple((uid.hex(), tuple(found.texts.get(row, ()))) for row, uid in items.uids_of(connection, bare))
    counts = {table: len(rows) for table, rows in renamed.items() if table != "drawer"}
    return Erased(told, counts, len(found.packs), tuple(words))


def forget_traces(connection: Connection, bare: Sequence[int]) -> None:
    """Let nothing besides the archive remember what these items said: what was told, asked and read of it."""
    wake_blocks.drop_all(connection)
    hook_sessions.forget_failures(connection)
    calls.forget_words(connection)
    ledger.forget_words(connection, bare)
    sources.forget_files(connection, {_source_of(connection, row) for row in bare})


def _add(found: Found, more: Found) -> None:
    for row, ranges in more.texts.items():
        found.texts[row] = merged([*found.texts.get(row, ()), *ranges])
    found.raws |= more.raws
    found.packs |= more.packs
    found.newest = more.newest


def _hashed(
    connection: Connection,
    wanted: Wanted,
    known: Finder,
    before: Mapping[int, str],
    texts: Mapping[int, Sequence[Range]],
) -> Iterator[HashedWords]:
    """The tombstones of what goes: of the words, and of short texts at their moments."""
    for words, standing in wanted.words.items():
        yield known.hashed(words, standing)
    for row in wanted.spans.keys() & texts.keys():
        text = before[row]
        if text.strip(f"{COVER} \n\r\t") and _is_whole(text, texts[row]):
            (moment,) = next(connection.execute("SELECT created_at FROM item WHERE id = ?", (row,)))
            yield known.hashed(at_moment(text, Micros(moment)), WHOLE)


def _is_whole(text: str, ranges: Iterable[Range]) -> bool:
    return not cover(text, ranges).strip(f"{COVER} \n\r\t")


def _bare_notes(connection: Connection, row: int) -> str:
    (meta,) = next(connection.execute("SELECT meta FROM item WHERE id = ?", (row,)))
    return bare_notes(json.loads(meta))


def _titles(connection: Connection, before: Mapping[int, str], texts: Mapping[int, Sequence[Range]]) -> dict[str, str]:
    """Titles that are words of these texts, perhaps cut off, and what of them is left."""
    found: dict[str, str] = {}
    for row, text in before.items():
        for title in sources.titles_over(connection, row):
            left = _HEADINGS.join(_piece_left(piece, text, texts[row]) for piece in title.split(_HEADINGS))
            if left != title:
                found[title] = left
    return found


def _piece_left(piece: str, text: str, ranges: Sequence[Range]) -> str:
    stem = piece.removesuffix("…").strip()
    at = text.find(stem) if stem else -1
    while at >= 0:
        inside = merged((max(low, at) - at, min(high, at + len(stem)) - at) for low, high in ranges)
        if inside:
            return piece.replace(stem, cover(stem, inside))
        at = text.find(stem, at + 1)
    return piece


def _wording(known: Finder, titles: Mapping[str, str]) -> Wording:
    return Wording(
        name=lambda text: tombstones.marked(known, text),
        title=lambda text: known.covered(titles.get(text, text)),
        address=lambda uri: tombstones.marked_address(known, uri),
    )


def _take_bodies(connection: Connection, erasure: int, bare: Sequence[int], found: Found) -> None:
    uids = take_bodies(connection, bare, found.packs)
    tombstones.insert_items(connection, erasure, uids)


def take_bodies(connection: Connection, bare: Sequence[int], besides: Iterable[int] = ()) -> list[bytes]:
    """Take salts, and raw bytes out of packs; what other rows hold in them stays. Return the items' ids.

    What is in the packs `besides` and belongs to no row goes as well.
    """
    held = items.raw_by_pack(connection)
    gone = set(bare)
    touched = {*besides, *(pack for pack, rows in held.items() if any(row in gone for row, _, _ in rows))}
    uids = items.erase_bodies(connection, bare, tombstones.ERASED)
    for pack in sorted(touched):
        kept = [(start, end) for row, start, end in held.get(pack, ()) if row not in gone and start < end]
        packs.keep_only(connection, pack, merged(kept))
    return uids


def _forget_covered(connection: Connection, erasure: int, rows: Iterable[int], actor: str) -> None:
    """Retire the drawers of which nothing is left to find. The act is in no change group: nothing undoes it."""
    (at,) = next(connection.execute("SELECT at FROM erasure WHERE id = ?", (erasure,)))
    for drawer in drawers.live_drawers_of_items(connection, rows):
        spans = drawers.drawer_spans(connection, drawer)
        texts = items.read_texts(connection, (item for item, _, _ in spans))
        left = "".join(texts[item][start:end] for item, start, end in spans)
        if COVER in left and not left.strip(f"{COVER} \n\r\t"):
            deeds.forget_erased(connection, drawer, actor, Micros(at))


def _items_named(connection: Connection, renamed: Mapping[str, Sequence[int | str]]) -> set[int]:
    """The items whose drawers show a name that changed: a source's title, a room's name, a heading."""
    found: set[int] = set()
    for table in ("source", "room"):
        for key in renamed.get(table, ()):
            rows = connection.execute(f"SELECT id FROM item WHERE {table} = ? AND kind <> 'noise'", (key,))
            found.update(int(row) for (row,) in rows)
    for drawer in renamed.get("drawer", ()):  # its title may be a heading of a text that keeps it
        found.update(item for item, _, _ in drawers.drawer_spans(connection, int(drawer)))
    return found
