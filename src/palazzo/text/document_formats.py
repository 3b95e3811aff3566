"""The document format, and thus the rules for cutting a document, determined from its file name and its text."""

from __future__ import annotations

import re
from pathlib import PurePath, PurePosixPath

from palazzo.text.lazy_patterns import make_regex
from palazzo.text.outlines import outline_of
from palazzo.text.sections import DocumentKind

_BY_SUFFIX: dict[str, DocumentKind] = {
    **dict.fromkeys((".md", ".mdx", ".markdown", ".mdc", ".qmd"), "markdown"),
    **dict.fromkeys((".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".html", ".htm", ".xhtml", ".ipynb"), "markdown"),
    **dict.fromkeys((".rst", ".rest"), "rest"),
    **dict.fromkeys((".yaml", ".yml", ".toml", ".json", ".ini", ".cfg", ".conf", ".properties", ".env"), "config"),
    **dict.fromkeys((".txt", ".text", ".log", ".adoc", ".asciidoc", ".org", ".tex", ""), "plain"),
}
_CONVERTED = frozenset((".pdf", ".docx", ".pptx", ".xlsx", ".epub"))
_MAY_BE_REST = (".txt", ".text", "")
_REST_MARKUP = make_regex(
    r"^[ \t]*+\.\.[ \t]++(?:[A-Za-z][\w.+-]*+(?::[A-Za-z][\w.+-]*+)?::(?=[ \t\r\n]|\Z)|_[^:\n]++:(?=[ \t\r\n]|\Z))"
    r"|(?<![\w`:]):[a-z][\w+-]*+(?::[a-z][\w+-]*+)?:`[^`\n]++`",
    re.MULTILINE,
)
"""Markup that only reStructuredText has: a directive, a hyperlink target, or interpreted text with a role."""


def has_converted_format(path: PurePath) -> bool:
    """Return whether a file of this name is converted to text, under any policy."""
    return path.suffix.lower() in _CONVERTED


def document_kind(path: str, text: str) -> DocumentKind:
    """Return how to cut the document at `path` (with `/` between directories); code if the type is unknown.

    Plain text is cut as reStructuredText if it has both titles and markup of that format, as the sources of Django's
    documentation have: either alone also occurs in other text.
    """
    name = PurePosixPath(path).name
    if name.startswith(("Dockerfile", "Makefile", "Containerfile")):
        return "config"
    suffix = PurePosixPath(path).suffix.lower()
    kind = _BY_SUFFIX.get(suffix, "code")
    return "rest" if suffix in _MAY_BE_REST and _is_rest(text) else kind


def _is_rest(text: str) -> bool:
    return _REST_MARKUP.search(text) is not None and bool(outline_of(text, "rest").headings)


def is_prose(kind: str, path: str) -> bool:
    """Return whether a drawer's lines may be joined to paragraphs: it is neither code nor output of a tool."""
    return kind != "tool" and (not path or document_kind(path, "") in ("markdown", "rest", "plain"))
