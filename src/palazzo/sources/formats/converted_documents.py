"""Documents that are not text (PDF, Word, PowerPoint, Excel, EPUB, web pages): recognised by bytes, and converted.

MarkItDown converts them, in a child process (`sources/formats/conversion_process.py`) with a time limit, a memory limit
and no network. It comes with the extra `palazzo[documents]`; without it such files are skipped with a reason. This
module refuses what can be refused without a parser: a file that is not what its name says, that is encrypted or
truncated, or that unpacks to far more than its size.
"""

from __future__ import annotations

import atexit
import io
import json
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.sources.formats.export_archives import LARGEST_RATIO, is_zip
from palazzo.text.document_formats import has_converted_format

LARGEST = 64 * 1024 * 1024
"""Maximum bytes of a file that is converted; pictures are most of such a file."""
LARGEST_UNPACKED = 512 * 1024 * 1024
"""Maximum bytes of all unpacked zip entries in a document."""
MOST_CHARACTERS = 5 * 1024 * 1024
"""Maximum characters of a document; a longer one is data."""
SECONDS = 120.0
"""Maximum time of one conversion. A PDF of 300 pages takes half of it on a slow machine."""
FEWEST_SECONDS, SECONDS_PER_100_KB = 20.0, 5.0
"""Maximum time for a small document, and the time that each further 100 KB adds: ten times the time of a slow
machine.
"""
FAILED_SECONDS = 60.0
"""Maximum total time of failing conversions in one run. After it no further conversion starts."""
IDLE_SECONDS = 20.0
"""Time after which an idle converter is stopped: it uses about 200 MB."""
NEEDS_EXTRA = "needs a converter: pip install 'palazzo[documents]'"

_FORMATS = {".pdf": "", ".docx": "word/", ".pptx": "ppt/", ".xlsx": "xl/", ".epub": "META-INF/container.xml"}
"""The location of the document inside its zip archive, by suffix."""
_PAGES = frozenset({".html", ".htm", ".xhtml"})
_LIBRARIES = ("markitdown", "pdfplumber", "mammoth", "pptx", "openpyxl", "pandas")
_SMALL_ENTRY = 1024 * 1024
_HEAD = 64 * 1024
_ENCRYPTION_FLAG = 0x1
_OLE = b"\xd0\xcf\x11\xe0"
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*|<!--.{0,4000}?-->\s*){0,5}<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(rb"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}|<%|<\?(?:php|=)", re.DOTALL)


class Unconvertible(SourceUnreadable):
    """Why a document has no text.

    `is_costly` says that a converter, which takes seconds to start, was needed to determine this.
    """

    def __init__(self, reason: str, is_costly: bool = False) -> None:
        super().__init__(reason)
        self.is_costly = is_costly


@frozen
class Conversion:
    """A document's text as Markdown, its title if it has one, and its converter."""

    text: str
    title: str
    decoder: str


@dataclass(slots=True)
class _Run:
    """The seconds that failed conversions took in one run."""

    failed_seconds: float = 0.0


_run: ContextVar[_Run | None] = ContextVar("the run that conversions count for", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Budget the conversions of the block together: crafted documents must not delay a run for hours."""
    token = _run.set(_Run())
    try:
        yield
    finally:
        _run.reset(token)


def may_be_page(path: PurePath) -> bool:
    """Return whether a file of this name may be a web page."""
    return path.suffix.lower() in _PAGES


def is_page(path: PurePath, head: bytes) -> bool:
    """Return whether a file is a whole web page; templates and parts of pages are source code."""
    return may_be_page(path) and _PAGE.match(head) is not None and _TEMPLATE.search(head) is None


def is_converted(path: PurePath, head: bytes) -> bool:
    """Return whether the file's text comes from a converter. Without a converter, a page is read as it is."""
    return has_converted_format(path) or (is_page(path, head) and is_installed())


@cache
def is_installed() -> bool:
    """Return whether the converter and all libraries that it needs are installed."""
    return all(find_spec(library) is not None for library in _LIBRARIES)


def refusal_by_head(path: PurePath, head: bytes) -> str | None:
    """Return why a file of a format is not converted, from its first bytes, or None if it may be."""
    suffix = path.suffix.lower()
    if suffix == ".pdf" and b"%PDF-" not in head[:1024]:
        return "named .pdf, but not a PDF"
    if suffix in _FORMATS and suffix != ".pdf" and not is_zip(head):
        return "encrypted, or in an older format" if head.startswith(_OLE) else f"named {suffix}, but in another format"
    return None if is_installed() else NEEDS_EXTRA


def convert(path: PurePath, raw: bytes) -> Conversion:
    """Return the text of a document. Raises Unconvertible."""
    suffix = ".html" if may_be_page(path) else path.suffix.lower()
    reason = refusal_by_head(path, raw[:_HEAD]) or _refusal_by_bytes(suffix, raw)
    if reason:
        raise Unconvertible(reason)
    from importlib.metadata import version  # here, since who converts nothing need not wait for it

    text, title = _convert_within_limits(suffix, raw)
    if not text:
        reason = "contains no text (perhaps only images of pages)" if suffix == ".pdf" else "contains no text"
        raise Unconvertible(reason, is_costly=True)
    if len(text) > MOST_CHARACTERS:
        raise Unconvertible(f"{len(text):,} characters, over the limit of {MOST_CHARACTERS:,}", is_costly=True)
    return Conversion(text, title, f"markitdown {version('markitdown')}")


def _convert_within_limits(suffix: str, raw: bytes) -> tuple[str, str]:
    """Return Markdown and title, within the time limits of the file and the run. Raises Unconvertible."""
    run = _run.get() or _Run()
    if run.failed_seconds >= FAILED_SECONDS:
        raise Unconvertible(
            f"not tried in this run: failed conversions have already taken {run.failed_seconds:.0f} seconds"
        )
    began = time.monotonic()
    try:
        return _converter().convert(suffix, raw)
    except Unconvertible:
        run.failed_seconds += time.monotonic() - began
        raise


def _seconds_for(size: int) -> float:
    return min(SECONDS, FEWEST_SECONDS + SECONDS_PER_100_KB * size / 100_000)


def _refusal_by_bytes(suffix: str, raw: bytes) -> str:
    if suffix == ".pdf":
        return "" if b"%%EOF" in raw[-4096:] else "truncated: the end of the PDF is missing"
    return _refusal_of_zip(suffix, raw) if suffix in _FORMATS else ""


def _refusal_of_zip(suffix: str, raw: bytes) -> str:
    """Return why a zipped document is not unpacked, by its directory: no reader goes beyond the declared sizes."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "truncated or damaged: its list of parts is missing"
    if any(entry.flag_bits & _ENCRYPTION_FLAG for entry in entries) or any(
        entry.filename == "META-INF/rights.xml" for entry in entries
    ):
        return "encrypted"
    if not any(entry.filename.startswith(_FORMATS[suffix]) for entry in entries):
        return f"named {suffix}, but another kind of zip archive"
    bombs = (e for e in entries if e.file_size > _SMALL_ENTRY and e.file_size > LARGEST_RATIO * max(e.compress_size, 1))
    total = sum(entry.file_size for entry in entries)
    if total > LARGEST_UNPACKED or next(bombs, None) is not None:
        return f"unpacks to {total:,} bytes, as a zip bomb does"
    return ""


@cache
def _converter() -> _Converter:
    instance = _Converter()
    atexit.register(instance.close)
    return instance


class _Converter:
    """The child process: started on demand, given one document at a time, stopped when idle."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._idle: threading.Timer | None = None

    def convert(self, suffix: str, raw: bytes) -> tuple[str, str]:
        """Return Markdown and title. Raises Unconvertible."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            answer = self._ask(suffix, raw)
            self._idle = threading.Timer(IDLE_SECONDS, self.close)
            self._idle.daemon = True
            self._idle.start()
        if "refused" in answer:
            raise Unconvertible(answer["refused"], is_costly=True)
        return answer["text"], answer["title"]

    def close(self) -> None:
        """End the child process, if there is one."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            self._end()

    def _ask(self, suffix: str, raw: bytes) -> dict[str, str]:
        process = self._running()
        answers: list[bytes] = []
        thread = threading.Thread(target=_exchange, args=(process, suffix, raw, answers), daemon=True)
        thread.start()
        seconds = _seconds_for(len(raw))
        thread.join(seconds)
        if thread.is_alive():
            self._end()
            thread.join()
            raise Unconvertible(f"not converted within {seconds:.0f} seconds", is_costly=True)
        if not answers or not answers[0].endswith(b"\n"):
            self._end()
            raise Unconvertible("the converter crashed on it", is_costly=True)
        answer: dict[str, str] = json.loads(answers[0])
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            creation_flags = 0
            if sys.platform == "win32":
                creation_flags = subprocess.CREATE_NO_WINDOW
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "palazzo.sources.formats.conversion_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=creation_flags,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what it had not read is lost with it
                    continue


def _exchange(process: subprocess.Popen[bytes], suffix: str, raw: bytes, answers: list[bytes]) -> None:
    """Request one conversion; a process that ends meanwhile gives no answer."""
    assert process.stdin is not None  # noqa: S101 (it was started with pipes)
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(json.dumps({"suffix": suffix, "size": len(raw)}).encode() + b"\n")
        process.stdin.write(raw)
        process.stdin.flush()
        answers.append(process.stdout.readline())
    except (OSError, ValueError):
        return
