"""Which files the messages of a session cite, and how these stood then: by reading, changing and naming them. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from palazzo.derive import digest_work as work
from palazzo.derive.digest_turns import Said
from palazzo.derive.file_calls import Editing, FileCall, Piece, Reading, Shown, Writing, file_calls, seen, shown
from palazzo.derive.file_views import View
from palazzo.model import UNPLACED, Anchor, AnchorKind, Part
from palazzo.text import known_names

_MOST_FILES = 200
"""Files that are kept in view, the last ones: of some MB each at worst."""
_MOST_MENTIONS = 32
"""Files that are looked for in one part of a message; a stack trace names hundreds."""
_SAID_FIRST = 400
"""Characters of a result in which a host says that nothing was changed."""

Spot = tuple[int, int, int]
"""An item's row, from, to."""


class Told(NamedTuple):
    """A message, and the directory it was said in (empty: nobody knows)."""

    said: Said
    cwd: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A file that is cited at some spots. Of an edit: how far what stands behind it has moved, and the file after it.

    `whole` is there where the session wrote all of the file before.
    """

    anchor: Anchor
    spots: tuple[Spot, ...]
    shift: int = 0
    whole: Anchor | None = None


def take(before: list[Citation], new: Citation) -> None:
    """Put a citation behind those that a drawer has, which it may replace, or move."""
    cited = new.anchor
    for n, one in reversed(list(enumerate(before))):
        old = one.anchor
        if old.path != cited.path:
            continue
        if cited.how == "edited" and old.how == "edited" and old.first == 0 and new.whole is not None:
            before[n] = replace(one, anchor=new.whole)  # what was written whole is cited whole, as it is now
            return
        if (old.first, old.last, old.how) == (cited.first, cited.last, cited.how) and cited.first >= 0:
            del before[n]
        elif cited.how == "edited" and old.how in ("edited", "read"):
            moved = None if old.how == "read" else _moved(old, cited, new.shift)
            if moved is None:
                del before[n]
            else:
                before[n] = replace(one, anchor=moved)
    before.append(new)


def _moved(old: Anchor, edited: Anchor, shift: int) -> Anchor | None:
    """An earlier edit's anchor after a later edit of the file; None where that changed its lines.

    After an edit that nobody can place it stands nobody knows where.
    """
    if old.first == 0 or (edited.first == 0 and edited.digest):
        return None
    if edited.first <= 0:
        return replace(old, first=UNPLACED, last=UNPLACED) if old.digest else old
    if old.first < 0 or old.last < edited.first:
        return old
    if old.first <= edited.last - shift:
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

    `resolve` names a file, as it is called in some directory, from the project's root; None for one that is in none, or
    is nobody's work. `digest` is what lines are known by.
    """

    resolve: Callable[[str, str], str | None]
    digest: Callable[[Sequence[str]], bytes]
    _views: dict[str, View] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)
    _turn: list[Citation] = field(default_factory=list)
    """What was changed since somebody last asked for something."""
    _calls: dict[str, _Call] = field(default_factory=dict)
    _last: _Call | None = None

    def citations(self, messages: Iterable[Told]) -> Iterator[Citation]:
        """Yield what the messages cite, in order."""
        for told in messages:
            message = told.said
            for part in message.parts or (Part("text", 0, len(message.text)),):
                spot = message.item, part.start, part.end
                words = message.text[part.start : part.end]
                if part.kind == "tool_call":
                    self._last = _Call(part.name, tuple(file_calls(part.name, words)), told.cwd, spot)
                    self._calls[part.call] = self._last
                elif part.kind == "tool_result":
                    call = self._calls.pop(part.call, self._last)
                    if call is not None:
                        yield from self._answered(call, part, words, spot)
                elif part.kind == "text" and message.role in ("user", "assistant") and part.trust != "external":
                    if message.role == "user":
                        self._turn = []
                    yield from self._mentioned(words, told.cwd, spot)
                    yield from self._told_of(words, spot)

    # --- calls ---------------------------------------------------------------------------------------------

    def _answered(self, call: _Call, part: Part, result: str, spot: Spot) -> Iterator[Citation]:
        """What a call did, by what came of it. One that failed did nothing."""
        if part.failed:
            return
        for one in call.does:
            path = self.resolve(one.path, call.cwd)
            if path is None:
                continue
            if isinstance(one, Reading):
                yield Citation(self._read(one, path, call.tool, result), (call.spot, spot))
            elif not work.is_declined(result[:_SAID_FIRST]):
                made = self._wrote(one, path) if isinstance(one, Writing) else self._edited(one, path, result)
                for anchor, shift, whole in made:
                    found = Citation(anchor, (call.spot, spot), shift, whole)
                    take(self._turn, found)
                    yield found

    def _read(self, reading: Reading, path: str, tool: str, result: str) -> Anchor:
        view = self._view(path)
        found = shown(reading, tool, result)
        if found is not None:
            view.read(found)
            first, count, is_all = found.first, len(found.lines), found.is_all
        else:  # `unchanged since it was last read`, a page of a PDF
            first, count, is_all = reading.first or 1, reading.limit or view.size or 0, not reading.limit
        lines = view.span(first, first + count - 1)
        if is_all or not count:
            return self._anchor(path, 0, 0, lines, "read")
        return self._anchor(path, first, first + count - 1, lines, "read")

    def _wrote(self, writing: Writing, path: str) -> Iterator[tuple[Anchor, int, Anchor | None]]:
        view = self._view(path)
        view.write(writing.text)
        self._written.add(path)
        lines = view.all()
        found = self._anchor(path, 0, 0, lines, "edited", blob_of(writing.text) if lines else "")
        yield found, 0, found

    def _edited(self, editing: Editing, path: str, result: str) -> Iterator[tuple[Anchor, int, Anchor | None]]:
        view = self._view(path)
        if not editing.pieces:
            view.forget()
            yield self._anchor(path, 0, 0, None, "edited"), 0, None
        for piece in editing.pieces:
            places = [(one.first, one.last, one.shift) for one in view.change(piece)] or _in_result(piece, result)
            for first, last, shift in places:
                lines = view.span(first, last)
                yield self._anchor(path, first, last, lines or whole_lines(piece), "edited"), shift, self._whole(path)
            if not places:
                known = whole_lines(piece)
                at = UNPLACED if known else 0
                yield self._anchor(path, at, at, known, "edited"), 0, None

    def _whole(self, path: str) -> Anchor | None:
        lines = self._views[path].all() if path in self._written else None
        return None if lines is None else self._anchor(path, 0, 0, lines, "edited")

    # --- mentions ------------------------------------------------------------------------------------------

    def _mentioned(self, words: str, cwd: str, spot: Spot) -> Iterator[Citation]:
        item, start, _ = spot
        for one in mentions(words):
            path = self._meant(one.path, cwd)
            if path is not None:
                lines = self._views[path].span(one.first, one.last) if path in self._views else None
                anchor = self._anchor(path, one.first, one.last, lines, "mentioned")
                yield Citation(anchor, ((item, start + one.start, start + one.end),))

    def _meant(self, name: str, cwd: str) -> str | None:
        """The file that is meant: one that the session has looked at, by the end of its name, else by its place."""
        ending = name.replace("\\", "/").removeprefix("./")
        if not re.match(r"/|~|\.\./|[A-Za-z]:", ending):
            known = [path for path in self._views if path == ending or path.endswith(f"/{ending}")]
            if known:
                return ending if ending in known else known[-1]
        return self.resolve(name, cwd)

    def _told_of(self, words: str, spot: Spot) -> Iterator[Citation]:
        """What was changed in this turn of the files that an answer names: that is what it is about."""
        item, start, _ = spot
        for one in self._turn:
            name = one.anchor.path.rpartition("/")[2]
            at = words.find(name)
            if at >= 0 and not _GOES_ON.match(words[at + len(name) :]) and not _GOES_ON.match(words[at - 1 : at]):
                yield replace(one, spots=((item, start + at, start + at + len(name)),), shift=0, whole=None)

    # --- both ----------------------------------------------------------------------------------------------

    def _view(self, path: str) -> View:
        """The view of a file, which is then the last one."""
        self._views[path] = view = self._views.pop(path, None) or View()
        if len(self._views) > _MOST_FILES:
            self._views.pop(next(iter(self._views)))
        return view

    def _anchor(
        self, path: str, first: int, last: int, lines: Sequence[str] | None, how: AnchorKind, blob: str = ""
    ) -> Anchor:
        compared = [line.rstrip(" \t") for line in lines or ()]
        return Anchor(path, first, last, self.digest(compared) if compared else b"", len(compared), blob, how)


def blob_of(text: str | bytes) -> str:
    """Return the id that git gives a file of this text."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def whole_lines(piece: Piece) -> list[str]:
    """Return the lines of an edit's new text that are surely whole: all of a patch's, else those between the ends."""
    lines = piece.new.replace("\r\n", "\n").split("\n")
    found = [seen(line) for line in (lines if piece.whole else lines[1:-1])]
    return [] if None in found or not any(found) else [str(line) for line in found]


_SNIPPET = re.compile(r"^ *1?\d{0,6}\d(?:→|\t)", re.MULTILINE)


def _in_result(piece: Piece, result: str) -> list[tuple[int, int, int]]:
    """Where an edit stands by the lines that its result shows, numbered, if it shows some."""
    found = _SNIPPET.search(result)
    snippet = None if found is None else shown(Reading(""), "Read", result[found.start() :])
    if snippet is None or not piece.new:
        return []
    view = View()
    view.read(Shown(snippet.first, snippet.lines, False))
    shift = piece.new.count("\n") - piece.old.count("\n")
    return [(one.first, one.last, shift) for one in view.change(Piece(piece.new, piece.new, piece.whole))]


# --- names in words ------------------------------------------------------------------------------------------


class Mention(NamedTuple):
    """Where a text names lines of a file."""

    path: str
    first: int
    last: int
    start: int
    end: int


_GOES_ON = re.compile(r"[\w-]|\.\w")
_LINES_FOLLOW = re.compile(r":L?\d|#L\d|\(\d|,? lines? \d")
_NAMED = re.compile(
    r"(?<![\w@/\\.:-])(?P<path>(?:[A-Za-z]:[\\/]|\.{1,2}/|~/|/)?(?:[\w@.+()\[\]-]{1,100}[/\\]){0,20}"
    r"[\w@.+\[\]-]{1,100}\.(?P<extension>[A-Za-z]\w{0,9}))[`'\"]?"
    r"(?::L?(?P<a>\d{1,6})(?:[-\u2013]L?(?P<b>\d{1,6})(?!\d|-))?(?::\d{1,5})?|\#L(?P<c>\d{1,6})(?:-L?(?P<d>\d{1,6}))?"
    r"|\((?P<e>\d{1,6})(?:,\d{1,5})?\)|,? lines? (?P<f>\d{1,6})(?: ?(?:[-\u2013]|to) ?(?P<g>\d{1,6}))?)(?![\w])"
)
_AN_ADDRESS = re.compile(r"[a-z][a-z0-9+]*://\S*$", re.IGNORECASE)
_LONGEST_SPAN = 2_000


def mentions(text: str) -> Iterator[Mention]:
    """Yield where a text names lines of files: `src/a.py:10-20`, `a.ts(3,4)`, `a.go#L7`, `"a.py", line 3`."""
    if not _LINES_FOLLOW.search(text):
        return
    found = 0
    for match in _NAMED.finditer(text):
        if match["extension"] not in known_names.EXTENSIONS or _AN_ADDRESS.search(
            text[max(0, match.start() - 200) : match.start()]
        ):
            continue
        first = int(next(filter(None, match.group("a", "c", "e", "f"))))
        last = int(next(filter(None, match.group("b", "d", "g")), first))
        if not 0 < first <= last <= first + _LONGEST_SPAN:
            last = first
        if first:
            found += 1
            yield Mention(match["path"], first, last, *match.span())
        if found == _MOST_MENTIONS:
            return
