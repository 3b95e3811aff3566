"""Jupyter notebooks as text: cells in order, with their output below them.

The format is JSON (nbformat 4: `cells` with `cell_type`, `source`, `outputs`; nbformat 3: `worksheets` of such cells,
with `input` for `source`), as nbformat's own documentation describes it. Prose stays as it is; code and output are
fenced. Pictures and other data are replaced by the name of their type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from palazzo.sources.formats.converted_documents import Unconvertible
from palazzo.sources.formats.jsonl_rows import JsonObject

SUFFIX = ".ipynb"
DECODER = "notebook 1"
"""Increases when the same notebook gives a different text."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FENCE = re.compile(r"^`{3,}", re.MULTILINE)


def notebook_text(raw: bytes) -> str:
    """Return a notebook's text. Raises Unconvertible if it is not a notebook or has no text."""
    try:
        notebook = json.loads(raw)
    except (ValueError, RecursionError):
        raise Unconvertible("damaged or truncated: a notebook must be valid JSON") from None
    cells = _cells(notebook) if isinstance(notebook, dict) else None
    if cells is None:
        raise Unconvertible("JSON, but not a notebook: it has no cells")
    text = "\n\n".join(block for cell in cells for block in _blocks(cell, _language(notebook)) if block.strip())
    if not text:
        raise Unconvertible("contains no text")
    return text


def _cells(notebook: JsonObject) -> list[JsonObject] | None:
    sheets = notebook.get("worksheets")
    holders = sheets if isinstance(sheets, list) else [notebook]
    lists = [holder.get("cells") for holder in holders if isinstance(holder, dict)]
    cell_lists = [cells for cells in lists if isinstance(cells, list)]
    return [cell for cells in cell_lists for cell in cells if isinstance(cell, dict)] if cell_lists else None


def _language(notebook: JsonObject) -> str:
    metadata = notebook.get("metadata")
    for key, member in (("language_info", "name"), ("kernelspec", "language")):
        section = metadata.get(key) if isinstance(metadata, dict) else None
        name = section.get(member) if isinstance(section, dict) else None
        if isinstance(name, str) and name.isprintable():
            return name
    return ""


def _blocks(cell: JsonObject, language: str) -> Iterator[str]:
    source = _join_lines(cell.get("source", cell.get("input")))
    if cell.get("cell_type") != "code":
        level = cell.get("level")
        yield f"{'#' * level} {source}" if cell.get("cell_type") == "heading" and isinstance(level, int) else source
        return
    if source.strip():
        yield _fence_text(source, language)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            yield from _output(output)


def _output(output: JsonObject) -> Iterator[str]:
    if isinstance(output.get("traceback"), list):
        yield _fence_text(_COLOURS.sub("", "\n".join(str(line) for line in output["traceback"])))
        return
    bundle = output.get("data")
    bundle = bundle if isinstance(bundle, dict) else {}
    words = (
        _join_lines(output.get("text"))
        or _join_lines(bundle.get("text/plain"))
        or _join_lines(bundle.get("text/markdown"))
    )
    if words.strip():
        yield _fence_text(_COLOURS.sub("", words))
    yield from (f"[{media}]" for media in bundle if not str(media).startswith("text/"))


def _join_lines(value: object) -> str:
    """Return a text, which notebooks may also store as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _fence_text(text: str, language: str = "") -> str:
    longest = max((len(backticks) for backticks in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
