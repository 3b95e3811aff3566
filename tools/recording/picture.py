"""Pictures of a recording: an SVG that moves, and a still one; both without fonts, scripts or anything from outside.

A terminal emulator (pyte) plays the recording. Each different line of the screen is defined once, each screen refers
to its lines, and a CSS animation moves the strip of screens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import pyte

from tools.recording.cast import Cast

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN = 8.4, 19, 14, 16
_BACKGROUND, _FOREGROUND = "#16181d", "#d7dae0"
_COLORS = {
    "default": _FOREGROUND, "black": "#3f4451", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d7dae0", "brightblack": "#7f848e",
    "brightred": "#e06c75", "brightgreen": "#98c379", "brightyellow": "#e5c07b", "brightbrown": "#e5c07b",
    "brightblue": "#61afef", "brightmagenta": "#c678dd", "brightcyan": "#56b6c2", "brightwhite": "#ffffff",
}  # fmt: skip
_FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_FAINT = 2
Line = tuple[Any, ...]
Screen = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen, from a time on."""

    at: float
    screen: Screen


class FaintScreen(pyte.Screen):
    """A screen that shows faint text (SGR 2), which pyte does not know, as grey."""

    def select_graphic_rendition(self, *attributes: int) -> None:
        """Set colours and styles."""
        if not {38, 48} & set(attributes):  # colours of 256 or of 16 million, whose parameters are no styles
            attributes = tuple(90 if attribute == _FAINT else attribute for attribute in attributes)
        super().select_graphic_rendition(*attributes)


def play(cast: Cast) -> list[Frame]:
    """Return each different screen of a recording."""
    screen = FaintScreen(cast.columns, cast.rows)
    stream = pyte.Stream(screen)
    frames: list[Frame] = []
    for event in cast.events:
        stream.feed(event.text)
        lines = tuple(tuple(screen.buffer[row][column] for column in range(cast.columns)) for row in range(cast.rows))
        if not frames or frames[-1].screen != lines:
            frames.append(Frame(event.at, lines))
    return frames


def draw_still(cast: Cast, frame: Frame | None = None) -> str:
    """Return the last screen, or another one, as SVG."""
    screen = (frame or play(cast)[-1]).screen
    used = max((number for number, line in enumerate(screen, 1) if text_of(line).strip()), default=1)
    body = "".join(draw_line(line, row) for row, line in enumerate(screen[:used]))
    return document(cast, used, f'<g transform="translate({MARGIN} {MARGIN + 22})">{body}</g>', "")


def draw_animation(cast: Cast) -> str:
    """Return the whole recording as an SVG that repeats it."""
    frames = play(cast)
    numbers: dict[str, int] = {}
    groups = []
    for position, frame in enumerate(frames):
        uses = []
        for row, line in enumerate(frame.screen):
            drawn = draw_line(line, 0)
            if drawn:
                number = numbers.setdefault(drawn, len(numbers))
                uses.append(f'<use href="#l{number}" y="{row * LINE_HEIGHT}"/>')
        groups.append(f'<g transform="translate({position * width(cast):g} 0)">{"".join(uses)}</g>')
    definitions = "".join(f'<g id="l{number}">{drawn}</g>' for drawn, number in numbers.items())
    end = cast.events[-1].at
    steps = "".join(
        f"{100 * frame.at / end:.3f}%{{transform:translateX({-position * width(cast):g}px)}}"
        for position, frame in enumerate(frames)
    )
    last = f"100%{{transform:translateX({-(len(frames) - 1) * width(cast):g}px)}}"
    style = (
        f"@keyframes play{{{steps}{last}}}.strip{{animation:play {end:.2f}s steps(1,end) infinite}}"
        f"@media(prefers-reduced-motion:reduce){{.strip{{animation:none;transform:translateX({-(len(frames) - 1) * width(cast):g}px)}}}}"
    )
    inner = f'<svg x="{MARGIN}" y="{MARGIN + 22}" width="{width(cast) - 2 * MARGIN:g}" height="{cast.rows * LINE_HEIGHT}">'
    body = f'<defs>{definitions}</defs>{inner}<g class="strip">{"".join(groups)}</g></svg>'
    return document(cast, cast.rows, body, style)


def width(cast: Cast) -> float:
    """Return the width of the picture in pixels."""
    return cast.columns * CELL_WIDTH + 2 * MARGIN


def document(cast: Cast, rows: int, body: str, style: str) -> str:
    """Return a picture with a window around its body."""
    height = rows * LINE_HEIGHT + 2 * MARGIN + 22
    dots = "".join(f'<circle cx="{MARGIN + 6 + 18 * n}" cy="19" r="6" fill="{c}"/>' for n, c in enumerate(("#e06c75", "#e5c07b", "#98c379")))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width(cast):g} {height}" width="{width(cast):g}" height="{height}" '
        f'role="img" aria-label="{escape(cast.title)}"><title>{escape(cast.title)}</title>'
        f"<style>text{{font:{FONT_SIZE}px {_FONTS};fill:{_FOREGROUND};white-space:pre}}.b{{font-weight:bold}}.i{{font-style:italic}}{style}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>{dots}{body}</svg>\n'
    )


def text_of(line: Line) -> str:
    """Return a line's characters."""
    return "".join(cell.data for cell in line)


def draw_line(line: Line, row: int) -> str:
    """Return one line of the screen as texts of one style each; nothing for an empty line."""
    return "".join(draw_run(start, text, style, row) for start, text, style in runs(line))


def runs(line: Line) -> Iterator[tuple[int, str, Any]]:
    """Yield the stretches of a line that have one style and something to see."""
    column = 0
    for style, cells in groupby(line, lambda cell: cell._replace(data="")):
        text = "".join(cell.data for cell in cells)
        if text.strip() or style.bg != "default" or style.reverse:
            yield column, text, style
        column += len(text)


def draw_run(start: int, text: str, style: Any, row: int) -> str:
    """Return one stretch: its background, and its text, whose width is that of its cells in any font."""
    foreground, background = color(style.fg, _FOREGROUND), color(style.bg, "")
    if style.reverse:
        foreground, background = background or _BACKGROUND, foreground
    x, top = start * CELL_WIDTH, row * LINE_HEIGHT
    box = f'<rect x="{x:g}" y="{top}" width="{len(text) * CELL_WIDTH:g}" height="{LINE_HEIGHT}" fill="{background}"/>' if background else ""
    lead = len(text) - len(text.lstrip())
    visible = text.strip()
    if not visible:
        return box
    classes = " ".join(name for name, on in (("b", style.bold), ("i", style.italics)) if on)
    attributes = f' class="{classes}"' if classes else ""
    attributes += f' style="fill:{foreground}"' if foreground != _FOREGROUND else ""
    attributes += ' text-decoration="underline"' if style.underscore else ""
    length = f'{len(visible) * CELL_WIDTH:g}'
    return f'{box}<text x="{x + lead * CELL_WIDTH:g}" y="{top + 14}" textLength="{length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"{attributes}>{escape(visible, quote=False)}</text>'


def color(name: str, default: str) -> str:
    """Return a colour of the emulator as one of CSS."""
    if name == "default":
        return default
    return _COLORS.get(name, f"#{name}")
