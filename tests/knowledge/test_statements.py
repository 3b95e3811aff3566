"""What of a text is a statement, and where it stands."""

from __future__ import annotations

import pytest

from palazzo.knowledge.modality import asserts
from palazzo.knowledge.statements import statements


def said(text: str, role: str = "assistant") -> list[str]:
    return [one.text for one in statements(text, role)]


def test_a_statement_is_a_sentence_and_its_place_is_exact() -> None:
    text = "We moved.  The API listens\non port 8080, e.g. behind nginx. Fine?"
    found = list(statements(text, "user"))
    assert [one.text for one in found] == ["We moved.", "The API listens on port 8080, e.g. behind nginx.", "Fine?"]
    assert [text[one.start : one.end] for one in found] == [
        "We moved.", "The API listens\non port 8080, e.g. behind nginx.", "Fine?",
    ]  # fmt: skip


def test_code_quotes_tables_and_prompts_are_no_statements() -> None:
    text = "Yes.\n\n> The port is 1.\n\n| a | b |\n|---|---|\n\n```python\nport = 3\n```\n\n$ run it\n\nNo."
    assert said(text) == ["Yes.", "No."]


def test_a_row_of_a_table_of_two_columns_is_a_statement_and_its_head_is_none() -> None:
    text = "| setting | value |\n|---|---|\n| log retention | 14 days |\n\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |"
    assert said(text) == ["log retention: 14 days"]


def test_a_fence_of_configuration_has_entries() -> None:
    assert said("So:\n\n```yaml\nserver:\n  port: 8080\n  # port: 9090\n```") == ["So:", "server:", "port: 8080"]


def test_what_a_tool_printed_has_entries_and_the_sentences_of_a_commit() -> None:
    text = (
        "commit 4be19a0c5e\nAuthor: R <r@example.org>\n\n    The API listens on port 9090. Update\n    your tunnels.\n"
    )
    assert said(text, "tool")[:2] == ["The API listens on port 9090.", "Update your tunnels."]
    assert said("$ cat a.toml\nworkers = 4\nAll is well, she said.", "tool") == ["workers = 4"]


def test_a_diff_says_what_it_adds() -> None:
    assert said("@@ -1 +1 @@\n-workers = 4\n+workers = 9\n backlog = 1", "tool") == ["workers = 9", "backlog = 1"]


def test_boxes_are_open_or_done() -> None:
    found = list(statements("- [x] upgrade to Node 22\n- [ ] move to Deno", "author"))
    assert [one.setting for one in found] == ["done", "open"]
    assert [asserts(one) for one in found] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "Should we switch to NATS?",
        "should we switch to NATS",
        "If it were on, the ledger would be written twice.",
        "We plan to move to Kafka.",
        "Maybe the port is 8080.",
        "We did not switch from Yarn to pnpm.",
        "Years ago we used Celery for jobs.",
        "Many projects use date-fns instead of moment.",
        "I personally switched to OrbStack.",
        "Das sollte auf Port 80 laufen.",
        "He says the port is 8080.",
    ],
)
def test_what_is_asked_supposed_planned_denied_or_said_of_others_does_not_assert(text: str) -> None:
    (one,) = statements(text, "user")
    assert not asserts(one)


@pytest.mark.parametrize(
    "text",
    [
        "The port is 8080.",
        "Some context since you haven't been here for months: we migrated to Fly.io.",
        "feature deploys have been discontinued since 1 May",
        "The port is 8080, so don't use it.",
    ],
)
def test_what_is_said_of_the_present_asserts(text: str) -> None:
    (one,) = statements(text, "user")
    assert asserts(one, one.text.find(": ") + 2, len(one.text) - 20)
