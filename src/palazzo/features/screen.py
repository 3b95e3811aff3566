"""The terminal, by Rich: lines with colours, small tables, and exact text that is never re-wrapped."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import TextIO
from urllib.parse import unquote

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from palazzo.frozen_class import frozen
from palazzo.text.visible import visible

INDENT = "    "
_PIPED_WIDTH = 200
"""Columns when the output is not a terminal: text that `grep` could search for is not cut off."""
_NARROWEST, _DEEPEST = 20, 16
"""Minimum columns for words, and maximum repetition of a wrapped line's own indentation in columns."""
_GAP = 2
"""Blank columns between the columns of a table."""
_WORD = re.compile(r"\S+")
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}

Part = str | tuple[str, str]
_ASCII_FORMS = str.maketrans(
    {"·": "-", "›": ">", "…": "...", "↑": "^", "↓": "v", "→": "->", "×": "x", "—": "-", "–": "-"}
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("“”", '"')
)
"""What is written for signs that an output without UTF-8 lacks."""
_JOINERS = frozenset("\u200c\u200d")
"""Characters without a width of their own that several scripts and emoji need inside words."""
_VTE_WITH_LINKS = 5_000
"""The version of VTE, the widget of GNOME's and other terminals, that first had links: 0.50."""
_PROGRAMS_WITH_LINKS = frozenset(["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal"])
_TERMINALS_WITH_LINKS = ("xterm-kitty", "xterm-ghostty", "foot", "alacritty", "contour", "wezterm")


def place(uri: str) -> str:
    """Return an address as a user would type it: a file's path, any other address unchanged."""
    return unquote(uri).removeprefix("file://") if uri.startswith("file:") else uri


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `palazzo.faces.cli.app` decide; Rich would exit with 1."""
        raise BrokenPipeError


@frozen
class Output:
    """What receives a text: whether a terminal, its columns (None: its own), its encoding, and the user's variables."""

    is_terminal: bool
    width: int | None
    encoding: str
    variables: Mapping[str, str]

    @classmethod
    def of(cls, file: TextIO) -> Output:
        """Return what receives the text that this process writes to a file."""
        if isinstance(file, TextIOWrapper):  # archived words may hold lone surrogates, or what a locale lacks
            file.reconfigure(errors="backslashreplace")
        width = None if file.isatty() or os.environ.get("COLUMNS") else _PIPED_WIDTH
        return cls(file.isatty(), width, getattr(file, "encoding", None) or "utf-8", os.environ)


class Screen:
    """The form of a result. It has colours and links only on a terminal, and not with NO_COLOR or TERM=dumb.

    With `output`, the text goes to `file` in the form for that output.
    """

    def __init__(self, file: TextIO, output: Output | None = None, links: bool = True) -> None:
        output = output or Output.of(file)
        self._terminal = output.is_terminal
        is_plain = bool(output.variables.get("NO_COLOR")) or not self._terminal
        self.console = _Console(
            file=file,
            highlight=False,
            markup=False,
            emoji=False,
            width=output.width,
            force_terminal=self._terminal,
            color_system=None if is_plain else "auto",
            _environ=output.variables,
        )
        self._has_links = links and self.console.color_system is not None and shows_links(output.variables)
        encoding = output.encoding.lower().replace("-", "").replace("_", "")
        self._substitutes = {} if encoding.startswith("utf") else _ASCII_FORMS

    @property
    def is_terminal(self) -> bool:
        """Return whether a person reads the output at a terminal."""
        return self._terminal

    @property
    def width(self) -> int:
        """Return the columns of the terminal, or a default if there is none."""
        return self.console.width

    def say(self, *parts: Part, wrap_indent: int | None = None, is_whole: bool = False) -> None:
        """Write one line of parts, each a text or (text, style).

        A terminal's line is broken between words at its edge. The lines after the first are indented by `wrap_indent`,
        or as much as the first. A word that is longer than the terminal (a path, an id) stays whole, so that it can be
        copied, and so does a line that `is_whole`: a command.
        """
        text = self._text(parts)
        if is_whole or not self._terminal or text.cell_len <= self.width:
            self.console.print(text, soft_wrap=True)
            return
        own_indent = len(text.plain) - len(text.plain.lstrip())
        for line in self._break_lines(text, own_indent if wrap_indent is None else wrap_indent):
            self.console.print(line, soft_wrap=True)

    def trim(self, *parts: Part) -> None:
        """Write one line of parts; a terminal's line is cut at its edge."""
        text = self._text(parts)
        mark = "…".translate(self._substitutes)
        if self._terminal and text.cell_len > self.width:
            text.truncate(max(self.width - len(mark), 1))
            text.rstrip()
            text.append(mark)
        self.console.print(text, soft_wrap=True)

    def wrap(self, text: str, width: int) -> list[str]:
        """Return archived words as lines of at most `width` columns, broken between words."""
        lines = Text(self._readable(text)).wrap(self.console, max(width, _NARROWEST))
        return [line.plain.rstrip() for line in lines]

    def link(self, uri: str) -> str:
        """Return the style of a link to a local file; no style where links are not shown.

        An address with other than plain characters is not linked: recorded words must not control a terminal.
        """
        is_local = uri.startswith("file:///") and uri.isascii() and uri.isprintable() and " " not in uri
        return f"link {uri}" if self._has_links and is_local else ""

    def exact(self, text: str, indent: str = INDENT) -> None:
        """Write archived words unchanged, each line indented. They cannot control a terminal: see `visible`."""
        safe_text = visible(text) if self._terminal else text
        self.console.file.write("".join(f"{indent}{line}\n" if line else "\n" for line in safe_text.split("\n")))

    def read(self, text: str, label: str = "", style: str = "", indent: str = INDENT) -> None:
        """Write archived words for reading, indented: unchanged, but a terminal breaks long lines between words.

        `label` is written before the first line, to name the speaker.
        """
        if not self._terminal:
            self.exact(f"{label} › {text}" if label else text, indent)
            return
        for n, line in enumerate(visible(text).translate(self._substitutes).split("\n")):
            head = Text(f"{label} › ", f"{style} cyan") if label and n == 0 else Text()
            own = line[: len(line) - len(line.lstrip())][:_DEEPEST]
            whole = head.append(line.expandtabs(), style)
            wrapped_lines = whole.wrap(self.console, max(self.width - len(indent) - len(own), _NARROWEST))
            for m, part in enumerate(wrapped_lines):
                part.rstrip()
                self.console.print(Text(indent + (own if m else "")).append_text(part), soft_wrap=True)

    def diff(self, text: str) -> None:
        """Write a unified diff: to a terminal in colours, and elsewhere unchanged, so that `patch` can read it."""
        for line in text.split("\n"):
            if not self._terminal:
                self.exact(line, indent="")
                continue
            style = "bold" if line.startswith(("---", "+++")) else _DIFF_STYLES.get(line[:1], "")
            self.console.print(Text(visible(line).expandtabs(), style), soft_wrap=True)

    def bytes(self, raw: bytes) -> None:
        """Write bytes, and nothing else."""
        self.console.file.flush()
        self.console.file.buffer.write(raw)  # type: ignore[attr-defined]
        self.console.file.buffer.flush()  # type: ignore[attr-defined]

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Part]], right: Sequence[int] = ()) -> None:
        """Write a table; `right` are the columns of numbers.

        Cells are broken between words. If a terminal has too few columns for the longest words, which may be ids or
        times, each row is written as a line of its own, with the titles before the numbers.
        """
        from rich.table import Table

        texts = [[self._text([cell]) for cell in row] for row in rows]
        columns = [[title, *(row[n].plain for row in texts)] for n, title in enumerate(header)]
        gaps = _GAP * (len(columns) - 1)
        widths = _column_widths(columns, self.width - gaps)
        if self._terminal and sum(widths) + gaps > self.width:
            self._list_rows(header, texts, right)
            return
        has_titles = any(header)
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim", show_header=has_titles)
        for n, title in enumerate(header):
            table.add_column(title, justify="right" if n in right else "left", overflow="fold", width=widths[n])
        for row in texts:
            table.add_row(*row)
        options = self.console.options.update(width=sum(widths) + gaps + _GAP)
        for segments in self.console.render_lines(table, options, pad=False):
            line = Text.assemble(*((segment.text, segment.style or "") for segment in segments))
            line.rstrip()
            self.console.print(line, soft_wrap=True)

    def _list_rows(self, header: Sequence[str], rows: Sequence[Sequence[Text]], right: Sequence[int]) -> None:
        for row in rows:
            line = Text()
            for n, cell in enumerate(row):
                if cell.plain:
                    line.append(" " * _GAP if line.plain else "")
                    line.append(f"{header[n]}: " if n in right and header[n] else "", "dim").append_text(cell)
            for part in self._break_lines(line, len(INDENT)):
                self.console.print(part, soft_wrap=True)

    def gap(self) -> None:
        """Write an empty line."""
        self.console.print()

    def _break_lines(self, text: Text, indent: int) -> list[Text]:
        """Return a text as lines, broken between words; those after the first are indented."""
        words, start, limit, breaks = list(_WORD.finditer(text.plain)), 0, self.width, []
        for word in words[1:]:
            if cell_len(text.plain[start : word.end()]) > limit:
                breaks.append(word.start())
                start, limit = word.start(), max(self.width - indent, _NARROWEST)
        first, *rest = text.divide(breaks)
        lines = [first, *(Text(" " * indent).append_text(line) for line in rest)]
        for line in lines:
            line.rstrip()
        return lines

    def _text(self, parts: Sequence[Part]) -> Text:
        text = Text()
        for part in parts:
            words, style = (part, "") if isinstance(part, str) else part
            text.append(self._one_line(words), style)
        return text

    def _one_line(self, text: str) -> str:
        printable = "".join(letter if letter.isprintable() or letter in _JOINERS else " " for letter in text)
        return printable.translate(self._substitutes)

    def _readable(self, text: str) -> str:
        """Return archived words on one line; a terminal shows control characters as pictures."""
        return (visible(text) if self._terminal else text).replace("\n", " ").expandtabs()


def _column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return the widths of columns of cells: at least their longest words, and whole cells as far as there is room."""
    whole = [max(map(cell_len, cells), default=0) for cells in columns]
    widths = [max((cell_len(word) for cell in cells for word in cell.split()), default=0) for cells in columns]
    room -= sum(widths)
    for n in sorted(range(len(columns)), key=lambda n: whole[n] - widths[n]):
        extra = max(min(whole[n] - widths[n], room), 0)
        widths[n] += extra
        room -= extra
    return widths


def shows_links(variables: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to show OSC 8 links. (A multiplexer may not pass them on.)"""
    terminal = variables.get("TERM", "")
    if "TMUX" in variables or terminal.startswith(("screen", "tmux", "dumb")):
        return False
    vte = variables.get("VTE_VERSION", "")
    return (
        (vte.isdecimal() and int(vte) >= _VTE_WITH_LINKS)
        or variables.get("TERM_PROGRAM", "") in _PROGRAMS_WITH_LINKS
        or terminal.startswith(_TERMINALS_WITH_LINKS)
        or any(variables.get(name) for name in ("WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "DOMTERM"))
    )
