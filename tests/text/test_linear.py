"""Hostile input costs time in proportion to its length: five megabytes of each, and four times as much of a little.

A time is only ever compared with another of the same run; quadratic work would be 16 times as long on four
times as much, linear work is 4 times, and the line is drawn at 10.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import get_args

import pytest
from tests.linear_time import assert_linear

from palazzo.text.document_formats import document_kind
from palazzo.text.inert import inert
from palazzo.text.sections import DocumentKind, cut_document
from palazzo.text.similarity import signature
from palazzo.text.text_pieces import error_lines, split_span
from palazzo.text.token_counts import estimate_tokens
from palazzo.text.word_forms import index_form, match_expression, phrases, question, terms

UNITS = {
    "no headings": "words and words. ",
    "no newlines": "a",
    "only newlines": "\n",
    "only spaces": " ",
    "all headings": "# a\n",
    "all underlines": "a\n---\n\n",
    "all rules": "---\n",
    "all backticks": "`",
    "all fences": "```\n",
    "all hashes": "#",
    "all comments": "; a\n",
    "all definitions": "def f():\n\n",
    "all brackets": "[a",
    "deep indentation": "\n" + " " * 400 + "x",
    "all joints": "a.b:c/d-",
    "all humps": "aA",
    "all capitals": "A",
    "all quotes": "'\"“`",
    "all questions": "? a b c",
    "all tracebacks": "Traceback (most recent call last):\n x\n",
    "all errors": "E.Error.",
    "all exits": "exit code ",
    "all characters": "語",
    "all directives": ".. a:a",
    "all roles": ":a:`b",
}

FUNCTIONS: dict[str, Callable[[str], object]] = {
    **{f"cut {kind}": partial(cut_document, kind=kind) for kind in get_args(DocumentKind)},
    "document_kind": partial(document_kind, "a.txt"),
    "inert": inert,
    "split_span": lambda text: split_span(text, 0, len(text), 1000),
    "error_lines": error_lines,
    "index_form": index_form,
    "terms": terms,
    "phrases": phrases,
    "question": question,
    "match_expression": lambda text: match_expression([text], [text]),
    "estimate_tokens": estimate_tokens,
    "signature": signature,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(name: str, unit: str) -> None:
    function, small = FUNCTIONS[name], UNITS[unit] * (50_000 // len(UNITS[unit]))
    assert_linear(function, small, 0.01, f"{name} on {unit}")


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["no headings", "no newlines", "all headings", "all backticks"])
def test_five_megabytes_are_cut(unit: str) -> None:
    text = UNITS[unit] * (5_000_000 // len(UNITS[unit]))
    sections = cut_document(text, "markdown")
    assert sum(len(text[part.start : part.end].split()) for part in sections) >= len(text.split())
    assert all(part.end - part.start <= 1000 for part in sections)
