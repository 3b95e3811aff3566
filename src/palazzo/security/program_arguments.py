"""The result of a program's rule, and the parsing of arguments that all rules share. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from palazzo.text.lazy_patterns import make_regex

if TYPE_CHECKING:
    pass


class Outcome(NamedTuple):
    """The judgement of a program. `status` is its exit status if that is certain."""

    is_local: bool
    reads_project: bool = True
    lists_own_files: bool = False
    status: bool | None = None


FOREIGN = Outcome(False)


PURE_OUTCOME = Outcome(True, False)


HELP = frozenset({"--help", "-h", "help", "--version", "-V", "-version"})


OUTPUT = frozenset(
    """
    -o --output -O --out --output-file --output-document --output-dir --outdir --out-dir --outDir -d --destination
    --dest -P --directory-prefix --dir --directory -C --target -t --target-dir --local-dir -D --prefix --save
    --save-to --clobber --junitxml --path --modules-folder --report --outfile --outFile -p --roles-path --build
    --install-dir --download-dir
    """.split()
)
"""Options followed by the path that a program writes."""


ARCHIVE_SUFFIX = make_regex(r"(?:\.tar)?\.(?:zip|t?gz|t?xz|tbz2?|tar|bz2|7z|zst)$", re.IGNORECASE)


@lru_cache(maxsize=256)
def program_name(word: str) -> str:
    """Return a program's name without its directory, file extension and interpreter version."""
    name = re.split(r"[/\\]", word)[-1]
    name = re.sub(r"\.(?:exe|cmd|bat)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"^(python|ruby|perl|php|pip|node|pypy|lua)-?[\d.]+$", r"\1", name)


def plain_words(arguments: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Return the arguments that are neither options nor values of options."""
    plain: list[str] = []
    skip = is_over = False
    for word in arguments:
        if skip:
            skip = False
        elif word == "--" and not is_over:
            is_over = True
        elif word.startswith("-") and word != "-" and not is_over:
            skip = word in with_value
        else:
            plain.append(word)
    return plain


def values_behind(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the words that follow one of these options."""
    return [value for option, value in itertools.pairwise(arguments) if option in options]
