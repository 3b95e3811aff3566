"""Pictures of a recording: an SVG that moves, and a still one; both without fonts, scripts or anything from outside.

A terminal emulator (pyte) plays the recording. Each different line of the screen is defined once, each screen refers
to its lines, and a CSS animation moves the strip of screens.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import pyte
from tools.recording.cast import Cast

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN = 8.4, 19, 14, 16
TOP = MARGIN + 22
"""Where lines begin: below the three dots of the window."""
_BACKGROUND, _FOREGROUND = "#16181d", "#d7dae0"
_COLORS = {
    "default": _FOREGROUND, "black": "#3f4451", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#d7dae0", "brightblack": "#7f848e",
    "brightred": "#e06c75", "brightgreen": "#98c379", "brightyellow": "#e5c07b", "brightbrown": "#e5c07b",
    "brightblue": "#61afef", "brightmagenta": "#c678dd", "brightcyan": "#56b6c2", "brightwhite": "#ffffff",
}  # fmt: skip
_FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_FAINT, _ALTERNATE = 2, 1049
_DOTS = "".join(
    f'<circle cx="{MARGIN + 6 + 18 * place}" cy="19" r="6" fill="{_COLORS[name]}"/>'
    for place, name in enumerate(("red", "brown", "green"))
)
Line = tuple[Any, ...]
Screen = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen, from a time on."""

    at: float
    screen: Screen


class FullScreen(pyte.Screen):  # type: ignore[misc] # pyte has no types
    """A screen with two things that pyte does not know: faint text (SGR 2), shown as grey, and the alternate screen."""

    main: tuple[Any, Any] | None = None
    """The lines and the cursor of the main screen, while the alternate one is shown."""

    def set_mode(self, *modes: int, **options: Any) -> None:
        """Set modes; show the alternate screen."""
        super().set_mode(*modes, **options)
        if _ALTERNATE in modes and self.main is None:
            self.main = (copy.deepcopy(self.buffer), copy.copy(self.cursor))
            self.erase_in_display(2)
            self.cursor_position()

    def reset_mode(self, *modes: int, **options: Any) -> None:
        """Reset modes; show the main screen as it was."""
        super().reset_mode(*modes, **options)
        if _ALTERNATE in modes and self.main is not None:
            self.buffer, self.cursor = self.main
            self.main = None

    def select_graphic_rendition(self, *attributes: int) -> None:
        """Set colours and styles."""
        if not {38, 48} & set(attributes):  # colours of 256 or of 16 million, whose parameters are no styles
            attributes = tuple(90 if attribute == _FAINT else attribute for attribute in attributes)
        super().select_graphic_rendition(*attributes)


def play(cast: Cast) -> list[Frame]:
    """Return each different screen of a recording."""
    screen = FullScreen(cast.columns, cast.rows)
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
    return document(cast, used, f'<g transform="translate({MARGIN} {TOP})">{body}</g>', "")


def draw_animation(cast: Cast) -> str:
    """Return the whole recording as an SVG that repeats it."""
    frames, definitions, screens = play(cast), LineDefinitions(), []
    for position, frame in enumerate(frames):
        uses = (definitions.use(line, row) for row, line in enumerate(frame.screen))
        screens.append(f'<g transform="translate({position * width(cast):g} 0)">{"".join(uses)}</g>')
    size = f'width="{width(cast) - 2 * MARGIN:g}" height="{cast.rows * LINE_HEIGHT}"'
    strip = f'<svg x="{MARGIN}" y="{TOP}" {size}><g class="strip">{"".join(screens)}</g></svg>'
    return document(cast, cast.rows, f"<defs>{definitions.text}</defs>{strip}", animate(cast, frames))


def animate(cast: Cast, frames: list[Frame]) -> str:
    """Return the style that moves the strip of screens; who asked for reduced motion sees the last one."""
    end = cast.events[-1].at
    places = [f"transform:translateX({-position * width(cast):g}px)" for position in range(len(frames))]
    steps = "".join(f"{100 * frame.at / end:.3f}%{{{place}}}" for frame, place in zip(frames, places, strict=True))
    return (
        f"@keyframes play{{{steps}100%{{{places[-1]}}}}}"
        f".strip{{animation:play {end:.2f}s steps(1,end) infinite}}"
        f"@media(prefers-reduced-motion:reduce){{.strip{{animation:none;{places[-1]}}}}}"
    )


class LineDefinitions:
    """The different lines of all screens, each defined once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def use(self, line: Line, row: int) -> str:
        """Return a reference to a line, at a row; nothing for an empty line."""
        drawn = draw_line(line, 0)
        number = self._numbers.setdefault(drawn, len(self._numbers)) if drawn else None
        return "" if number is None else f'<use href="#l{number}" y="{row * LINE_HEIGHT}"/>'

    @property
    def text(self) -> str:
        """All definitions."""
        return "".join(f'<g id="l{number}">{drawn}</g>' for drawn, number in self._numbers.items())


def width(cast: Cast) -> float:
    """Return the width of the picture in pixels."""
    return cast.columns * CELL_WIDTH + 2 * MARGIN


def document(cast: Cast, rows: int, body: str, style: str) -> str:
    """Return a picture with a window around its body."""
    height, title = rows * LINE_HEIGHT + TOP + MARGIN, escape(cast.title)
    size = f'viewBox="0 0 {width(cast):g} {height}" width="{width(cast):g}" height="{height}"'
    fonts = f"text{{font:{FONT_SIZE}px {_FONTS};fill:{_FOREGROUND};white-space:pre}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}"><title>{title}</title>'
        f"<style>{fonts}.b{{font-weight:bold}}.i{{font-style:italic}}{style}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>{_DOTS}{body}</svg>\n'
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
    top, visible, box = row * LINE_HEIGHT, text.strip(), ""
    if background:
        size = f'width="{len(text) * CELL_WIDTH:g}" height="{LINE_HEIGHT}"'
        box = f'<rect x="{start * CELL_WIDTH:g}" y="{top}" {size} fill="{background}"/>'
    if not visible:
        return box
    x = (start + len(text) - len(text.lstrip())) * CELL_WIDTH
    place = f'x="{x:g}" y="{top + 14}" textLength="{len(visible) * CELL_WIDTH:g}" lengthAdjust="spacingAndGlyphs"'
    words = escape(visible, quote=False)
    return f'{box}<text {place} xml:space="preserve"{style_attributes(style, foreground)}>{words}</text>'


def style_attributes(style: Any, foreground: str) -> str:
    """Return the attributes of a text of a style."""
    classes = " ".join(name for name, on in (("b", style.bold), ("i", style.italics)) if on)
    return (
        (f' class="{classes}"' if classes else "")
        + (f' style="fill:{foreground}"' if foreground != _FOREGROUND else "")
        + (' text-decoration="underline"' if style.underscore else "")
    )


def color(name: str, default: str) -> str:
    """Return a colour of the emulator as one of CSS."""
    if name == "default":
        return default
    return _COLORS.get(name, f"#{name}")
