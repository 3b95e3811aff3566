"""Session citations: which files the messages of a session cite, by reads, edits and mentions, and their state then.

Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from palazzo.frozen_class import frozen
from palazzo.index import digest_work as work
from palazzo.model import UNKNOWN_LINE, Anchor, AnchorKind, Part
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.sessions.file_calls import (
    Excerpt,
    FileCall,
    FileEdit,
    Piece,
    Reading,
    Writing,
    clean_line,
    file_calls,
    read_excerpt,
)
from palazzo.sessions.file_views import View
from palazzo.text import known_names
from palazzo.text.lazy_patterns import make_regex

_MOST_FILES = 200
"""Maximum number of files whose content is kept, the most recent ones: a few MB each at worst."""
_MOST_MENTIONS = 32
"""Maximum number of files that are looked up for one part of a message; a stack trace names hundreds."""
_SAID_FIRST = 400
"""Characters at the beginning of a result in which a host says that nothing was changed."""

Spot = tuple[int, int, int]
"""An item's row id, start and end."""


class LocatedMessage(NamedTuple):
    """A message, and the directory in which it was said (empty: unknown)."""

    message: SessionMessage
    cwd: str


@frozen
class Citation:
    """A file that is cited at some spots.

    For an edit: how far the text after it has moved, and the file after the edit. `whole` is set if the session wrote
    the whole file before.
    """

    anchor: Anchor
    spots: tuple[Spot, ...]
    shift: int = 0
    whole: Anchor | None = None


def take(citations: list[Citation], new: Citation) -> None:
    """Add a citation to those of a drawer; it may replace one of them, or move it."""
    anchor = new.anchor
    for n, citation in reversed(list(enumerate(citations))):
        old = citation.anchor
        if old.path != anchor.path:
            continue
        if anchor.how == "edited" and old.how == "edited" and old.first == 0 and new.whole is not None:
            citations[n] = replace(citation, anchor=new.whole)  # what was written whole is cited whole, as it is now
            return
        if (old.first, old.last, old.how) == (anchor.first, anchor.last, anchor.how) and anchor.first >= 0:
            del citations[n]
        elif anchor.how == "edited" and old.how in ("edited", "read"):
            shifted_anchor = None if old.how == "read" else _shift_anchor(old, anchor, new.shift)
            if shifted_anchor is None:
                del citations[n]
            else:
                citations[n] = replace(citation, anchor=shifted_anchor)
    citations.append(new)


def _shift_anchor(old: Anchor, edit: Anchor, shift: int) -> Anchor | None:
    """Return an earlier edit's anchor after a later edit of the file; None if that changed its lines.

    After an edit whose place is unknown, the anchor's place is unknown too.
    """
    if old.first == 0 or (edit.first == 0 and edit.digest):
        return None
    if edit.first <= 0:
        return replace(old, first=UNKNOWN_LINE, last=UNKNOWN_LINE) if old.digest else old
    if old.first < 0 or old.last < edit.first:
        return old
    if old.first <= edit.last - shift:
        return None
    return replace(old, first=old.first + shift, last=old.last + shift)


@dataclass(slots=True)
class _Call:
    """A call that waits for its result."""

    tool: str
    does: tuple[FileCall, ...]
    cwd: str
    spot: Spot


@dataclass
class Reader:
    """Reads the messages of a thread in order.

    `resolve` converts a file name, as used in a directory, to the path from the project's root; it returns None for a
    file in no project or a file that is not source work. `digest` identifies lines.
    """

    resolve: Callable[[str, str], str | None]
    digest: Callable[[Sequence[str]], bytes]
    _views: dict[str, View] = field(default_factory=dict)
    _whole_paths: set[str] = field(default_factory=set)
    _turn: list[Citation] = field(default_factory=list)
    """Changes since the last request of a user."""
    _calls: dict[str, _Call] = field(default_factory=dict)
    _last: _Call | None = None

    def citations(self, messages: Iterable[LocatedMessage]) -> Iterator[Citation]:
        """Yield the citations of the messages, in order."""
        for entry in messages:
            message = entry.message
            for part in message.parts or (Part("text", 0, len(message.text)),):
                spot = message.item, part.start, part.end
                words = message.text[part.start : part.end]
                if part.kind == "tool_call":
                    self._last = _Call(part.name, tuple(file_calls(part.name, words)), entry.cwd, spot)
                    self._calls[part.call] = self._last
                elif part.kind == "tool_result":
                    call = self._calls.pop(part.call, self._last)
                    if call is not None:
                        yield from self._cite_result(call, part, words, spot)
                elif part.kind == "text" and message.role in ("user", "assistant") and part.trust != "external":
                    if message.role == "user":
                        self._turn = []
                    yield from self._cite_mentions(words, entry.cwd, spot)
                    yield from self._told_of(words, spot)

    # --- calls ---------------------------------------------------------------------------------------------

    def _cite_result(self, call: _Call, part: Part, result: str, spot: Spot) -> Iterator[Citation]:
        """Yield what a call did, by its result. A failed call did nothing."""
        if part.failed:
            return
        for action in call.does:
            path = self.resolve(action.path, call.cwd)
            if path is None:
                continue
            if isinstance(action, Reading):
                yield Citation(self._read(action, path, call.tool, result), (call.spot, spot))
            elif not work.is_declined(result[:_SAID_FIRST]):
                changes = (
                    self._wrote(action, path) if isinstance(action, Writing) else self._cite_edit(action, path, result)
                )
                for anchor, shift, whole in changes:
                    citation = Citation(anchor, (call.spot, spot), shift, whole)
                    take(self._turn, citation)
                    yield citation

    def _read(self, reading: Reading, path: str, tool: str, result: str) -> Anchor:
        view = self._view(path)
        excerpt = read_excerpt(reading, tool, result)
        if excerpt is not None:
            view.read(excerpt)
            first, count, is_all = excerpt.first, len(excerpt.lines), excerpt.is_all
        else:  # `unchanged since it was last read`, a page of a PDF
            first, count, is_all = reading.first or 1, reading.limit or view.size or 0, not reading.limit
        lines = view.span(first, first + count - 1)
        if is_all or not count:
            return self._anchor(path, 0, 0, lines, "read")
        return self._anchor(path, first, first + count - 1, lines, "read")

    def _wrote(self, writing: Writing, path: str) -> Iterator[tuple[Anchor, int, Anchor | None]]:
        view = self._view(path)
        view.write(writing.text)
        self._whole_paths.add(path)
        lines = view.file_lines()
        anchor = self._anchor(path, 0, 0, lines, "edited", blob_of(writing.text) if lines else "")
        yield anchor, 0, anchor

    def _cite_edit(self, edit: FileEdit, path: str, result: str) -> Iterator[tuple[Anchor, int, Anchor | None]]:
        view = self._view(path)
        if not edit.pieces:
            view.forget()
            yield self._anchor(path, 0, 0, None, "edited"), 0, None
        for piece in edit.pieces:
            places = [(place.first, place.last, place.shift) for place in view.change(piece)] or _in_result(
                piece, result
            )
            for first, last, shift in places:
                lines = view.span(first, last)
                yield self._anchor(path, first, last, lines or whole_lines(piece), "edited"), shift, self._whole(path)
            if not places:
                new_lines = whole_lines(piece)
                at = UNKNOWN_LINE if new_lines else 0
                yield self._anchor(path, at, at, new_lines, "edited"), 0, None

    def _whole(self, path: str) -> Anchor | None:
        lines = self._views[path].file_lines() if path in self._whole_paths else None
        return None if lines is None else self._anchor(path, 0, 0, lines, "edited")

    # --- mentions ------------------------------------------------------------------------------------------

    def _cite_mentions(self, words: str, cwd: str, spot: Spot) -> Iterator[Citation]:
        item, start, _ = spot
        for mention in mentions(words):
            path = self._resolve_name(mention.path, cwd)
            if path is not None:
                lines = self._views[path].span(mention.first, mention.last) if path in self._views else None
                anchor = self._anchor(path, mention.first, mention.last, lines, "mentioned")
                yield Citation(anchor, ((item, start + mention.start, start + mention.end),))

    def _resolve_name(self, name: str, cwd: str) -> str | None:
        """Return the file that a name means: a file the session has viewed with that ending, else by its directory."""
        ending = name.replace("\\", "/").removeprefix("./")
        if not re.match(r"/|~|\.\./|[A-Za-z]:", ending):
            matches = [path for path in self._views if path == ending or path.endswith(f"/{ending}")]
            if matches:
                return ending if ending in matches else matches[-1]
        return self.resolve(name, cwd)

    def _told_of(self, words: str, spot: Spot) -> Iterator[Citation]:
        """Yield the changes of this turn to files that an answer names: the answer is about them."""
        item, start, _ = spot
        for citation in self._turn:
            name = citation.anchor.path.rpartition("/")[2]
            at = words.find(name)
            if at >= 0 and not _GOES_ON.match(words[at + len(name) :]) and not _GOES_ON.match(words[at - 1 : at]):
                yield replace(citation, spots=((item, start + at, start + at + len(name)),), shift=0, whole=None)

    # --- both ----------------------------------------------------------------------------------------------

    def _view(self, path: str) -> View:
        """Return the view of a file, and mark it as the last one used."""
        self._views[path] = view = self._views.pop(path, None) or View()
        if len(self._views) > _MOST_FILES:
            self._views.pop(next(iter(self._views)))
        return view

    def _anchor(
        self, path: str, first: int, last: int, lines: Sequence[str] | None, kind: AnchorKind, blob: str = ""
    ) -> Anchor:
        stripped_lines = [line.rstrip(" \t") for line in lines or ()]
        return Anchor(
            path, first, last, self.digest(stripped_lines) if stripped_lines else b"", len(stripped_lines), blob, kind
        )


def blob_of(text: str | bytes) -> str:
    """Return the id that git gives a file with this text."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def whole_lines(piece: Piece) -> list[str]:
    """Return the lines of an edit's new text that are certainly whole: all of a patch, else all but the two ends."""
    lines = piece.new.replace("\r\n", "\n").split("\n")
    plain_lines = [clean_line(line) for line in (lines if piece.whole else lines[1:-1])]
    return [] if None in plain_lines or not any(plain_lines) else [str(line) for line in plain_lines]


_SNIPPET = make_regex(r"^ *1?\d{0,6}\d(?:→|\t)", re.MULTILINE)


def _in_result(piece: Piece, result: str) -> list[tuple[int, int, int]]:
    """Return the place of an edit from the numbered lines in its result, if there are any."""
    match = _SNIPPET.search(result)
    snippet = None if match is None else read_excerpt(Reading(""), "Read", result[match.start() :])
    if snippet is None or not piece.new:
        return []
    view = View()
    view.read(Excerpt(snippet.first, snippet.lines, False))
    shift = piece.new.count("\n") - piece.old.count("\n")
    return [(place.first, place.last, shift) for place in view.change(Piece(piece.new, piece.new, piece.whole))]


# --- names in words ------------------------------------------------------------------------------------------


class Mention(NamedTuple):
    """A place in a text that names lines of a file."""

    path: str
    first: int
    last: int
    start: int
    end: int


_GOES_ON = make_regex(r"[\w-]|\.\w")
_LINES_FOLLOW = make_regex(r":L?\d|#L\d|\(\d|,? lines? \d")
_MENTION_PATTERN = make_regex(
    r"(?<![\w@/\\.:-])(?P<path>(?:[A-Za-z]:[\\/]|\.{1,2}/|~/|/)?(?:[\w@.+()\[\]-]{1,100}[/\\]){0,20}"
    r"[\w@.+\[\]-]{1,100}\.(?P<extension>[A-Za-z]\w{0,9}))[`'\"]?"
    r"(?::L?(?P<a>\d{1,6})(?:[-\u2013]L?(?P<b>\d{1,6})(?!\d|-))?(?::\d{1,5})?|\#L(?P<c>\d{1,6})(?:-L?(?P<d>\d{1,6}))?"
    r"|\((?P<e>\d{1,6})(?:,\d{1,5})?\)|,? lines? (?P<f>\d{1,6})(?: ?(?:[-\u2013]|to) ?(?P<g>\d{1,6}))?)(?![\w])"
)
_AN_ADDRESS = make_regex(r"[a-z][a-z0-9+]*://\S*$", re.IGNORECASE)
_LONGEST_SPAN = 2_000


def mentions(text: str) -> Iterator[Mention]:
    """Yield where a text names lines of files: `src/a.py:10-20`, `a.ts(3,4)`, `a.go#L7`, `"a.py", line 3`."""
    if not _LINES_FOLLOW.search(text):
        return
    count = 0
    for match in _MENTION_PATTERN.finditer(text):
        if match["extension"] not in known_names.EXTENSIONS or _AN_ADDRESS.search(
            text[max(0, match.start() - 200) : match.start()]
        ):
            continue
        first = int(next(filter(None, match.group("a", "c", "e", "f"))))
        last = int(next(filter(None, match.group("b", "d", "g")), first))
        if not 0 < first <= last <= first + _LONGEST_SPAN:
            last = first
        if first:
            count += 1
            yield Mention(match["path"], first, last, *match.span())
        if count == _MOST_MENTIONS:
            return
