"""An uncertain answer is shown as weak to who asked, and withheld from who did not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.index.hashed_words import HashedWords

from palazzo.features.search.contract import SearchRequest
from palazzo.features.search.search import search
from palazzo.features.search.strength import strengths_of
from palazzo.index import certainty
from palazzo.index.certainty import BY_TOKENS, BY_VECTORS, AnswerEvidence, answer_certainty, gather_evidence
from palazzo.index.fusion import Candidate
from palazzo.index.query import Query
from palazzo.index.ranking import WORK, CandidateRank
from palazzo.index.signals import Signals
from palazzo.index.token_matching import TokenMatch
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace


class Lasting(HashedWords):
    """Survives the palaces that it is lent to."""

    def close(self) -> None:
        """Nothing."""


def candidates(*ranks: float) -> list[CandidateRank]:
    return [CandidateRank(Candidate(n, 0.5, 1.0, 0.5), Signals(words=0.5), rank, WORK) for n, rank in enumerate(ranks)]


@pytest.mark.parametrize("scale", [BY_TOKENS, BY_VECTORS], ids=["tokens", "vectors"])
def test_each_piece_of_evidence_makes_an_answer_more_certain(scale: certainty.CertaintyScale) -> None:
    weak = AnswerEvidence(closeness=0.3, held=0.2, lead=0.2)
    stronger = [weak._replace(**{name: getattr(weak, name) + 0.4}) for name in weak._fields]
    assert all(answer_certainty(each, scale) > answer_certainty(weak, scale) for each in stronger)
    assert answer_certainty(weak, scale) < scale.floor
    assert answer_certainty(AnswerEvidence(0.7, 0.7, 1.5), scale) > 0.5


def test_the_lead_is_over_the_candidates_from_the_fourth_on() -> None:
    assert gather_evidence(candidates(5.0, 4.9, 4.8, 3.0, 2.0), {}, 0.6, 0.5).lead == pytest.approx(2.5)


def test_few_candidates_say_nothing_about_the_lead() -> None:
    few, average = candidates(5.0, 5.0, 5.0), gather_evidence([], {}, 0.6, 0.5)
    assert gather_evidence(few, {}, 0.6, 0.5) == average


def test_matches_of_tokens_are_closer_evidence_than_a_cosine() -> None:
    matches = {1: TokenMatch(0.4, 0.45), 2: TokenMatch(0.5, 0.65)}
    assert gather_evidence(candidates(1.0), matches, 0.9, None).closeness == 0.65
    assert gather_evidence(candidates(1.0), {}, 0.9, None).closeness == 0.9


def test_hits_of_an_uncertain_answer_are_all_weak() -> None:
    assert strengths_of([0.9, 0.6, 0.1], is_uncertain=True) == ["weak"] * 3
    assert strengths_of([0.9, 0.6, 0.1]) == ["strong", "strong", "weak"]


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    palace_file = tmp_path / "palace.db"
    with Palace.open(palace_file, embedder=Lasting) as palace:
        for day in ("Monday", "Tuesday", "Friday"):
            palace.remember(f"The crane is greased on {day} by the yard team.", Place("yard", "notes"))
        palace.embed_pending()
    return palace_file


@pytest.mark.parametrize(("floor", "is_uncertain"), [(1.0, True), (0.0, False)])
def test_who_asked_sees_an_uncertain_answer_and_who_did_not_sees_none(
    filed: Path, monkeypatch: pytest.MonkeyPatch, floor: float, is_uncertain: bool
) -> None:
    monkeypatch.setattr(certainty, "BY_VECTORS", BY_VECTORS._replace(floor=floor))
    with Palace.open(filed, "read", embedder=Lasting) as palace:
        asked, unasked = (palace.search(Query("crane greased", certain_only=only)) for only in (False, True))
    assert len(asked.hits) == 3
    assert asked.is_uncertain == is_uncertain
    assert len(unasked.hits) == (0 if is_uncertain else 3)
    variables = {"PALAZZO_SERVICE": "off", "HOME": str(filed.parent), "PALAZZO_RERANK": "off"}
    with OwnEmbedder(palace=filed, cwd=filed.parent, variables=variables) as context:
        result = search(context, SearchRequest("crane greased"))
    assert result.uncertain == is_uncertain
    assert ({hit.strength for hit in result.hits} == {"weak"}) == is_uncertain


class OwnEmbedder(Context):
    """A caller whose embedder is that of the test."""

    def open_embedder(self, threads: int = 1) -> Lasting:
        """Return the embedder that filed the palace."""
        return Lasting()
