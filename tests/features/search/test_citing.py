"""Files that notes and facts are given: what is kept of them, and what is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archive.test_erasing import erase

from palazzo.errors import NotFound, UsageError
from palazzo.features.facts.contract import KgAddRequest, KgAddResult, KgEndRequest
from palazzo.features.facts.kg_add import kg_add
from palazzo.features.facts.kg_end import kg_end
from palazzo.features.notes.contract import RememberRequest, UndoRequest, UpdateDrawerRequest
from palazzo.features.notes.remember import remember
from palazzo.features.notes.undo import undo
from palazzo.features.notes.update_drawer import update_drawer
from palazzo.model import Anchor
from palazzo.operations.cited_files import LARGEST, MOST
from palazzo.operations.context import Context
from palazzo.store import anchors
from palazzo.store.redaction_state import fingerprint_key
from palazzo.text.cited_lines import digest

CART = b"def total(items):\r\n    return sum(items)  \r\n\r\nTAX = 1\r\n"
LINES = ["def total(items):", "    return sum(items)", "", "TAX = 1"]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src" / "cart.py").write_bytes(CART)
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "TZ": "UTC"}
    with Context(tmp_path / "palace.db", project, variables) as opened:
        yield opened


def given(context: Context, *files: str) -> tuple[Anchor, ...]:
    """What a note cites that is given these files."""
    note = remember(context, RememberRequest("Totals are rounded half up.", anchors=files))
    return cited(context, note.drawers[0])


def cited(context: Context, drawer: str) -> tuple[Anchor, ...]:
    with context.reading().database.snapshot() as connection:
        return anchors.of_drawers(connection, [drawer]).get(drawer, ())


def known(context: Context, *lines: str) -> bytes:
    with context.reading().database.snapshot() as connection:
        return digest(fingerprint_key(connection), lines)


def blob(context: Context) -> str:
    path = context.cwd / "src" / "cart.py"
    return subprocess.run(["git", "hash-object", path], capture_output=True, text=True, check=True).stdout.strip()


# --- notes -------------------------------------------------------------------------------------------------


def test_a_note_keeps_the_lines_it_is_about_as_they_stand_now(context: Context) -> None:
    (one,) = given(context, "src/cart.py:L1-2")
    assert one == Anchor("src/cart.py", 1, 2, known(context, *LINES[:2]), 2, blob(context), "stated")


def test_a_note_keeps_a_whole_file_and_what_is_no_file_by_its_name(context: Context) -> None:
    found = given(context, "src/cart.py", "src")
    assert found == (Anchor("src/cart.py", 0, 0, known(context, *LINES), 4, blob(context)), Anchor("src"))


def test_what_a_note_cites_is_the_same_once_it_is_derived(context: Context) -> None:
    (drawer,) = remember(context, RememberRequest("Rounded.", anchors=("src/cart.py:4",))).drawers
    before = cited(context, drawer)
    context.writing().follow_anchors()
    assert cited(context, drawer) == before
    assert before[0].digest == known(context, "TAX = 1")


def test_a_note_keeps_what_it_cites_when_its_words_change(context: Context) -> None:
    (drawer,) = remember(context, RememberRequest("Rounded.", anchors=("src/cart.py:4",))).drawers
    changed = update_drawer(context, UpdateDrawerRequest(drawer, "Rounded half up."))
    assert cited(context, changed.id) == cited(context, drawer)


def test_a_file_whose_name_ends_like_lines_is_meant(context: Context) -> None:
    (context.cwd / "log:12").write_text("x\n")
    (one,) = given(context, "log:12")
    assert (one.path, one.first) == ("log:12", 0)


def test_of_a_file_that_is_too_large_the_name_is_kept(context: Context) -> None:
    (context.cwd / "large.txt").write_bytes(b"x\n" * (LARGEST // 2 + 1))
    assert given(context, "large.txt:3-4") == (Anchor("large.txt", 3, 4),)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("src/cart.py:4-9", r"has 4 lines, so line 9 does not exist"),
        ("src/cart.py:0", "must count from 1"),
        ("src/cart.py:3-2", "with the first not after the last"),
        ("src:3", "is not a file, so it has no lines"),
        ("src/basket.py", "does not exist"),
        (":3", "does not exist"),
        ("src/\udcff.py", "not valid UTF-8"),
        ("src/\0.py", "not valid UTF-8"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_filed(context: Context, said: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        given(context, said)
    with context.writing().database.snapshot() as connection:
        assert list(connection.execute("SELECT id FROM item")) == []


def test_too_many_files_are_refused(context: Context) -> None:
    with pytest.raises(UsageError, match="name the files that matter most"):
        given(context, *["src"] * (MOST + 1))


# --- facts -------------------------------------------------------------------------------------------------


def state(context: Context, *files: str, source: str = "") -> KgAddResult:
    sources = (source,) if source else ()
    return kg_add(context, KgAddRequest("cart", "rounds", "half up", anchors=files, sources=sources))


def of_fact(context: Context, uid: str) -> tuple[Anchor, ...]:
    with context.reading().database.snapshot() as connection:
        return anchors.of_facts(connection, [uid]).get(uid, ())


def test_a_fact_keeps_the_files_that_show_it(context: Context) -> None:
    added = state(context, "src/cart.py:4")
    assert of_fact(context, added.id) == (Anchor("src/cart.py", 4, 4, known(context, "TAX = 1"), 1, blob(context)),)
    assert added.fact.provenance[0].anchors == ("src/cart.py:4-4",)


def test_a_fact_that_is_stated_again_cites_its_file_as_it_is_now(context: Context) -> None:
    first = state(context, "src/cart.py:4")
    assert state(context, "src/cart.py:4").changed == ()
    (context.cwd / "src" / "cart.py").write_bytes(CART.replace(b"TAX = 1", b"TAX = 2"))
    again = state(context, "src/cart.py:4")
    assert (again.id, again.changed, len(again.fact.provenance)) == (first.id, ("provenance",), 1)
    assert [one.digest for one in of_fact(context, first.id)] == [known(context, "TAX = 2")]


def test_a_fact_that_ends_keeps_what_it_cites_and_one_that_is_taken_back_cites_nothing(context: Context) -> None:
    added = state(context, "src/cart.py:4")
    kg_end(context, KgEndRequest("cart", "rounds", "half up", wing="shop"))
    assert len(of_fact(context, added.id)) == 1
    undo(context, UndoRequest())
    undo(context, UndoRequest())
    assert of_fact(context, added.id) == ()


def test_a_file_that_does_not_exist_makes_no_fact(context: Context) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        state(context, "src/none.py")


def test_erased_names_of_files_are_in_no_citation(context: Context) -> None:
    (drawer,) = remember(context, RememberRequest("Rounded.", anchors=("src/cart.py:4",))).drawers
    added = state(context, "src/cart.py:4")
    context.writing().follow_anchors()
    erase(context.writing(), "cart.py")
    context.writing().follow_anchors()
    paths = [one.path for one in (*of_fact(context, added.id), *cited(context, drawer))]
    assert paths
    assert not [path for path in paths if "cart" in path]
    with context.reading().database.snapshot() as connection:
        assert list(connection.execute("SELECT path FROM anchor WHERE path LIKE '%cart%'")) == []
