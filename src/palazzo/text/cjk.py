"""Text without spaces between words as overlapping bigrams: Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese.

FTS5's `unicode61` treats a whole run of such characters as one word, so that only the whole run can be found. `日本語`
is therefore indexed as `日本 本語 語`: pairs, and the last character by itself, so that any single character is the
beginning of some token. It ends a word at each mark, so the vowels and tones that Thai, Lao, Khmer and Burmese write
as marks are left out, in the index and in queries.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d"
    "\U00020000-\U0002fa1f\U00030000-\U000323af"
)
"""Chinese, Japanese and Korean characters: the inside of a regular expression's character class."""
UNSPACED = (
    f"{CHARACTERS}\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd\u0ec0-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7\u17dc"
)
"""The same with the letters of Thai, Lao, Burmese and Khmer."""

CHARACTER = make_regex(f"[{UNSPACED}]")  # four times as fast to search for as a run
RUN = make_regex(f"[{UNSPACED}]+")
_MARK = make_regex(
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u17dd]"
)


def without_marks(text: str) -> str:
    """Return `text` without the marks of Thai, Lao, Burmese and Khmer."""
    return text if text.isascii() else _MARK.sub("", text)


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of `run`, or `run` itself when it is a single character."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def expand_bigrams(text: str) -> str:
    """Replace every run in `text` by its bigrams and its last character, separated by spaces."""
    return RUN.sub(_spaced_run, text)


def _spaced_run(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(run[i : i + 2] for i in range(len(run)))} "
