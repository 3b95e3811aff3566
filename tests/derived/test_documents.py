"""A document's current version is live; those before it are kept, retired, and come back when it is put back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.archive.conversations import cutting_at, documents, file_version, fresh_palace, small_cuts
from tests.derived.state import complaints, derived, drawers, drop_derived, live_ids
from tests.examples import examples as enough

from palazzo.index.query import Query
from palazzo.palace import Palace
from palazzo.store import items

examples = enough(40)


def words(text: str) -> str:
    return "".join(text.split())


@examples
@given(documents)
def test_every_word_of_a_document_is_in_one_section_in_order(text: str) -> None:
    with small_cuts(), fresh_palace() as palace:
        file_version(palace, text)
        found = sorted(drawers(palace), key=lambda drawer: drawer.spans[0].start)
        assert words("".join(drawer.text for drawer in found)) == words(text)
        assert all(drawer.kind == "section" for drawer in found)


@examples
@given(st.lists(documents, min_size=1, max_size=5), st.booleans())
def test_the_last_version_alone_is_live_whatever_came_before(versions: list[str], lost: bool) -> None:
    with small_cuts(), fresh_palace() as palace, fresh_palace() as fresh:
        for text in versions:
            file_version(palace, text)
        if lost:
            drop_derived(palace)
            palace.rebuild("all")
        file_version(fresh, versions[-1])
        assert live_ids(palace) == live_ids(fresh)
        assert complaints(palace) == []
        with palace.database.snapshot() as connection:
            rows = connection.execute("SELECT text, text_codec FROM item WHERE kind = 'document'")
            assert {items.decode_text(*row) for row in list(rows)} == set(versions)


def test_editing_retires_the_old_sections_and_their_ids_still_resolve(palace: Palace) -> None:
    file_version(palace, "# Retries\n\nBack off twice.\n")
    (old,) = drawers(palace)
    file_version(palace, "# Retries\n\nBack off three times.\n")
    assert palace.search(Query("twice")).hits == []
    assert [hit.drawer.text for hit in palace.search(Query("back off")).hits] == ["# Retries\n\nBack off three times."]
    kept = palace.drawer(old.id)
    assert (kept.text, kept.retired_at is None) == (old.text, False)


def test_putting_a_document_back_revives_its_old_ids(palace: Palace) -> None:
    first, second = "# A\n\nalpha text\n", "# A\n\nbeta text\n"
    file_version(palace, first)
    before = derived(palace)
    file_version(palace, second)
    file_version(palace, first)
    assert derived(palace)["drawers"] == before["drawers"]
    assert palace.drawer(next(iter(live_ids(palace)))).retired_at is None
    assert palace.search(Query("beta")).hits == []
    assert len(palace.search(Query("alpha")).hits) == 1


def test_the_same_version_again_is_no_change(palace: Palace) -> None:
    file_version(palace, "# A\n\nalpha\n")
    before = derived(palace)
    file_version(palace, "# A\n\nalpha\n")
    assert derived(palace) == before
    with palace.database.snapshot() as connection:
        assert next(connection.execute("SELECT count(*) FROM revision"))[0] == 1


def test_a_section_says_in_which_lines_it_stands(palace: Palace) -> None:
    with cutting_at(100, 100, 20, 100, 9):
        file_version(palace, "# A\n\none two three\n\n# B\n\nfour five\nsix\n")
    assert [(drawer.title, drawer.locator) for drawer in drawers(palace)] == [("A", "lines 1-3"), ("B", "lines 5-8")]


def test_what_was_forgotten_of_a_version_stays_forgotten_when_it_comes_back(palace: Palace) -> None:
    first = "# A\n\nalpha secret\n\n# B\n\nbeta\n"
    with cutting_at(100, 100, 20, 100, 9):
        file_version(palace, first)
        palace.forget([next(drawer.id for drawer in drawers(palace) if "secret" in drawer.text)])
        file_version(palace, "# C\n\ngamma\n")
        file_version(palace, first)
    assert [drawer.text for drawer in drawers(palace)] == ["# B\n\nbeta"]
    assert palace.search(Query("secret")).hits == []
