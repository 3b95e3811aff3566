"""Documents that are no text: converted in a process of their own, refused with a reason, never fetched from."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.derived.state import complaints, drawers

from palazzo.errors import SourceUnreadable
from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.sources.formats import Message, Row, conversion_process, converted_documents
from palazzo.sources.formats.converted_documents import NEEDS_EXTRA, Unconvertible, is_page
from palazzo.sources.formats.document_kinds import refusal_by_head, refusal_by_name, refusal_by_size
from palazzo.sources.formats.document_rows import Documents
from palazzo.sources.mining_report import MineReport, MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store import items

FIXTURES = Path(__file__).parents[1] / "fixtures" / "documents"
WORDS = "The heron keeps the ledger of the harbour."
CONVERTED = ["plan.pdf", "plan.docx", "plan.pptx", "plan.xlsx", "plan.epub", "plan.html"]

with_extra = pytest.mark.skipif(not converted_documents.is_installed(), reason="needs palazzo[documents]")


@pytest.fixture(scope="module", autouse=True)
def _let_go() -> Iterator[None]:
    yield
    converted_documents._converter().close()


def raw_of(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def read(raw: bytes, name: str) -> tuple[Row, Message]:
    stream = io.BytesIO(raw)
    stream.name = name
    [row] = Documents("git:abc").rows(stream)
    assert isinstance(row.content, Message)
    return row, row.content


def refused(raw: bytes, name: str) -> str:
    with pytest.raises(Unconvertible) as error:
        read(raw, name)
    return str(error.value)


# What is read


@with_extra
@pytest.mark.parametrize("name", CONVERTED)
def test_each_format_says_what_it_says_and_keeps_its_bytes(name: str) -> None:
    row, said = read(raw_of(name), name)
    assert WORDS in said.text
    assert row.raw == raw_of(name)
    assert str(said.meta["decoder"]).startswith("markitdown ")
    assert (said.kind, said.role) == ("document", "author")


@with_extra
def test_a_page_keeps_its_headings_and_tables_and_leaves_out_its_script() -> None:
    row, said = read(raw_of("plan.html"), "plan.html")
    assert "# Berths" in said.text
    assert "| 7 | Kestrel |" in said.text
    assert "var heron" not in said.text
    assert row.title == "Harbour plan"


def test_a_notebook_needs_no_converter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converted_documents, "is_installed", lambda: False)
    row, said = read(raw_of("plan.ipynb"), "plan.ipynb")
    expected = ["# Harbour plan", WORDS, "```python\nprint(len(berths), 'berths')\n```", "```\n3 berths\n```"]
    expected += ["[image/png]", "```\nKeyError: 'berth 12'\n```"]
    places = [said.text.index(words) for words in expected]
    assert places == sorted(places)
    assert "iVBORw0KGgo" not in said.text
    assert (row.title, row.raw) == ("Harbour plan", raw_of("plan.ipynb"))


def test_a_notebook_of_the_older_form_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Berths"},
        {"cell_type": "code", "input": ["a = 1\n", "a"], "outputs": [{"output_type": "pyout", "text": ["1"]}]},
    ]
    _, said = read(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode(), "old.ipynb")
    assert said.text == "## Berths\n\n```\na = 1\na\n```\n\n```\n1\n```"


def test_code_that_holds_a_fence_is_fenced_by_a_longer_one() -> None:
    cell = {"cell_type": "code", "source": "print('''\n```\n''')", "outputs": []}
    _, said = read(json.dumps({"cells": [cell]}).encode(), "a.ipynb")
    assert said.text.startswith("````\n")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"cells": [', "a notebook must be valid JSON"),
        (b'["cells"]', "but not a notebook"),
        (b'{"cells": "none"}', "but not a notebook"),
        (b'{"cells": [{"cell_type": "markdown", "source": [1, null]}, 7]}', "contains no text"),
        (b"[" * 100_000, "a notebook must be valid JSON"),
    ],
)
def test_what_is_no_notebook_is_refused(raw: bytes, reason: str) -> None:
    assert reason in refused(raw, "a.ipynb")


@pytest.mark.parametrize(
    ("raw", "page"),
    [
        (b"<!DOCTYPE html>\n<html><body>x", True),
        (b"\xef\xbb\xbf<!-- saved -->\n<HTML lang=en>", True),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'><html>", True),
        (b"<!doctype html><title>{{ title }}</title>", False),
        (b"<html>{% block body %}{% endblock %}", False),
        (b"<html><?php echo 1 ?>", False),
        (b"<div>part of a page</div>", False),
    ],
)
def test_a_whole_page_is_told_from_a_template(raw: bytes, page: bool) -> None:
    assert is_page(Path("a.html"), raw) is page
    if not page:
        _, said = read(raw, "a.html")
        assert said.text.encode() == raw
        assert "template" in (refusal_by_head(Path("a.html"), raw, "docs") or "")
        assert refusal_by_head(Path("a.html"), raw, "all") is None


# What is refused


@with_extra
@pytest.mark.parametrize("name", ["plan.docx", "plan.pptx", "plan.xlsx", "plan.epub", "plan.pdf"])
def test_a_file_that_was_cut_short_is_refused(name: str) -> None:
    raw = raw_of(name)
    assert "truncated" in refused(raw[: len(raw) * 2 // 3], name)


@with_extra
def test_an_encrypted_document_is_refused() -> None:
    assert "password" in refused(raw_of("locked.pdf"), "locked.pdf")
    assert "encrypted" in refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "plan.docx")


@with_extra
@pytest.mark.parametrize(
    ("raw", "name", "reason"),
    [
        (b"Dear all,\n", "letter.pdf", "named .pdf, but not a PDF"),
        (b"Dear all,\n", "letter.docx", "named .docx, but in another format"),
        (raw_of("plan.docx"), "plan.xlsx", "another kind of zip"),
        (raw_of("plan.epub"), "plan.pptx", "another kind of zip"),
        (b"%PDF-1.7\nnothing follows\n%%EOF\n", "empty.pdf", "damaged, or not what its name says"),
        (b"<!DOCTYPE html><html><body><div id='root'></div></body></html>", "app.html", "contains no text"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(raw: bytes, name: str, reason: str) -> None:
    assert reason in refused(raw, name)


@with_extra
def test_a_zip_bomb_is_refused_before_anything_is_unpacked() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", bytes(8 * 1024 * 1024))
    assert "zip bomb" in refused(stream.getvalue(), "bomb.docx")


@with_extra
def test_a_document_of_too_many_bytes_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converted_documents, "LARGEST", 1_000)
    assert "over the limit" in (refusal_by_size(Path("plan.pdf"), 1_001) or "")
    assert refusal_by_size(Path("plan.md"), 1_001) is None
    with pytest.raises(SourceUnreadable, match="more than 1,000 bytes"):
        read(raw_of("plan.pdf"), "plan.pdf")


@with_extra
def test_a_pdf_of_very_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    convert = conversion_process.converter(".pdf")
    assert WORDS in convert(raw_of("plan.pdf"))[0]
    monkeypatch.setattr(conversion_process, "MOST_PAGES", 1)
    with pytest.raises(conversion_process.ConversionError, match="more than 1 pages"):
        convert(raw_of("plan.pdf"))


@with_extra
def test_a_conversion_that_hangs_is_ended_and_the_next_one_works(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(converted_documents, "SECONDS", 0.0)
        converted_documents._converter().close()
        with pytest.raises(Unconvertible, match="not converted within") as error:
            read(raw_of("plan.docx"), "plan.docx")
        assert error.value.is_costly
    assert WORDS in read(raw_of("plan.docx"), "plan.docx")[1].text


@with_extra
def test_a_converter_that_crashes_takes_nobody_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(process: subprocess.Popen[bytes], suffix: str, raw: bytes, answers: list[bytes]) -> None:
        process.kill()
        process.wait()
        exchange(process, suffix, raw, answers)

    exchange = converted_documents._exchange
    with monkeypatch.context() as crashing:
        crashing.setattr(converted_documents, "_exchange", crash)
        with pytest.raises(Unconvertible, match="the converter crashed on it") as error:
            read(raw_of("plan.pdf"), "plan.pdf")
        assert error.value.is_costly
    assert WORDS in read(raw_of("plan.pdf"), "plan.pdf")[1].text


# What a conversion cannot do


@with_extra
@pytest.mark.parametrize("name", ["remote.docx", "remote.html"])
def test_nothing_is_fetched(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/heron.png"
        heard: list[object] = []

        def listen() -> None:
            try:
                caller, _ = server.accept()
            except TimeoutError:
                return
            heard.append(caller)
            caller.close()

        listening = threading.Thread(target=listen)
        listening.start()
        _, said = read(remote(name, address), name)
        listening.join()
    assert WORDS in said.text
    assert heard == []


def remote(name: str, address: str) -> bytes:
    """A document with a picture that lies on a server."""
    if name.endswith(".html"):
        return f"<!DOCTYPE html><html><body><img src='{address}'><p>{WORDS}</p></body></html>".encode()
    picture = (
        '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic'
        ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:link="far"'
        ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )
    relation = (
        '<Relationship Id="far" TargetMode="External" Target="' + address + '"'
        ' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/></Relationships>'
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(FIXTURES / "plan.docx") as old, zipfile.ZipFile(stream, "w") as new:
        for entry in old.namelist():
            words = old.read(entry)
            if entry == "word/document.xml":
                words = words.replace(b"<w:body>", b"<w:body>" + picture.encode(), 1)
            if entry == "word/_rels/document.xml.rels":
                words = words.replace(b"</Relationships>", relation.encode(), 1)
            new.writestr(entry, words)
    return stream.getvalue()


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])",
        "import os; os.system('true')",
    ],
)
def test_a_sealed_process_reaches_neither_the_network_nor_a_program(deed: str) -> None:
    assert "a conversion must not do this" in sealed(deed)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit to memory is the platform's")
def test_a_sealed_process_gets_no_more_than_its_memory() -> None:
    assert "MemoryError" in sealed("conversion_process.MEMORY; bytearray(3 * 1024**3)")


def sealed(deed: str) -> str:
    program = f"from palazzo.sources.formats import conversion_process; conversion_process.seal(); {deed}"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


# Through the door


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "papers"))


def mined(palace: Palace, top: Path, mode: str = "docs") -> MineReport:
    return mine(palace.database, palace.clock, MineRequest((top,), "all" if mode == "all" else "docs"))


@with_extra
def test_a_directory_of_papers_is_mined_found_and_kept_to_the_byte(palace: Palace, papers: Path) -> None:
    report = mined(palace, papers)
    assert [(Path(one.uri).name, one.reason) for one in report.skipped] == [
        ("locked.pdf", "encrypted: it needs a password")
    ]
    assert (report.new, report.failed) == (7, ())
    hits = palace.search(Query("who keeps the ledger of the harbour", limit=20)).hits
    found = {Path(drawer.source.uri).name for drawer in drawers(palace)}
    assert found == {*CONVERTED, "plan.ipynb"}
    assert hits
    with palace.database.snapshot() as connection:
        for row, uri in list(connection.execute("SELECT id, uri FROM source")):
            assert b"".join(items.source_bytes(connection, row)) == (papers / Path(uri).name).read_bytes()
    again = mined(palace, papers)  # the one that was refused is not asked again either
    assert (again.unchanged, again.rows, again.skipped) == (8, 0, ())
    assert complaints(palace) == []


@with_extra
def test_what_a_converter_refused_is_not_tried_again_until_it_changes(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "papers" / "plan.docx"
    slow.parent.mkdir()
    slow.write_bytes(raw_of("plan.docx"))
    with monkeypatch.context() as hurried:
        hurried.setattr(converted_documents, "SECONDS", 0.0)
        assert [one.reason for one in mined(palace, slow.parent).skipped] == ["not converted within 0 seconds"]
    again = mined(palace, slow.parent)
    assert (again.unchanged, again.items, again.skipped) == (1, 0, ())
    os.utime(slow, (1, 1))  # the same bytes with another time, as a checkout leaves them
    assert [skip.reason for skip in mined(palace, slow.parent).skipped] == [
        "its conversion failed before, and it has not changed"
    ]
    slow.write_bytes(slow.read_bytes() + b"\0")
    assert mined(palace, slow.parent).items == 1


@with_extra
def test_documents_that_cannot_be_converted_take_a_run_only_so_long(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crafted_files = tmp_path / "papers"
    crafted_files.mkdir()
    for n in range(4):
        (crafted_files / f"{n}.docx").write_bytes(raw_of("plan.docx") + bytes(n))
    with monkeypatch.context() as short_limits:
        short_limits.setattr(converted_documents, "SECONDS", 0.01)
        short_limits.setattr(converted_documents, "FAILED_SECONDS", 0.005)
        reasons = [skip.reason for skip in mined(palace, crafted_files).skipped]
    assert reasons[0] == "not converted within 0 seconds"
    assert all(reason.startswith("not tried in this run") for reason in reasons[1:])
    assert len(reasons) == 4
    assert mined(palace, crafted_files).items == 3  # those that were not tried


def test_a_small_document_is_given_less_time_than_a_large_one() -> None:
    times = [converted_documents._seconds_for(size) for size in (1_000, 100_000, 1_000_000, 64_000_000)]
    assert times == sorted(times)
    assert times[0] < converted_documents.SECONDS / 4
    assert times[-1] == converted_documents.SECONDS


def test_without_the_extra_papers_are_skipped_for_one_reason_that_says_what_to_do(
    palace: Palace, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converted_documents, "is_installed", lambda: False)
    report = mined(palace, papers)
    assert {Path(one.uri).name for one in report.skipped} == {*CONVERTED, "locked.pdf"}
    assert {one.reason for one in report.skipped} == {NEEDS_EXTRA}
    assert "pip install 'palazzo[documents]'" in NEEDS_EXTRA
    assert {Path(drawer.source.uri).name for drawer in drawers(palace)} == {"plan.ipynb"}


def test_without_the_extra_a_page_is_source_code(palace: Palace, papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converted_documents, "is_installed", lambda: False)
    mined(palace, papers, "all")
    assert any("var heron" in drawer.text for drawer in drawers(palace))


@with_extra
def test_papers_are_taken_once_the_extra_is_there(
    palace: Palace, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(converted_documents, "is_installed", lambda: False)
        mined(palace, papers)
    assert mined(palace, papers).items == len(CONVERTED)


@with_extra
@pytest.mark.parametrize("place", ["<script>var k = '{}'</script>", "<!-- {} -->", "<p>{}</p>"])
def test_a_secret_in_a_page_is_kept_nowhere(palace: Palace, tmp_path: Path, place: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    page = tmp_path / "papers" / "page.html"
    page.parent.mkdir()
    page.write_text(f"<!DOCTYPE html><html><body><p>{WORDS}</p>{place.format(secret)}</body></html>")
    mined(palace, page.parent)
    with palace.database.snapshot() as connection:
        assert WORDS.encode() in (kept := b"".join(items.source_bytes(connection, 1)))
    assert secret.encode() not in kept
    assert not any(secret in drawer.text for drawer in drawers(palace))


@pytest.mark.parametrize("name", [*CONVERTED, "plan.ipynb"])
def test_the_documents_policy_takes_them_by_name(name: str) -> None:
    assert refusal_by_name(Path(name), "docs") is None
