"""Hits, drawers and their neighbours as entries of an answer for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from palazzo.features.search.contract import HitView, NeighbourView, ShowEntry, TurnView
from palazzo.operations.agent_tools.tool_answers import (
    Entry,
    cut_note,
    minute,
)
from palazzo.operations.shared_views import HitSource
from palazzo.security.display_names import plain_name, quoted_name, shown_place
from palazzo.security.injected_text import NOTICE as NOTICE
from palazzo.text.file_uris import path_of

_ENOUGH_OF_SESSION = 13
"""Characters of a session's id that are shown; `read` accepts a prefix of the id."""


_SPEAKERS = {"author": "document", "": "unknown"}


def of_hit(hit: HitView, cwd: Path) -> Entry:
    """Return a hit as an entry."""
    notes = [*describe_kind(hit.kind), *_part_notes(hit)]
    if not hit.parts and len(hit.text) < hit.length:
        notes.append(cut_note(hit.id, len(hit.text), hit.length))
    if hit.superseded is not None:
        by = hit.superseded
        notes.append(f"superseded on {minute(by.at)[:10]}: {by.value or 'it ended'} ({by.by})")
    if hit.feedback:
        notes.append(f"judged {hit.feedback}")
    if hit.label:
        notes.append(hit.label)
    if hit.cited:
        notes.append(hit.cited)
    if hit.state:
        notes.append(hit.state)
    if hit.person:
        notes.append("shared by a teammate" + (", only its beginning" if hit.truncated else ""))
    return Entry(
        hit.id,
        minute(hit.created_at),
        describe_place(f"{hit.wing}/{hit.room}", hit.source, hit.title, cwd, hit.filed_as),
        describe_speakers(hit.role, hit.author, hit.turns),
        hit.trust,
        _text_of_hit(hit),
        "; ".join(notes),
    )


def describe_kind(kind: str) -> Iterator[str]:
    """Yield what a reader must know of this kind of drawer."""
    if kind == "reasoning":
        yield "reasoning of an agent, which was not said"


def _part_notes(hit: HitView) -> Iterator[str]:
    """Yield what must be said of the drawers of a hit that shows two: the other's id, what is cut or out of date."""
    for part in hit.parts:
        if part.id != hit.id:
            source = "session" if hit.source.session_id else "document"
            yield ", ".join(filter(None, (f"with {part.id} of the same {source}", part.locator)))
            if part.superseded is not None:
                by = part.superseded
                yield f"{part.id} superseded on {minute(by.at)[:10]}: {by.value or 'it ended'} ({by.by})"
            if part.cited:
                yield f"{part.id}: {part.cited}"
        if part.end - part.start < part.length:
            yield cut_note(part.id, part.end - part.start, part.length)


def _text_of_hit(hit: HitView) -> str:
    """Return the text with its speakers; two drawers stay apart."""
    if not hit.parts:
        return label_speakers(hit.text, hit.turns)
    separator = hit.text[hit.parts[0].end : hit.parts[1].start]
    return separator.join(
        label_speakers(
            hit.text[part.start : part.end],
            [
                replace(turn, start=turn.start - part.start, end=turn.end - part.start)
                for turn in hit.turns
                if part.start <= turn.start < part.end
            ],
        )
        for part in hit.parts
    )


def of_neighbour(neighbour: NeighbourView, hit: HitView, place: str) -> Entry:
    """Return the remarks of a hit's entry."""
    side = "before" if neighbour.position < 0 else "after"
    notes = [f"stands just {side} {hit.id}"]
    if len(neighbour.text) < neighbour.length:
        notes.append(f'a part; read("{neighbour.id}")')
    return Entry(
        neighbour.id,
        minute(neighbour.created_at),
        place,
        describe_speakers(neighbour.role, neighbour.author, neighbour.turns),
        neighbour.trust,
        label_speakers(neighbour.text, neighbour.turns),
        "; ".join(notes),
    )


def of_shown(record: ShowEntry, cwd: Path, note: str = "") -> Entry:
    """Return a drawer or an item as an entry."""
    notes = [note, *describe_kind(record.kind)]
    if record.retired_at is not None:
        notes.append("forgotten or replaced: search does not find it")
    if record.superseded is not None:
        by = record.superseded
        notes.append(f"superseded on {minute(by.at)[:10]}: {by.value or 'it ended'} ({by.by})")
    if record.label:
        notes.append(record.label)
    if record.cited:
        notes.append(record.cited)
    if own := [tag for tag in record.tags if ":" not in tag]:
        notes.append(f"tags {', '.join(own)}")
    return Entry(
        record.id,
        minute(record.created_at),
        describe_place(f"{record.wing}/{record.room}", record.source, record.title, cwd),
        describe_speakers(record.role, record.author, record.turns),
        record.trust,
        label_speakers(record.text, record.turns),
        "; ".join(filter(None, notes)),
    )


def describe_place(place: str, source: HitSource, title: str, cwd: Path, filed_as: str = "") -> str:
    """Return the place and origin of a text: a file as an agent can open it, a session as `read` accepts it."""
    place = shown_place(place)
    title = quoted_name(title) if title and source.session_id else plain_name(title)
    if source.session_id:
        origin = f"{source.kind} {source.session_id[:_ENOUGH_OF_SESSION]} {source.locator}".strip()
        return " · ".join(filter(None, (place, origin, title)))
    path = _path(source.uri, cwd)
    origin = f"{path} {source.locator}".strip() if path else ""
    return " · ".join(filter(None, (place, origin, title.rpartition(" › ")[2] if path else title, filed_as)))


def describe_speakers(role: str, author: str, turns: Sequence[TurnView] = ()) -> str:
    """Return the speakers, in order."""
    speakers = [_speaker(turn.role, turn.author) for turn in turns] or [_speaker(role, author)]
    return ", ".join(dict.fromkeys(speakers))


def label_speakers(text: str, turns: Sequence[TurnView]) -> str:
    """Return a text with the speaker of each part, if there are several."""
    if len({(turn.role, turn.author) for turn in turns}) < 2:
        return text
    statements = ((_speaker(turn.role, turn.author), text[turn.start : turn.end].strip("\n")) for turn in turns)
    return "\n\n".join(f"{speaker}: {words}" for speaker, words in statements if words)


def _speaker(role: str, author: str) -> str:
    return author or _SPEAKERS.get(role, role.replace("+", ", "))


def _path(uri: str, cwd: Path) -> str:
    """Return a file's path, relative to the working directory if it lies below; '' if it is not a file."""
    if not uri.startswith("file:"):
        return ""
    path = path_of(uri)
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)
