"""The small decisions of hooks, each by itself: when to save, what to leave out, what to keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from palazzo.injection import cadence, compaction_notes, echo, session_dedup, thresholds
from palazzo.injection.backoff import FIRST, LONGEST, TRIES, Failures
from palazzo.injection.hook_events import Beginning
from palazzo.injection.save_prompt import save_prompt
from palazzo.model import Micros, Part


@dataclass(frozen=True)
class Hit:
    id: str
    score: float = 1.0
    text: str = "words"


# --- cadence -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("humans", "saved_at", "interval", "asked", "due"),
    [
        (14, 0, 15, False, False),
        (15, 0, 15, False, True),
        (15, 15, 15, False, False),
        (29, 15, 15, False, False),
        (31, 15, 15, False, True),
        (15, 0, 15, True, False),
        (100, 0, 0, False, False),
        (1, 0, 1, False, True),
    ],
)
def test_a_save_is_due_after_so_many_messages_of_a_human(
    humans: int, saved_at: int, interval: int, asked: bool, due: bool
) -> None:
    assert cadence.is_due(humans, saved_at, interval, asked) == due


@pytest.mark.parametrize(
    ("text", "parts", "is_human"),
    [
        ("go on", (), True),
        ("<system-reminder>Look at the list.</system-reminder> and go on", (), True),
        ("<system-reminder>Look at the list.</system-reminder>", (), False),
        ("<palazzo-memory>\nwords\n</palazzo-memory>", (), False),
        (" \n", (), False),
        (f'"{save_prompt("pi", 15)}"\n', (), False),
        ("What does 'Palazzo memory checkpoint after 15 messages' mean?", (), True),
        ("Find it out.", (Part("text", 0, 12, trust="agent"),), False),
    ],
)
def test_a_message_of_a_human_is_one_that_a_person_sent(text: str, parts: tuple[Part, ...], is_human: bool) -> None:
    assert cadence.is_human(text, parts) == is_human


# --- echo --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "text", "is_echo"),
    [
        ("why does the parser drop trailing commas", "Why does the parser drop trailing commas?", True),
        ("why does the parser drop trailing commas", "the PARSER drops commas: trailing ones", True),
        ("why does the parser drop trailing commas", "We decided that commas at the end are an error.", False),
        ("the", "the", False),
        ("", "anything", False),
        ("retry budget jitter", "retry budget", False),
        ("one two three four five six seven eight nine ten", "one two three four five six seven", True),
    ],
)
def test_what_says_the_prompt_again_is_an_echo(prompt: str, text: str, is_echo: bool) -> None:
    assert echo.is_echo(echo.words(prompt), text) == is_echo


# --- gates -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "floor", "at_most", "passed"),
    [
        ([0.9, 0.5, 0.26], 0.05, 5, [0.9, 0.5]),
        ([0.9, 0.28, 0.5], 0.05, 5, [0.9, 0.28, 0.5]),
        ([0.69, 0.5], 0.7, 5, []),
        ([0.95, 0.9, 0.85, 0.8], 0.7, 2, [0.95, 0.9]),
        ([0.7], 0.7, 5, [0.7]),
        ([], 0.0, 5, []),
        ([0.9], 0.0, 0, []),
    ],
)
def test_a_hit_passes_an_absolute_floor_and_one_that_the_best_sets(
    scores: list[float], floor: float, at_most: int, passed: list[float]
) -> None:
    hits = [Hit(str(n), score) for n, score in enumerate(scores)]
    assert [hit.score for hit in thresholds.filter_hits(hits, floor, at_most)] == passed


# --- dedup -------------------------------------------------------------------------------------------------


def test_what_was_told_is_not_told_again() -> None:
    found = [Hit("a"), Hit("b"), Hit("c"), Hit("b")]
    assert list(session_dedup.drop_delivered_items(found, {"a"})) == found[1:3]


@pytest.mark.parametrize(
    ("beginning", "begins"),
    [("startup", True), ("clear", True), ("compact", True), ("resume", False), ("fork", False)],
)
def test_an_epoch_begins_where_what_was_said_is_lost(beginning: Beginning, begins: bool) -> None:
    assert session_dedup.begins_epoch(beginning) == begins


# --- quiet hours -------------------------------------------------------------------------------------------


def test_what_fails_again_and_again_is_left_alone_for_longer_each_time() -> None:
    failures, now, waits = Failures(), Micros(1_000_000_000), []
    for _ in range(TRIES + 10):
        assert not failures.is_quiet(now)
        failures = failures.failed(now)
        wait = 0
        while failures.is_quiet(Micros(now + wait)):
            wait += FIRST
        waits.append(wait)
        now = Micros(now + wait)
    assert waits[: TRIES - 1] == [0] * (TRIES - 1)
    assert waits[TRIES - 1 : TRIES + 3] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert waits[-1] <= LONGEST + FIRST


# --- asking for a save -------------------------------------------------------------------------------------


def test_a_save_prompt_names_the_tools_of_the_profile() -> None:
    asked = save_prompt("codex", 15)
    assert all(word in asked for word in ("`diary_write`", "`remember`", "after `search`", "`kg_add`", "15", "codex"))
    names = {"diary_write": "mempalace_diary_write", "remember": "mempalace_add_drawer"}
    foreign = save_prompt("codex", 15, names)
    assert "`mempalace_diary_write`" in foreign
    assert "`mempalace_add_drawer`" in foreign
    assert "`remember`" not in foreign


def test_a_save_prompt_warns_of_the_host_s_own_memory_files() -> None:
    assert "CLAUDE.md" in save_prompt("pi", 15)


# --- before a compaction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "transcript", "there", "wanted"),
    [
        ({}, "/s/a.jsonl", {"/s/a.jsonl", "/s", "/w"}, [("/s/a.jsonl", True), ("/s", True), ("/w", False)]),
        ({}, "/s/a.jsonl", {"/s", "/w"}, [("/s", True), ("/w", False)]),
        ({}, "", {"/w"}, [("/w", False)]),
        (
            {"MEMPAL_DIR": "/m"},
            "/s/a.jsonl",
            {"/m", "/s/a.jsonl", "/w"},
            [("/m", True), ("/s/a.jsonl", True), ("/w", False)],
        ),
        ({"PALAZZO_TRANSCRIPT_DIR": "/p", "MEMPAL_DIR": "/m"}, "", {"/p", "/m"}, [("/p", True), ("/m", True)]),
        ({"MEMPAL_DIR": "relative"}, "also/relative", {"relative", "also/relative"}, []),
    ],
)
def test_what_is_kept_before_a_compaction_comes_in_order(
    variables: dict[str, str], transcript: str, there: set[str], wanted: list[tuple[str, bool]]
) -> None:
    found = compaction_notes.targets(variables, transcript, "/w", lambda path: str(path) in there)
    assert found == [compaction_notes.Target(Path(path), sufficient) for path, sufficient in wanted]
