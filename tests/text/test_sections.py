"""Sections: every word of a document survives in order, under the headings it stood under."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.document_formats import document_kind
from palazzo.text.sections import DocumentKind, Section, cut_document

KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)

LINES = st.sampled_from(
    [
        "", "", "  ", "word and word", "# A", "## B #", "###### F", "#no", "===", "---", "------", "```", "```py",
        "~~~~", "    code", "- item", "> quote", "a | b", "[table]", "key:", "; remark", "def f():", "class C:",
        ")", "+++", "...", "\ufeff", "-", "====\t", "x" * 90, "Title", "🎉", "\r", "word. Word? word! " * 4,
    ]
)  # fmt: skip
DOCUMENTS = st.lists(LINES, max_size=40).map("\n".join) | st.text(max_size=300)


def cut(text: str, kind: DocumentKind = "markdown", limit: int = 1000) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[part.start : part.end], part.title_path) for part in cut_document(text, kind, limit)]


def assert_whole(text: str, sections: list[Section], limit: int) -> None:
    at = 0
    for section in sections:
        assert at <= section.start < section.end <= section.start + limit
        assert not text[at : section.start].strip()
        at = section.end
    assert not text[at:].strip()


@given(DOCUMENTS, st.sampled_from(KINDS), st.integers(1, 200))
def test_every_character_is_in_exactly_one_section(text: str, kind: DocumentKind, limit: int) -> None:
    assert_whole(text, cut_document(text, kind, limit), limit)


FILLER = "Words about it. " * 20  # 320 characters: not tiny


def test_markdown_headings_nest() -> None:
    text = f"# Guide\n{FILLER}\n\n## Install\n{FILLER}\n\nLinux\n-----\n{FILLER}\n\nNext\n====\n{FILLER}"
    assert [path for _, path in cut(text, limit=400)] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Linux"),
        ("Next",),
    ]


def test_a_heading_in_a_fence_is_text() -> None:
    text = f"# A\n{FILLER}\n~~~sh\n# not a heading\n```\n~~~\n{FILLER}"
    assert {path for _, path in cut(text, limit=400)} == {("A",)}


def test_closing_hashes_are_no_part_of_a_title() -> None:
    assert cut("## The C# way ##\ntext")[0][1] == ("The C# way",)


@pytest.mark.parametrize(
    "text", ["- item\n---\nmore", "> quote\n---\n", "two\nlines\n---\n", "text\n\n---\nmore", "---\n---"]
)
def test_a_rule_is_no_underline(text: str) -> None:
    assert {path for _, path in cut(text)} == {()}


def test_text_after_a_rule_is_kept() -> None:
    assert cut("# A\n\nbefore\n\n---\n\nend") == [("# A\n\nbefore\n\n---\n\nend", ("A",))]


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_front_matter_is_a_section_of_its_own(fence: str) -> None:
    front = f"{fence}\ntitle: x\n# no heading\n{fence}"
    assert cut(f"{front}\n# A\ntext") == [(front, ()), ("# A\ntext", ("A",))]


def test_a_rule_that_opens_a_document_is_no_front_matter() -> None:
    assert len(cut("---\n\ntext\n\n---\n")) == 1


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert cut("\ufeff# A\ntext") == [("\ufeff# A\ntext", ("A",))]


def test_tiny_neighbours_under_one_heading_are_joined() -> None:
    text = f"# A\n{FILLER}\n\n## One\nfew\n\n## Two\nfew\n\n# B\n{FILLER}"
    assert cut(text, limit=330) == [
        (f"# A\n{FILLER}".strip(), ("A",)),
        ("## One\nfew\n\n## Two\nfew", ("A",)),
        (f"# B\n{FILLER}".strip(), ("B",)),
    ]


def test_a_bare_heading_goes_with_what_it_is_the_heading_of() -> None:
    text = f"# A\n\n## B\n\n### C\n{FILLER}\n\n### D\n{FILLER}"
    assert [path for _, path in cut(text, limit=400)] == [("A", "B", "C"), ("A", "B", "D")]


def test_what_stands_before_the_first_heading_is_kept() -> None:
    assert cut("badge\n\n# A\ntext") == [("badge\n\n# A\ntext", ("A",))]
    assert cut(f"{FILLER}\n\n# A\n{FILLER}", limit=400)[0] == (FILLER.strip(), ())


def test_fenced_code_that_fits_is_kept_together() -> None:
    code = "```py\n" + "x = 1\n\n" * 20 + "```"
    pieces = [text for text, _ in cut(f"# A\n{FILLER}\n\n{code}\n\n{FILLER}", limit=400)]
    assert any(code in piece for piece in pieces)


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    assert {path for _, path in cut("# A\n```\n# B\ntext")} == {("A",)}


def test_rest_levels_are_in_order_of_appearance() -> None:
    text = (
        f"=====\nTitle\n=====\n{FILLER}\n\nPart\n----\n{FILLER}\n\nDetail\n~~~~~~\n{FILLER}\n\nPart 2\n------\n{FILLER}"
    )
    assert [path for _, path in cut(text, "rest", 400)] == [
        ("Title",),
        ("Title", "Part"),
        ("Title", "Part", "Detail"),
        ("Title", "Part 2"),
    ]


def test_a_rest_transition_is_no_heading() -> None:
    assert cut("text\n\n----\n\nmore", "rest") == [("text\n\n----\n\nmore", ())]


def test_plain_text_is_cut_between_paragraphs() -> None:
    assert cut("one\n# two\n\nthree", "plain", 10) == [("one\n# two", ()), ("three", ())]


def test_code_is_cut_at_definitions() -> None:
    body = "    pass\n" * 40
    text = f"import os\n\n\n@wraps\ndef one():\n{body}\n\nclass Two:\n{body}\n    def method(self):\n{body}"
    found = cut(text, "code", 1000)
    assert [path for _, path in found] == [("one",), ("Two",)]
    assert found[1][0].startswith("class Two:")


def test_config_is_cut_at_tables_and_outermost_keys() -> None:
    values = "x = 1\n" * 50
    assert [path for _, path in cut(f"[a]\n{values}\n# about b\n[b.c]\n{values}", "config", 400)] == [("a",), ("b.c",)]
    values = "  x: 1\n" * 50
    assert [path for _, path in cut(f"on:\n{values}\n# jobs\njobs:\n{values}", "config", 400)] == [("on",), ("jobs",)]


def test_the_comment_above_a_table_goes_with_it() -> None:
    values = "x = 1\n" * 50
    assert cut(f"[a]\n{values}\n# about b\n[b]\n{values}", "config", 400)[1][0].startswith("# about b\n[b]")


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        cut_document("# A\ntext", "markdown", 0)


# --- reStructuredText in .txt ------------------------------------------------------------------------------

DJANGO = f"""\
===========
Form fields
===========

.. module:: django.forms.fields
   :synopsis: Django's built-in form fields.

{FILLER}

Core field arguments
====================

{FILLER}

``required``
------------

.. attribute:: Field.required

{FILLER}
"""


def test_a_txt_file_in_rest_has_headings() -> None:
    assert document_kind("docs/ref/fields.txt", DJANGO) == "rest"
    assert [path for _, path in cut(DJANGO, document_kind("docs/ref/fields.txt", DJANGO), 500)] == [
        ("Form fields",),
        ("Form fields", "Core field arguments"),
        ("Form fields", "Core field arguments", "``required``"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Results\n=======\n\nAll is well.\n",  # titles alone
        f"{FILLER}\n\n.. note:: no title stands above\n",  # markup alone
        "Results\n=======\n\nCall std::sort, see foo::bar, C:\\:x, and .. :: so on.\n",
        "Log\n---\n\n10:15:22 :error: something broke\n.. done\n",
        "Minutes\n-------\n\n.. and so on: see `the page`.\n",
    ],
)
def test_other_plain_text_stays_plain(text: str) -> None:
    assert document_kind("notes.txt", text) == "plain"


def test_only_plain_text_is_examined_for_rest() -> None:
    assert [document_kind(name, DJANGO) for name in ("a.md", "a.log", "a.py", "README", "a.rst")] == [
        *("markdown", "plain", "code", "rest", "rest")
    ]
