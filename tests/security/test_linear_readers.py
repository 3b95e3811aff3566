"""What reads sessions, prompts and documents takes time in proportion to their length, like what finds secrets.

These are the entrances through which foreign text comes to the regular expressions of claims, digests, failures,
citations, intent and labels. Patterns by themselves may be quadratic where an entrance limits what they see (a clause
has 400 characters, an error line 300).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.linear_time import assert_linear
from tests.security.test_linear import SHELL_UNITS, UNITS
from tests.text.test_linear import UNITS as DOCUMENT_UNITS

from palazzo.index import digest_work
from palazzo.injection import echo, intent, recent_turns
from palazzo.injection.usage_detection import ToolCall, find_opened_files
from palazzo.knowledge import failures, session_citations, text_claims
from palazzo.security import (
    clean_titles,
    conversation_files,
    disguised_text,
    fences,
    injected_text,
    loopback,
    memory_commands,
    quotations,
)
from palazzo.sessions import file_calls, session_taint
from palazzo.text import best_sentence, escapes, future_times, outlines, questions, sentences, visible

LENGTH = 16_000
MORE_UNITS = {
    "mixed letters": "a0aa",
    "uses": "we use a0aa",
    "purposes": "We use A for a for ",
    "quoted lines": "> ",
    "said": 'said: "a" ',
    "tables": "|a|b|\n",
    "links": "[a](b",
    "definitions of links": "[a]: b\n",
    "addresses of pages": "http://a.b/",
    "errors in a line": "Error: a b c ",
    "cited lines": "src/a.py:3 ",
    "changes": "+a\n-b\n",
    "paths of files": "/a/b/c.py ",
    "mail addresses": "a@b.c ",
    "versions": "v1 to v2 ",
    "dotted names": "a.b.",
    "bold": "**a**",
    "tags of HTML": "<a href=",
    "lists": "- a: b\n",
    "days": "since 2026 ",
    "deeds": "sends uses ",
    "fields of paths": "path: ",
    "headers of patches": "*** Add File: a  ",
    "blanks in a field": "path: a" + " " * 4000,
    "full stops": ".",
    "one word of figures": "0a",
    "one word of figures and capitals": "0A",
    "figures with colons": "0:",
    "dashes before letters": "-aa",
    "beginnings of keys": " ----BEGIN PRIVATE KEY----Aa: ",
    "comments that begin": "\n,/*",
    "code that was replaced": "`a` replaced “        ",
    "switches": "\twe switched to `a`",
}
ALL_UNITS = {
    **UNITS,
    **MORE_UNITS,
    **{f"document: {name}": unit for name, unit in DOCUMENT_UNITS.items()},
    **{f"shell: {name}": unit for name, unit in SHELL_UNITS.items()},
}


def read_failure(text: str) -> None:
    for start, end in failures.error_in("Bash", "make", text, 0, len(text), failed=True):
        failures.failure_marks("Bash", None, text[start:end])


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "claims of a person": lambda text: text_claims.read_claims(text, "user"),
    "claims of an agent": lambda text: text_claims.read_claims(text, "assistant"),
    "failure": read_failure,
    "citations": lambda text: list(session_citations.mentions(text)),
    "intent": intent.intent,
    "asks about it": intent.asks_about_it,
    "echo": echo.words,
    "errors in a prompt": recent_turns.errors_in,
    "files in a prompt": recent_turns.files_in,
    "edited files": lambda text: list(digest_work.changed("Edit", text, 0, len(text))),
    "files written by a command": lambda text: list(digest_work.changed("Bash", text, 0, len(text))),
    "read files": lambda text: list(digest_work.find_accessed_files("Read", text, 0, len(text))),
    "files opened by a call": lambda text: find_opened_files(ToolCall("Read", text)),
    "reported failure": lambda text: digest_work.said_failure(text, 0, len(text)),
    "failure of a call": lambda text: digest_work.failure("Bash", "make", text, 0, len(text), failed=False),
    "lines of a failure": lambda text: list(digest_work.telling_lines(text, 0, len(text))),
    "answers": lambda text: list(digest_work.answers(text, 0, len(text))),
    "to-do lists": lambda text: digest_work.tasks("TodoWrite", text, 0, len(text)),
    "program": lambda text: digest_work.program(digest_work.command_of(text, 0, len(text))),
    "best sentence": lambda text: best_sentence.find_best_sentence(text, {"port"}),
    "sentences": lambda text: list(sentences.sentences(text)),
    "visible text": visible.visible,
    "closed fences": outlines.closed_fences,
    "marks of questions": questions.marks,
    "spellings": lambda text: list(escapes.spellings(text)),
    "quotations": quotations.quotations,
    "title": clean_titles.title_from,
    "escapes": disguised_text.decode_escapes,
    "fence": fences.fence_text,
    "injected blocks": injected_text.palazzo_spans,
    "answers of tools": injected_text.answer_spans,
    "blocks of hosts": injected_text.host_spans,
    "foreign addresses": loopback.names_foreign_address,
    "conversation files": conversation_files.holds_conversation,
    "memory commands": memory_commands.tells_memory,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_is_linear(name: str) -> None:
    for unit, repeated in ALL_UNITS.items():
        text = repeated * (LENGTH // len(repeated))
        assert_linear(FUNCTIONS[name], text, 0.05, f"{name} on {unit}")


def test_newlines_before_the_field_of_a_path_are_passed_once() -> None:
    """They were read again from each of them: 24,000 took 25 seconds."""
    assert_linear(FUNCTIONS["edited files"], "\n" * LENGTH, 0.05, "newlines")


def test_empty_lines_of_a_result_are_passed_once() -> None:
    """They were read again from each of them, up to the next word: 100,000 would have taken minutes."""
    assert_linear(FUNCTIONS["failure of a call"], "\n" * LENGTH, 0.05, "newlines")
    refused = "<tool_use_error>" + "\n" * LENGTH
    assert_linear(lambda text: failures._refused_edit(text, 0), refused, 0.05, "newlines after a refusal")


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (lambda text: file_calls._CUT.search(text), "\n" * LENGTH),
        (lambda text: session_taint._EXTERNAL_LABEL.search(text), "\n" * LENGTH),
        (lambda text: best_sentence._RULE.match(text), "-" * LENGTH + "x"),
        (lambda text: future_times._CLOCK.search(text), "," * LENGTH + "x"),
    ],
    ids=["file that was read", "label of untrusted content", "rule below a heading", "time of day"],
)
def test_a_run_of_one_character_is_read_once(search: Callable[[str], object], text: str) -> None:
    assert_linear(search, text, 0.05, f"a run of {text[0]!r}")


@pytest.mark.parametrize("run", ["<", "/<", "[", "[/"])
def test_brackets_beside_the_name_of_a_fence_are_read_once(run: str) -> None:
    """They were read from each of them to the end of the run: 16,000 took minutes."""
    text = f"palazzo-memory {run * (LENGTH // len(run))}"
    assert_linear(fences.fence_text, text, 0.05, run)


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("file_path: /work/a.py\nold: x", "/work/a.py"),
        ('  path = "/work/my file.py"  \n', "/work/my file.py"),
        ("\n\n  filename: 'a.py'", "a.py"),
        ("path:\n  a.py\n", "a.py"),
        ("*** Update File: src/a b.py  \n@@", "src/a b.py"),
    ],
)
def test_the_path_of_a_call_is_its_whole_value(call: str, path: str) -> None:
    ((start, end),) = digest_work.changed("Edit", call, 0, len(call))
    assert call[start:end] == path
    assert find_opened_files(ToolCall("Edit", call)) == {path}
