"""The same truth in SQLite and in PostgreSQL: a question finds the same ten drawers, with the same scores, in both."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from tests.features.trust.sessions_written import World
from tests.features.trust.sessions_written import run as carry_out
from tests.index.hashed_words import HashedWords
from tests.team.members import Person, Team

from palazzo.index.lexicon import Lexicon
from palazzo.index.query import Query
from palazzo.index.search_pipeline import search
from palazzo.index.vector_index import VectorIndex
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import vector_rows
from palazzo.team.server import accounts
from palazzo.team.server.team_search import TeamSearch

pytestmark = pytest.mark.slow
QUESTIONS, BEST = 300, 10
NOTES, SESSIONS, EXCHANGES, DOCUMENTS, SECTIONS = 30, 8, 6, 5, 6
WING, OTHER_WING = "api", "shop"
VOCABULARY = (
    "payment retry retries refund refunds invoice queue bank midnight approval approvals worker timeout checkout price "
    "cents currency Zürich naïve token session cache deploy rollback schema migration index vector posting server"
)
WORDS = VOCABULARY.split()
QUESTION_WORDS = [*WORDS, "parseHTTPRequest", "Ada", "when", "how", WING, OTHER_WING, "pytest", "elsewhere"]
AUTHORS = ("Ada", "Grace Hopper")


class Ranking(NamedTuple):
    """The best drawers by id, best first, their scores, and how likely there is an answer."""

    ids: list[str]
    scores: list[float]
    chance: float


def make_sentence(chance: random.Random, most: int) -> str:
    """3 to `most` words, of which the first of the list are the most common."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return " ".join(chance.choices(WORDS, weights, k=chance.randrange(3, most)))


def write(person: Person, chance: random.Random) -> None:
    """Notes, some of named people; sessions with questions, answers, commands and their failures; and documents."""
    world = World(person.palace.parent)
    for number in range(SESSIONS):
        session = world.session(f"session-{number}")
        for _ in range(EXCHANGES):
            session.asks(f"{make_sentence(chance, 12)}?")
            if chance.random() < 0.5:
                session.calls("Bash", make_sentence(chance, 30), command=f"make {make_sentence(chance, 5)}")
            session.answers(f"{make_sentence(chance, 60)}, parseHTTPRequest {number}.")
    for number in range(DOCUMENTS):
        sections = [f"## {make_sentence(chance, 6)}\n\n{make_sentence(chance, 80)}." for _ in range(SECTIONS)]
        (world.project / f"page{number}.md").write_text(f"# Page {number}\n\n" + "\n\n".join(sections) + "\n")
    carry_out(world.context(), "mine", (world.histories,))
    carry_out(world.context(), "mine", (world.project,))
    world.close()
    with Palace.open(person.palace, embedder=HashedWords) as palace:
        for _ in range(NOTES):
            place = Place(chance.choice([WING, OTHER_WING]), chance.choice(["checkout", "billing", "search"]))
            palace.remember(f"{make_sentence(chance, 40)}.", place, author=chance.choice(AUTHORS))
        palace.embed_pending()


def ask_palace(person: Person, questions: Sequence[str]) -> list[Ranking]:
    """Ask a palace for its best drawers, without the comparison of tokens, which needs a real model."""
    with Palace.open(person.palace, embedder=HashedWords) as palace, palace.database.snapshot() as connection:
        (embedder, _, dimension), *_ = vector_rows.embedders(connection)
        index, lexicon = VectorIndex(embedder, dimension), Lexicon()
        requests = [
            Query(text, limit=BEST, budget=1_000_000, disabled_stages=frozenset({"tokens"})) for text in questions
        ]
        answers = [search(connection, request, index, HashedWords(), lexicon=lexicon) for request in requests]
    return [
        Ranking([hit.drawer.id for hit in answer.hits], [hit.score for hit in answer.hits], answer.chance)
        for answer in answers
    ]


def ask_team(team: Team, person: Person, questions: Sequence[str]) -> list[Ranking]:
    """Ask the same of a team server."""
    account = accounts.authenticate(team.database, person.membership.token)
    team_search = TeamSearch(team.database, HashedWords)
    answers = [team_search.rank(account, question, BEST) for question in questions]
    return [
        Ranking([hit.id for hit in answer.hits], [hit.score for hit in answer.hits], answer.chance)
        for answer in answers
    ]


def test_questions_find_the_same_drawers_with_the_same_scores_in_sqlite_and_postgresql(team: Team) -> None:
    chance, ada = random.Random(7), team.join("Ada")
    write(ada, chance)
    ada.share(WING)
    ada.share(OTHER_WING)
    team.build()
    questions = [" ".join(chance.choices(QUESTION_WORDS, k=chance.randrange(1, 9))) for _ in range(QUESTIONS)]
    found = zip(questions, ask_palace(ada, questions), ask_team(team, ada, questions), strict=True)
    kinds = set()
    for question, own, shared in found:
        assert shared.ids == own.ids, question
        assert shared.scores == pytest.approx(own.scores, abs=1e-9), question
        assert shared.chance == pytest.approx(own.chance, abs=1e-9), question
        kinds.add(len(own.ids))
    assert BEST in kinds
