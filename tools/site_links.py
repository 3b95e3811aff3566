"""A hook of MkDocs: a link of a page to a file outside docs/ becomes its path in code, since the site has no such page.

On the forge the same link leads to the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return a page without links that lead out of the site."""
    docs, folder = Path(config["docs_dir"]).resolve(), Path(page.file.abs_src_path).parent

    def replace(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target.is_relative_to(docs) and target.is_file():
            return match[0]
        outside = target.relative_to(docs.parent) if target.is_relative_to(docs.parent) else target.name
        return match[1] if target.is_dir() else f"{match[1]} (`{outside}`)"

    return _LINK.sub(replace, markdown)
