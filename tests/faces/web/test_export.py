"""Pages as files: with the words, without scripts, addresses of the viewer, and secrets of today's rules."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.faces.web.conftest import SESSION
from tests.faces.web.served_viewer import ServedViewer
from tests.faces.web.test_attacks import MARKUP, hostile

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.web.page_export import ExportedPages, export_pages
from palazzo.faces.web.static_page import make_static
from palazzo.faces.web.web_sessions import Visitor

__all__ = ["hostile"]
SVG = "{http://www.w3.org/2000/svg}"
SECRET = "AKIA" + "IOSFODNN7" + "EXAMPLQ"


def exported(viewer: ServedViewer, out: Path, *sessions: str, wing: str = "", facts: bool = False) -> ExportedPages:
    visitor = Visitor(viewer.directory, viewer.variables)
    return asyncio.run(export_pages(viewer.call, visitor, viewer.engine.palace, out, sessions, wing, facts))


def test_a_session_becomes_one_file_that_opens_without_a_server(viewer: ServedViewer, tmp_path: Path) -> None:
    (file,) = exported(viewer, tmp_path / "out", SESSION).files
    page = file.read_text("utf-8")
    assert file.name == "index.html"
    assert "Which port does the gateway listen on?" in page
    assert "gateway: port 8443" in page
    for word in ("<script", "<form", "<link", 'href="/', "src=", "form_token"):
        assert word not in page


def test_a_wing_and_facts_become_pages_that_lead_to_each_other(viewer: ServedViewer, tmp_path: Path) -> None:
    files = exported(viewer, tmp_path / "out", SESSION, wing="api", facts=True).files
    pages = [file for file in files if file.suffix == ".html"]
    assert {file.name for file in pages} == {f"page-{n:04}.html" for n in range(1, 5)} | {"index.html"}
    assert files[-1].name == "index.html"
    text = "".join(file.read_text("utf-8") for file in pages)
    assert "listens on" in text
    assert set(re.findall(r'href="([^"]*)"', text)) <= {file.name for file in pages}


def test_a_wing_and_facts_become_one_file(viewer: ServedViewer, tmp_path: Path) -> None:
    out = tmp_path / "new" / "palace.html"
    assert exported(viewer, out, SESSION, wing="api", facts=True).files == (out,)
    page = out.read_text("utf-8")
    assert "The gateway listens on 8443." in page
    assert page.count("<svg") >= 4
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]*)"', page))
    assert {f"page-{n:04}" for n in range(1, 5)} <= links <= set(ids)
    assert ' href="' not in re.sub(r' href="#', "", page)
    with pytest.raises(UsageError, match="exists already"):
        exported(viewer, out, SESSION)


def test_the_map_and_the_plots_become_svg_files_for_any_program(viewer: ServedViewer, tmp_path: Path) -> None:
    files = exported(viewer, tmp_path / "out", wing="api", facts=True).files
    pictures = {file.stem.split("-")[2]: ElementTree.parse(file).getroot() for file in files if file.suffix == ".svg"}
    assert pictures.keys() == {"map", "graph", "bars", "facts"}
    captions = {kind: picture.findtext(f"./{SVG}text") for kind, picture in pictures.items()}
    assert captions["map"] == "api"
    assert (captions["bars"] or "").startswith("Sessions a day, 20")
    graph = pictures.pop("graph")
    assert {element.text for element in graph.findall(f"./{SVG}svg/{SVG}text")} == {"gateway", "8443"}
    assert [len(graph.findall(f"./{SVG}svg/{SVG}{tag}")) for tag in ("line", "circle")] == [1, 2]
    for picture in pictures.values():
        assert {"width", "height", "viewBox"} <= picture.attrib.keys()
        assert len(picture.findall(f".//{SVG}rect")) > 1
        (style,) = (element.text or "" for element in picture.findall(f".//{SVG}style"))
        assert "svg.map rect.room { stroke: #ffffff; }" in style
        assert "100%" not in style
        assert "var(" not in style
    names = [element.text for element in pictures["map"].findall(f"./{SVG}svg/{SVG}a/{SVG}svg/{SVG}text")]
    assert "deploy" in names


def test_names_of_a_map_stay_visible_in_a_file(viewer: ServedViewer, tmp_path: Path) -> None:
    """A name is a neighbour of its room's rectangle: within it, no program would draw it."""
    pages = [file.read_text("utf-8") for file in exported(viewer, tmp_path / "out", wing="api").files]
    (page,) = (page for page in pages if "<!doctype" in page and 'class="map"' in page)
    assert re.search(r"</title></rect>\s*<svg [^>]*><text", page)


def test_recorded_markup_stays_text_in_a_file(hostile: ServedViewer, tmp_path: Path) -> None:
    (file,) = exported(hostile, tmp_path / "out", "markup").files
    page = file.read_text("utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert not re.search(r"<(script|img|svg/)", page)
    assert MARKUP not in page


def test_a_secret_of_the_page_is_redacted_once_more() -> None:
    static, count = make_static(f"<html><head></head><body><p>key {SECRET} end</p></body></html>", {}, "")
    assert count == 1
    assert SECRET not in static
    assert "[redacted:" in static


def test_a_secret_in_an_attribute_that_is_read_out_is_redacted() -> None:
    page = f'<figure aria-label="room {SECRET}" title="{SECRET}" data-picture="{SECRET}"></figure>'
    static, count = make_static(page, {}, "")
    assert count == 3
    assert SECRET not in static


def test_a_file_runs_one_script_which_saves_its_figures_and_loads_nothing(viewer: ServedViewer, tmp_path: Path) -> None:
    (file,) = exported(viewer, tmp_path / "all.html", SESSION, wing="api", facts=True).files
    page = file.read_text("utf-8")
    (policy,) = re.findall(r'<meta http-equiv="content-security-policy" content="([^"]*)">', page)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    assert re.findall(r"'sha256-([^']*)'", policy) == digests
    assert policy.startswith("default-src 'none'; img-src data: blob:; ")
    assert page.index(policy) < page.index("<style>") < page.index("<body>")


def test_nothing_is_overwritten(viewer: ServedViewer, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty directory"):
        exported(viewer, tmp_path, SESSION)
    with pytest.raises(UsageError, match="Name what to export"):
        exported(viewer, tmp_path / "out")
    with pytest.raises(PalazzoError, match="No session has the id"):
        exported(viewer, tmp_path / "out", "none-of-that-name")
    assert not (tmp_path / "out").exists()
