"""Rules for files, directories, commits, tickets and pull requests, and for text spelled like them that names none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.text import known_names as known
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.naming.name_page import Mention, Page, make_mention

_NOTHING = make_regex(
    r"\bhttps?://[^\s<>\"'`)]+"
    r"|\b[a-z][a-z0-9+]*://[^\s<>\"'`)]+"
    r"|\b(?:sha\d+|md5)[:-][0-9A-Za-z+/=]+"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|^diff --git\b|\bindex [0-9a-f]+\.\.[0-9a-f]+.*"
    r"|^[0-9a-f]{8}: (?:[0-9a-f]{2,4} ?){4,}.*"
    r"|^[A-Za-z0-9+/=]{60,}$"
    r"|(?<![\w/.-])(?:node:internal|/usr/lib|/usr/local/lib|/opt/\w+/lib)/\S*"
    r"|\bsite-packages/\S*"
    r"|^(?:HTTP/[\d.]+ \d+|[a-z]+(?:-[a-z]+)*: (?=.*[=,;/])).*$"
    r"|\b(?:application|text|image|audio|video|multipart)/[\w.+-]+"
    r"|(?<![\w/])/(?:v\d|api)/[\w/:{}.-]*",
    re.MULTILINE,
)
_MAIL = make_regex(r"(?<![\w.+-])<?[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+>?")


def nothings(page: Page) -> Iterator[Mention]:
    """Blank out addresses, checksums and headers, so that no other rule finds names in them."""
    for pattern in (_NOTHING, _MAIL):
        for match in pattern.finditer(page.rest):
            if not (pattern is _NOTHING and match[0][:1].islower() and ": " in match[0] and page.voice != "tool"):
                page.blank(*match.span())
    yield from ()


_PATH = make_regex(
    r"(?<![\w@/\\.-])(?:[A-Za-z]:\\|~/|\.{1,2}/"
    r"|/)?(?:[\w@.+-]{1,255}[/\\])*[\w@.+()\[\]-]{0,255}[\w)\]](?:[/\\](?=[\s.,;:!?)\"'`]|$))?"
)
_SAID_EXTENSION = make_regex(r"\.([A-Za-z0-9]{1,12})$")
_NODE_MODULE = make_regex(r"node_modules/((?:@[\w.-]+/)?[\w.-]+)")
_DIFF_SIDE = make_regex(r"(?<![\w/])[ab]/(?=\S)")


def files(page: Page) -> Iterator[Mention]:
    """Find paths, file names, directories, and packages below `node_modules`."""
    for match in _NODE_MODULE.finditer(page.rest):
        yield make_mention(match, "package", 1)
        page.blank(page.text.rfind(" ", 0, match.start()) + 1, match.start(1))
    if "diff --git" in page.text or re.search(r"^(?:---|\+\+\+) [ab]/", page.text, re.MULTILINE):
        for match in _DIFF_SIDE.finditer(page.rest):
            page.blank(*match.span())
    for match in _PATH.finditer(page.rest):
        start = match.start()
        text = match[0].rstrip(".")
        if text.endswith(")") and "(" not in text:
            text = text.rstrip(")")
        if _is_file(text, page):
            yield Mention(text, "file", start, start + len(text))


def _is_file(text: str, page: Page) -> bool:
    name = re.split(r"[/\\]", text)[-1]
    has_directory = "/" in text or "\\" in text
    if name in known.BARE_FILES:
        return True
    if not name and has_directory:  # ends in a slash
        return (
            text.count("/") + text.count("\\") >= 2
            and not text.startswith("/")
            and not text[0].isupper()
            and "." not in text[:1]
        )
    extension = _SAID_EXTENSION.search(name)
    if extension is None or name in known.PRODUCTS or name in known.PACKAGES:
        return False
    if extension[1] not in known.EXTENSIONS or not re.search(r"[^\W\d_]", name[: extension.start()]):
        return False
    if has_directory:
        return not re.match(r"[\w-]+\.(?:com|org|net|io|dev|example|de|internal)/", text)
    # `order.go`, `report.csv`: no method of a value, which would be followed by a bracket or be in code.
    next_char = page.text[page.text.find(text) + len(text) :][:1]
    return next_char != "(" and not (extension[1] in _METHODS and not name[0].islower() and name.count(".") == 1)


_METHODS = frozenset(["map", "filter", "env", "example", "service", "m", "d", "r", "c", "h", "v", "go", "db"])


_ISSUE_NUMBER = make_regex(
    r"(?<![\w/&#])(?:(?:PR|MR|pull request|issue|Issue|ticket|bug|Bug) [#!]\d+|[\w.-]{1,60}/[\w.-]{1,80}#\d+"
    r"|[#!]\d{2,6})(?![\w-])"
    r"|(?<![\w-])(?:fix(?:es|ed)?|clos(?:es|ed)|resolv(?:es|ed)|refs?|see|GH) (#\d+)(?![\w-])"
)
_TICKET = make_regex(r"(?<![\w/-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-]|\.\d)")
_COMMIT = make_regex(r"(?<![\w.@/:=#-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w@/=-]|\.\w)")
_SURELY_COMMIT = make_regex(r"\b(?:commit|revert\w*|cherry[- ]pick\w*|bisect\w*|merge[d ]|HEAD)\b", re.IGNORECASE)
_LOG_LINE = make_regex(r"^(?:\* |\| )*([0-9a-f]{7,12})(?= (?:\([^)]*\) )?\S)", re.MULTILINE)


def references(page: Page) -> Iterator[Mention]:
    """Find commits, tickets and pull requests."""
    for match in _ISSUE_NUMBER.finditer(page.rest):
        yield make_mention(match, "reference", 1 if match[1] else 0)
    for match in _TICKET.finditer(page.rest):
        if match[1] not in known.STANDARDS and not match[1].startswith("ISO"):
            yield make_mention(match, "reference")
    if page.voice == "tool":
        for match in _LOG_LINE.finditer(page.rest):
            if re.search(r"\d", match[1]) and re.search(r"[a-f]", match[1]):
                yield make_mention(match, "reference", 1)
    for match in _COMMIT.finditer(page.rest):
        line = _line_at(page.text, match.start())
        if len(match[0]) not in (7, 9, 10, 40) and not _SURELY_COMMIT.search(line):
            continue  # an id of a request, a part of a checksum
        if page.voice == "tool" and not _SURELY_COMMIT.search(line):
            continue
        if not re.search(
            r"\b(?:sha\d*|digest|hash|checksum|etag|token|session|request|trace|key|id|image)\b[^\w]*$",
            page.text[max(0, match.start() - 30) : match.start()],
            re.IGNORECASE,
        ):
            yield make_mention(match, "reference")


def _line_at(text: str, place: int) -> str:
    end = text.find("\n", place)
    return text[text.rfind("\n", 0, place) + 1 : len(text) if end < 0 else end]
