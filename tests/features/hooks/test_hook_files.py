"""What an agent is told of a file that it opens: notes, facts and talk that cite it, and whether that has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.archive import conversations
from tests.archive.conversations import said

from palazzo.archive.ingest import NewItem
from palazzo.features.facts.contract import KgAddRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.hooks.contract import HookRequest, ToolCall
from palazzo.features.hooks.hook import hook
from palazzo.features.notes.contract import RememberRequest
from palazzo.features.notes.remember import remember
from palazzo.model import Place, Source
from palazzo.operations.context import Context

RULE = "Cart totals are rounded half up, as the tax office wants it."
TALK = "The rounding in src/cart.py:2 is wrong for nets of nine cents."


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    project = tmp_path / "api"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").write_text("import decimal\ntotal = decimal.Decimal(0)\n")
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC", "PALAZZO_MIN_MESSAGES": "1"}
    with Context(tmp_path / "palace.db", project, variables) as opened:
        remember(opened, RememberRequest("The api has a timeout of two seconds."))  # the palace knows the project
        yield opened


def opened(context: Context, path: str = "src/cart.py", session: str = "s-9") -> str:
    tool = ToolCall("Read", "read", {"file_path": path}, output="x")
    return hook(context, HookRequest("claude-code", "post-tool", session, tool=tool)).inject


def talked(context: Context, rows: Sequence[NewItem], session: str = "s1") -> None:
    source = Source(("session", session), "claude-code", f"file:///{session}.jsonl", session, "A session")
    conversations.file_rows(context.writing(), rows, source=source, place=Place(context.project_wing, "sessions"))
    context.writing().follow_anchors()


@pytest.mark.parametrize("followed", [False, True])
def test_notes_that_cite_the_file_are_told_from_when_they_are_filed(context: Context, followed: bool) -> None:
    context.writing().follow_anchors()
    remember(context, RememberRequest(RULE, anchors=("src/cart.py:1-2",)))
    remember(context, RememberRequest("Something else altogether.", anchors=("src",)))
    if followed:
        context.writing().follow_anchors()
    told = opened(context)
    assert RULE in told
    assert "Something else" not in told


def test_a_note_that_names_lines_of_the_file_is_told(context: Context) -> None:
    remember(context, RememberRequest(f"{RULE} See src/cart.py:2."))
    context.writing().follow_anchors()
    assert RULE in opened(context)


def test_a_fact_that_cites_the_file_is_told(context: Context) -> None:
    kg_add(context, KgAddRequest("cart", "rounds", "half up", anchors=("src/cart.py",)))
    kg_add(context, KgAddRequest("basket", "rounds", "down"))
    told = opened(context)
    assert "cart rounds half up" in told
    assert "basket" not in told


def test_facts_that_have_ended_take_no_place_of_one_that_holds(context: Context) -> None:
    kg_add(context, KgAddRequest("cart", "rounds", "half up", anchors=("src/cart.py",)))
    for n in range(4):
        kg_add(context, KgAddRequest("cart", "rounds to", f"{n}", valid_to="2025-01-01", anchors=("src/cart.py",)))
    assert "cart rounds half up" in opened(context)


def test_what_another_session_said_of_the_file_is_told_and_what_this_one_said_is_not(context: Context) -> None:
    talked(context, [said(1, "user", TALK)])
    assert TALK in opened(context)
    assert opened(context, session="s1") == ""


def test_words_from_outside_that_name_the_file_are_not_told(context: Context) -> None:
    talked(context, [said(1, "user", TALK, trust="external")])
    assert opened(context) == ""


def test_it_is_said_that_what_a_note_cites_has_changed_since(context: Context) -> None:
    remember(context, RememberRequest(RULE, anchors=("src/cart.py:2",)))
    assert "changed since" not in opened(context)
    (context.cwd / "src" / "cart.py").write_text("import decimal\ntotal = decimal.Decimal('0.00')\n")
    assert "changed since: src/cart.py:2" in opened(context, session="s-10")
