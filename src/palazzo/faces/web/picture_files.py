"""Pictures as SVG files of their own: map, graph and plots of an exported page, with the colours of the style sheet.

A page's style sheet uses custom properties, which programs other than browsers do not know: they are replaced by the
values of the light scheme. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_FIGURE = re.compile(
    r"<figure\b([^>]*)>.*?(<svg\b[^>]*\bclass=\"(map|graph|bars|facts)\"[^>]*>"
    r"(?:[^<]|<(?!/?svg\b)|<svg\b[^>]*>(?:[^<]|<(?!/?svg\b))*</svg>)*</svg>)",  # a name is an SVG in the map's
    re.DOTALL,
)
_CAPTION = re.compile(r" data-(?:picture|caption)=\"([^\"]*)\"")
_START = re.compile(r"<svg\b([^>]*)>")
_SIZE = re.compile(r"\bviewbox=\"0 0 ([\d.]+) ([\d.]+)\"")
_ATTRIBUTES = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
"""Names that are written otherwise in SVG than in HTML, which does not distinguish capitals."""
_RULE = re.compile(r"svg\.[\w-]+ [^{}\s][^{}]*\{[^{}]*\}")
"""A rule for what is drawn; those for an SVG itself place it on a page."""
_PROPERTY = re.compile(r"(--[\w-]+):\s*([^;}]+)")
_VALUE = re.compile(r"var\((--[\w-]+)\)")
_BARS_WIDTH, _BARS_HEIGHT = 1_000.0, 160.0
_CAPTION_HEIGHT = 30


class Picture(NamedTuple):
    """An SVG document, and what it shows: `map`, `graph`, `bars` or `facts`."""

    kind: str
    document: str


def cut_pictures(page: str, style: str) -> list[Picture]:
    """Return the pictures of an exported page; `style` is the viewer's style sheet."""
    rules = resolve_rules(style)
    return [
        Picture(kind, _make_document(svg, kind, _CAPTION.findall(attributes)[-1:], rules))
        for attributes, svg, kind in _FIGURE.findall(page)
    ]


def resolve_rules(style: str) -> str:
    """Return the rules of a style sheet for SVG, with the values of the light scheme for custom properties."""
    values: dict[str, str] = {}
    for name, value in _PROPERTY.findall(style):
        values.setdefault(name, value.strip())  # the light scheme stands before the dark one
    rules = [rule for rule in _RULE.findall(style) if ":hover" not in rule and ":focus" not in rule]
    return _VALUE.sub(lambda match: values[match[1]], "\n".join(rules))


def _make_document(svg: str, kind: str, captions: Sequence[str], rules: str) -> str:
    """Return an SVG document with a drawing, and its caption (escaped) above it."""
    size = _SIZE.search(svg)
    width, height = (float(size[1]), float(size[2])) if size and kind != "bars" else (_BARS_WIDTH, _BARS_HEIGHT)
    for html_name, name in _ATTRIBUTES.items():
        svg = svg.replace(f" {html_name}=", f" {name}=")
    place = f'y="{_CAPTION_HEIGHT}" width="{width:g}" height="{height:g}"'
    drawing = _START.sub(lambda match: f"<svg {place}{match[1]}>", svg, count=1)
    texts = "".join(f'<text class="caption" x="8" y="20">{caption}</text>' for caption in captions)
    whole = f'width="{width:g}" height="{height + _CAPTION_HEIGHT:g}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" {whole} viewBox="0 0 {width:g} {height + _CAPTION_HEIGHT:g}">'
        f"<style>svg {{ font-family: sans-serif; }} .caption {{ font-size: 14px; }}\n{rules}</style>"
        f'<rect {whole} fill="#ffffff"/>{texts}{drawing}</svg>\n'
    )
