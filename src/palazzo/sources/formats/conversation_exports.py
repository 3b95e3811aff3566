"""Common parts of exports with a `conversations.json`: its location, its origin, and its conversations.

The archive that claude.ai and ChatGPT send holds one JSON array of conversations, whole; large accounts get several
files, `conversations-000.json` and so on. It is read from the original zip file, from the directory to which it was
extracted, or as the single file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats import Content, Identity, Row, Session, Unreadable
from palazzo.sources.formats.export_archives import Export, ZipExport, is_zip, open_export, refuse_rest
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sources.formats.row_records import Element, canonical, decode_json_text, elements, stamp_of

HEAD = 64 * 1024
_NAME = re.compile(r"(?:[^/]+/)?conversations(?:[-_ ]?\(?\d+\)?)?\.json", re.IGNORECASE)
_SERVICE_KEY = re.compile(rb'"(chat_messages|mapping)"\s*:')
"""Each service's own key for the messages of a conversation. In quoted text the quotes around the key would be
escaped.
"""

Opener = Callable[[JsonObject, Element], Session]


def key_of_messages(path: Path, head: bytes) -> str:
    """Return which service's conversations lie at `path`: `chat_messages`, `mapping`, or "" for neither."""
    try:
        match = _SERVICE_KEY.search(_conversations_head(path, head))
    except (SourceUnreadable, OSError, ValueError):
        return ""
    return match.group(1).decode() if match else ""


def export_at(path: Path) -> Export | None:
    """Return the export at `path`; None if `path` is the conversations' own file."""
    try:
        if path.is_dir():
            return open_export(path)
        with path.open("rb") as stream:
            return open_export(path) if is_zip(stream.read(4)) else None
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None


def conversations(path: Path, export: Export | None, kind: str, opener: Opener) -> Iterator[Session]:
    """Yield a session for each conversation of the export, by `opener`."""
    for name, text in _texts(path, export):
        for element, value in elements(text, name):
            if isinstance(value, dict):
                yield opener(value, element)
            else:
                yield _no_conversation(kind, element)


class Rows:
    """Creates and counts the rows of one conversation."""

    def __init__(self) -> None:
        self._count = 0

    def row(self, record: object, content: Content, title: str = "") -> Row:
        """Return the next row."""
        try:
            raw = canonical(record)
        except RecursionError:
            raw, content = b"null", Unreadable("nested too deeply")
        self._count += 1
        return Row(self._count - 1, raw, content, title)


def _no_conversation(kind: str, element: Element) -> Session:
    stamp = stamp_of(element.source)

    def rows() -> Iterator[Row]:
        yield Row(0, canonical(element.value()), Unreadable("not a conversation"))

    return Session(Identity((kind, "unreadable", stamp)), stamp, rows)


def _texts(path: Path, export: Export | None) -> Iterator[tuple[str, str]]:
    if export is None:
        try:
            yield path.name, decode_json_text(path.read_bytes())
        except OSError as error:
            raise SourceUnreadable(f"{path} cannot be read ({error}).") from None
        return
    names = [name for name in export.names() if _NAME.fullmatch(name)]
    if not names:
        reason = next((f" ({why})" for name, why in export.refusals.items() if _NAME.fullmatch(name)), "")
        raise SourceUnreadable(f"{path} has no readable conversations.json{reason}.")
    for name in names:
        yield PurePosixPath(name).name, decode_json_text(export.read(name))
    refuse_rest(export, path, _NAME.fullmatch)


def _conversations_head(path: Path, head: bytes) -> bytes:
    if is_zip(head):
        archive = ZipExport(path)
        name = next((name for name in archive.names() if _NAME.fullmatch(name)), "")
        return archive.head(name, HEAD) if name else b""
    if head:
        head = decode_json_text(head).encode("utf-8", "surrogateescape")
        opens = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")
        return head if opens and path.suffix.lower() == ".json" else b""
    for name in ("conversations.json", "conversations-000.json"):
        file = path / name
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as stream:
                return stream.read(HEAD)
    return b""
