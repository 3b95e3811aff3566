"""Rules for identifiers: text marked as code, defined in code, or spelled as only code is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from palazzo.text import known_names as known
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.naming.name_page import SPOKEN_FOR, Mention, Page, make_mention

_BACKTICKS = make_regex(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_FLAG = make_regex(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])")
_SYMBOL = make_regex(r"(?<![\w@/\\.$#%-])\$?[A-Za-z_][\w$]*(?:(?:\.|::|->|#)[A-Za-z_][\w$]*)*(?![\w/\\@])")
_CODE_NAME = make_regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|-)[A-Za-z_$][\w$]*)*")
_DEFINITION = make_regex(
    r"\b(?:def|class|func|fn|function|struct|interface|trait|enum|type)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)"
    r"|\(\w+ \*?([A-Z]\w+)\) (?=\w)"
)
_DECLARED_IN_LOG = make_regex(
    r"(?:declared and not used|undefined|undefined name|not defined|undefined variable"
    r"|Cannot find name):? ['\"`]?([A-Za-z_]\w*)"
)
_KEYWORD_NAME = make_regex(r"(?<![\w-])([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?==)")


def find_code_names(page: Page) -> Iterator[Mention]:
    """Find names in backticks or defined in code."""
    for match in _BACKTICKS.finditer(page.rest):
        if SPOKEN_FOR in match[1] or page.is_code(match.start()):
            continue
        name = re.sub(r"(?:\(\))?[!?]?$", "", match[1])
        assignment = re.fullmatch(r"([A-Z][A-Za-z]+|[A-Z_]+)=\S.*", name)
        if assignment:
            name = assignment[1]
        if name in known.KEYWORDS or name.casefold() in known.KEYWORDS or len(name) < 3 or _is_plain_tool(page, name):
            continue
        if _CODE_NAME.fullmatch(name) and name not in known.NOT_IDENTIFIERS:
            yield Mention(name, "identifier", match.start(1), match.start(1) + len(name))
    for match in _DECLARED_IN_LOG.finditer(page.rest):
        yield make_mention(match, "identifier", 1)
    if page.fences or page.voice == "tool":
        for match in _DEFINITION.finditer(page.rest):
            group = 1 if match[1] else 2
            if page.is_code(match.start()) or (match.group(group) and _looks_like_code(match[group])):
                yield from _drop_reserved(make_mention(match, "identifier", group))


def _drop_reserved(mention: Mention) -> Iterator[Mention]:
    if mention.text not in known.KEYWORDS and len(mention.text) > 2:
        yield mention


def _is_plain_tool(page: Page, name: str) -> bool:
    """Whether a compiler or linter writes it: local variables in its warnings are not names."""
    return page.voice == "tool" and not _looks_like_code(name)


def symbols(page: Page) -> Iterator[Mention]:
    """Find names that are spelled like code."""
    yield from (make_mention(match, "identifier") for match in _FLAG.finditer(page.rest))
    yield from (make_mention(match, "identifier", 1) for match in _KEYWORD_NAME.finditer(page.rest))
    for match in _SYMBOL.finditer(page.rest):
        text = match[0].lstrip("$")
        if text.isalpha() and (text.islower() or text[1:].islower()):
            continue
        if text.endswith("#") or page.text.startswith("://", match.end()):
            continue
        last = re.split(r"\.|::|->|#", text)
        if "::" in text or "->" in text or any(_looks_like_code(part) for part in last):
            if last[-1] in known.NOT_IDENTIFIERS or _is_host(page, text):
                continue
            if page.voice == "tool" and text.islower() and page.text[match.end() : match.end() + 1] in ("=", ":"):
                continue  # a value in a log, an argument of a call
            if re.match(r"\.[a-z]{2,4}\b", page.text[match.end() : match.end() + 8]):
                continue
            yield Mention(text, "identifier", match.end() - len(text), match.end())


def _is_host(page: Page, text: str) -> bool:
    return (
        re.search(r"\.(?:com|org|net|io|dev|internal|local|example|test)$", text) is not None
        and "(" not in page.text[: len(text) + 1]
    )


@lru_cache(maxsize=8192)
def _looks_like_code(text: str) -> bool:
    """Whether a word is spelled like an identifier: `snake_case`, `LOUD_SNAKE`, `camelCase`, `PascalCase`."""
    if (
        re.fullmatch(r"[A-Z]+s", text)
        or text in known.NOT_IDENTIFIERS
        or text in known.PRODUCTS
        or text in known.KEYWORDS
    ):
        return False
    bare = text.strip("_")
    if "_" in bare:
        return re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+", bare) is not None and len(bare) > 4
    if re.fullmatch(r"[a-z]{2,}[a-z0-9]*(?:[A-Z][a-z0-9]*)+", bare):
        return len(bare) > 4 and re.search(r"[A-Z][a-z]", bare) is not None
    humps = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+", bare)
    return (
        len(bare) > 5 and "".join(humps) == bare and sum(len(hump) > 2 and hump[1].islower() for hump in humps) >= 2
    ) or (
        "".join(humps) == bare
        and len(humps) == 2
        and len(bare) > 4
        and min(map(len, humps)) >= 2
        and humps[1][1:2].islower()
    )
