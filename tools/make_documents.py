"""Make the documents of tests/fixtures/documents, each with the library that people make such files with.

    pip install 'palazzo[documents]' python-docx pypdf reportlab ebooklib nbformat
    python tools/make_documents.py

All of them say the same few things, so that a test can ask each for them. Needed again only when one is to change.
"""

from __future__ import annotations

import importlib
from io import BytesIO
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parents[1] / "tests" / "fixtures" / "documents"
TITLE = "Harbour plan"
WORDS = "The heron keeps the ledger of the harbour."
ROWS = (("Berth", "Ship"), ("7", "Kestrel"), ("9", "Dunlin"))


def main() -> None:
    """Write every document."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    made = {
        "plan.pdf": pdf(),
        "plan.docx": docx(),
        "plan.pptx": pptx(),
        "plan.xlsx": xlsx(),
        "plan.epub": epub(),
        "plan.html": html(),
        "plan.ipynb": notebook(),
        "locked.pdf": locked(pdf()),
    }
    for name, raw in made.items():
        (DIRECTORY / name).write_bytes(raw)
        print(f"{name}: {len(raw):,} bytes")


def pdf() -> bytes:
    """Two pages."""
    canvas = importlib.import_module("reportlab.pdfgen.canvas")
    stream = BytesIO()
    page: Any = canvas.Canvas(stream, invariant=1)
    page.setTitle(TITLE)
    page.drawString(72, 760, TITLE)
    page.drawString(72, 730, WORDS)
    page.showPage()
    page.drawString(72, 760, "Berth 7 is for the Kestrel.")
    page.showPage()
    page.save()
    return stream.getvalue()


def locked(raw: bytes) -> bytes:
    """The same behind a password."""
    pypdf = importlib.import_module("pypdf")
    writer: Any = pypdf.PdfWriter(clone_from=BytesIO(raw))
    writer.encrypt("a password", algorithm="AES-256")
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


def docx() -> bytes:
    """A heading, a paragraph, a table."""
    document: Any = importlib.import_module("docx").Document()
    document.add_heading(TITLE, 1)
    document.add_paragraph(WORDS)
    table = document.add_table(len(ROWS), 2)
    for row, cells in zip(table.rows, ROWS, strict=True):
        for cell, words in zip(row.cells, cells, strict=True):
            cell.text = words
    return _saved(document)


def pptx() -> bytes:
    """A slide with notes."""
    presentation: Any = importlib.import_module("pptx").Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = TITLE
    slide.placeholders[1].text = WORDS
    slide.notes_slide.notes_text_frame.text = "Berth 7 is for the Kestrel."
    return _saved(presentation)


def xlsx() -> bytes:
    """Two sheets."""
    book: Any = importlib.import_module("openpyxl").Workbook()
    book.active.title = TITLE
    for row in ROWS:
        book.active.append(row)
    book.create_sheet("Notes").append((WORDS,))
    return _saved(book)


def epub() -> bytes:
    """A book of one chapter."""
    library: Any = importlib.import_module("ebooklib.epub")
    book = library.EpubBook()
    book.set_identifier("harbour-plan")
    book.set_title(TITLE)
    book.set_language("en")
    chapter = library.EpubHtml(title="Berths", file_name="berths.xhtml")
    chapter.content = f"<h1>Berths</h1><p>{WORDS}</p>"
    book.add_item(chapter)
    book.toc = (chapter,)
    book.add_item(library.EpubNcx())
    book.add_item(library.EpubNav())
    book.spine = ["nav", chapter]
    stream = BytesIO()
    library.write_epub(stream, book)
    return stream.getvalue()


def html() -> bytes:
    """A page with a script, which says nothing, and a picture from elsewhere."""
    rows = "".join(f"<tr><td>{berth}</td><td>{ship}</td></tr>" for berth, ship in ROWS[1:])
    return (
        f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{TITLE}</title>\n"
        "<script>var heron = 'nothing that anybody wrote';</script></head>\n"
        f"<body><h1>Berths</h1><p>{WORDS}</p><img src='https://example.invalid/heron.png' alt='a heron'>\n"
        f"<table><tr><th>Berth</th><th>Ship</th></tr>{rows}</table></body></html>\n"
    ).encode()


def notebook() -> bytes:
    """Prose, code with its output, an error, a picture."""
    nbformat: Any = importlib.import_module("nbformat")
    v4 = nbformat.v4
    printed = v4.new_output("stream", name="stdout", text="3 berths\n")
    shown = v4.new_output("display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480>"})
    failed = v4.new_output(
        "error", ename="KeyError", evalue="'berth 12'", traceback=["\x1b[31mKeyError\x1b[0m: 'berth 12'"]
    )
    made = v4.new_notebook(
        metadata={"language_info": {"name": "python"}},
        cells=[
            v4.new_markdown_cell(f"# {TITLE}\n\n{WORDS}", id="a"),
            v4.new_code_cell("print(len(berths), 'berths')", outputs=[printed, shown], id="b"),
            v4.new_code_cell("berths['berth 12']", outputs=[failed], id="c"),
        ],
    )
    return str(nbformat.writes(made)).encode()


def _saved(document: Any) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


if __name__ == "__main__":
    main()
