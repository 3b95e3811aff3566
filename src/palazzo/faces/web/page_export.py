"""Export of pages: a session, a wing and the facts as files that open without a server."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import Call
from palazzo.faces.web.live_events import LiveEvents
from palazzo.faces.web.page_templates import make_address
from palazzo.faces.web.pages.knowledge_page import DRAWN, GRAPH
from palazzo.faces.web.picture_files import cut_pictures
from palazzo.faces.web.static_page import make_static
from palazzo.faces.web.web_app import STATIC, build
from palazzo.faces.web.web_guard import FORM_KEY, SESSION_KEY, Message, Scope
from palazzo.faces.web.web_sessions import Visitor, WebSession
from palazzo.frozen_class import frozen

_MOST_PAGES = 1_000
_HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Palazzo</title>'
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_FIGURE = re.compile(r"<figure [^>]*\bdata-picture=")
_NEXT = re.compile(r'<a class="button" rel="next" href="([^"]+)"')


@frozen
class ExportedPages:
    """The files that were written, and how many secrets were redacted that the palace still has."""

    files: tuple[Path, ...]
    redacted: int


async def export_pages(
    call: Call, visitor: Visitor, palace: Path, out: Path, sessions: tuple[str, ...], wing: str, facts: bool
) -> ExportedPages:
    """Write pages, and their map, graph and plots as SVG, into a new or empty directory, or all pages into one file.

    `out` is a file if its name ends in `.html`. Raises UsageError if it exists, if a directory has files, or if nothing
    is to be exported.
    """
    addresses = [make_address(f"/session/{session}") for session in sessions]
    addresses += [make_address("/sessions", wing=wing), make_address("/palace", wing=wing)] if wing else []
    addresses += [make_address("/knowledge", wing=wing, **{GRAPH: DRAWN})] if facts else []
    if not addresses:
        raise UsageError("Name what to export: --session ID, --wing WING or --facts.")
    is_file = out.suffix.lower() == ".html"
    if is_file and out.exists():
        raise UsageError(f"{out} exists already; name a new file.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not an empty directory; name a new one.")
    pages = await _read_pages(_Reader(call, visitor, palace), addresses)
    return _write_file(out, pages) if is_file else _write_directory(out, pages)


async def _read_pages(reader: _Reader, addresses: list[str]) -> dict[str, str]:
    """Return pages by their addresses, each with those that continue it."""
    pages: dict[str, str] = {}
    while addresses and len(pages) < _MOST_PAGES:
        address = addresses.pop(0)
        if address not in pages:
            pages[address] = await reader.read(address)
            addresses += [match.replace("&amp;", "&") for match in _NEXT.findall(pages[address])]
    return pages


def _write_file(out: Path, pages: Mapping[str, str]) -> ExportedPages:
    """Write all pages into one file, with a list of them at its beginning."""
    names = {address: f"page-{number:04}" for number, address in enumerate(pages, 1)}
    targets = _names_by_path({address: f"#{name}" for address, name in names.items()})
    redacted, bodies, items = 0, [], []
    for address, page in pages.items():
        static, count = make_static(page, targets, "", f"{names[address]}-")
        redacted += count
        bodies.append(f'<section id="{names[address]}">{_find(_BODY, static)}</section>')
        items.append(f'<li><a href="#{names[address]}">{_find(_TITLE, static)}</a></li>')
    contents = f"<ul>{''.join(items)}</ul>" if len(items) > 1 else ""
    out.parent.mkdir(parents=True, exist_ok=True)
    body = contents + "".join(bodies)
    out.write_text(_frame(_make_head(body), body), "utf-8")
    return ExportedPages((out,), redacted)


def _write_directory(out: Path, pages: Mapping[str, str]) -> ExportedPages:
    """Write a file for each page, its pictures, and a list of the pages if they are several."""
    names = {address: f"page-{number:04}.html" for number, address in enumerate(pages, 1)}
    if len(pages) == 1:
        names = dict.fromkeys(pages, "index.html")
    targets, style = _names_by_path(names), _read("viewer.css")
    out.mkdir(parents=True, exist_ok=True)
    redacted, files, pictures, items = 0, [], list[Path](), []
    for address, page in pages.items():
        static, count = make_static(page, targets, _make_head(page))
        redacted += count
        files.append(out / names[address])
        files[-1].write_text(static, "utf-8")
        pictures += _write_pictures(files[-1], static, style)
        items.append(f'<li><a href="{names[address]}">{_find(_TITLE, static)}</a></li>')
    if len(pages) > 1:
        files.append(out / "index.html")
        body = f"<main><h1>Palazzo</h1><ul>{''.join(items)}</ul></main>"
        files[-1].write_text(_frame(_make_head(body), body), "utf-8")
    return ExportedPages((*pictures, *files), redacted)


def _names_by_path(names: dict[str, str]) -> dict[str, str]:
    """Return the name of the first page of each path: links have no other parts of an address."""
    return {address.partition("?")[0]: name for address, name in reversed(names.items())}


def _make_head(body: str) -> str:
    """Return the end of a file's head: its style sheet, and a script if it has figures. Nothing else can run or load.

    The script saves figures as SVG and PNG. It uses nothing but the page itself.
    """
    style, script = _read("viewer.css"), _read("exported.js") if _FIGURE.search(body) else ""
    rules = ["default-src 'none'", "img-src data: blob:", f"style-src {_hash_source(style)}"]
    rules += [f"script-src {_hash_source(script)}"] if script else []
    rules += ["base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
    policy = f'<meta http-equiv="content-security-policy" content="{"; ".join(rules)}">'
    return f"{policy}<style>{style}</style>" + (f'<script type="module">{script}</script>' if script else "")


def _hash_source(text: str) -> str:
    """Return what a content security policy calls a script or style sheet that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _find(pattern: re.Pattern[str], page: str) -> str:
    match = pattern.search(page)
    return match[1] if match else ""


def _frame(head: str, body: str) -> str:
    return f'<!doctype html><html lang="en"><head>{_HEAD}{head}</head><body>{body}</body></html>\n'


def _write_pictures(page_file: Path, page: str, style: str) -> list[Path]:
    """Write the map, the graph and the plots of a page as SVG files beside it; return them."""
    files = []
    for number, picture in enumerate(cut_pictures(page, style), 1):
        files.append(page_file.with_name(f"{page_file.stem}-{picture.kind}-{number}.svg"))
        files[-1].write_text(picture.document, "utf-8")
    return files


class _Reader:
    """Reads pages of the application as a visitor who only reads, without a socket."""

    def __init__(self, call: Call, visitor: Visitor, palace: Path) -> None:
        self._app = build(call, LiveEvents(call, palace))
        self._session = WebSession("", "", Visitor(visitor.cwd, visitor.variables, read_only=True))

    async def read(self, address: str) -> str:
        """Return a page; raise PalazzoError with its sentence if it is an error's."""
        path, _, query = address.partition("?")
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(b"host", b"localhost")],
            "server": ("localhost", 80),
            SESSION_KEY: self._session,
            FORM_KEY: {},
        }
        status, body = 0, b""

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, body
            status = message.get("status", status)
            body += message.get("body", b"")

        await self._app(scope, receive, send)
        text = body.decode("utf-8")
        if status != 200:
            sentence = re.search(r'role="alert">([^<]*)<', text)
            raise PalazzoError(sentence[1] if sentence else f"The page {address} cannot be exported.")
        return text


def read_selection(values: dict[str, Any]) -> tuple[tuple[str, ...], str, bool]:
    """Return the sessions, the wing and whether facts are requested, from a client's message."""
    sessions = tuple(str(session) for session in values.get("sessions") or ())
    return sessions, str(values.get("wing") or ""), values.get("facts") is True
