"""Terminal output of one search hit: where it is, what it is, and the lines around the best sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from palazzo.features.screen import INDENT, Part, Screen
from palazzo.features.search.contract import HitView, NeighbourView, Strength, TurnView
from palazzo.model import Micros
from palazzo.security.display_names import quoted_name, shown_place
from palazzo.text.ages import describe_age
from palazzo.text.best_sentence import find_best_sentence, joined_text, split_blocks
from palazzo.text.count_phrases import count_noun
from palazzo.text.document_formats import is_prose
from palazzo.text.times import to_iso

MOST_ROWS, ENOUGH_ROWS = 4, 2
"""The most lines of a hit's words, and the lines after which no further paragraph is begun."""
_MATCH_STYLE = "bold underline"
_STRENGTH_STYLES: dict[Strength, str] = {"strong": "green", "likely": "cyan", "weak": "dim"}
_SEPARATOR = " · "
_WORD = re.compile(r"[^\W_]+")
_MOST_CHARACTERS = 2_000
"""The most characters of one block that are laid out: more than four lines of any terminal hold."""
_SHORTEST_LOCATION = 12
_CUT_MARK = len(" ...")
"""Columns for the mark of a cut line, which is longer where the output lacks `…`."""


class Answer(NamedTuple):
    """What the hits of one answer share: when it was asked and from which wing, the hits, and the matched words."""

    now: Micros
    home: str
    wing: str | None
    hits: Sequence[HitView]
    words: frozenset[str]
    explained: bool


def write_hit(screen: Screen, rank: int, hit: HitView, answer: Answer) -> None:
    """Show a hit: its place and id; its title, age, speaker and strength; and the lines around its best sentence.

    A weak hit is one line, unless its rank is explained.
    """
    if hit.strength == "weak" and not answer.explained:
        if rank == 1 or answer.hits[rank - 2].strength != "weak":
            screen.say(("Weak matches:", "dim"))
        _write_weak_hit(screen, hit, answer)
        return
    screen.say(
        (f"{rank}  ", "bold") if answer.explained else "",
        (hit.location or shown_place(f"{hit.wing}/{hit.room}"), f"bold cyan {_link(screen, hit)}"),
        (f"  {hit.id if answer.explained else hit.short_id}", "dim"),
        wrap_indent=len(INDENT),
    )
    _write_facts(screen, hit, answer)
    if answer.explained:
        screen.say((f"{INDENT}{hit.source.uri}{_SEPARATOR}{hit.source.locator}", "dim"), wrap_indent=len(INDENT))
    for neighbour in hit.context:
        if neighbour.position < 0:
            _write_neighbour(screen, neighbour, answer)
    quoted_part = _quoted_part(hit)
    for label, row in _rows(screen, quoted_part, answer.words):
        screen.say(INDENT, (label, "cyan"), *_with_matches(row, answer.words))
    _write_other_parts(screen, hit, answer)
    for neighbour in hit.context:
        if neighbour.position > 0:
            _write_neighbour(screen, neighbour, answer)
    screen.gap()


def _link(screen: Screen, hit: HitView) -> str:
    return screen.link(hit.source.uri) if hit.path else ""


def _write_facts(screen: Screen, hit: HitView, answer: Answer) -> None:
    """Write the second line: what the hit is, when and by whom it was said, its strength, and labels that matter."""
    is_elsewhere = hit.wing != (answer.wing or answer.home) and (hit.path or hit.source.session_id)
    title = quoted_name(hit.title) if hit.source.session_id and hit.title else hit.title
    facts = [
        title,
        hit.filed_as,
        shown_place(hit.wing) if is_elsewhere else "",
        moment(hit.created_at) if answer.explained else describe_age(hit.created_at, answer.now),
        _speaker(hit),
        hit.state,
        count_noun(hit.copies, "near-copy") if hit.copies and answer.explained else "",
    ]
    score = f" {hit.score:.4f}" if answer.explained else ""
    labels = "".join(f"{_SEPARATOR}{label}" for label in _labels(hit, answer.now))
    screen.say(
        (f"{INDENT}{_SEPARATOR.join(filter(None, facts))}{_SEPARATOR}", "dim"),
        (f"{hit.strength}{score}", _STRENGTH_STYLES[hit.strength]),
        (labels, "yellow"),
        wrap_indent=len(INDENT),
    )


def _labels(hit: HitView, now: Micros) -> Iterator[str]:
    """Yield what a reader must know before relying on a hit."""
    if hit.kind == "reasoning":
        yield "reasoning, not said"
    if hit.trust == "external":
        yield "untrusted"
    if hit.label:
        yield hit.label
    elif hit.person and hit.branch:
        yield f"branch {quoted_name(hit.branch)}"
    if hit.feedback:
        yield f"judged {hit.feedback}"
    if hit.superseded is not None:
        by = hit.superseded
        yield f"superseded {describe_age(by.at, now)}: {by.value or 'it ended'} ({by.by})"
    if hit.cited:
        yield hit.cited


def _quoted_part(hit: HitView) -> HitView:
    """Return a hit of two drawers as if it had only the one that is quoted."""
    for part in hit.parts:
        if part.start <= hit.quoted_at < part.end:
            turns = tuple(
                replace(turn, start=turn.start - part.start, end=turn.end - part.start)
                for turn in hit.turns
                if part.start <= turn.start < part.end
            )
            text, quoted_at = hit.text[part.start : part.end], hit.quoted_at - part.start
            return replace(hit, text=text, turns=turns, quoted_at=quoted_at, truncated=part.length > len(text))
    return hit


def _write_other_parts(screen: Screen, hit: HitView, answer: Answer) -> None:
    """Write one line of each drawer of a hit that is not quoted: its best sentence."""
    source = "session" if hit.source.session_id else "document"
    for part in hit.parts:
        if not part.start <= hit.quoted_at < part.end:
            superseded = " (superseded)" if part.superseded is not None else ""
            label = f"+ same {source} {part.id[: len(hit.short_id)]}{superseded} › "
            sentence = _one_row(screen, hit.text[part.start : part.end], label, answer.words)
            screen.say(INDENT, (label, "dim"), *_with_matches(sentence, answer.words))


def _speaker(hit: HitView) -> str:
    """Return who says the quoted sentence; nothing for a document."""
    turn = next((turn for turn in hit.turns if turn.start <= hit.quoted_at < turn.end), None)
    if turn is not None:
        return _name(turn)
    return hit.author or ("" if hit.role == "author" else hit.role)


def _write_weak_hit(screen: Screen, hit: HitView, answer: Answer) -> None:
    """Write a weak hit on one line: its place and id, labels, and its best sentence."""
    location = hit.location or f"{hit.wing}/{hit.room}"
    room = max(screen.width - len(hit.short_id) - len("    "), _SHORTEST_LOCATION)
    if screen.is_terminal and len(location) > room:
        location = f"…{location[1 - room :]}"
    labels = "".join(f"{label.partition(':')[0]}  " for label in _labels(hit, answer.now))
    quote = " ".join(hit.quoted[:_MOST_CHARACTERS].split())
    screen.trim(
        (location, f"cyan {_link(screen, hit)}"),
        (f"  {hit.short_id}  ", "dim"),
        (labels, "yellow"),
        *_with_matches(" ".join(screen.wrap(quote, screen.width)), answer.words),
    )


def _rows(screen: Screen, hit: HitView, words: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines around the quoted sentence, each with the speaker if several speak.

    Of what somebody else said before, the best sentence is one line: the question that is answered.
    """
    spoken = next((turn for turn in hit.turns if turn.start <= hit.quoted_at < turn.end), None)
    as_prose = is_prose(hit.kind, hit.path)
    if spoken is None or len({turn.role for turn in hit.turns}) < 2:
        start, end, label = (0, len(hit.text), "") if spoken is None else (spoken.start, spoken.end, "")
        yield from _laid_out(screen, hit, start, end, label, MOST_ROWS, as_prose)
        return
    before = [turn for turn in hit.turns if turn.end <= spoken.start]
    if before:
        yield _one_row_of_turn(screen, hit.text, before[-1], words)
    yield from _laid_out(screen, hit, spoken.start, spoken.end, _label(spoken), MOST_ROWS - 1, as_prose)
    after = next((turn for turn in hit.turns if turn.start >= spoken.end), None)
    if not before and after is not None:
        yield _one_row_of_turn(screen, hit.text, after, words)


def _one_row_of_turn(screen: Screen, text: str, turn: TurnView, words: frozenset[str]) -> tuple[str, str]:
    return _label(turn), _one_row(screen, text[turn.start : turn.end], _label(turn), words)


def _name(turn: TurnView) -> str:
    return turn.author if turn.role == "user" and turn.author else turn.role


def _label(turn: TurnView) -> str:
    return f"{_name(turn)} › "


def _one_row(screen: Screen, text: str, label: str, words: frozenset[str]) -> str:
    """Return the best sentence of a text on one line."""
    sentence, _ = find_best_sentence(text[:_MOST_CHARACTERS], words)
    width = screen.width - len(INDENT) - len(label)
    rows = screen.wrap(" ".join(sentence.text.split()), width - _CUT_MARK)
    return f"{rows[0]} …" if len(rows) > 1 else rows[0] if rows else ""


def _laid_out(
    screen: Screen, hit: HitView, start: int, end: int, label: str, most: int, as_prose: bool
) -> Iterator[tuple[str, str]]:
    """Yield up to `most` lines of a part of a hit, from the paragraph or the line of the quoted sentence on."""
    text, quoted_at = hit.text[start:end], max(hit.quoted_at - start, 0)
    blocks = list(split_blocks(text, as_prose))
    first = next((n for n, block in enumerate(blocks) if quoted_at < block.end), 0)
    if first and blocks[first].kind == "line" == blocks[first - 1].kind:
        first -= 1  # a line of code is read with the one before it
    width = screen.width - len(INDENT) - len(label)
    rows: list[str] = []
    last = first
    for last, block in enumerate(blocks[first:], first):
        is_full = len(rows) >= (most if block.kind == blocks[first].kind == "line" else ENOUGH_ROWS)
        if is_full or (rows and block.kind == "heading" and last > first + 1):
            last -= 1
            break
        line = joined_text(text, block)
        at = max(quoted_at - block.start, 0) if last == first and block.kind != "line" else 0
        rows += _wrapped(screen, line, at, len(hit.quoted), width, most - len(rows), block.kind == "line")
    is_cut = last + 1 < len(blocks) or hit.truncated
    if is_cut and rows and not rows[-1].endswith(("…", ".", ":", "!", "?")):
        rows[-1] = f"{rows[-1]} …"
    for n, row in enumerate(rows[:most]):
        yield (label if n == 0 else " " * len(label)), row


def _wrapped(screen: Screen, line: str, at: int, length: int, width: int, most: int, is_code: bool) -> list[str]:
    """Return a block as lines: from its beginning if the sentence at `at` then fits, else from the sentence on."""
    if is_code:
        rows = screen.wrap(line[:_MOST_CHARACTERS], width - _CUT_MARK)
        return [f"{rows[0]} …" if len(rows) > 1 else rows[0]] if rows else []
    if at and len(screen.wrap(line[: at + length], width - _CUT_MARK)) > most:
        line = f"… {line[at:]}"
    rows = screen.wrap(" ".join(line[:_MOST_CHARACTERS].split()), width - _CUT_MARK)
    return [*rows[: most - 1], f"{rows[most - 1]} …"] if len(rows) > most else rows


def _with_matches(row: str, words: frozenset[str]) -> list[Part]:
    """Return a line in parts, with the words that match the query set off."""
    parts: list[Part] = []
    at = 0
    for match in _WORD.finditer(row):
        if match[0].casefold() in words:
            parts += [row[at : match.start()], (match[0], _MATCH_STYLE)]
            at = match.end()
    return [*parts, row[at:]]


def _write_neighbour(screen: Screen, neighbour: NeighbourView, answer: Answer) -> None:
    """Write one line of a neighbour: its best sentence, and a pointer if it is a hit itself."""
    is_previous = neighbour.position < 0
    arrow, name = ("↑", "before") if is_previous else ("↓", "after")
    if neighbour.hit is not None:
        other = answer.hits[neighbour.hit - 1]
        screen.say((f"{INDENT}{arrow} {name} it: see {other.short_id}", "dim"))
        return
    trust = " (untrusted)" if neighbour.trust == "external" else ""
    label = f"{arrow} {neighbour.short_id} {neighbour.author or neighbour.role}{trust} › "
    screen.say(
        INDENT, (label, "dim"), *_with_matches(_one_row(screen, neighbour.text, label, answer.words), answer.words)
    )


def moment(at: Micros | None) -> str:
    """Return the time to the second, or a word if it is unknown."""
    return to_iso(at) if at else "not known"


def day(at: Micros) -> str:
    """Return the date, or a word if it is unknown."""
    return to_iso(at)[:10] if at else "undated"
