"""The document format, and thus the rules for cutting a document, determined from its file name alone."""

from __future__ import annotations

from pathlib import PurePosixPath

from palazzo.text.sections import DocumentKind

_BY_SUFFIX: dict[str, DocumentKind] = {
    **dict.fromkeys((".md", ".mdx", ".markdown", ".mdc", ".qmd"), "markdown"),
    **dict.fromkeys((".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".html", ".htm", ".xhtml", ".ipynb"), "markdown"),
    **dict.fromkeys((".rst", ".rest"), "rest"),
    **dict.fromkeys((".yaml", ".yml", ".toml", ".json", ".ini", ".cfg", ".conf", ".properties", ".env"), "config"),
    **dict.fromkeys((".txt", ".text", ".log", ".adoc", ".asciidoc", ".org", ".tex", ""), "plain"),
}


def document_kind(path: str) -> DocumentKind:
    """Return how to cut the document at `path` (with `/` between directories); code if the type is unknown."""
    name = PurePosixPath(path).name
    if name.startswith(("Dockerfile", "Makefile", "Containerfile")):
        return "config"
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), "code")
