"""Hostile texts, generated and real, and a palace that takes them in by every way that words come in."""

from __future__ import annotations

import itertools
import json
import string
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from hypothesis import strategies as st
from tests.archive.conversations import PLACE, answered, called, file_rows, file_version, said

from palazzo.model import Part, Place, Source
from palazzo.palace import Palace
from palazzo.store import dead_letters

# Generated

_PAIRS = ["".join(pair) for pair in itertools.product(string.punctuation, repeat=2)]
_MARKUP = [
    *(
        "``",
        "````",
        "```\n",
        "``` toml\n",
        "~~~",
        "[]()",
        "[ ]( )",
        "![]()",
        "[](<>)",
        "[][]",
        "<>",
        "</>",
        "<a href=>",
    ),
    *(
        "<!-- ",
        "-->",
        "<![CDATA[",
        "]]>",
        "&nbsp;",
        "&#0;",
        "&#xD800;",
        "|  |  |",
        "| a | |\n|---|---|\n",
        "---\n",
        "===\n",
    ),
    *(
        ":doc:``",
        ":doc:`sites </ref/contrib/sites>`",
        ":ref:` <>`",
        "`<>`_",
        "`` ``",
        ".. :: ",
        "..\n",
        "::\n\n",
        "|x|_",
    ),
    *(
        "**",
        "****",
        "* * *",
        "- [ ] ",
        "- [x]",
        "1. ",
        "> ",
        ">>> ",
        "$ ",
        "# ",
        "####### ",
        "// ",
        "/* */",
        "-- ",
        "; ",
    ),
    *(
        "{",
        "}",
        '{"": ""}',
        '{"a": [',
        "'''",
        '"""',
        "=> ",
        ":= ",
        "= ",
        ": ",
        " : ",
        "@@ -1 +1 @@\n",
        "+ x: 1",
        "- x: 2",
    ),
    *(
        "<system-reminder>",
        "</system-reminder>",
        "{{",
        "}}",
        "{%",
        "%}",
        "${",
        "$(",
        "%s",
        "%(x)s",
        "\\",
        "\\x",
        "\\u",
        "\\1",
    ),
]
_CONTROLS = [
    *(
        "\0",
        "\x07",
        "\x08",
        "\x1b[31m",
        "\x1b]0;",
        "\x7f",
        "\x85",
        "\xa0",
        "\u00ad",
        "\u200b",
        "\u200d",
        "\u200e",
        "\u202e",
    ),
    *("\u2028", "\u2029", "\u2066", "\u2069", "\u3000", "\ufeff", "\ufffd", "\ufffe", "\U000e0041", "\U0010ffff"),
    *("\ud800", "\udfff", "\udcff", "\ud83d\ude00", "\r", "\r\n", "\n", "\n\n", "\t", "\v", "\f", "    "),
]
_LETTERS = [
    "é",
    "e\u0301\u0301\u0301",
    "ß",
    "İ",
    "ı",
    "ﬁ",
    "²",
    "①",
    "٣",
    "५",
    "𝟙",
    "Ⅷ",
    "漢字",
    "한글",
    "ไทย",
    "עברית",
    "🙂👨\u200d👩",
]
_NUMBERS = [
    "0",
    "-1",
    "08",
    "3.",
    ".5",
    "1e999",
    "1_000",
    "9" * 400,
    "9" * 30,
    "1.2.3.4.5",
    "12:61",
    "2026-13-45",
    "0x",
    "٤٢",
]
_PATHS = [
    "/",
    "//",
    "./",
    "../",
    "C:\\",
    "\\\\?\\",
    "a/../b.py:0",
    "src/x.py:99999999999",
    "src/x.py:9-3",
    "~/",
    "file://",
    "http://",
    "://",
]
_SENTENCES = [
    *("The framework no longer is ", "We use ", "We no longer use ", "The port is ", "The default branch is ", "uses "),
    *(
        "moved from ",
        " to ",
        " instead of ",
        " replaced ",
        " is now ",
        "renamed ",
        " is owned by ",
        " was ",
        "The owner is ",
    ),
    *("We decided that ", "TODO: ", "Remind me ", "Exit code 1\n", "Error: ", "Traceback (most recent call last):\n"),
    *(
        '  File "x.py", line 1, in <module>\n',
        "E   ValueError: ",
        "1 failed",
        "command: ",
        "file_path: ",
        "version ",
        "port: ",
    ),
    *(
        "enabled",
        "disabled",
        " not",
        " on",
        " off",
        " is ",
        ". ",
        ", ",
        "? ",
        "! ",
        "'s ",
        "n't ",
        "Priya ",
        "`retry`",
        "HTTPServer",
    ),
]
_fragments = st.sampled_from(
    [*_PAIRS, *_MARKUP, *_CONTROLS, *_LETTERS, *_NUMBERS, *_PATHS, *_SENTENCES, *string.punctuation]
) | st.text(max_size=4)
_long = st.builds(lambda part, size: part * size, _fragments, st.sampled_from([50, 500, 3000]))
texts = st.lists(_fragments | _fragments | _fragments | _long, min_size=1, max_size=14).map("".join)

# Real

_READ = {
    ".py",
    ".pyi",
    ".rst",
    ".txt",
    ".md",
    ".c",
    ".h",
    ".js",
    ".css",
    ".html",
    ".json",
    ".toml",
    ".cfg",
    ".pxd",
    ".pyx",
}


def packages(size: int) -> Iterator[tuple[str, list[Path]]]:
    """Yield installed packages with their files, those with most text first."""
    root = Path(sysconfig.get_paths()["purelib"])
    files_by_package = {
        package.name: [file for file in sorted(package.rglob("*")) if file.suffix in _READ and file.is_file()]
        for package in root.iterdir()
        if package.is_dir() and package.name != "__pycache__"
    }
    yield from sorted(files_by_package.items(), key=lambda one: (-len(one[1]), one[0]))[:size]


# Both


def take_in(palace: Palace, pieces: Sequence[str], name: str = "guide.md") -> None:
    """File texts as a document and its next version, a note, and what people, agents and tools say in a session."""
    source = Source(("project", name), "document", f"file:///{name}", "", name)
    file_version(palace, "\n\n".join(pieces), source)
    file_version(palace, "\n\n".join(pieces[::-1]), source)
    rows = []
    for n, text in enumerate(pieces):
        if text.strip():
            palace.remember(text, Place("api", "notes"), anchors=[])
        output = f"Exit code 1\n{text}"
        rows += [
            said(n * 8, "user", text),
            said(n * 8 + 1, "assistant", text),
            called(n * 8 + 2, "Bash", json.dumps({"command": text}), f"b{n}"),
            said(n * 8 + 3, "tool", output, [Part("tool_result", 0, len(output), "", f"b{n}", failed=True)]),
            called(n * 8 + 4, "Edit", f"Edit\nfile_path: {text}\nold_string: {text}\nnew_string: x", f"e{n}"),
            answered(n * 8 + 5, text, f"e{n}"),
            called(n * 8 + 6, "Read", f"Read\nfile_path: {name}", f"r{n}"),
            said(n * 8 + 7, "tool", text, [Part("tool_result", 0, len(text), "", f"r{n}", trust="external")]),
        ]
    file_rows(palace, rows, source=Source(("session", name), "test", f"file:///{name}.jsonl", name, name), place=PLACE)


def follow_all(palace: Palace) -> None:
    """Let every consumer take in what was filed."""
    palace.follow_failures()
    palace.follow_anchors()
    palace.follow_digests()
    palace.follow_mentions()
    palace.follow_claims()
    palace.follow_past()
    palace.embed_pending()


def set_aside(palace: Palace) -> list[tuple[str, str, str]]:
    """What consumers could not process."""
    with palace.database.snapshot() as connection:
        return [(letter.consumer, letter.label, letter.error) for letter in dead_letters.all_letters(connection)]
