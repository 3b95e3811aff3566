"""The picker: choose a session on a terminal by typing and with the arrow keys. Standard library and POSIX only."""

from __future__ import annotations

import codecs
import os
import select
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from palazzo.text.count_phrases import count_noun

try:
    import termios
    import tty
except ImportError:  # Windows
    HAS_TERMINAL_MODES = False
else:
    HAS_TERMINAL_MODES = True

_RESIZE_INTERVAL = 0.5
"""Seconds between looks at the size of the terminal."""
_LOWEST, _NARROWEST = 6, 20
"""The smallest terminal, in lines and columns, that has room for a picker."""
_WIDE_LINES = 14
"""Lines from which half of the screen shows a preview."""
_KEYS = {
    "\x1b[A": "up", "\x1bOA": "up", "\x10": "up", "\x1b[B": "down", "\x1bOB": "down", "\x0e": "down",
    "\x1b[5~": "page up", "\x1b[6~": "page down", "\x1b[H": "home", "\x1b[F": "end", "\x1bOH": "home", "\x1bOF": "end",
    "\r": "enter", "\n": "enter", "\x7f": "erase", "\x08": "erase", "\x15": "clear", "\x12": "resume",
    "\x1b": "escape", "\x03": "interrupt", "\x04": "escape",
}  # fmt: skip
"""Names of keys, by what terminals send for them."""
_OPEN, _CLOSE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"

Action = Literal["show", "resume", "leave"]


class Row(NamedTuple):
    """A session to choose: its id, its line on a wide and on a narrow terminal, and the words that a filter matches."""

    id: str
    line: str
    short_line: str
    words: str


class Choice(NamedTuple):
    """The chosen session, and what to do with it."""

    action: Action
    id: str = ""


@dataclass(slots=True)
class PickerState:
    """The rows that pass the filter, and which of them is selected."""

    rows: Sequence[Row]
    filter: str = ""
    selected: int = 0
    matches: Sequence[Row] = field(init=False)

    def __post_init__(self) -> None:
        self.matches = self.rows

    @property
    def row(self) -> Row | None:
        """Return the selected row; None if nothing matches."""
        return self.matches[self.selected] if self.matches else None

    def press(self, key: str, page: int) -> Choice | None:
        """Apply a key: its name, or the letter typed; return the choice once there is one.

        Every letter filters: no letter starts a program, because any letter may begin a filter.
        """
        if key == "interrupt":
            raise KeyboardInterrupt
        if key == "escape" and not self.filter:
            return Choice("leave")
        if key in ("enter", "resume") and self.row is not None:
            return Choice("show" if key == "enter" else "resume", self.row.id)
        steps = {
            "up": -1,
            "down": 1,
            "page up": -page,
            "page down": page,
            "home": -len(self.rows),
            "end": len(self.rows),
        }
        if key in steps:
            self.selected = max(0, min(len(self.matches) - 1, self.selected + steps[key]))
        elif key in ("escape", "clear"):
            self._set_filter("")
        elif key == "erase":
            self._set_filter(self.filter[:-1])
        elif len(key) == 1 and key.isprintable():
            self._set_filter(self.filter + key)
        return None

    def _set_filter(self, text: str) -> None:
        self.filter, self.selected = text, 0
        words = text.casefold().split()
        self.matches = [row for row in self.rows if all(word in row.words for word in words)]


def can_pick(term: str) -> bool:
    """Return whether the picker can run here: on a terminal that can be drawn on and is large enough."""
    size = shutil.get_terminal_size()
    return (
        HAS_TERMINAL_MODES
        and sys.stdin.isatty()
        and sys.stdout.isatty()
        and term not in ("", "dumb")
        and size.lines >= _LOWEST
        and size.columns >= _NARROWEST
    )


def pick(rows: Sequence[Row], preview: Callable[[str], Sequence[str]], has_style: bool) -> Choice:
    """Let the user choose; raise KeyboardInterrupt for ^C. `preview` returns the lines to show of a session."""
    state = PickerState(rows)
    previews: dict[str, Sequence[str]] = {}
    with _drawing_terminal() as descriptor:
        keys = _keys(descriptor)
        while True:
            size = _terminal_size(descriptor)
            row = state.row
            if row is not None and row.id not in previews and size.lines >= _WIDE_LINES:
                previews[row.id] = preview(row.id)
            _write(draw(state, previews.get(row.id, ()) if row else (), size.columns, size.lines, has_style))
            key = next(keys)
            while key is None and _terminal_size(descriptor) == size:
                key = next(keys)
            choice = None if key is None else state.press(key, max(1, size.lines // 2))
            if choice is not None:
                return choice


def draw(state: PickerState, preview: Sequence[str], width: int, height: int, has_style: bool) -> str:
    """Return a screen: the filter, the rows around the selected one, the preview, and the keys."""
    bold, dim, plain = (_BOLD, _DIM, _PLAIN) if has_style else ("", "", "")
    has_preview = height >= _WIDE_LINES
    row_count = (height - 3) // 2 if has_preview else height - 2
    first = max(0, min(state.selected - row_count // 2, len(state.matches) - row_count))
    count = f"{len(state.matches):,} of {count_noun(len(state.rows), 'session')}"
    lines = [f"{bold}{_fit(f'{count}  filter: {state.filter}_', width)}{plain}"]
    for n, row in enumerate(state.matches[first : first + row_count], first):
        text = _fit(f"{'>' if n == state.selected else ' '} {row.line if width >= 60 else row.short_line}", width)
        lines.append(f"{bold}{text}{plain}" if n == state.selected else text)
    lines += [""] * (row_count + 1 - len(lines))
    if has_preview:
        lines.append(f"{dim}{'-' * (width - 1)}{plain}")
        shown = [_fit(line, width) for line in preview[: height - row_count - 3]]
        lines += [*shown, *[""] * (height - row_count - 3 - len(shown))]
    keys = f"{'Enter shows' if width < 60 else 'type to filter, Enter shows'}, ^R resumes, Esc leaves"
    lines.append(f"{dim}{_fit(keys, width)}{plain}")
    return "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J"


def _fit(text: str, width: int) -> str:
    """Return one line without control characters; a line that is longer than the terminal is cut, with an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if cell_len(line) < width else f"{set_cell_size(line, width - 2).rstrip()}…"


# --- the terminal ------------------------------------------------------------------------------------------


@contextmanager
def _drawing_terminal() -> Iterator[int]:
    """Switch the terminal to single keys and a screen of its own, and back, whatever happens."""
    descriptor = sys.stdin.fileno()
    earlier_modes = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        _write(_OPEN)
        yield descriptor
    finally:
        _write(_CLOSE)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, earlier_modes)


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "replace"))
    sys.stdout.buffer.flush()


def _terminal_size(descriptor: int) -> os.terminal_size:
    size = os.get_terminal_size(descriptor)
    return os.terminal_size((size.columns or 80, size.lines or 24))


def _keys(descriptor: int) -> Iterator[str | None]:
    """Yield the keys that are pressed, and None after each wait without one. The end of the input is an interrupt."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        if not select.select([descriptor], [], [], _RESIZE_INTERVAL)[0]:
            yield None
            continue
        raw = os.read(descriptor, 1024)
        if not raw:
            raise KeyboardInterrupt
        yield from split_keys(decoder.decode(raw))


def split_keys(text: str) -> Iterator[str]:
    """Yield the names of keys in what a terminal sent, and letters; unknown sequences are left out."""
    at = 0
    while at < len(text):
        size = _sequence_length(text, at)
        sequence = text[at : at + size]
        at += size
        if sequence in _KEYS:
            yield _KEYS[sequence]
        elif sequence.isprintable():
            yield sequence


def _sequence_length(text: str, at: int) -> int:
    """Return the length of the letter or escape sequence at a place."""
    if text[at : at + 2] not in ("\x1b[", "\x1bO"):
        return 1
    end = at + 2
    while end < len(text) and not "@" <= text[end] <= "~":
        end += 1
    return end + 1 - at
