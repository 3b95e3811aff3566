"""Nothing is found where nothing is, however small the palace; what is said in other words is found in each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.index.hashed_words import HashedWords

from palazzo.index import score
from palazzo.index.minilm import MiniLM
from palazzo.index.query import Query
from palazzo.model import Place
from palazzo.palace import Palace

NOTES = (
    "The deploy service listens on port 8443, because nginx has 8080.",
    "Invoices are rounded half even, since the auditors asked for it.",
    "A session token lives for fifteen minutes, a refresh token for thirty days.",
    "The nightly export failed because the disk of worker-3 was full.",
    "We keep SQLite: one file can be copied, and nobody has to run a server.",
    "Photos are scaled to four widths by the thumbnail service.",
    "The release is cut on Thursdays, never on a Friday.",
    "Flaky tests are quarantined for a week, then deleted.",
    "Passwords are hashed with argon2 and a salt for each user.",
    "Money is an integer of cents everywhere, never a float.",
)
NOWHERE = ("E0432", "zebra giraffe quantum", "how long do I boil an egg", "XQ-77120", "frobnicate_widget_index")


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLM]:
    """The bundled model: made-up vectors have no background."""
    model = MiniLM(1)
    yield model
    model.close()


class Lent:
    """The module's model, which stays open when a palace is closed."""

    def __init__(self, model: MiniLM) -> None:
        self.id, self.dimension, self.max_tokens = model.id, model.dimension, model.max_tokens
        self.embed, self.embed_query = model.embed, model.embed_query

    def close(self) -> None:
        """Nothing."""


@pytest.fixture(params=[1, 4, 10, 40])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model: MiniLM) -> Iterator[Palace]:
    """A palace of that many drawers."""
    path = tmp_path_factory.mktemp("refusal") / "palace.db"
    with Palace.open(path, embedder=lambda: Lent(model)) as palace:
        for n in range(request.param):
            text = NOTES[n] if n < len(NOTES) else f"{NOTES[n % len(NOTES)]} Agreed again in meeting {n}."
            palace.remember(text, Place("shop", "notes"))
        palace.embed_pending()
        yield palace


def test_what_stands_nowhere_is_not_found(filled: Palace) -> None:
    for query in NOWHERE:
        answer = filled.search(Query(query))
        assert answer.hits == [], query
        assert answer.below


@pytest.mark.parametrize(
    "query", ["which port does the deployment use", "8443", "nginx", "where is the service reachable"]
)
def test_what_is_there_is_found_by_word_and_by_meaning(filled: Palace, query: str) -> None:
    hits = filled.search(Query(query)).hits
    assert hits
    assert hits[0].drawer.text.startswith("The deploy service")


def test_a_text_without_a_vector_yet_is_found_by_its_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("refusal") / "palace.db"
    with Palace.open(path, embedder=HashedWords) as palace:
        palace.remember(NOTES[1], Place("shop", "notes"))
        palace.embed_pending()
        palace.remember("zebra crossing", Place("shop", "notes"))
        answer = palace.search(Query("zebra giraffe quantum"))
        assert answer.index == "building"
        assert answer.hits[0].drawer.text == "zebra crossing"


@pytest.mark.parametrize(
    ("less", "more"),
    [((0.1, 0.2, 0.1), (0.5, 0.2, 0.1)), ((0.1, 0.2, 0.1), (0.1, 0.5, 0.1)), ((0.1, 0.2, 0.1), (0.1, 0.2, 0.6))],
)
def test_each_piece_of_evidence_makes_an_answer_likelier(
    less: tuple[float, float, float], more: tuple[float, float, float]
) -> None:
    assert score.answer_chance(*less) < score.answer_chance(*more)


@pytest.mark.parametrize("first", [0.0, 1.0, None])
def test_the_chance_is_a_probability_for_every_score(first: float | None) -> None:
    assert 0 <= score.answer_chance(first, -1.0, None) <= score.answer_chance(first, 1.0, 1.0) <= 1
