"""Windows: the neighbours that a hit needs so that it can be read by itself.

Chosen by rules from the kind of hit:

    a turn that ends with a question                    the next turns, up to another's answer
    a person's words, separated from the reply          the reply
    a few words without a subject of their own          the turn before
    a text that ends with a colon                       the next text
    a section of which only the heading was requested   the section's continuation
    a tool's output that reports an error               what was said next, and the call that then succeeded

All other hits need no neighbours. Neighbours are live drawers of the hit's own thread that the search was also allowed
to find. A drawer is shown once; other hits refer to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from palazzo.archive.archive_reader import SPAN_SEPARATOR, read_drawer
from palazzo.frozen_class import frozen
from palazzo.index.presentation import LEAST_SHOWN, Hit, Neighbour, Turn
from palazzo.model import Drawer
from palazzo.store import drawer_neighbours, drawers, keyword_table
from palazzo.store.database import Connection
from palazzo.store.drawer_neighbours import Speaker
from palazzo.text.questions import Marks, marks
from palazzo.text.text_pieces import error_lines
from palazzo.text.token_counts import cut, estimate_tokens
from palazzo.text.word_forms import index_form, terms

WIDEN_LIMIT = 10
"""The number of top hits that get neighbours: a caller that requests more is reading a list."""
TERSE_WORDS, TERSE_CHARACTERS = 8, 200
"""Content words, and characters, below which a turn has no subject of its own. Of 158 exchanges in captured sessions of
six hosts, nine have fewer words: requests that were only confirmed ("checkpoint: file the memories now", "Filed.").
"""
_HEADING_MARKS = "#=*_- \t"

_SPEECH_KINDS = ("exchange", "message")

DrawerPredicate = Callable[[Drawer], bool]


def widen(
    connection: Connection,
    hits: Sequence[Hit],
    search_terms: Sequence[str],
    budget: int,
    may: DrawerPredicate,
    seconds: Mapping[int, Hit] = MappingProxyType({}),
) -> list[Hit]:
    """Return the hits with their speakers, and with neighbours that fit what the texts leave of `budget`.

    `search_terms` are the words of the query; `may` says of a drawer whether the search could have found it. `seconds`
    are drawers that are shown with a hit, by its row: they use the budget too, and are shown nowhere else.
    """
    speaker_hits = with_speakers(connection, hits)
    remaining_tokens = budget - sum(estimate_tokens(hit.text) for hit in (*hits, *seconds.values()))
    if remaining_tokens < LEAST_SHOWN:
        return speaker_hits
    shelf = _Shelf(speaker_hits, seconds, remaining_tokens)
    around = _around(connection, [hit for hit in speaker_hits[:WIDEN_LIMIT] if hit.text], search_terms, may)
    return [
        replace(hit, context=shelf.place_neighbours(rank, around.get(hit.row, ())))
        for rank, hit in enumerate(speaker_hits, 1)
    ]


def with_speakers(connection: Connection, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with the speakers in their texts."""
    speakers = drawer_neighbours.speakers(
        connection, [hit.row for hit in hits if hit.text and hit.drawer.kind in _SPEECH_KINDS]
    )
    return [replace(hit, turns=_turns(speakers.get(hit.row, ()), 0, len(hit.text))) for hit in hits]


@frozen
class Needs:
    """What to show with a hit: drawers of its own kind before and after it, or what a failure led to."""

    preceding_turn: bool = False
    answer: bool = False
    reply: bool = False
    next: bool = False
    fix: bool = False


def needs(drawer: Drawer, by_heading: bool = False) -> Needs:
    """Return what context a hit needs, judged by itself. `by_heading`: a section found by its heading alone."""
    text = drawer.text
    if drawer.kind == "tool":
        return Needs(fix=bool(error_lines(text, 1)))
    introduces = text.rstrip().endswith((":", "："))
    if drawer.kind == "section":
        return Needs(next=by_heading or introduces)
    if drawer.kind not in _SPEECH_KINDS:
        return Needs()
    return Needs(is_terse(text), bool(marks(text) & Marks.ASKS), drawer.role == "user", introduces)


def is_terse(text: str) -> bool:
    """Return whether a turn is too short to be understood without the one before it."""
    return len(text) < TERSE_CHARACTERS and "?" not in text and len(terms(text)) < TERSE_WORDS


def _around(
    connection: Connection, hits: Sequence[Hit], search_terms: Sequence[str], may: DrawerPredicate
) -> dict[int, list[Neighbour]]:
    """Return the whole neighbours that each hit should be read with, the most important first."""
    stems = _stems(connection, " ".join(search_terms))
    needs_by_row = {hit.row: needs(hit.drawer, _by_heading(connection, hit.drawer, stems)) for hit in hits}
    context_rows = [
        row for row, need in needs_by_row.items() if need.preceding_turn or need.answer or need.reply or need.next
    ]
    neighbours_by_row = drawers.read_neighbours(connection, context_rows) if context_rows else {}
    neighbours_by_hit = {}
    for hit in hits:
        preceding_rows, following_rows = neighbours_by_row.get(hit.row, ((), ()))
        need = needs_by_row[hit.row]
        candidates = [
            *(_read_preceding_turn(connection, preceding_rows) if need.preceding_turn else ()),
            *_read_following_turns(connection, hit.drawer, following_rows, need),
        ]
        if need.fix:
            candidates.extend(_fixes(connection, hit))
        neighbours_by_hit[hit.row] = [neighbour for neighbour in candidates if may(neighbour.drawer)]
    return neighbours_by_hit


def _by_heading(connection: Connection, drawer: Drawer, search_stems: frozenset[str]) -> bool:
    """Return whether query words are in a section's headings, and none is in the text below them."""
    if drawer.kind != "section" or not search_stems & _stems(connection, index_form(drawer.title)):
        return False
    headings = drawer.title.split(" › ")
    below = (line for line in drawer.text.split("\n") if line.strip(_HEADING_MARKS) not in headings)
    return not search_stems & _stems(connection, index_form("\n".join(below)))


def _stems(connection: Connection, text: str) -> frozenset[str]:
    return frozenset(keyword_table.stems(connection, [text])[text])


def _read_preceding_turn(connection: Connection, rows: Sequence[int]) -> Iterator[Neighbour]:
    for row in rows[:1]:
        drawer = read_drawer(connection, row)
        yield _whole(connection, row, drawer, -1)


def _read_following_turns(
    connection: Connection, drawer: Drawer, rows: Sequence[int], need: Needs
) -> Iterator[Neighbour]:
    """Yield the next turn, and the one after it if the speaker is the same; for a section its continuation."""
    if not (need.answer or need.reply or need.next):
        return
    for position, row in enumerate(rows[:2], 1):
        next_drawer = read_drawer(connection, row)
        if drawer.kind == "section" and not f"{next_drawer.title} ›".startswith(f"{drawer.title} ›"):
            return
        is_reply = need.reply and next_drawer.locator == drawer.locator and "assistant" in next_drawer.role
        if not (need.answer or need.next or is_reply):
            return
        yield _whole(connection, row, next_drawer, position)
        if not need.answer or (next_drawer.role, next_drawer.author) != (drawer.role, drawer.author):
            return


def _fixes(connection: Connection, hit: Hit) -> Iterator[Neighbour]:
    """Yield the statement after a failed call, and before that the same tool's call that did not fail."""
    position = 1
    for successor in drawer_neighbours.read_next_spans(connection, hit.row):
        is_speech = successor.kind in _SPEECH_KINDS
        if not is_speech and (successor.title != hit.drawer.title or position > 1):
            continue
        drawer = read_drawer(connection, successor.drawer)
        if is_speech or not error_lines(drawer.text, 1):
            yield _whole(connection, successor.drawer, drawer, position, successor.n)
            position += 1
        if is_speech:
            return


def _whole(connection: Connection, row: int, drawer: Drawer, position: int, first: int = 0) -> Neighbour:
    """Return a drawer as a neighbour, from its span `first` on."""
    start = sum(span.end - span.start + len(SPAN_SEPARATOR) for span in drawer.spans[:first])
    speakers = drawer_neighbours.speakers(connection, [row]).get(row, []) if drawer.kind in _SPEECH_KINDS else []
    text = drawer.text[start:]
    return Neighbour(drawer, position, text, first > 0, _turns(speakers, start, start + len(text)))


def _turns(speakers: Sequence[Speaker], start: int, end: int) -> tuple[Turn, ...]:
    """Return the speakers in [start, end) of a drawer's text, counted from `start`."""
    turns: list[Turn] = []
    at = 0
    for role, author, size in speakers:
        low, high = max(at, start) - start, min(at + size, end) - start
        at += size + len(SPAN_SEPARATOR)
        if low >= high:
            continue
        last = turns[-1] if turns else None
        if last and (last.role, last.author) == (role, author):
            turns[-1] = replace(last, end=high)
        else:
            turns.append(Turn(role, author, low, high))
    return tuple(turns)


class _Shelf:
    """The rest of the budget, and the drawers that are already shown, with their ranks."""

    def __init__(self, hits: Sequence[Hit], seconds: Mapping[int, Hit], remaining_tokens: int) -> None:
        self._left = remaining_tokens
        self._shown: dict[str, int] = {}
        for rank, hit in enumerate(hits, 1):
            shown = [hit, seconds[hit.row]] if hit.row in seconds else [hit]
            for uid in (uid for each in shown for uid in (each.drawer.id, *each.copies)):
                self._shown.setdefault(uid, rank)

    def place_neighbours(self, rank: int, neighbours: Sequence[Neighbour]) -> tuple[Neighbour, ...]:
        """Return the neighbours of a hit that are shown, in the order of the text."""
        attempts = (self._place(rank, neighbour) for neighbour in neighbours)
        visible_neighbours = (neighbour for neighbour in attempts if neighbour is not None)
        return tuple(sorted(visible_neighbours, key=lambda neighbour: neighbour.position))

    def _place(self, rank: int, whole: Neighbour) -> Neighbour | None:
        already = self._shown.get(whole.drawer.id)
        if already is not None:
            return replace(whole, text="", truncated=True, turns=(), shown_at=already) if already != rank else None
        cost = estimate_tokens(whole.text)
        if cost <= self._left:
            neighbour = whole
        elif self._left >= LEAST_SHOWN:
            neighbour = _shorten_neighbour(whole, self._left, cost)
        else:
            return None
        self._left -= estimate_tokens(neighbour.text)
        self._shown[whole.drawer.id] = rank
        return neighbour


def _shorten_neighbour(whole: Neighbour, tokens: int, cost: int) -> Neighbour:
    """Cut a neighbour; before a hit its end is kept, which is what the hit answers."""
    text = cut(whole.text, tokens, cost, "end" if whole.position < 0 else "beginning")
    start = len(whole.text) - len(text) if whole.position < 0 else 0
    turns = (
        replace(turn, start=max(turn.start - start, 0), end=min(turn.end - start, len(text)))
        for turn in whole.turns
        if turn.end > start and turn.start < start + len(text)
    )
    return replace(whole, text=text, truncated=True, turns=tuple(turns))
