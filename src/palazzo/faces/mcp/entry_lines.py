"""How recorded words are shown to a model: entries with id, time, place, speaker and trust, within a size limit.

Some hosts show only the JSON and others only the text, so both say the same. The text is inside the fence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from palazzo.faces.mcp.tool import Answer
from palazzo.features.search.hits import HitSource, HitView, NeighbourView, TurnView
from palazzo.features.search.show_results import ShowEntry
from palazzo.model import Micros
from palazzo.security.display_names import plain_name, quoted_name, shown_place
from palazzo.security.fences import fence_text
from palazzo.security.injected_text import NOTICE as NOTICE
from palazzo.text.times import to_iso

MOST = 20_000
"""Maximum characters of recorded words in one result. With the surrounding text it stays under 25,000, beyond which
hosts truncate results or write them to files.
"""
_HEAD = 200
"""Characters of an entry besides its words."""
_ENOUGH_OF_SESSION = 13
"""Characters of a session's id that are shown; `read` accepts a prefix of the id."""
_SPEAKERS = {"author": "document", "": "unknown"}

TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "integer"}
FLAG: Mapping[str, Any] = {"type": "boolean"}
LIST: Mapping[str, Any] = {"type": "array"}
OBJECT: Mapping[str, Any] = {"type": "object"}


def shape(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object that always has these fields, and may have others.

    Other fields are not listed: every session pays for the words of a schema, and models do not read a result's schema.
    """
    return {"type": "object", "properties": fields, "required": list(fields)}


ENTRIES = {"type": "array", "items": {"type": "object", "required": ["id", "when", "where", "who", "trust", "text"]}}


@dataclass(frozen=True, slots=True)
class Entry:
    """Recorded words. `note` contains further information: that they are cut, superseded, or from another branch.

    `where` is empty if the whole answer is from one place, which its notice names.
    """

    id: str
    when: str
    where: str
    who: str
    trust: str
    text: str
    note: str = ""

    @property
    def json_fields(self) -> dict[str, str]:
        """Return the fields for JSON."""
        fields = {name: getattr(self, name) for name in ("id", "when", "where", "who", "trust", "text", "note")}
        return {name: value for name, value in fields.items() if value or name not in ("where", "note")}

    @property
    def lines(self) -> str:
        """Return the fields as readable text. It is indented, so that no line looks like the head of an entry."""
        head = " · ".join(filter(None, (f"[{self.id}]", self.when, self.where, self.who, self.trust)))
        head = " ".join(head.split())  # an author's name, too, is somebody's words
        words = "\n".join(f"  {line}" if line.strip() else "" for line in self.text.rstrip("\n").splitlines())
        note = " ".join(self.note.split())
        return "\n".join(filter(None, (head, note and f"  ({note})", words)))


def answer_entries(notice: str, entries: Sequence[Entry], name: str = "hits", **others: Any) -> Answer:
    """Return an answer of entries, cut to the size of one result. `others` are additional fields."""
    fitting_entries = list(fit_entries(entries))
    fields = {
        "notice": notice,
        name: [entry.json_fields for entry in fitting_entries],
        **{key: entry for key, entry in others.items() if entry},
    }
    return Answer(
        fields,
        fence_text("\n\n".join([notice, *(entry.lines for entry in fitting_entries)])) if fitting_entries else notice,
    )


def fit_entries(entries: Iterable[Entry], most: int = MOST) -> Iterable[Entry]:
    """Yield entries with at most `most` characters together, including heads; a cut entry says so."""
    entries = list(entries)
    remaining_chars = most - _HEAD * max(len(entries) - 1, 0)
    for entry in entries:
        if len(entry.text) <= remaining_chars:
            remaining_chars -= len(entry.text)
            yield entry
        else:
            room = max(remaining_chars, 0)
            note = "; ".join(filter(None, (entry.note, cut_note(entry.id, room, len(entry.text)))))
            yield replace(entry, text=entry.text[:room], note=note)
            remaining_chars = 0


def rows(
    notice: str, name: str, records: Sequence[Mapping[str, Any]], line: Callable[[Any], str], **others: Any
) -> Answer:
    """Return an answer of rows, one line each by `line`; as many as a result may hold, with a note about the rest.

    `others` are additional fields.
    """
    fitting_records: list[Mapping[str, Any]] = []
    remaining_chars = MOST
    for record in records:
        remaining_chars -= len(json.dumps(record, ensure_ascii=False))
        if remaining_chars < 0 and fitting_records:
            break
        fitting_records.append(record)
    if len(fitting_records) < len(records):
        notice += f" Shown: {len(fitting_records):,} of {len(records):,}. Request fewer at a time."
    fields = {"notice": notice, name: fitting_records, **{key: record for key, record in others.items() if record}}
    return Answer(fields, fence_text("\n".join([notice, *map(line, fitting_records)])) if fitting_records else notice)


def cut_note(uid: str, visible_length: int, length: int) -> str:
    """Return a note that text is left out, and how to read it."""
    if not visible_length:
        return f'{length:,} characters, not shown here: read("{uid}")'
    return (
        f'cut after {visible_length:,} of {length:,} characters: continue with read("{uid}", offset={visible_length})'
    )


def of_hit(hit: HitView, cwd: Path) -> Entry:
    """Return a hit as an entry."""
    notes = []
    if hit.text and len(hit.text) < hit.length:
        notes.append(cut_note(hit.id, len(hit.text), hit.length))
    elif not hit.text:
        notes.append(cut_note(hit.id, 0, hit.length))
    if hit.superseded is not None:
        by = hit.superseded
        notes.append(f"superseded on {minute(by.at)[:10]}: {by.value or 'it ended'} ({by.by})")
    if hit.label:
        notes.append(hit.label)
    if hit.cited:
        notes.append(hit.cited)
    if hit.state:
        notes.append(hit.state)
    return Entry(
        hit.id,
        minute(hit.created_at),
        describe_place(f"{hit.wing}/{hit.room}", hit.source, hit.title, cwd, hit.filed_as),
        describe_speakers(hit.role, hit.author, hit.turns),
        hit.trust,
        label_speakers(hit.text, hit.turns),
        "; ".join(notes),
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
    notes = [note]
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


def minute(moment: Micros) -> str:
    """Return a time to the minute: 2026-03-04T10:22Z."""
    return f"{to_iso(moment)[:16]}Z"


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
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return ""
    path = Path(url2pathname(parts.path))
    return path.relative_to(cwd).as_posix() if path.is_relative_to(cwd) else str(path)
