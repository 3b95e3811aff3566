"""A plot of what refusing costs: right answers lost on one axis, refused questions on the other. Writes plain SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 560, 380, 50
MOST_LOST, MOST_REFUSED = 30.0, 100.0
COLOURS = ("#1f6f8b", "#c8553d", "#588157")


@dataclass(frozen=True, slots=True)
class Curve:
    """One kind of question without an answer: pairs of loss and refusal, in percent."""

    name: str
    points: Sequence[tuple[float, float]]


def draw(path: Path, curves: Sequence[Curve], chosen_loss: float) -> None:
    """Write the curves as SVG, with a line at the loss that was chosen."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *(_grid_line(share) for share in range(0, 101, 20)),
        *(_tick(loss) for loss in range(0, 31, 5)),
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">right answers called uncertain, %</text>',
        f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2})">'
        "questions without an answer called uncertain, %</text>",
        f'<line x1="{_x(chosen_loss)}" x2="{_x(chosen_loss)}" y1="{_y(0)}" y2="{_y(100)}" stroke="#666"'
        ' stroke-dasharray="4 4"/>',
        f'<text x="{_x(chosen_loss) + 4}" y="{_y(97)}">in use: {chosen_loss:.1f} %</text>',
    ]
    for n, curve in enumerate(curves):
        line = " ".join(f"{_x(loss):.1f},{_y(refused):.1f}" for loss, refused in curve.points)
        colour = COLOURS[n % len(COLOURS)]
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_x(16)}" y="{_y(24 - 7 * n)}" fill="{colour}">{escape(curve.name)}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", "utf-8")


def _grid_line(share: int) -> str:
    return (
        f'<line x1="{MARGIN}" x2="{WIDTH - 10}" y1="{_y(share)}" y2="{_y(share)}" stroke="#ddd"/>'
        f'<text x="{MARGIN - 6}" y="{_y(share) + 4}" text-anchor="end">{share}</text>'
    )


def _tick(loss: int) -> str:
    return f'<text x="{_x(loss)}" y="{_y(0) + 16}" text-anchor="middle">{loss}</text>'


def _x(loss: float) -> float:
    return round(MARGIN + loss / MOST_LOST * (WIDTH - MARGIN - 10), 1)


def _y(refused: float) -> float:
    return round(HEIGHT - MARGIN - refused / MOST_REFUSED * (HEIGHT - MARGIN - 20), 1)
