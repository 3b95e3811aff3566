"""A person at a browser, in a test: follows redirects, fills in the provider's forms, and sends them."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from tests.end_to_end.programs import identity_provider

PATIENCE = 60
PROGRAM = Path(__file__).with_name("identity_provider.mjs")


@dataclass(frozen=True)
class RunningProvider:
    """A provider's process: its address, and the file of its people."""

    issuer: str
    people: Path

    def set_people(self, people: dict[str, dict[str, Any]]) -> None:
        self.people.write_text(json.dumps(people))


@contextmanager
def providing(directory: Path) -> Iterator[RunningProvider]:
    node, module = identity_provider()
    people = directory / "people.json"
    people.write_text("{}")
    command = [node, str(PROGRAM), str(module), str(people)]
    log = (directory / "provider.log").open("w")
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        yield RunningProvider(process.stdout.readline().strip(), people)
    finally:
        process.communicate(timeout=PATIENCE)  # its input ends, and so does it
        log.close()


class _Form(HTMLParser):
    """The first form of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.values: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = values.get("action") or ""
        elif tag == "input" and values.get("name"):
            self.values[values["name"] or ""] = values.get("value") or ""


def visit(address: str, answers: dict[str, str]) -> list[str]:
    """Open an address and send forms with these answers until a page has none; return the addresses that were seen."""
    opener = urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
    )
    content: bytes | None = None
    seen: list[str] = []
    for _ in range(10):
        with opener.open(address, content, timeout=PATIENCE) as response:
            seen.append(response.url)
            form = _Form(response.read().decode())
        if form.action is None:
            return seen
        address = urljoin(seen[-1], form.action)
        values = {name: answers.get(name, value) for name, value in form.values.items()}
        content = urlencode(values).encode()
    raise AssertionError(f"the provider asks without an end: {seen}")


def visit_beside(address: str, answers: dict[str, str]) -> threading.Thread:
    """Do that on a thread, as a browser does beside the program that opened it."""
    thread = threading.Thread(target=visit, args=(address, answers))
    thread.start()
    return thread
