"""Feedback: verdicts move rank, confidence and review, and can be withdrawn, undone and carried to another machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.features.trust.sessions_written import World, run
from tests.sync.homes import Home

from palazzo.errors import NotFound, UsageError
from palazzo.features.search.contract import HitView
from palazzo.operations.context import Context

QUESTION = "On which port does the gateway listen?"
OLD, NEW = "The gateway listens on port 8080.", "The gateway listens on port 9443."


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def context(home: Home) -> Iterator[Context]:
    with home.at() as opened:
        for text in (OLD, NEW, "Bread is baked at dawn.", "The lighthouse was painted white."):
            run(opened, "remember", text)
        yield opened


def hits(context: Context) -> dict[str, HitView]:
    """The two notes about the port, in the order in which a search finds them."""
    return {hit.text: hit for hit in run(context, "search", QUESTION).hits if hit.text in (OLD, NEW)}


def judge(context: Context, text: str, verdict: str, by: str = "") -> None:
    run(context, "feedback", hits(context)[text].id, verdict, by=by)


def test_a_verdict_moves_the_rank_and_the_score_and_is_shown(context: Context) -> None:
    before = hits(context)
    last = list(before)[-1]
    judge(context, last, "helpful")
    assert next(iter(hits(context))) == last
    assert hits(context)[last].feedback == "helpful"
    judge(context, last, "misleading")
    after = hits(context)
    assert list(after)[-1] == last
    assert after[last].score < before[last].score
    assert after[last].feedback == "misleading"


def test_the_last_verdict_of_each_counts_and_a_persons_counts_more(context: Context) -> None:
    judge(context, OLD, "helpful", by="codex")
    judge(context, OLD, "outdated")
    assert hits(context)[OLD].feedback == "outdated"
    judge(context, OLD, "neutral")
    assert hits(context)[OLD].feedback == "helpful"
    judge(context, OLD, "neutral", by="codex")
    assert hits(context)[OLD].feedback == ""


def test_undo_takes_a_verdict_back_and_an_export_carries_it(context: Context, home: Home, tmp_path: Path) -> None:
    scores = {text: hit.score for text, hit in hits(context).items()}
    judge(context, NEW, "outdated")
    other = Home(tmp_path / "other")
    other.take(home.export())
    with other.at() as there:
        assert hits(there)[NEW].feedback == "outdated"
    run(context, "undo")
    assert {text: hit.score for text, hit in hits(context).items()} == scores


def test_audit_lists_what_was_judged_wrong_with_what_to_do(context: Context) -> None:
    uids = {text: hit.id for text, hit in hits(context).items()}
    judge(context, NEW, "misleading")
    judge(context, OLD, "outdated", by="codex")
    (finding,) = (found for found in run(context, "audit").findings if found.name == "feedback")
    assert {*finding.mends} == {f"palazzo forget {uids[NEW]}", f"palazzo update-drawer {uids[OLD]}"}
    run(context, "forget", (uids[NEW],))
    (finding,) = (found for found in run(context, "audit").findings if found.name == "feedback")
    assert finding.count == 1


def test_what_was_judged_wrong_is_not_suggested(context: Context) -> None:
    def suggested() -> set[str]:
        return {memory.text for memory in run(context, "proactive_context", QUESTION, floor=0.0).memories}

    assert suggested() >= {NEW}
    judge(context, NEW, "outdated", by="codex")
    assert NEW not in suggested()


def test_a_session_that_read_untrusted_content_cannot_judge(tmp_path: Path) -> None:
    with contextlib.closing(World(tmp_path)) as world:
        note = run(world.context(), "remember", OLD).drawers[0]
        session = world.session("s-1")
        session.asks("Which port?")
        run(world.agent("s-1"), "feedback", note, "helpful", by="ada")
        session.reads_a_page()
        with pytest.raises(UsageError, match="untrusted"):
            run(world.agent("s-1"), "feedback", note, "misleading", by="ada")
        with pytest.raises(NotFound):
            run(world.context(), "feedback", "ffffffff", "helpful")


def test_an_agent_gives_no_verdict_under_the_persons_name(tmp_path: Path) -> None:
    with contextlib.closing(World(tmp_path)) as world:
        note = run(world.context(), "remember", OLD).drawers[0]
        world.session("s-1").asks("Which port?")
        run(world.agent("s-1"), "feedback", note, "helpful", by="user")
        with world.context().reading().database.snapshot() as connection:
            ((actor,),) = connection.execute("SELECT actor FROM act WHERE kind = 'feedback'")
        assert actor != "user"
