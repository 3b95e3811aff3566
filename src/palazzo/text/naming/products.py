"""Rules for packages, and for products: programs, services, languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from palazzo.text import known_names as known
from palazzo.text.lazy_patterns import make_regex
from palazzo.text.naming.name_page import Mention, Page, make_mention

_SCOPE_PACKAGE = make_regex(r"(?<![\w.@/-])@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*")
_INSTALL = make_regex(
    r"\b(?:pipx? install|pip3 install|uv add|uv pip install|poetry add|npm (?:install|i|add)|pnpm add|yarn add"
    r"|cargo add"
    r"|gem install|go get|composer require|bundle add|brew install|conda install)((?: (?:-{1,2}[\w-]+"
    r"|[@\w./\[\]^~=<>-]+))+)"
)
_INSTALL_LOG = make_regex(r"^(?:Successfully installed|Installing collected packages:|Collecting) (.+)$", re.MULTILINE)
_REQUIREMENT = make_regex(r"(?<![\w.-])([A-Za-z][\w.-]*?)(?:\[[\w,]+\])?(?:===?|~=|>=|@\^?(?=\d+\.\d))\d")
_DEPENDENCY = make_regex(r"^[+ -]*\"((?:@[\w.-]+/)?[a-z][\w./-]*)\": \"[\^~]?\d[\w.^~*-]*\"", re.MULTILINE)
_IMPORT_LINE = make_regex(
    r"^[ +-]*(?:from ([a-z]\w*)(?:\.\w+)* import |import ([a-z]\w*)(?=[\s.,]|$)|use ([a-z]\w*)::)"
    r"|\b(?:require\(|from |import )['\"]((?:@[\w.-]+/)?[a-z][\w-]*)(?:/[\w./-]*)?['\"]",
    re.MULTILINE,
)
_PACKAGE_CUE_BEFORE = make_regex(
    r"(?:\b(?:package|library|dependency|dependencies|module|crate|gem|upgrade|upgrading|install|installing|bump"
    r"|migrate|import|importing"
    r"|(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat\w+|chang\w+) (?:from|to)|replac(?:e|ed|ing)|drop|dropped) )$",
    re.IGNORECASE,
)
_PACKAGE_CUE_AFTER = make_regex(
    r"^(?: (?:package|library|crate|gem|dependency|\d+\.\d+|v\d)|(?: to (?:httpx|axum|polars|undici|fetch))"
    r"|(?: table| panel| progress| console)(?=[s ]* (?:instead|in|for)\b))"
)
_WORD = make_regex(r"(?<![\w@/.\\:-])[A-Za-z][\w+#]*(?:[.-][\w+#]+)*")


def packages(page: Page) -> Iterator[Mention]:
    """Find packages that are installed, required, imported, or known."""
    yield from (
        make_mention(match, "package") for match in _SCOPE_PACKAGE.finditer(page.rest) if not _is_extension(match[0])
    )
    for match in _INSTALL.finditer(page.rest):
        for word in re.finditer(r"(?<= )(?!-)(?:@[\w-]+/)?([A-Za-z][\w./-]*)", match[1]):
            name = re.split(r"[\[=<>~^]|(?<=\w)@", word[0])[0].rstrip(".")
            start = match.start(1) + word.start()
            if len(name) > 1 and name not in known.PROSE and name not in ("git", "npm"):
                yield Mention(name, "package", start, start + len(name))
            if page.text[start + len(name) : start + len(name) + 1] in ".,;`":
                break
    for match in _INSTALL_LOG.finditer(page.rest):
        for word in re.finditer(r"([A-Za-z][\w.]*(?:-[A-Za-z]\w*)*)(?:-\d[\w.]*)?(?=[, ]|$)", match[1]):
            yield Mention(word[1], "package", match.start(1) + word.start(1), match.start(1) + word.end(1))
    for match in _DEPENDENCY.finditer(page.rest):
        if match[1] not in ("version", "node", "npm", "python", "php"):
            yield make_mention(match, "package", 1)
    for match in _REQUIREMENT.finditer(page.rest):
        if (
            "." not in match[1]
            and (page.voice != "tool" or match[1].islower())
            and match[1].casefold() not in ("python", "node", "v", "version")
        ):
            yield make_mention(match, "package", 1)
    for match in _IMPORT_LINE.finditer(page.rest):
        group = next(n for n in range(1, 5) if match[n])
        if match[group] not in known.STANDARD_LIBRARY:
            yield make_mention(match, "package", group)
    for match in _WORD.finditer(page.rest):
        name = match[0]
        text_before, following_text = (
            page.text[max(0, match.start() - 24) : match.start()],
            page.text[match.end() : match.end() + 40],
        )
        if name in known.PACKAGES or (
            name.lower() in known.PACKAGES and name[1:].islower() and "_" not in name and text_before
        ):
            if not following_text.startswith(("(", "/", "::")):
                yield make_mention(match, "package")
        elif name in known.AMBIGUOUS and (
            _PACKAGE_CUE_BEFORE.search(text_before) or _PACKAGE_CUE_AFTER.match(following_text)
        ):
            yield make_mention(match, "package")


def _is_extension(text: str) -> bool:
    return text.split("/")[0][1:] in ("media", "import", "param", "return")


_PHRASE = make_regex(
    r"(?<!\w)(?:" + "|".join(re.escape(phrase) for phrase in sorted(known.PHRASES, key=len, reverse=True)) + r")(?!\w)"
)
_PRODUCT_CUE_BEFORE = make_regex(
    r"(?:\b(?:use|uses|using|in|with|on|open it with|written in|rewritten in|rewrite .{1,20} in|my|our|the"
    r"|only with|from|for|to|and|or|"
    r"wrote .{1,24} in|still use) )$",
    re.IGNORECASE,
)
_PRODUCT_CUE_AFTER = make_regex(
    r"^(?: \d|'s? (?:compiler|encoder|runtime|race|garbage|borrow)|, of all languages| machine| user| laptop"
    r"| code\b| is fine)"
)
_ALWAYS_CUED = {
    "Go": r" (?:\d|is fine|code|module|program|service|client|binary)|'s (?:race|compiler|encoder|garbage|http"
    r"|runtime)",
    "Pages": r"^$",
}


def products(page: Page) -> Iterator[Mention]:
    """Find known products; a product name that is also a word counts only next to a cue."""
    yield from (make_mention(match, "product") for match in _PHRASE.finditer(page.rest))
    for match in _WORD.finditer(page.rest):
        name = match[0]
        text_before, following_text = (
            page.text[max(0, match.start() - 30) : match.start()],
            page.text[match.end() : match.end() + 40],
        )
        if name in known.PRODUCTS:
            if not following_text.startswith(("(", "::")) and not _is_person_in_disguise(name, following_text):
                yield make_mention(match, "product")
        elif "-" in name and name.split("-")[0] in known.PRODUCTS and not page.is_code(match.start()):
            first = name.split("-")[0]
            yield Mention(first, "product", match.start(), match.start() + len(first))
        elif name in known.CUED_PRODUCTS and _is_cued(name, text_before, following_text):
            yield make_mention(match, "product")


def _is_person_in_disguise(name: str, following_text: str) -> bool:
    return name in known.WORDS_THAT_ARE_NAMES and re.match(r" [A-Z][a-z]{2,}\b", following_text) is not None


def _is_cued(name: str, text_before: str, following_text: str) -> bool:
    if name in _ALWAYS_CUED:
        return re.match(_ALWAYS_CUED[name], following_text) is not None
    if name in ("Rust", "Swift", "Word", "Dart"):
        return bool(
            re.search(r"\b(?:in|with|use|using|for|to) $", text_before)
            and re.match(r"(?:[.,;)!?]|$| (?:and|or|instead|any more|only|\d))", following_text)
        )
    return bool(
        _PRODUCT_CUE_AFTER.match(following_text) or (name == "Windows" and _PRODUCT_CUE_BEFORE.search(text_before))
    )
