"""What nobody said is recognised: Palazzo's fences and the hosts' instructions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palazzo.security.injected_text import host_spans, is_host_instruction, is_palazzo_block, palazzo_spans, said_spans

BLOCK = '<palazzo-memory v="1">\n- d1 2026-11-21 retries 5\n</palazzo-memory>'
CLAUDE_MD = (
    "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n"
    "Contents of /home/dev/acme/CLAUDE.md (project instructions, checked into the codebase):\n\n# Notes\n"
    "</system-reminder>"
)
AGENTS_MD = "# AGENTS.md instructions for /home/dev/acme\n\n<INSTRUCTIONS>\n# Project notes\n\n</INSTRUCTIONS>"


def said(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in said_spans(text)]


def test_a_block_of_ours_is_recognised_whole() -> None:
    assert is_palazzo_block(f"\n{BLOCK}\n{BLOCK}\n")
    assert not is_palazzo_block(f"{BLOCK} and more")
    assert not is_palazzo_block("")
    assert palazzo_spans(f"ask {BLOCK} now") == [(4, 4 + len(BLOCK))]


def test_a_block_that_was_cut_short_reaches_to_the_end() -> None:
    text = "before <PALAZZO-MEMORY>one\ntwo"
    assert palazzo_spans(text) == [(7, len(text))]


def test_a_fence_that_is_spoken_of_is_no_block() -> None:
    assert palazzo_spans("the palazzo-memory fence, `<palazzo-memories>`, `</palazzo-memory>`") == []


@pytest.mark.parametrize(
    "text",
    [
        CLAUDE_MD,
        AGENTS_MD,
        f"{AGENTS_MD}\n\n<environment_context>\n  <cwd>~/acme</cwd>\n</environment_context>",
        "<permissions instructions>\nFilesystem sandboxing\n</permissions instructions>",
        "<local-command-caveat>The command below was run directly</local-command-caveat>",
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>",
        "Contents of /home/dev/acme/CLAUDE.md (project instructions, checked into the codebase):\n\n# Notes\n",
    ],
)
def test_a_hosts_instructions_are_recognised(text: str) -> None:
    assert is_host_instruction(text)
    assert said(f"Use port 8443.\n\n{text}") == ["Use port 8443."]


@pytest.mark.parametrize(
    "text",
    [
        "Please read CLAUDE.md",
        "# AGENTS.md instructions",
        "a <b> c",
        "Contents of the file:",
        "x < y and system-reminder",
    ],
)
def test_a_persons_words_are_not(text: str) -> None:
    assert host_spans(text) == []
    assert said(text) == [text]


def test_reminders_inside_a_message_are_cut_around() -> None:
    assert said(f"one {CLAUDE_MD} two {BLOCK} three") == ["one", "two", "three"]


@given(
    st.lists(
        st.sampled_from(
            [
                "<system-reminder>",
                "</system-reminder>",
                BLOCK,
                "<palazzo-memory>",
                AGENTS_MD,
                "\n",
                "a",
                "\ud800",
                "<",
                ">",
            ]
        )
    ).map("".join)
    | st.text()
)
@settings(max_examples=200, deadline=None)
def test_spans_of_any_text_are_in_order(text: str) -> None:
    for spans in (palazzo_spans(text), host_spans(text), said_spans(text)):
        ends = [end for span in spans for end in span]
        assert ends == sorted(ends)
        assert all(0 <= end <= len(text) for end in ends)
