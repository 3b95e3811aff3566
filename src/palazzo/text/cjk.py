"""Text without spaces between words: Chinese, Japanese and Korean as overlapping bigrams.

FTS5's `unicode61` treats a whole run of such characters as one word, so that only the whole run can be found. `日本語`
is therefore indexed as `日本 本語 語`: pairs, and the last character by itself, so that any single character is the
beginning of some token.
"""

from __future__ import annotations

import re

CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d"
    "\U00020000-\U0002fa1f\U00030000-\U000323af"
)
"""The inside of a regular expression's character class."""

CHARACTER = re.compile(f"[{CHARACTERS}]")  # four times as fast to search for as a run
RUN = re.compile(f"[{CHARACTERS}]+")


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of `run`, or `run` itself when it is a single character."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def expand_bigrams(text: str) -> str:
    """Replace every run in `text` by its bigrams and its last character, separated by spaces."""
    return RUN.sub(_spaced_run, text)


def _spaced_run(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(run[i : i + 2] for i in range(len(run)))} "
