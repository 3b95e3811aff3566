"""Pages: links lead somewhere, commands and options exist, the site lists every page, recordings show no machine."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dev
import pytest
import yaml
from tools import site_links

from palazzo.faces.cli.argument_parser import option_spellings
from palazzo.faces.cli.command_table import is_group, load_command

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OTHER_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in OTHER_PAGES)])
RECORDINGS = sorted((DOCS / "recordings").glob("*.cast"))
WITHOUT_HELP = frozenset(["hook"])
"""Commands that hosts run: `palazzo --help` does not list them."""
_BLOCK = re.compile(r"^( *)```([\w-]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"(?:^|&& |\| )(?:\$ )?palazzo (?!-)([^#&|>\n]+)", re.MULTILINE)


def name_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return _BLOCK.sub("", read(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as forges and the site write them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    texts = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-") for text in texts)


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_CODE.sub("", prose(page))):
        if re.match(r"(https?|mailto):", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: {target.name} has no such heading"


def commands(page: Path) -> Iterator[str]:
    """Return the command lines of a page, in blocks and between backticks, without `palazzo`."""
    for _, language, block in _BLOCK.findall(read(page)):
        if language in ("", "sh", "console"):
            yield from _COMMAND.findall(re.sub(r"\\\n *", "", block))
    for code in _CODE.findall(prose(page)):
        yield from _COMMAND.findall(re.sub(r"\s+", " ", code))


COMMON_OPTIONS = frozenset(["--help", "--palace", "--json", "--debug", "--no-pager", "--version"])


def command_of(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that name the command or group of a line, none for other text, and the words after these."""
    depth = 1 + is_group(words[:1])
    names = [word for word in words[:depth] if re.fullmatch(r"[a-z][a-z-]+", word)]
    return names, words[len(names) :]


def options_of(name: list[str]) -> set[str]:
    command = load_command(name)
    return {*COMMON_OPTIONS, *(() if command is None else option_spellings(command))}


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_and_options_exist(page: Path) -> None:
    for line in commands(page):
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.split()  # cut at a bar within a quotation
        if not words or words[0] in WITHOUT_HELP:
            continue
        name, rest = command_of(words)
        assert not name or is_group(name) or load_command(name) is not None, f"there is no command: palazzo {line}"
        options = {word.partition("=")[0].strip("[]").rstrip(".,;") for word in rest if re.match(r"\[?--\w", word)}
        assert options <= options_of(name), f"palazzo {line} has no {options - options_of(name)}"


def pages_in(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for content in entry.values():
                yield from [content] if isinstance(content, str) else pages_in(content)


def test_the_site_lists_every_page_once() -> None:
    site = yaml.safe_load(read(ROOT / "mkdocs.yml"))
    assert sorted(pages_in(site["nav"])) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert site["strict"] is True
    assert site["theme"]["font"] is False  # else pages load fonts from another host
    assert site["plugins"] == ["search"]


def test_a_page_that_loads_something_from_another_host_is_named(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text('<script src="a.js"></script><a href="https://example.org">there</a>')
    (tmp_path / "bad.html").write_text('<script src="https://example.org/a.js"></script><link rel=x href=//b.org/c>')
    loads = list(dev.foreign_loads(tmp_path))
    assert [load.partition(":")[0] for load in loads] == ["bad.html", "bad.html"]


def test_a_link_out_of_the_site_becomes_text() -> None:
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(DOCS / "how-to" / "hooks.md")))
    text = "[doctor](doctor.md), [goals](../../benchmarks/shortfalls.md), [words](../glossary.md#top)"
    shown = site_links.on_page_markdown(text, page, {"docs_dir": str(DOCS)}, None)
    assert shown == "[doctor](doctor.md), goals (`benchmarks/shortfalls.md`), [words](../glossary.md#top)"


def test_scripts_of_recordings_name_sessions_and_events_that_exist() -> None:
    folder = ROOT / "tools" / "recording"
    scripts, sessions = (yaml.safe_load(read(folder / name)) for name in ("scripts.yaml", "sessions.yaml"))
    assert {"next-session", "setup", "search", "sessions", "blame", "fix"} <= set(scripts)
    recorded = {session["id"] for session in sessions}
    for script in scripts.values():
        for step in script["steps"]:
            assert len({"say", "run", "hook", "clear"} & set(step)) == 1, step
            assert step.get("hook") != "stop" or step["session"] in recorded, step


@pytest.mark.parametrize("cast", RECORDINGS, ids=lambda cast: cast.stem)
def test_recordings_show_the_invented_home_alone(cast: Path) -> None:
    header, *events = map(json.loads, read(cast).splitlines())
    assert header["version"] == 2
    assert [event[0] for event in events] == sorted(event[0] for event in events)
    text = "".join(event[2] for event in events)
    assert not re.search(r"/(tmp|root|work|Users|private)/|/home/(?!you\b)|Traceback", text)
    for picture in (f"{cast.stem}.svg", f"{cast.stem}-still.svg", f"{cast.stem}-still.png"):
        assert (cast.parent / picture).stat().st_size < 300_000, "draw it: python tools/record.py --draw FILE.cast"
