"""The same truth in SQLite and in PostgreSQL: a query's words and vector match each drawer equally well in both."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.index.hashed_words import HashedWords
from tests.team.members import Person, Team

from palazzo.index import keyword_candidates
from palazzo.index.lexicon import Lexicon
from palazzo.index.query import Query, understand
from palazzo.index.vector_index import EVERYTHING, VectorIndex
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import drawers, vector_rows
from palazzo.team.server import accounts
from palazzo.team.server.team_search import TeamSearch

pytestmark = pytest.mark.slow
QUESTIONS = 300
DRAWERS = 40
Values = dict[bytes, float]
"""BM25 or cosine by the id of a drawer."""
VOCABULARY = (
    "payment retry retries refund refunds invoice queue bank midnight approval approvals worker timeout checkout price "
    "cents currency Zürich naïve token session cache deploy rollback schema migration index vector posting server"
)
WORDS = VOCABULARY.split()


def write_notes(person: Person, chance: random.Random) -> None:
    """Notes of 3 to 40 words, of which the first in the list are the most common; some have tags."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    with Palace.open(person.palace, embedder=HashedWords) as palace:
        for number in range(DRAWERS):
            words = chance.choices(WORDS, weights, k=chance.randrange(3, 40))
            place = Place("shop", chance.choice(["checkout", "billing", "search"]))
            author = chance.choice(["Ada", "Grace Hopper"])
            palace.remember(f"{' '.join(words)}, parseHTTPRequest {number}", place, author=author)
        palace.embed_pending()


def ask_palace(person: Person, questions: Sequence[str]) -> list[tuple[Values, Values]]:
    """Return BM25 and cosines of every drawer that a palace finds, for each question."""
    answers = []
    with Palace.open(person.palace, embedder=HashedWords) as palace, palace.database.snapshot() as connection:
        uids = dict(drawers.find_drawers(connection, b"", b"\xff" * 16, 10 * DRAWERS))
        (embedder, _, dimension), *_ = vector_rows.embedders(connection)
        index, lexicon = VectorIndex(embedder, dimension), Lexicon()
        index.follow(connection)
        for question in questions:
            parsed_query = understand(Query(question))
            found = keyword_candidates.find(connection, parsed_query, (), DRAWERS, lexicon=lexicon)
            nearest = index.nearest(HashedWords().embed_query(parsed_query.sentence), DRAWERS, EVERYTHING)
            answers.append(
                ({uids[row]: score for row, score in found.row_scores}, {uids[row]: score for row, score in nearest})
            )
    return answers


def ask_team(team: Team, person: Person, questions: Sequence[str]) -> list[tuple[Values, Values]]:
    """Return the same of what a team server finds."""
    account = accounts.authenticate(team.database, person.membership.token)
    search, answers = TeamSearch(team.database, HashedWords), []
    with team.database.as_reader(account.person) as session:
        uids = {slot: bytes(uid) for slot, uid in session.execute("SELECT slot, uid FROM team.drawer")}
        for question in questions:
            _, matches, cosines = search.find_candidates(session, account, question)
            (words,), (near,) = matches.values(), cosines.values()
            answers.append(
                (
                    {uids[slot]: score for slot, score in enumerate(words.bm25.tolist()) if score},
                    {uids[slot]: score for slot, score in enumerate(near.tolist())},
                )
            )
    return answers


def test_words_and_vectors_match_equally_well_in_sqlite_and_postgresql(team: Team) -> None:
    chance, ada = random.Random(7), team.join("Ada")
    write_notes(ada, chance)
    ada.share()
    team.build()
    questions = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 7))) for _ in range(QUESTIONS)]
    for question, own, shared in zip(
        questions, ask_palace(ada, questions), ask_team(team, ada, questions), strict=True
    ):
        assert shared[0] == pytest.approx(own[0], abs=1e-9), question
        assert shared[1] == pytest.approx(own[1], abs=1e-9), question
