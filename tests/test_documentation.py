"""Pages: links lead somewhere, commands exist with their options, and the site has every page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer
import yaml

from palazzo.faces.cli.app import Commands

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference"
"""`tools/make_reference.py` writes these pages; their usage lines are no commands to type."""
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "benchmarks/README.md"]
    + list(DOCS.rglob("*.md"))
)
_BLOCK = re.compile(r"^( *)```([\w-]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
_COMMAND = re.compile(r"(?:^|&& |\| )(?:\$ )?palazzo ([^#&|>\n]+)", re.MULTILINE)
_SAMPLE = re.compile(r"[…<>\[\]|\\]|\b[A-Z]{2,}\b|\.\.\.")
"""What stands for something else in a sample: `palazzo install HOST`, `palazzo digest 0192…`."""
_SAMPLE_VALUES = {"TIME": "2026-01-02", "PORT": "8443", "HOST:PORT": "127.0.0.1:8443", "DAY": "2026-01-02"}


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return _BLOCK.sub("", read(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub and the site write them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    texts = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-") for text in texts)


def links(page: Path) -> Iterator[str]:
    for groups in _LINK.findall(re.sub(r"`[^`]*`", "", prose(page))):
        yield next(filter(None, groups))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"(https?|mailto):", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: there is no {target.relative_to(ROOT)}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: {target.name} has no such heading"


def commands(page: Path) -> Iterator[str]:
    """Return the command lines of a page, in blocks and between backticks, without `palazzo`."""
    for _, language, block in _BLOCK.findall(read(page)):
        if language in ("", "sh", "console"):
            yield from (line.strip() for line in _COMMAND.findall(re.sub(r"\\\n *", "", block)))
    for code in _CODE.findall(prose(page).replace("\n", " ")):
        yield from (line.strip() for line in _COMMAND.findall(code))


def words_of(line: str) -> list[str] | None:
    """Return the words of a command line, or none if it is a sample with something left out."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    return None if any(_SAMPLE.search(word) for word in words) else words


def is_typed(page: Path, line: str) -> bool:
    return not line.startswith("-") and words_of(line) is not None


@pytest.mark.parametrize("page", [page for page in PAGES if GENERATED not in page.parents], ids=lambda page: page.name)
def test_commands_exist_with_their_options(page: Path) -> None:
    group = Commands(name="palazzo")
    context = typer.Context(group)
    for line in commands(page):
        print(line)


def test_the_site_lists_every_page() -> None:
    site = yaml.safe_load(read(ROOT / "mkdocs.yml"))
