"""The process that converts documents: bytes in, Markdown out, through Microsoft's MarkItDown.

Run as `python -m palazzo.sources.formats.conversion_process`; its owner is `sources/formats/converted_documents.py`. A
request on standard input is a line of JSON (`suffix`, `size`) and that many bytes; the answer on standard output is a
line of JSON: `text` and `title`, or `refused`, a clause that gives the reason.

The libraries that read these formats are large, and the files are untrusted. So this happens in a separate process with
a memory limit (where the platform enforces one), which can reach neither the network nor another program: after `seal`,
any attempt is an error. Each format has exactly one converter, named here; MarkItDown's own choice among all of them
would load a model, and includes some that access the network.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import mmap
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from palazzo.onnx_runtime import disable_telemetry

MEMORY = 2 * 1024**3
"""Maximum bytes that a conversion may use, without the libraries' own memory."""
MOST_PAGES = 2_000
"""Maximum pages of a PDF; about ten pages take one second."""

_CONVERTERS = {
    ".pdf": "PdfConverter",
    ".docx": "DocxConverter",
    ".pptx": "PptxConverter",
    ".xlsx": "XlsxConverter",
    ".epub": "EpubConverter",
    ".html": "HtmlConverter",
}
_FORBIDDEN = re.compile(
    r"socket\.(?!__new__$)|subprocess\.|os\.(?:system|exec|posix_spawn|spawn|fork|startfile)|urllib\."
)


class ConversionError(Exception):
    """Why a document has no text; one clause."""


def main() -> None:
    """Answer requests until standard input ends."""
    disable_telemetry()  # MarkItDown imports ONNX Runtime
    stream, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not speak in our place
    is_sealed = False
    while line := stream.readline():
        request = json.loads(line)
        raw = stream.read(request["size"])
        try:
            convert = converter(request["suffix"])
            if not is_sealed:
                seal()
                is_sealed = True
            text, title = convert(raw)
            answer = {"text": text, "title": title}
        except ConversionError as refused:
            answer = {"refused": str(refused)}
        except MemoryError:
            answer = {"refused": f"needs more than {MEMORY >> 20:,} MB of memory"}
        except Exception as error:  # noqa: BLE001 - five parsers have their own; the document is what matters
            answer = {"refused": f"damaged, or not what its name says ({_describe_error(error)})"}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def converter(suffix: str) -> Callable[[bytes], tuple[str, str]]:
    """Return the converter of a format: bytes to (Markdown, title)."""
    markitdown = importlib.import_module("markitdown")
    document_converter: Any = getattr(importlib.import_module("markitdown.converters"), _CONVERTERS[suffix])()

    def convert(raw: bytes) -> tuple[str, str]:
        if suffix == ".pdf":
            _check_pdf(raw)
        result = document_converter.convert(io.BytesIO(raw), markitdown.StreamInfo(extension=suffix))
        return _tidy(result.markdown), (result.title or "").strip()

    return convert


def seal() -> None:
    """Permanently deny this process network access, other programs and unlimited memory."""
    sys.addaudithook(_refuse)
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        limit = _address_space() + MEMORY if _address_space() else used + 4 * MEMORY
        with contextlib.suppress(ValueError, OSError):  # a lower limit of its owner holds already
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _address_space() -> int:
    """Return the number of bytes mapped now, 0 if the system does not report it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * mmap.PAGESIZE
    return 0


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if _FORBIDDEN.match(event):
        raise PermissionError(f"a conversion must not do this: {event}")


def _check_pdf(raw: bytes) -> None:
    """Refuse a PDF that requires a password or has very many pages."""
    from pdfminer.pdfdocument import PDFPasswordIncorrect
    from pdfminer.pdfpage import PDFPage

    stream: BinaryIO = io.BytesIO(raw)
    try:
        for number, _ in enumerate(PDFPage.get_pages(stream)):
            if number >= MOST_PAGES:
                raise ConversionError(f"more than {MOST_PAGES:,} pages")
    except PDFPasswordIncorrect:
        raise ConversionError("encrypted: it needs a password") from None


def _tidy(text: str) -> str:
    """Strip trailing space and allow at most one blank line in a row, as MarkItDown does in its results."""
    lines = "\n".join(line.rstrip() for line in re.split(r"\r?\n", text))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _describe_error(error: Exception) -> str:
    message = " ".join(str(error).split())[:120]
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


if __name__ == "__main__":
    main()
