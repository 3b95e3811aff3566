"""What the next prompt goes on from: the end of a session, its files and failures, and what was said already."""

from __future__ import annotations

import pytest
from tests.derived.test_failures import ERROR, TESTS

from palazzo.injection.recent_turns import NOTHING, Recent, errors_in, files_in, has_said, has_told, recent_of, subject
from palazzo.model import Part
from palazzo.sessions.digest_turns import SessionMessage

ANSWER = (
    "I looked at the importer. The pool has twelve connections now, since five were too few for sixteen threads."
    " Shall I change the timeout as well?"
)


def said(n: int, role: str, text: str) -> SessionMessage:
    return SessionMessage(n, role, text, (Part("text", 0, len(text)),))


def call(n: int, tool: str, text: str) -> SessionMessage:
    return SessionMessage(n, "assistant", text, (Part("tool_call", 0, len(text), tool, f"c{n}"),))


def result(n: int, text: str, of: int, failed: bool = False) -> SessionMessage:
    return SessionMessage(n, "tool", text, (Part("tool_result", 0, len(text), "", f"c{of}", failed),))


def test_the_last_turn_is_what_was_asked_last_and_answered_since() -> None:
    last = recent_of(
        [
            said(1, "user", "Rename the module."),
            said(2, "assistant", "Done."),
            said(3, "user", "Look at the importer."),
            said(4, "assistant", "I read it."),
            said(5, "assistant", "It holds connections."),
        ]
    )
    assert (last.prompt, last.answer) == ("Look at the importer.", "I read it.\nIt holds connections.")
    assert recent_of([]) == NOTHING


def test_calls_and_thinking_are_no_answer() -> None:
    thought = "Hm, the pool."
    last = recent_of(
        [
            said(1, "user", "Look."),
            SessionMessage(2, "assistant", thought, (Part("thinking", 0, len(thought)),)),
            call(3, "Bash", "command: ls"),
            said(4, "assistant", "Looked."),
        ]
    )
    assert last.answer == "Looked."


def test_files_in_play_are_those_that_were_opened_or_changed_the_last_one_first() -> None:
    last = recent_of(
        [
            call(1, "Read", "file_path: src/a.py"),
            call(2, "Edit", "file_path: src/b.py\nold_string: x\nnew_string: y"),
            call(3, "Bash", "command: echo x > notes.txt"),
            call(4, "Read", "file_path: src/a.py"),
            call(5, "Bash", "command: ls src"),
        ]
    )
    assert last.files == ("src/a.py", "notes.txt", "src/b.py")


def test_the_last_failure_is_in_view_until_its_target_passes() -> None:
    failing = [call(1, "Bash", f"command: {TESTS}"), result(2, ERROR, 1, failed=True)]
    failed = recent_of(failing).failed
    assert failed is not None
    assert failed.signature
    assert recent_of([*failing, call(3, "Bash", f"command: {TESTS}"), result(4, "3 passed", 3)]).failed is None


@pytest.mark.parametrize(
    "prompt", ["", "go on", "yes, please do that", "no, not yet", "Rename the column of the invoices to total_cents."]
)
def test_what_says_nothing_or_enough_takes_no_subject(prompt: str) -> None:
    assert subject(prompt, Recent("Look at the importer.", "It leaks.")) == ""


@pytest.mark.parametrize("prompt", ["why only four?", "and the pool?", "now do the same for the cache"])
def test_a_short_prompt_takes_its_subject_from_the_turn_before(prompt: str) -> None:
    assert subject(prompt, Recent("Look at the importer.", "It leaks.")) == "look importer leaks"
    said = "The webhook worker of tally is at 8 attempts: they are in tally/webhooks.py."
    assert subject(prompt, Recent("Look at the retries.", said)) == "retries webhook worker tally attempts webhooks"
    assert subject(prompt, NOTHING) == ""
    assert len(subject(prompt, Recent("a" * 9_000, "b" * 9_000))) < 2_000


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("The pool has twelve connections, five were too few.", True),
        ("Twelve connections for sixteen threads: five were too few for the pool.", True),
        ("The pool of the mailer has ninety connections, because it waits for strangers.", False),
        ("importer threads timeout", True),
        ("The pool", False),
        ("", False),
    ],
)
def test_an_answer_has_said_what_most_of_its_words_stand_in_together(text: str, is_said: bool) -> None:
    assert has_said(ANSWER, text) is is_said


def test_words_that_stand_far_apart_say_nothing_together() -> None:
    apart = " filler".join(["retry "] + [" x" * 100] * 5 + ["budget ", " y" * 100, "gateway"])
    assert not has_said(apart, "retry budget gateway")
    assert has_said("the gateway has a retry budget", "retry budget gateway")


def test_an_answer_that_cites_an_id_has_told_it() -> None:
    uid = "0123456789abcdef0123456789abcdef"
    assert has_told(f"As {uid[:12]} says.", uid, "Something else entirely.")
    assert not has_told(f"As {uid[:7]} says.", uid, "Something else entirely.")
    assert not has_told("", uid, "")


@pytest.mark.parametrize(
    ("prompt", "files"),
    [
        ("fix the failing test in tests/test_parser.py", ["tests/test_parser.py"]),
        ("why does `src/lock.py:42` block? and db.py?", ["src/lock.py", "db.py"]),
        ("bump the version to 2.4.0", []),
        ("see https://example.com/a/page.html", []),
        ("e.g. this one, i.e. that", []),
        ("go on.", []),
    ],
)
def test_files_are_found_in_a_prompt_by_how_they_are_written(prompt: str, files: list[str]) -> None:
    assert files_in(prompt) == files


def test_an_error_that_is_pasted_is_known_by_its_signature() -> None:
    failed = recent_of([call(1, "Bash", f"command: {TESTS}"), result(2, ERROR, 1, failed=True)]).failed
    assert failed is not None
    assert failed.signature in errors_in(f"I get this, why?\n\n{ERROR}\n")
    assert errors_in("make the error message friendlier") == []
