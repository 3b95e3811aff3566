"""What every Reranker promises, run against each implementation, and what a search does with one.

To check another implementation, add it to `RERANKERS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.index.hashed_words import HashedWords

from palazzo.errors import EmbedderUnavailable
from palazzo.index.embedder import TokenEmbedder
from palazzo.index.minilm import MiniLM
from palazzo.index.query import Query
from palazzo.index.reranker import Reranker
from palazzo.model import Place
from palazzo.palace import Palace

TEXTS = ["The crane is greased on Monday.", "The ferry leaves at noon.", "Who greases the crane?"]
AWKWARD = ["", " \n", "before\0after", "cut \ud83d", "👩‍👩‍👧", "word " * 20_000, "a" * 50_000]


class SharedWords:
    """The share of the question's words that a text has."""

    id = "shared-words/1"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the shares."""
        words = set(question.lower().split())
        return [len(words & set(text.lower().split())) / max(len(words), 1) for text in texts]


class BestToken:
    """The mean of the best match of each token of the question, by the bundled model."""

    id = "minilm-tokens/1"

    def __init__(self) -> None:
        self._model: TokenEmbedder = MiniLM(1)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the means."""
        states = self._model.embed_tokens(question).states
        return [float((states @ self._model.embed_tokens(text).states.T).max(axis=1).mean()) for text in texts]


RERANKERS: list[Callable[[], Reranker]] = [SharedWords, BestToken]


@pytest.fixture(params=RERANKERS, ids=lambda made: made.__name__)
def reranker(request: pytest.FixtureRequest) -> Reranker:
    made: Reranker = request.param()
    return made


def test_each_text_has_a_finite_score_that_depends_on_nothing_else(reranker: Reranker) -> None:
    scores = list(reranker.score("who greases the crane", TEXTS))
    assert len(scores) == len(TEXTS)
    assert all(math.isfinite(score) for score in scores)
    alone = [reranker.score("who greases the crane", [text])[0] for text in TEXTS]
    assert alone == pytest.approx(scores, abs=1e-6)
    assert list(reranker.score("who greases the crane", TEXTS[::-1])) == pytest.approx(scores[::-1], abs=1e-6)


def test_a_text_about_the_question_is_above_another(reranker: Reranker) -> None:
    about, other = reranker.score("when is the crane greased", TEXTS[:2])
    assert about > other


def test_no_texts_have_no_scores(reranker: Reranker) -> None:
    assert len(reranker.score("crane", [])) == 0


@pytest.mark.parametrize("question", ["crane", "", "\0", "cut \ud83d", "word " * 10_000])
def test_every_string_can_be_judged(reranker: Reranker, question: str) -> None:
    scores = reranker.score(question, AWKWARD)
    assert len(scores) == len(AWKWARD)
    assert all(math.isfinite(score) for score in scores)


def test_it_may_be_called_from_several_threads(reranker: Reranker) -> None:
    expected = list(reranker.score("crane", TEXTS))
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: list(reranker.score("crane", TEXTS)), range(8)):
            assert scores == pytest.approx(expected, abs=1e-6)


# --- in a search -------------------------------------------------------------------------------------------


class Lasting(HashedWords):
    """Survives the palaces that it is lent to."""

    def close(self) -> None:
        """Nothing."""


class Prefers:
    """Puts texts with a word first."""

    id = "prefers/1"

    def __init__(self, word: str) -> None:
        self._word = word
        self.judged: list[str] = []

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return 1 for texts with the word."""
        self.judged = list(texts)
        return [float(self._word in text) for text in texts]


class Failing:
    """Has no model today."""

    id = "failing/1"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Refuse."""
        raise EmbedderUnavailable("The cross-encoder is not installed.")


class Careless:
    """Gives one score for all."""

    id = "careless/1"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return too few."""
        return [0.5]


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    palace_file = tmp_path / "palace.db"
    with Palace.open(palace_file, embedder=Lasting) as palace:
        for day in ("Monday", "Tuesday", "Friday"):
            palace.remember(f"The crane is greased on {day} by the yard team.", Place("yard", "notes"))
        palace.embed_pending()
    return palace_file


def find(palace_file: Path, reranker: Reranker | None, rerank: bool = True) -> tuple[list[str], str]:
    with Palace.open(palace_file, "read", embedder=Lasting, reranker=reranker) as palace:
        answer = palace.search(Query("crane greased", rerank=rerank))
    return [hit.text for hit in answer.hits], answer.note


@pytest.mark.parametrize("day", ["Monday", "Tuesday", "Friday"])
def test_the_order_of_an_explicit_search_is_the_rerankers(filed: Path, day: str) -> None:
    texts, _ = find(filed, Prefers(day))
    own, _ = find(filed, None)
    assert day in texts[0]
    assert [text for text in texts if day not in text] == [text for text in own if day not in text]


def test_a_search_that_nobody_made_explicitly_does_not_wait_for_it(filed: Path) -> None:
    reranker = Prefers("Friday")
    find(filed, reranker, rerank=False)
    assert reranker.judged == []


@pytest.mark.parametrize("reranker", [Failing(), Careless()], ids=lambda made: made.id)
def test_without_scores_the_order_stays_and_the_answer_says_why(filed: Path, reranker: Reranker) -> None:
    texts, note = find(filed, reranker)
    assert texts == find(filed, None)[0]
    assert note
