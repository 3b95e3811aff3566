"""Duplicates: what the palace already contains of a text that will be filed.

Two notes are the same if their words are exactly equal. A text is *near* another if nine tenths of its runs of three
words occur in the other, as when search folds near-copies. Equal notes are found by hash, near ones by the text's rarer
words, so a check costs as much as a search, whatever the palace's size.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence

from palazzo.archive import archive_reader
from palazzo.frozen_class import frozen
from palazzo.index.cut_rules import DRAWER_CHARACTERS, PASSAGE_CHARACTERS
from palazzo.index.presentation import NEAR_COPY
from palazzo.index.vector_keys import text_hash
from palazzo.model import Drawer, DrawerKind, Trust
from palazzo.settings.setting_keys import TRUSTS
from palazzo.store import drawers, items, keyword_table, place_rows
from palazzo.store.database import Connection
from palazzo.text.similarity import Signature, containment, copies, signature
from palazzo.text.text_pieces import split_span
from palazzo.text.word_forms import match_expression, terms

_POSTINGS = 20_000
"""The most postings read for the words that candidates are found by, rarest words first: 10 ms of reading."""
_SAMPLE_LENGTH = 2_000
"""The most characters of a text from which its words are taken."""
_CANDIDATES = 50
_WORDS = re.compile(r"(?<![\w.:/'-])[\w.:/'-]*\w")
_DENIALS = frozenset({"not", "no", "never", "none", "nor", "without", "cannot"})


@frozen
class Duplicate:
    """A drawer that says what a text says, and the share of the text that it contains, from 0 to 1."""

    drawer: Drawer
    similarity: float


def same(
    connection: Connection, text: str, wing: str | None = None, kind: DrawerKind = "note", trust: Trust = "external"
) -> Drawer | None:
    """Return a live note of a wing (None: of any) whose text is exactly `text`; the first that was filed.

    `kind` is that of its drawers: a diary entry is not a duplicate of a plain note. Nor is an untrusted note a
    duplicate of a trusted one, by `trust`.
    """
    wing_name = None if wing is None else _resolve_wing_name(connection, wing)
    for row in drawers.live_drawers_with(connection, text_hash(_first_passage(text))):
        drawer = archive_reader.read_drawer(connection, row)
        if trust != "external" and drawer.trust == "external":
            continue
        if drawer.kind == kind and wing_name in (None, drawer.place.wing) and _whole(connection, row, drawer) == text:
            return drawer
    return None


def near(connection: Connection, text: str, wing: str | None = None, threshold: float = NEAR_COPY) -> list[Duplicate]:
    """Return live drawers of a wing (None: any) that contain at least `threshold` of `text`, most similar first."""
    filters = _filters(connection, wing)
    if filters is None:
        return []
    own = signature(text)
    duplicates_by_item: dict[str, Duplicate] = {}
    for row in _candidates(connection, text, filters):
        drawer = archive_reader.read_drawer(connection, row)
        whole = _whole(connection, row, drawer)
        similarity = 1.0 if whole == text else containment(own, signature(whole))
        if similarity >= threshold:
            duplicates_by_item.setdefault(drawer.spans[0].item, Duplicate(drawer, similarity))
    return sorted(duplicates_by_item.values(), key=lambda one: (-one.similarity, one.drawer.created_at))


# --- all that say the same ---------------------------------------------------------------------------------


@frozen
class WholeNote:
    """A live note, with its text and its drawers in order."""

    text: str
    drawers: tuple[Drawer, ...]


@frozen
class Cluster:
    """Notes that say the same: the oldest of the most trusted, the others, and the similarity of the least similar."""

    survivor: WholeNote
    copies: tuple[WholeNote, ...]
    similarity: float


def clusters(connection: Connection, rows: Sequence[int], threshold: float) -> list[Cluster]:
    """Return clusters of notes that share `threshold` of their text, the oldest first.

    `rows` are the drawers of all plain notes of a wing, newest first.
    """
    alike: dict[Hashable, dict[int, Signature]] = {}
    notes = _notes(connection, rows)
    notes.sort(key=lambda note: (TRUSTS.index(note.drawers[0].trust), note.drawers[0].created_at))
    for n, note in enumerate(notes):
        alike.setdefault(_make_statement_key(note.text), {})[n] = signature(note.text)
    groups = [
        Cluster(notes[n], tuple(notes[m] for m in sorted(own)), min(own.values()))
        for signatures in alike.values()
        for n, own in copies(signatures, threshold).items()
    ]
    return sorted(groups, key=lambda cluster: cluster.survivor.drawers[0].created_at)


def _make_statement_key(text: str) -> Hashable:
    """Return what changes the meaning of the same words: figures and negations."""
    words = _WORDS.findall(text.casefold().replace("n\u2019t", "n't"))
    figures = Counter(word for word in words if any(letter.isdigit() for letter in word))
    denials = Counter(word for word in words if word in _DENIALS or word.endswith("n't"))
    return frozenset(figures.items()), frozenset(denials.items())


def _notes(connection: Connection, rows: Sequence[int]) -> list[WholeNote]:
    """Return the notes that are live as a whole; partly forgotten ones are never folded."""
    read = archive_reader.read_drawers(connection, rows)
    by_item: dict[str, list[Drawer]] = {}
    for row in reversed(rows):
        by_item.setdefault(read[row].spans[0].item, []).append(read[row])
    rows_by_id = items.known_items(connection, [bytes.fromhex(item) for item in by_item])
    texts = items.read_texts(connection, rows_by_id.values())
    notes = []
    for item, own in by_item.items():
        own.sort(key=lambda drawer: drawer.spans[0].start)
        text = texts[rows_by_id[bytes.fromhex(item)]]
        if "".join("".join(drawer.text.split()) for drawer in own) == "".join(text.split()):
            notes.append(WholeNote(text, tuple(own)))
    return notes


# --- parts -------------------------------------------------------------------------------------------------


def _first_passage(text: str) -> str:
    start, end = split_span(text, 0, len(text), DRAWER_CHARACTERS)[0]
    start, end = split_span(text, start, end, PASSAGE_CHARACTERS)[0]
    return text[start:end]


def _whole(connection: Connection, row: int, drawer: Drawer) -> str:
    """Return the text by which a drawer is compared: for a note all of it, even if it has several drawers."""
    if drawer.kind not in ("note", "diary", "todo", "reminder"):
        return drawer.text
    item, *_ = drawers.drawer_spans(connection, row)[0]
    return items.read_texts(connection, [item])[item]


def _resolve_wing_name(connection: Connection, wing: str) -> str:
    row = place_rows.wing_led_to(connection, wing)
    return wing if row is None else place_rows.wing_name(connection, row)


def _filters(connection: Connection, wing: str | None) -> list[str] | None:
    """Return the keyword filters for a wing; None for a wing without rooms."""
    if wing is None:
        return []
    stretches = place_rows.stretches(connection, wing)
    return [keyword_table.wing_filter(stretches)] if stretches else None


def _candidates(connection: Connection, text: str, filters: Sequence[str]) -> list[int]:
    stems = keyword_table.stems(connection, terms(text[:_SAMPLE_LENGTH]))
    frequencies_by_stem = keyword_table.document_frequencies(
        connection, {stem for own in stems.values() for stem in own}
    )
    term_frequencies = {
        term: min(frequencies_by_stem.get(stem, 0) for stem in own) for term, own in stems.items() if own
    }
    query_terms: list[str] = []
    posting_count = 0
    for count, term in sorted((count, term) for term, count in term_frequencies.items() if count):
        if query_terms and posting_count + count > _POSTINGS:
            break
        query_terms.append(term)
        posting_count += count
    if not query_terms:
        return []
    return [row for row, _ in keyword_table.matches(connection, match_expression(query_terms), filters, _CANDIDATES)]
