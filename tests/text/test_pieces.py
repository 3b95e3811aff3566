"""Pieces: every word survives, whole and in order, in pieces that are not too long."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.text.text_pieces import Range, error_lines, split_span

TEXTS = st.text(alphabet=st.sampled_from("ab. \n\t\r?!。é\u0301\u200d🎉\ufe0f"), max_size=400) | st.text(max_size=200)


def shown(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end in split_span(text, 0, len(text), limit)]


def covered(pieces: list[Range]) -> set[int]:
    return {at for start, end in pieces for at in range(start, end)}


@given(TEXTS, st.integers(1, 60), st.data())
def test_every_character_is_in_exactly_one_piece(text: str, limit: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    pieces = split_span(text, start, end, limit)
    assert all(start <= low < high <= end and high - low <= limit for low, high in pieces)
    assert all(before[1] <= after[0] for before, after in pairwise(pieces))
    assert {at for at in range(start, end) if not text[at].isspace()} <= covered(pieces)
    assert all(text[low:high].strip() and not text[high - 1].isspace() for low, high in pieces)


@given(
    st.lists(st.text(alphabet="abc\u00e9-", min_size=1, max_size=10), max_size=80),
    st.sampled_from([" ", "\n", "  ", "\n\n"]),
)
def test_words_that_fit_are_never_cut(words: list[str], gap: str) -> None:
    text = gap.join(words)
    assert [word for piece in shown(text, 10) for word in piece.split()] == words


@given(TEXTS, st.integers(8, 60), st.data())
def test_kept_ranges_that_fit_are_never_cut(text: str, limit: int, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    keep = [(low, high) for low, high in zip(edges[::2], edges[1::2], strict=False) if text[low:high].strip()]
    pieces = split_span(text, 0, len(text), limit, keep)
    assert {at for at in range(len(text)) if not text[at].isspace()} <= covered(pieces)
    for low, high in keep:
        low += len(text[low:high]) - len(text[low:high].lstrip())
        high = low + len(text[low:high].rstrip())
        parts = [piece for piece in pieces if piece[0] < high and low < piece[1]]
        assert len(parts) == 1 or high - low > limit - 8, (low, high, pieces)


def test_the_best_boundary_is_taken() -> None:
    assert shown("one two.\n\nthree four.\nfive six.", 24) == ["one two.", "three four.\nfive six."]
    assert shown("one two. three\nfour five. six", 20) == ["one two. three", "four five. six"]
    assert shown("One two three. Four five six seven.", 22) == ["One two three.", "Four five six seven."]
    assert shown("one two three four five", 11) == ["one two", "three four", "five"]
    assert shown("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_a_boundary_at_the_very_limit_is_taken() -> None:
    assert shown("abcd\n\nefgh", 4) == ["abcd", "efgh"]
    assert shown("Is it. So it is.", 6) == ["Is it.", "So it", "is."]


def test_a_tail_of_a_few_characters_is_kept() -> None:
    assert shown("a" * 1000 + "\n\nok", 1000)[-1] == "ok"


def test_indentation_goes_with_its_line() -> None:
    assert shown("if x:\n    a = 1\n\n    b = 2\n", 20) == ["if x:\n    a = 1", "    b = 2"]


def test_a_character_stays_with_its_marks() -> None:
    assert shown("abce\u0301fgh", 4) == ["abc", "e\u0301fg", "h"]


def test_nothing_comes_of_white_space() -> None:
    assert split_span("x" + " \n" * 50 + "x", 1, 101, 10) == []
    assert split_span("", 0, 0, 10) == []


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_span("a", 0, 1, 0)


# Error lines

PYTHON = """\
collected 3 items
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise Missing("no")

pkg.Missing: no
"""


@pytest.mark.parametrize(
    ("output", "reported"),
    [
        (PYTHON, ["pkg.Missing: no"]),
        ("ok\nValueError: bad\r\nnext", ["ValueError: bad\r"]),
        ("KeyboardInterrupt", ["KeyboardInterrupt"]),
        ("error[E0432]: unresolved import `x`\n --> src/main.rs:1:5", ["error[E0432]: unresolved import `x`"]),
        ("a.c:3:5: error: expected ';'", ["a.c:3:5: error: expected ';'"]),
        ("src/a.ts(3,5): error TS2304: Cannot find name", ["src/a.ts(3,5): error TS2304: Cannot find name"]),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2", ["FAILED tests/test_a.py::test_b - assert 1 == 2"]),
        (
            ">       assert a == b\nE       assert 1 == 2\nE        +  where",
            ["E       assert 1 == 2", "E        +  where"],
        ),
        ("--- FAIL: TestX (0.00s)", ["--- FAIL: TestX (0.00s)"]),
        ("fatal: not a git repository", ["fatal: not a git repository"]),
        ("panic: runtime error: index out of range", ["panic: runtime error: index out of range"]),
        ("thread 'main' panicked at src/main.rs:2:5:", ["thread 'main' panicked at src/main.rs:2:5:"]),
        ("npm ERR! code ELIFECYCLE", ["npm ERR! code ELIFECYCLE"]),
        ("Command failed with exit code 127.", ["Command failed with exit code 127."]),
        ("Exit code 2\n", ["Exit code 2"]),
        ("bash: foo: command not found", ["bash: foo: command not found"]),
        ("make: *** [all] Error 2", ["make: *** [all] Error 2"]),
        ("Segmentation fault (core dumped)", ["Segmentation fault (core dumped)"]),
        ("2026-03-04 10:22:31,123 ERROR db: lost", ["2026-03-04 10:22:31,123 ERROR db: lost"]),
        ("Caused by: java.io.IOException: x", ["Caused by: java.io.IOException: x"]),
        ("not ok 3 - parses", ["not ok 3 - parses"]),
    ],
)
def test_an_error_is_seen(output: str, reported: list[str]) -> None:
    assert [output[start:end] for start, end in error_lines(output)] == reported


@pytest.mark.parametrize(
    "line",
    [
        "Error handling is described below",
        "0 errors, 3 warnings",
        "error: 0",
        '    raise ValueError("x")',
        "except KeyError:",
        "class ParseError(Exception):",
        "    ValueError: if the limit is below 1.",
        "   12\tValueError: shown by a file viewer",
        "it exits with exit code 1 when nothing is found",
        "Process exited with code 0",
        "exit code 0",
        "Errors are few and named",
        "test_error.py PASSED",
        "Failed attempts are retried",
        "the fatal flaw",
    ],
)
def test_talk_of_errors_is_not_an_error(line: str) -> None:
    assert error_lines(line) == []


def test_of_many_errors_the_first_and_the_last_are_kept() -> None:
    output = "\n".join(f"error: number {i}" for i in range(100))
    kept = [output[start:end] for start, end in error_lines(output, limit=5)]
    assert kept == [f"error: number {i}" for i in (0, 1, 2, 98, 99)]


def test_a_long_error_line_is_cut() -> None:
    assert error_lines("error: " + "x" * 100_000) == [(0, 500)]


@given(st.text(alphabet=st.sampled_from("Eror: \n0[]FAILDTt(ab).,"), max_size=300), st.integers(0, 6))
def test_error_lines_are_in_order_and_within_lines(output: str, limit: int) -> None:
    found = error_lines(output, limit)
    assert len(found) <= limit
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert all("\n" not in output[start:end] and start < end for start, end in found)
