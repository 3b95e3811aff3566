"""Which files drawers cite: as they were read, changed and named in sessions, and as notes were given them."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from tests.archive.conversations import PLACE, answered, called, conversations, file_rows, fresh_palace, said
from tests.archive.test_erasing import erase
from tests.derived.state import drawers
from tests.examples import examples

from palazzo.archive.ingest import NewItem
from palazzo.derived.citation_consumer import ANCHOR_CONSUMER, MOST, expected, load_citations, project_path
from palazzo.derived.integrity_checks import verify
from palazzo.knowledge.session_citations import blob_of
from palazzo.model import UNKNOWN_LINE, Anchor, Source
from palazzo.palace import Palace, without_embedder
from palazzo.sources.formats.block_text import call_text
from palazzo.store import anchors, place_rows, redaction_state
from palazzo.text import cited_lines

SHOP = Source(("session", "s1"), "test", "file:///s1.jsonl", "s1", "A session", project="shop")
CART = ["def total(items):", "    return sum(items)", "", "TAX = 1"]
SHOWN = "".join(f"{n}\t{line}\n" for n, line in enumerate([*CART, ""], 1)).removesuffix("\n")


def read(n: int, path: str = "/srv/shop/src/cart.py", output: str = SHOWN, more: str = "") -> list[NewItem]:
    return [called(2 * n, "Read", f"Read\nfile_path: {path}{more}", f"c{n}"), answered(2 * n + 1, output, f"c{n}")]


def edited(n: int, old: str, new: str, path: str = "/srv/shop/src/cart.py") -> list[NewItem]:
    call = call_text("Edit", {"file_path": path, "old_string": old, "new_string": new})
    return [called(2 * n, "Edit", call, f"c{n}"), answered(2 * n + 1, "The file has been updated.", f"c{n}")]


def file_session(palace: Palace, *rows: list[NewItem]) -> None:
    with palace.database.transaction() as connection:
        place_rows.file_project(connection, "shop", "shop", "/srv/shop")
    file_rows(palace, [row for some in rows for row in some], source=SHOP)
    palace.follow_anchors()


def cites(palace: Palace, words: str) -> list[tuple[str, int, int, str]]:
    """What the live drawers cite that hold these words."""
    return [(one.path, one.first, one.last, one.how) for one in anchors_of(palace, words)]


def anchors_of(palace: Palace, words: str) -> list[Anchor]:
    uids = [one.id for one in drawers(palace) if words in one.text]
    with palace.database.snapshot() as connection:
        return [one for some in anchors.of_drawers(connection, uids).values() for one in some]


def digest_of(palace: Palace, *lines: str) -> bytes:
    with palace.database.snapshot() as connection:
        return cited_lines.digest(redaction_state.fingerprint_key(connection), lines)


def sound(palace: Palace) -> bool:
    return next(one.ok for one in verify(palace.database, without_embedder) if one.name == "anchors")


# --- reading -----------------------------------------------------------------------------------------------


def test_a_file_that_was_read_whole_is_cited_with_its_words(palace: Palace) -> None:
    file_session(palace, read(1))
    assert anchors_of(palace, "Read") == [Anchor("src/cart.py", 0, 0, digest_of(palace, *CART), 4, "", "read")]


def test_lines_that_were_asked_for_are_cited_by_their_numbers(palace: Palace) -> None:
    file_session(palace, read(1, output="2\t    return sum(items)", more="\noffset: 2\nlimit: 1"))
    digest = digest_of(palace, "    return sum(items)")
    assert anchors_of(palace, "Read") == [Anchor("src/cart.py", 2, 2, digest, 1, "", "read")]


def test_what_was_shown_before_is_known_where_a_host_says_it_is_unchanged(palace: Palace) -> None:
    file_session(palace, read(1), read(2, output="File unchanged since last read. Refer to the earlier result."))
    assert anchors_of(palace, "unchanged")[0].digest == digest_of(palace, *CART)


def test_a_read_that_failed_cites_nothing(palace: Palace) -> None:
    rows = read(1, output="File does not exist.")
    part = rows[1].parts[0]
    failed = type(part)(part.kind, part.start, part.end, part.name, part.call, failed=True)
    file_session(palace, [rows[0], said(3, "tool", "File does not exist.", [failed])])
    assert cites(palace, "Read") == []


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts",
        "/srv/shop/node_modules/a/index.js",
        "/srv/shop/../b.py",
        "~/notes.md",
        "/srv/shop/\udcff.py",
        "a\0.py",
    ],
)
def test_what_is_in_no_project_or_was_put_there_by_programs_is_not_cited(palace: Palace, path: str) -> None:
    file_session(palace, read(1, path))
    assert cites(palace, "Read") == []


# --- changing ----------------------------------------------------------------------------------------------


def test_an_edit_cites_the_lines_that_it_wrote_where_they_stand_then(palace: Palace) -> None:
    file_session(palace, read(1), edited(2, "TAX = 1", "TAX = 2"))
    assert anchors_of(palace, "TAX = 2") == [
        Anchor("src/cart.py", 4, 4, digest_of(palace, "TAX = 2"), 1, "", "edited")
    ]  # fmt: skip


def test_an_edit_of_a_file_that_nobody_read_is_known_by_its_whole_lines(palace: Palace) -> None:
    file_session(palace, edited(1, "x", "\na = 1\nb = 2\nc = 3\nd"))
    digest = digest_of(palace, "a = 1", "b = 2", "c = 3")
    assert anchors_of(palace, "b = 2") == [Anchor("src/cart.py", UNKNOWN_LINE, UNKNOWN_LINE, digest, 3, "", "edited")]


def test_the_lines_that_a_result_shows_place_an_edit(palace: Palace) -> None:
    rows = edited(1, "TAX = 1", "TAX = 2")
    shown = "The file has been updated. Here is a part of it:\n    41→\n    42→TAX = 2\n    43→"
    file_session(palace, [rows[0], answered(3, shown, "c1")])
    assert cites(palace, "TAX = 2") == [("src/cart.py", 42, 42, "edited")]


def test_a_file_that_was_written_is_cited_whole_with_its_blob(palace: Palace) -> None:
    call = "Write\nfile_path: /srv/shop/a.py\ncontent:\nA = 1\n"
    file_session(palace, [called(2, "Write", call, "c1"), answered(3, "File created.", "c1")])
    digest = digest_of(palace, "A = 1")
    assert anchors_of(palace, "Write") == [Anchor("a.py", 0, 0, digest, 1, blob_of("A = 1\n"), "edited")]


@pytest.mark.parametrize("said_no", ["The user doesn't want to proceed with this tool use.", "File was modified since"])
def test_an_edit_that_was_not_carried_out_cites_nothing(palace: Palace, said_no: str) -> None:
    rows = edited(1, "a", "b")
    file_session(palace, [rows[0], answered(3, said_no, "c1")])
    assert cites(palace, "Edit") == []


def test_what_an_answer_says_of_a_file_cites_what_was_changed_in_it(palace: Palace) -> None:
    file_session(
        palace,
        [said(1, "user", "Raise the tax")],
        read(1),
        edited(2, "def total", "# A comment.\ndef total"),
        edited(3, "TAX = 1", "TAX = 2"),
        [said(10, "assistant", "The tax is 2 now, in cart.py."), said(11, "user", "And what is in cart.py?")],
    )
    first = Anchor("src/cart.py", 1, 2, digest_of(palace, "# A comment.", CART[0]), 2, "", "edited")
    assert anchors_of(palace, "The tax is 2") == [
        first, Anchor("src/cart.py", 5, 5, digest_of(palace, "TAX = 2"), 1, "", "edited")
    ]  # fmt: skip
    assert cites(palace, "And what is in") == []


def test_an_edit_takes_the_place_of_what_was_read_before_it(palace: Palace) -> None:
    both = [*read(1), *edited(2, "TAX = 1", "TAX = 2")]
    text = "\n\n".join(row.text for row in both)
    parts, at = [], 0
    for row in both:
        part = row.parts[0]
        parts.append(type(part)(part.kind, at, at + len(row.text), part.name, part.call))
        at += len(row.text) + 2
    file_session(palace, [said(2, "tool", text, parts)])
    assert all(how == "edited" for _, _, _, how in cites(palace, "TAX = 2"))


# --- naming ------------------------------------------------------------------------------------------------


def test_lines_that_are_named_are_cited_with_the_words_they_were_last_seen_with(palace: Palace) -> None:
    file_session(
        palace,
        [said(1, "user", "See src/cart.py:2")],
        read(2),
        edited(3, "TAX = 1", "TAX = 2"),
        [said(9, "assistant", "It is at cart.py:4.")],
    )
    assert Anchor("src/cart.py", 2, 2, how="mentioned") in anchors_of(palace, "See src")
    named = Anchor("src/cart.py", 4, 4, digest_of(palace, "TAX = 2"), 1, "", "mentioned")
    assert named in anchors_of(palace, "It is at")


def test_words_from_outside_name_nothing(palace: Palace) -> None:
    file_session(palace, [said(1, "user", "Look: src/cart.py:2", trust="external")])
    assert cites(palace, "Look") == []


def test_a_note_cites_what_it_names(palace: Palace) -> None:
    palace.remember("Totals are rounded, see src/cart.py:2-3.", PLACE)
    palace.follow_anchors()
    assert cites(palace, "Totals") == [("src/cart.py", 2, 3, "mentioned")]


# --- keeping them ------------------------------------------------------------------------------------------


def test_no_more_are_kept_of_a_drawer_than_anybody_looks_at(palace: Palace) -> None:
    file_session(palace, [said(1, "user", " ".join(f"src/{n}.py:{n}" for n in range(1, 60)))])
    assert len(cites(palace, "src/1.py")) == MOST


def test_a_secret_that_was_taken_out_of_a_line_leaves_no_digest(palace: Palace) -> None:
    file_session(palace, read(1, output="1\tkey = 'AKIAIOSFODNN7EXAMPLF'\n2\t"))
    (one,) = anchors_of(palace, "Read")
    assert (one.path, one.digest) == ("src/cart.py", b"")


def test_forgotten_words_say_nothing_of_a_file(palace: Palace) -> None:
    file_session(palace, read(1))
    palace.forget([one.id for one in drawers(palace) if "return sum" in one.text])
    palace.follow_anchors()
    with palace.database.snapshot() as connection:
        assert anchors.count(connection) == 0
    assert sound(palace)


def test_erased_words_leave_no_digest_in_the_whole_session(palace: Palace) -> None:
    file_session(palace, read(1), [said(5, "assistant", "See cart.py:1.")])
    before = [one.digest for one in anchors_of(palace, "See cart")]
    erase(palace, "def total(items)")
    with palace.database.snapshot() as connection:
        assert anchors.count(connection) == 0
    palace.follow_anchors()
    assert [one.digest for one in anchors_of(palace, "See cart")] != before
    assert sound(palace)


def test_rebuilding_makes_the_same(palace: Palace) -> None:
    file_session(palace, read(1), edited(2, "TAX = 1", "TAX = 2"), [said(9, "assistant", "See cart.py:4.")])
    palace.remember("See src/cart.py:2.", PLACE)
    palace.follow_anchors()
    before = {one.text: anchors_of(palace, one.text) for one in drawers(palace)}
    palace.rebuild("all")
    assert {one.text: anchors_of(palace, one.text) for one in drawers(palace)} == before
    assert sound(palace)


def test_verify_finds_a_citation_that_was_changed(palace: Palace) -> None:
    file_session(palace, read(1))
    assert sound(palace)
    with palace.database.transaction() as connection:
        connection.execute("UPDATE anchor SET path = 'src/other.py'")
    assert not sound(palace)


@examples(40)
@given(conversations())
def test_a_session_that_grows_cites_the_same_as_one_that_comes_at_once(rows: list[NewItem]) -> None:
    calls = [*rows, *(row for some in (read(40), edited(41, "TAX = 1", "TAX = 2")) for row in some)]
    with fresh_palace() as palace:
        with palace.database.transaction() as connection:
            place_rows.file_project(connection, "shop", "shop", "/srv/shop")
        for batch in (calls[: len(calls) // 2], calls[len(calls) // 2 :]):
            file_rows(palace, batch, source=SHOP)
            palace.follow_anchors()
        with palace.database.snapshot() as connection:
            for thing in ANCHOR_CONSUMER.everything(connection):
                assert expected(connection, thing) == load_citations(connection, thing)
            assert anchors.count(connection) > 0


@pytest.mark.parametrize(
    ("name", "cwd", "roots", "wanted"),
    [
        ("src/a.py", "/srv/shop", ["/srv/shop"], "src/a.py"),
        ("a.py", "/srv/shop/src", ["/srv/shop"], "src/a.py"),
        ("../b.py", "/srv/shop/src", ["/srv/shop"], "b.py"),
        ("/srv/shop/a.py", "/tmp", ["/srv", "/srv/shop"], "a.py"),
        ("/srv/shop/a.py", "/srv/shop", [], "a.py"),
        ("a.py", "", [], "a.py"),
        ("/srv/shopping/a.py", "/srv/shop", ["/srv/shop"], None),
        ("../../a.py", "/srv/shop", ["/srv/shop"], None),
        ("c:\\Shop\\src\\a.py", "C:\\shop", ["C:\\shop"], "src/a.py"),
        ("src\\a.py", str(PureWindowsPath("C:/shop")), [], "src/a.py"),
    ],
)
def test_a_file_is_named_from_its_projects_root(name: str, cwd: str, roots: list[str], wanted: str | None) -> None:
    assert project_path(name, cwd, roots) == wanted


def test_a_session_that_changes_its_directory_names_files_from_where_it_began(palace: Palace) -> None:
    began = said(1, "user", "Look", meta={"cwd": "/opt/old"})
    call = called(2, "Read", "Read\nfile_path: b.py", "c1")
    there = said(2, "assistant", call.text, call.parts, meta={"cwd": "/opt/old/src"})
    file_rows(palace, [began, there, answered(3, "1\tB = 1\n2\t", "c1")], source=SHOP)
    palace.follow_anchors()
    assert cites(palace, "Read") == [("src/b.py", 0, 0, "read")]
