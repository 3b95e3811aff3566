"""A palace as pages to read: every word whole, nothing that acts, the same pages each time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archive import conversations
from tests.archive.conversations import said
from tests.examples import examples
from tests.sync.homes import HOSTILE, Home, filled

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.features.notes.contract import ForgetRequest, RememberRequest
from palazzo.features.notes.forget import forget
from palazzo.features.notes.remember import remember
from palazzo.model import Micros, Place
from palazzo.store.drawer_listing import Listing
from palazzo.sync import markdown_pages, page_tree
from palazzo.sync.markdown_pages import day_of, fence_text

FENCED = re.compile(r"^(`{3,})text\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return filled(tmp_path)


def test_every_word_stands_whole_on_the_page_of_its_place_and_day(home: Home) -> None:
    result, pages = home.pages()
    notes = next(text for name, text in pages.items() if name.startswith("shop/notes/"))
    assert {words for _, words in FENCED.findall(notes)} == {"We chose SQLite.", "The grey cat sleeps."}
    talk = pages["api/auth/2026-01-01.md"]
    assert talk.startswith('---\npalazzo: 1\nwing: "api"\nroom: "auth"\nday: "2026-01-01"\n')
    assert [words for _, words in FENCED.findall(talk)][:2] == ["Why is it slow?", HOSTILE]
    assert "**user**" in talk
    assert "**assistant**" in talk
    assert any("Today it rained.\n\nTomorrow too." in text for name, text in pages.items() if "diary" in name)
    assert result.counts["pages"] == len(pages)
    assert result.counts["facts"] == 2
    assert result.counts["tasks"] == 2


def test_each_page_of_a_wing_is_told_and_in_the_end_all_are(home: Home, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with (
        home.at() as context,
        context.reading().database.snapshot() as connection,
        page_tree.open_tree(tmp_path / "told") as tree,
    ):
        markdown_pages.write(
            connection, markdown_pages.PageSelection(Listing()), tree, lambda done, total: told.append((done, total))
        )
    pages = [name for name in tree.pages if name.count("/") == 2 or name.endswith("/to-dos.md")]
    assert len(told) == len(pages) > len({name.split("/")[0] for name in pages})
    assert told[-1][0] == told[-1][1] > 0


def test_what_surrounds_the_words_does_nothing(home: Home) -> None:
    with home.at() as context:
        palace = context.writing()
        title = "<script>x</script> ![p](https://evil.example/p.png) @everyone"
        source = conversations.SESSION.__class__(("session", "s9"), "test", "file:///s9.jsonl", "s9", title)
        conversations.file_rows(palace, [said(9, "user", "hello")], source=source, place=Place("api", "odd\n# room"))
    _, pages = home.pages()
    for text in pages.values():
        outside = FENCED.sub("", text)
        assert "<script" not in outside
        assert "![p](" not in outside
        assert not re.search(r"(?<!`)@everyone", outside)
        assert "\n# room" not in outside


def test_nothing_around_the_words_drives_a_terminal_or_turns_a_line(home: Home) -> None:
    name, title = "a\x9b31m\u202eb", "\x1b]0;owned\x07 \u2066report\u2069\x7f"
    with home.at() as context:
        source = conversations.SESSION.__class__(("session", "s9"), "test", "file:///s9.jsonl", "s9", title)
        rows = [said(9, "user", "hello \x1b", author=name), said(10, "assistant", "here", author=name)]
        conversations.file_rows(context.writing(), rows, source=source, place=Place(name, name))
    _, pages = home.pages()
    around = {path: FENCED.sub("", text) for path, text in pages.items()}
    for path, text in around.items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", path + text)
    page = next(text for text in around.values() if "owned" in text)
    head = [line for line in page.splitlines() if line.startswith("wing: ")]
    assert json.loads(head[0].removeprefix("wing: ")) == name
    assert "␛]0;owned␇ \\u2066report\\u2069␡" in page


def test_to_dos_and_facts_have_pages_of_their_own(home: Home) -> None:
    _, pages = home.pages()
    to_dos = pages["shop/to-dos.md"]
    assert "- [x] `" in to_dos
    assert "  Write the docs.\n  \n  All of them." in to_dos
    assert "due 2027-01-01" in to_dos
    assert "| palazzo | uses | a \\| pipe &lt;b> | 2026-01-01 |" in pages["facts.md"]
    assert "Rome" in pages["shop/facts.md"]
    assert "Rome" not in pages["facts.md"]


def test_two_exports_of_one_palace_are_the_same_but_for_what_changed(home: Home) -> None:
    home.pages(out="one")
    _, before = home.pages(out="two")
    assert home.pages(out="one")[1] == before
    with home.at() as context:
        note = remember(context, RememberRequest("A new one.", wing="shop", room="notes")).id
    _, after = home.pages(out="one")
    assert {name for name in after if after[name] != before.get(name)} == {
        next(name for name in after if name.startswith("shop/notes/")), "README.md",
    }  # fmt: skip
    with home.at() as context:
        forget(context, ForgetRequest((note,)))
    assert home.pages(out="one")[1] == before


def test_filters_are_those_of_search(home: Home) -> None:
    assert {name.split("/")[0] for name in home.pages(wing="api", out="a")[1]} == {"api", "README.md"}
    (tagged,) = (text for name, text in home.pages(tags=("storage",), out="b")[1].items() if name != "README.md")
    assert [words for _, words in FENCED.findall(tagged)] == ["We chose SQLite."]
    assert home.pages(wing="shop", out="facts")[0].counts["facts"] == 1
    assert home.pages(kind="diary", out="c")[0].counts["drawers"] == 1
    assert home.pages(since="2030-01-01", out="d")[0].counts["drawers"] == 0
    assert home.pages(filed_as=("decision",), out="e")[0].counts["drawers"] == 2
    assert home.pages(branch="main", out="f")[0].counts["drawers"] > 0
    assert home.pages(source="s1", out="g")[0].filter == {"source": "s1"}
    assert 'filter: {"source": "s1"}' in home.pages(source="s1", out="g")[1]["README.md"]
    assert "filter" not in home.pages(out="whole")[1]["README.md"]
    with pytest.raises(NoSuchPlace, match="no wing 'ap'"):
        home.pages(wing="ap", out="h")
    with pytest.raises(UsageError, match="inverted"):
        home.pages(since="2026-02-01", until="2026-01-01", out="i")
    assert not (home.place / "h").exists()


@examples(300)
@given(st.text(st.sampled_from("`~a\n\r#<> \u2028"), max_size=40))
def test_a_fence_is_ended_by_nothing_in_it(words: str) -> None:
    text = fence_text(words)
    fence = text.split("text")[0]
    assert text == f"{fence}text\n{words}\n{fence}"
    assert fence not in words
    assert re.fullmatch("`{3,}", fence)


@pytest.mark.parametrize(
    ("moment", "day"), [(0, "undated"), (10**18, "undated"), (-(10**18), "undated"), (1, "1970-01-01")]
)
def test_a_time_that_is_in_no_calendar_is_undated(moment: int, day: str) -> None:
    assert day_of(Micros(moment)) == day


def test_half_a_character_is_written_as_its_escape(home: Home) -> None:
    with home.at() as context:
        conversations.file_rows(context.writing(), [said(5, "user", "broken \ud800 half")], place=Place("api", "half"))
    _, pages = home.pages()
    assert any("broken \\ud800 half" in text for text in pages.values())


def test_more_drawers_of_a_day_than_are_read_at_once_are_all_there(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown_pages, "_AT_ONCE", 1)
    small = home.pages(out="one")[1]
    monkeypatch.undo()
    assert home.pages(out="two")[1] == small
