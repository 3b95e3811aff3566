"""Erasure: the only true deletion. Words are replaced in place by █ of equal length; raw bytes and salt are deleted.

    ErasureRequest ──survey──> SurveyResult ──erase──> ErasureResult
                   a snapshot               one transaction

`ErasureRequest` holds words, which are found wherever they occur, and stretches of items. A survey examines every text,
every pack (also data that no row refers to any more) and every name, and changes nothing. `erase` does all of it in the
caller's transaction: the result is the old state or the new one, never something in between. The links of the chain
stay, and say `erased` where a body is gone.

The identity of an item stays, because the chain consists of it: its id, which may be derived from its words, and its
digest, whose salt is gone. Derived data follows the log (`index/erasure_rebuild`), the file's pages are rewritten by
`store/file_scrub`, and other files are handled by `archive/written_files_registry`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import zstandard

from palazzo.archive import acts
from palazzo.archive.erasure_filter import at_moment, bare_notes, decode_spellings
from palazzo.archive.erasure_request import ErasureRequest, finder_of, item_batches, source_of_item
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import (
    answered_calls,
    change_log,
    drawers,
    hook_sessions,
    items,
    ledger,
    packs,
    source_rows,
    text_columns,
    tombstones,
    wake_blocks,
)
from palazzo.store.database import Connection
from palazzo.store.text_columns import WordRewriter
from palazzo.text.hashed_words import (
    COVER,
    WHOLE,
    Finder,
    HashedWords,
    Range,
    cover,
    merged,
)

_HEADINGS = " › "
"""Separator of the headings above a section, in its title."""
Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class SurveyResult:
    """Result of a survey.

    `texts` are ranges by item, `raws` the items whose bytes contain the words, `names` the number of matching names,
    and `packs` all packs that contain any match. `looked` says how much was searched.
    """

    texts: dict[int, list[Range]] = field(default_factory=dict)
    raws: set[int] = field(default_factory=set)
    packs: set[int] = field(default_factory=set)
    names: int = 0
    scan_counts: dict[str, int] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    newest: tuple[int, int] = (0, 0)
    """The last item and the last pack that were searched."""

    @property
    def items(self) -> list[int]:
        """Return the items that lose text, by row id."""
        return sorted({*self.texts, *self.raws})

    @property
    def characters(self) -> int:
        """Return how many code points become █."""
        return sum(end - start for ranges in self.texts.values() for start, end in ranges)


@frozen
class ErasureResult:
    """Result of an erase: the items with their ranges, the rows with names by table, the packs, and the tombstones."""

    items: tuple[tuple[str, tuple[Range, ...]], ...]
    names: Mapping[str, int]
    packs: int
    words: tuple[HashedWords, ...]


# --- looking -----------------------------------------------------------------------------------------------


def survey(
    connection: Connection, request: ErasureRequest, progress: Progress, start_rows: tuple[int, int] = (0, 0)
) -> SurveyResult:
    """Look for what is `request` in the whole palace, or in what was added `start_rows` an earlier survey."""
    finder = finder_of(connection, request)
    survey_result = SurveyResult(texts={row: list(ranges) for row, ranges in request.spans.items()})
    survey_result.newest = (_last(connection, "item"), _last(connection, "pack"))
    _look_at_texts(connection, finder, survey_result, progress, start_rows[0])
    _look_at_packs(connection, finder, survey_result, progress, start_rows[1])
    survey_result.names = _names_with(connection, finder)
    return survey_result


def _look_at_texts(
    connection: Connection, finder: Finder, survey_result: SurveyResult, progress: Progress, last_row: int
) -> None:
    item_count = 0
    for batch in item_batches(connection, last_row):
        rows = [row for row, _ in batch]
        texts = items.read_texts(connection, rows)
        for n in finder.suspects([texts[row] for row in rows]):
            survey_result.texts.setdefault(rows[n], []).extend(finder.find(texts[rows[n]]))
        for row in _at_moments(connection, finder, texts):
            survey_result.texts[row] = [(0, len(texts[row]))]
        item_count += len(rows)
        progress("texts", rows[-1], survey_result.newest[0])
    survey_result.texts = {row: merged(ranges) for row, ranges in survey_result.texts.items()}
    survey_result.texts = {
        row: ranges for row, ranges in survey_result.texts.items() if _is_left(connection, row, ranges)
    }
    survey_result.scan_counts["items"] = item_count


def _at_moments(connection: Connection, finder: Finder, texts: Mapping[int, str]) -> Iterator[int]:
    """Yield the texts that are known by their time: a device erased them at their own places."""
    if finder.knows_wholes:
        moments = connection.execute(
            "SELECT id, created_at FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*texts]),)
        )
        for row, moment in moments:
            if finder.is_whole(at_moment(texts[row], Micros(moment))):
                yield int(row)


def _is_left(connection: Connection, row: int, ranges: Iterable[Range]) -> bool:
    """Return whether an item still has bytes, or has text in these ranges that is not erased yet."""
    (pack,) = next(connection.execute("SELECT pack FROM item WHERE id = ?", (row,)))
    text = items.read_texts(connection, [row])[row]
    return pack is not None or any(text[start:end].strip(COVER) for start, end in ranges)


def _look_at_packs(
    connection: Connection, finder: Finder, survey_result: SurveyResult, progress: Progress, last_pack: int
) -> None:
    """Search the packs, each once for all its rows; bytes of a pack that belong to no row may hold words as well."""
    rows_by_pack = items.raw_by_pack(connection)
    item_rows = survey_result.texts.keys()
    pack_count = 0
    for pack in packs.pack_rows(connection):
        affected_rows = {row for row, _, _ in rows_by_pack.get(pack, ()) if row in item_rows}
        if pack <= last_pack and not affected_rows:
            continue
        pack_count += 1
        try:
            body = packs.whole(connection, pack)
        except (zstandard.ZstdError, LookupError, ValueError):
            survey_result.unreadable.append(pack)
            continue
        if finder and finder.suspects(list(decode_spellings(body))):
            survey_result.packs.add(pack)
            spellings = [
                (row, text)
                for row, low, high in rows_by_pack.get(pack, ())
                for text in decode_spellings(body[low:high])
            ]
            survey_result.raws.update(spellings[n][0] for n in finder.suspects([text for _, text in spellings]))
        if affected_rows:
            survey_result.packs.add(pack)
        progress("source rows", pack, survey_result.newest[1])
    survey_result.scan_counts["packs"] = pack_count


def _names_with(connection: Connection, finder: Finder) -> int:
    if not finder:
        return 0
    names: list[str] = []
    text_columns.reword(connection, text_columns.make_collector(names.extend))
    return len(finder.suspects(sorted(set(names))))


def _last(connection: Connection, table: str) -> int:
    return int(next(connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}"))[0])


# --- doing -------------------------------------------------------------------------------------------------


def erase(
    connection: Connection, erasure: int, request: ErasureRequest, survey_result: SurveyResult, actor: str | None
) -> ErasureResult:
    """Erase what was found, in this transaction, under the write lock. Items added since the survey are searched too.

    Drawers with no text left are forgotten by `actor`; with None they are just no longer cut, as on every device that
    receives the erasure of another one.
    """
    _add(survey_result, survey(connection, request, lambda what, done, total: None, survey_result.newest))
    finder = finder_of(connection, request)
    old_texts = items.read_texts(connection, survey_result.texts)
    titles = _titles(connection, old_texts, survey_result.texts)
    for row, ranges in survey_result.texts.items():
        items.set_text(connection, row, cover(old_texts[row], ranges))
        if _is_whole(old_texts[row], ranges):
            items.set_meta(connection, row, _bare_notes(connection, row))
    words = [
        *_make_tombstones(connection, request, finder, old_texts, survey_result.texts),
        *(finder.hash_words(title, WHOLE) for title in titles),
    ]
    tombstones.insert(connection, erasure, words)
    rows_by_table = text_columns.reword(connection, _build_rewriter(finder, titles))
    bare = sorted({*survey_result.items, *(int(row) for row in rows_by_table.get("item", ()))})
    _take_bodies(connection, erasure, bare, survey_result)
    if actor is not None:
        _forget_covered(connection, erasure, bare, actor)
    forget_traces(connection, bare)
    change_log.append(connection, "erased", sorted({*bare, *_items_named(connection, rows_by_table)}))
    item_ranges = tuple(
        (uid.hex(), tuple(survey_result.texts.get(row, ()))) for row, uid in items.uids_of(connection, bare)
    )
    counts = {table: len(rows) for table, rows in rows_by_table.items() if table != "drawer"}
    return ErasureResult(item_ranges, counts, len(survey_result.packs), tuple(words))


def forget_traces(connection: Connection, bare: Sequence[int]) -> None:
    """Remove the traces of these items outside the archive: injected texts, queries and read files."""
    wake_blocks.drop_all(connection)
    hook_sessions.forget_failures(connection)
    answered_calls.forget_words(connection)
    ledger.forget_words(connection, bare)
    source_rows.forget_files(connection, {source_of_item(connection, row) for row in bare})


def _add(survey_result: SurveyResult, more: SurveyResult) -> None:
    for row, ranges in more.texts.items():
        survey_result.texts[row] = merged([*survey_result.texts.get(row, ()), *ranges])
    survey_result.raws |= more.raws
    survey_result.packs |= more.packs
    survey_result.newest = more.newest


def _make_tombstones(
    connection: Connection,
    request: ErasureRequest,
    finder: Finder,
    old_texts: Mapping[int, str],
    texts: Mapping[int, Sequence[Range]],
) -> Iterator[HashedWords]:
    """Return the tombstones of the erased text: of the words, and of short texts at their times."""
    for words, mode in request.words.items():
        yield finder.hash_words(words, mode)
    for row in request.spans.keys() & texts.keys():
        text = old_texts[row]
        if text.strip(f"{COVER} \n\r\t") and _is_whole(text, texts[row]):
            (moment,) = next(connection.execute("SELECT created_at FROM item WHERE id = ?", (row,)))
            yield finder.hash_words(at_moment(text, Micros(moment)), WHOLE)


def _is_whole(text: str, ranges: Iterable[Range]) -> bool:
    return not cover(text, ranges).strip(f"{COVER} \n\r\t")


def _bare_notes(connection: Connection, row: int) -> str:
    (meta,) = next(connection.execute("SELECT meta FROM item WHERE id = ?", (row,)))
    return bare_notes(json.loads(meta))


def _titles(
    connection: Connection, old_texts: Mapping[int, str], texts: Mapping[int, Sequence[Range]]
) -> dict[str, str]:
    """Return titles that are words of these texts, perhaps cut off, and what is left of each."""
    new_titles: dict[str, str] = {}
    for row, text in old_texts.items():
        for title in source_rows.titles_over(connection, row):
            new_title = _HEADINGS.join(_piece_left(piece, text, texts[row]) for piece in title.split(_HEADINGS))
            if new_title != title:
                new_titles[title] = new_title
    return new_titles


def _piece_left(piece: str, text: str, ranges: Sequence[Range]) -> str:
    stem = piece.removesuffix("…").strip()
    at = text.find(stem) if stem else -1
    while at >= 0:
        inside = merged((max(low, at) - at, min(high, at + len(stem)) - at) for low, high in ranges)
        if inside:
            return piece.replace(stem, cover(stem, inside))
        at = text.find(stem, at + 1)
    return piece


def _build_rewriter(finder: Finder, titles: Mapping[str, str]) -> WordRewriter:
    return WordRewriter(
        name=lambda text: tombstones.mask_text(finder, text),
        title=lambda text: finder.cover_text(titles.get(text, text)),
        address=lambda uri: tombstones.marked_address(finder, uri),
    )


def _take_bodies(connection: Connection, erasure: int, bare: Sequence[int], survey_result: SurveyResult) -> None:
    uids = take_bodies(connection, bare, survey_result.packs)
    tombstones.insert_items(connection, erasure, uids)


def take_bodies(connection: Connection, bare: Sequence[int], extra_packs: Iterable[int] = ()) -> list[bytes]:
    """Remove salts, and raw bytes from packs; the bytes of other rows stay. Return the items' ids.

    Bytes in the packs `extra_packs` that belong to no row are removed as well.
    """
    rows_by_pack = items.raw_by_pack(connection)
    erased_rows = set(bare)
    affected_packs = {
        *extra_packs,
        *(pack for pack, rows in rows_by_pack.items() if any(row in erased_rows for row, _, _ in rows)),
    }
    uids = items.erase_bodies(connection, bare, tombstones.ERASED_BODY)
    for pack in sorted(affected_packs):
        ranges = [
            (start, end) for row, start, end in rows_by_pack.get(pack, ()) if row not in erased_rows and start < end
        ]
        packs.keep_only(connection, pack, merged(ranges))
    return uids


def _forget_covered(connection: Connection, erasure: int, rows: Iterable[int], actor: str) -> None:
    """Retire the drawers that have no text left. The act is in no change group, so it cannot be undone."""
    (at,) = next(connection.execute("SELECT at FROM erasure WHERE id = ?", (erasure,)))
    for drawer in drawers.live_drawers_of_items(connection, rows):
        spans = drawers.drawer_spans(connection, drawer)
        texts = items.read_texts(connection, (item for item, _, _ in spans))
        text = "".join(texts[item][start:end] for item, start, end in spans)
        if COVER in text and not text.strip(f"{COVER} \n\r\t"):
            acts.forget_erased(connection, drawer, actor, Micros(at))


def _items_named(connection: Connection, rows_by_table: Mapping[str, Sequence[int | str]]) -> set[int]:
    """Return the items whose drawers show a changed name: a source's title, a room's name, a heading."""
    item_rows: set[int] = set()
    for table in ("source", "room"):
        for key in rows_by_table.get(table, ()):
            rows = connection.execute(f"SELECT id FROM item WHERE {table} = ? AND kind <> 'noise'", (key,))
            item_rows.update(int(row) for (row,) in rows)
    for drawer in rows_by_table.get("drawer", ()):  # its title may be a heading of a text that keeps it
        item_rows.update(item for item, _, _ in drawers.drawer_spans(connection, int(drawer)))
    return item_rows
