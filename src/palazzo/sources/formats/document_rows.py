"""Project documents: one row per version of a file, its text whole.

A document has no rows of its own, so the file is the row. Its bytes are kept as they are; a file that is not text is
read as the Markdown that a converter makes of it, under the converter's name and version. `project` and the path below
`root` identify it; neither says where the checkout is. The content's date is what the document itself states, in its
front matter (YAML between `---` lines, TOML between `+++`, as Jekyll and Hugo define them) or as `YYYY-MM-DD` in its
name. The times in the file system are those of the checkout, and are not used.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

from palazzo.errors import SourceUnreadable
from palazzo.model import Micros, Part
from palazzo.sources.formats import Identity, Message, Row, converted_documents, converted_notebooks
from palazzo.sources.formats.document_kinds import is_binary, is_code, is_document, largest
from palazzo.sources.formats.source_times import moment
from palazzo.text.document_formats import document_kind, has_converted_format
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.outlines import outline_of

KIND = "document"
HEAD = 64 * 1024

_MARKS = (  # longest first: the mark of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FRONT_MATTER = make_regex(r"(---|\+\+\+)[ \t]*\r?\n(.{0,16384}?)^\1[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FRONT_FIELD = r"^{}[ \t]*[:=][ \t]*(.+?)[ \t]*\r?$"
_DATE_IN_NAME = make_regex(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")


class Documents:
    """Reads the documents of one project: `project` is its identity, `root` its directory."""

    kind = KIND
    version = 1
    appends = False

    def __init__(self, project: str = "", root: Path | None = None) -> None:
        self.project, self.root = project, root

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is text of a kind that documents or source code have, or a convertible format."""
        if has_converted_format(path):
            return converted_documents.refusal_by_head(path, head) is None
        return (is_document(path) or is_code(path)) and not is_binary(head)

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the project and the path within it; for a file outside `root`, its name."""
        inside = self.root is not None and path.is_relative_to(self.root)
        relative = path.relative_to(self.root).as_posix() if self.root and inside else path.name
        return Identity((KIND, self.project, relative))

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield the one row. The name, for title and date, is the stream's if it has one.

        Raises SourceUnreadable for a binary file, for one that is too large, and, as Unconvertible, for one that a
        converter cannot turn into text.
        """
        name = _name(stream)
        most = largest(PurePath(name))
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise SourceUnreadable(f"The file has more than {most:,} bytes, the limit for a document.")
        text, title, meta = _words(PurePath(name), raw)
        parts = (Part("text", 0, len(text)),) if text else ()
        message = Message(text, "author", kind="document", parts=parts, created_at=content_date(text, name), meta=meta)
        yield Row(start, raw, message, title or title_of(text, name))


def _words(path: PurePath, raw: bytes) -> tuple[str, str, dict[str, object]]:
    """Return a document's text, the title that its format states, and how it was read if it is not UTF-8."""
    if converted_documents.is_converted(path, raw[:HEAD]):
        conversion = converted_documents.convert(path, raw)
        return conversion.text, conversion.title, {"decoder": conversion.decoder}
    if path.suffix.lower() == converted_notebooks.SUFFIX:
        return converted_notebooks.notebook_text(raw), "", {"decoder": converted_notebooks.DECODER}
    if is_binary(raw[:HEAD]):
        raise SourceUnreadable("The file is binary (it contains NUL bytes), not a document.")
    text, encoding = decode(raw)
    return text, "", {} if encoding == "utf-8" else {"encoding": encoding}


def decode(raw: bytes) -> tuple[str, str]:
    """Return the text, and the encoding it was read in.

    A byte order mark decides, and is not part of the text. Without one it is UTF-8; invalid bytes become lone
    surrogates if there are other valid multi-byte characters; if there are none, the whole is read as Windows-1252 or
    Latin-1.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _decode_marked(raw, encoding)
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    text = raw.decode("utf-8", "surrogateescape")
    if any(letter > "\x7f" and not "\udc80" <= letter <= "\udcff" for letter in text):
        return text, "utf-8, damaged"
    try:
        return raw.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "latin-1"


def _decode_marked(raw: bytes, encoding: str) -> tuple[str, str]:
    plain = encoding.removesuffix("-sig")
    try:
        return raw.decode(encoding, "surrogatepass"), plain + " with byte order mark"
    except UnicodeDecodeError:
        errors = "surrogateescape" if plain == "utf-8" else "replace"
        return raw.decode(encoding, errors), plain + " with byte order mark, damaged"


def content_date(text: str, name: str) -> Micros | None:
    """Return the date stated in the front matter, else in the document's name."""
    date = moment(_front_matter(text, "date"))
    if date is not None:
        return date
    match = _DATE_IN_NAME.search(PurePath(name).name)
    return moment(match.group()) if match else None


def title_of(text: str, name: str) -> str:
    """Return the front matter's title, else the first heading, else the file's name."""
    title = _front_matter(text, "title")
    if title:
        return title
    head = text[:HEAD]
    kind = document_kind(name, head) if name else "markdown"
    headings = outline_of(head, kind).headings if kind in ("markdown", "rest") else []
    return next((heading.title for heading in headings if heading.title), PurePath(name).name)


def _front_matter(text: str, key: str) -> str:
    block = _FRONT_MATTER.match(text)
    field = re.search(_FRONT_FIELD.format(key), block.group(2), re.MULTILINE | re.IGNORECASE) if block else None
    if not field:
        return ""
    value = field.group(1)
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _name(stream: BinaryIO) -> str:
    """Return the name that the stream was opened by; "" if it has none (a file descriptor, bytes in memory)."""
    name = getattr(stream, "name", "")
    return os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else ""
