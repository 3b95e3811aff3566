"""Hits of two drawers: which are paired, what the budget allows, and what each face says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.index.hashed_words import HashedWords

from palazzo.features.search.contract import SearchRequest, SearchResult
from palazzo.features.search.search import search
from palazzo.index import hit_stretches
from palazzo.index.presentation import Hit
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.text.token_counts import estimate_tokens

REST = "\n\n".join(
    f"Paragraph {n} of the manual describes step {n}, which two people do with gloves and a lamp, before step {n + 1}."
    for n in range(14)
)
PAGE = f"""# Crane

The harbour crane lifts forty tons and is greased every Monday by the yard team, who note it in the crane ledger.

{REST}

# Brake

The brake of the harbour crane holds forty tons and is tested every spring by an inspector of the port authority.

{REST.replace("gloves", "ropes")}
"""
OTHER = """# Ferry

The ferry leaves the harbour at noon, and the harbour crane loads it before that, which takes an hour in good weather.
"""


class Lasting(HashedWords):
    """Survives the palaces that it is lent to."""

    def close(self) -> None:
        """Nothing."""


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    docs = tmp_path / "yard"
    docs.mkdir()
    (docs / "crane.md").write_text(PAGE, "utf-8")
    (docs / "ferry.md").write_text(OTHER, "utf-8")
    palace_file = tmp_path / "palace.db"
    with Palace.open(palace_file, embedder=Lasting) as palace:
        mine(palace.database, palace.clock, MineRequest((docs,)))
        palace.embed_pending()
    return palace_file


def ask(palace_file: Path, text: str, limit: int = 5, budget: int = 2000, drawers: bool = False) -> SearchResult:
    variables = {"PALAZZO_SERVICE": "off", "HOME": str(palace_file.parent)}
    with Context(palace=palace_file, cwd=palace_file.parent, variables=variables) as context:
        return search(context, SearchRequest(text, limit=limit, budget=budget, drawers=drawers))


def find(palace_file: Path, text: str, stretches: bool = True, budget: int = 2000) -> list[Hit]:
    with Palace.open(palace_file, "read", embedder=Lasting) as palace:
        return palace.search(Query(text, stretches=stretches, budget=budget)).hits


def test_two_drawers_of_a_document_are_one_hit_with_both_texts(filed: Path) -> None:
    hits = find(filed, "harbour crane forty tons")
    (both,) = [hit for hit in hits if hit.parts]
    texts = [both.text[part.start : part.end] for part in both.parts]
    assert texts == [part.drawer.text for part in both.parts]
    assert [part.drawer.source.uri.endswith("crane.md") for part in both.parts] == [True, True]
    assert both.drawer in both.drawers
    assert len(both.text) == both.length


def test_drawers_of_several_sources_stay_apart_and_each_drawer_is_shown_once(filed: Path) -> None:
    hits = find(filed, "harbour crane")
    ids = [drawer.id for hit in hits for drawer in hit.drawers]
    assert len(ids) == len(set(ids)) == 4
    assert all(len({drawer.source.uri for drawer in hit.drawers}) == 1 for hit in hits)


def test_the_first_hit_is_the_same_drawer_with_and_without_stretches(filed: Path) -> None:
    for text in ("brake of the crane", "ferry at noon", "greased every Monday"):
        stretched, single = find(filed, text), find(filed, text, stretches=False)
        assert (stretched[0].drawer.id, stretched[0].score) == (single[0].drawer.id, single[0].score)
        assert not any(hit.parts for hit in single)


@pytest.mark.parametrize("budget", [20, 45, 60, 90, 2000])
def test_the_texts_stay_within_the_budget(filed: Path, budget: int) -> None:
    hits = find(filed, "harbour crane forty tons", budget=budget)
    shown = sum(estimate_tokens(hit.text) for hit in hits) + sum(
        estimate_tokens(beside.text) for hit in hits for beside in hit.context
    )
    assert shown <= budget + len(hits)  # the marks between two drawers
    assert all(hit.truncated for hit in hits if len(hit.text) < hit.length)


def test_a_third_drawer_of_a_source_begins_another_hit(filed: Path) -> None:
    single = find(filed, "harbour crane forty tons", stretches=False)
    crane = [hit for hit in single if hit.drawer.source.uri.endswith("crane.md")]
    (ferry,) = [hit for hit in single if hit not in crane]
    firsts, seconds = hit_stretches.pair([crane[0], ferry, crane[1], crane[2]], 5)
    assert [hit.row for hit in firsts] == [crane[0].row, ferry.row, crane[2].row]
    assert seconds == {crane[0].row: crane[1]}


def test_external_text_is_not_paired_with_other_text(filed: Path) -> None:
    crane = [hit for hit in find(filed, "harbour crane", stretches=False) if hit.drawer.source.uri.endswith("crane.md")]
    foreign = replace(crane[1], drawer=replace(crane[1].drawer, trust="external"))
    firsts, seconds = hit_stretches.pair([crane[0], foreign], 5)
    assert (len(firsts), seconds) == (2, {})


def test_notes_are_not_paired(tmp_path: Path) -> None:
    with Palace.open(tmp_path / "palace.db", embedder=Lasting) as palace:
        palace.remember("The crane was bought in 2019.", Place("yard", "notes"))
        palace.remember("The crane was painted in 2021.", Place("yard", "notes"))
        palace.embed_pending()
        hits = palace.search(Query("crane", stretches=True)).hits
    assert len(hits) == 2
    assert not any(hit.parts for hit in hits)


def test_the_operation_shows_the_parts_and_drawers_makes_each_a_hit(filed: Path) -> None:
    stretched, single = ask(filed, "harbour crane forty tons"), ask(filed, "harbour crane forty tons", drawers=True)
    (both,) = [hit for hit in stretched.hits if hit.parts]
    assert both.id in {part.id for part in both.parts}
    assert both.text[both.quoted_at :].startswith(both.quoted)
    assert {part.id for part in both.parts} <= {hit.id for hit in single.hits}
    assert not any(hit.parts for hit in single.hits)
