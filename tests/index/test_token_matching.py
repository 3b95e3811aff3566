"""Comparing the best candidates with the query token by token: what it changes, what it costs, what it can lack."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.index.worded_tokens import WordedTokens

from palazzo.errors import EmbedderUnavailable
from palazzo.features.search import search as operation
from palazzo.features.search.contract import SearchRequest
from palazzo.index import minilm, reranking, score, token_matching
from palazzo.index.embedder import TokenEmbedder
from palazzo.index.fusion import Candidate
from palazzo.index.minilm import DATA, GRAPH, STATES_GRAPH, MiniLM, damaged_files
from palazzo.index.neighbour_search import Around
from palazzo.index.query import Query
from palazzo.index.ranking import NOT_EXAMINED, WORK, CandidateRank
from palazzo.index.search_pipeline import Answer
from palazzo.index.signals import Signals
from palazzo.index.token_matching import StatesCache, TokenMatch
from palazzo.model import Place
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import passage_rows
from palazzo.store.drawers import DrawerPlacement

SHOP = Place("shop", "notes")
NOTES = (
    "The queue retries four times, since the bank answers slowly.",
    "The queue was renamed to billing last week.",
    "We deploy on Thursdays; the queue is drained first.",
    "a",
    "キューは四回再試行します。",
    "คิวลองใหม่สี่ครั้ง",
)


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLM]:
    opened = MiniLM(1)
    yield opened
    opened.close()


@pytest.fixture
def words() -> WordedTokens:
    return WordedTokens()


@pytest.fixture
def stocked(tmp_path: Path, words: WordedTokens) -> Iterator[Palace]:
    with Palace.open(tmp_path / "palace.db", embedder=lambda: words) as palace:
        for note in NOTES:
            palace.remember(note, SHOP)
        palace.embed_pending()
        yield palace


def ask(palace: Palace, text: str, **fields: object) -> Answer:
    return palace.search(Query(text, **{"rerank": True, **fields}))  # type: ignore[arg-type]


def signals_of(answer: Answer) -> list[dict[str, float]]:
    return [{reason.name: reason.value for reason in hit.reasons} for hit in answer.hits]


@pytest.fixture
def weighted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights by which tokens decide."""
    monkeypatch.setattr(reranking, "WORK_BY_TOKENS", Signals(tokens=1.0, rare_tokens=1.0))


# --- the model


@pytest.mark.parametrize(
    "text",
    ["Why does the queue retry?", "", "a", "再試行", "คิว", "…!?", "x" * 20_000, "word " * 10_000, "\ud800 be\0fore"],
)
def test_a_text_has_token_states_and_the_same_vector_to_the_bit(model: MiniLM, text: str) -> None:
    vector, spans, states = model.embed_tokens(text)
    assert np.array_equal(vector, model.embed_query(text))
    assert 1 <= len(states) == len(spans) <= model.max_tokens
    np.testing.assert_allclose(np.linalg.norm(states, axis=1), 1, atol=1e-5)


def test_punctuation_has_no_state_and_the_spans_are_those_of_the_words(model: MiniLM) -> None:
    text = "Retries: four (4), not «acht»!"
    spans = model.embed_tokens(text).spans
    assert [text[start:end] for start, end in spans[:4]] == ["Re", "tries", "four", "4"]
    assert all(text[start:end].isalnum() for start, end in spans)


def test_the_model_keeps_its_name_so_that_no_palace_makes_its_vectors_again(model: MiniLM) -> None:
    assert model.id == "minilm-l6-v2-int7/" + minilm.FINGERPRINT[:12]
    assert STATES_GRAPH not in minilm.SHA256


@pytest.mark.parametrize("damage", ["missing", "cut", "another graph"])
def test_without_the_second_graph_vectors_are_made_and_token_states_are_refused(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: MiniLM
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    monkeypatch.setattr(minilm, "DATA", folder)
    content = (folder / STATES_GRAPH).read_bytes()
    if damage == "missing":
        (folder / STATES_GRAPH).unlink()
    else:
        (folder / STATES_GRAPH).write_bytes(content[:-20] if damage == "cut" else (folder / GRAPH).read_bytes())
    assert damaged_files() == [STATES_GRAPH]
    bare = MiniLM(1)
    with pytest.raises(EmbedderUnavailable, match="reinstall palazzo"):
        bare.embed_tokens("retry")
    assert np.array_equal(bare.embed_query("retry"), model.embed_query("retry"))


def test_a_closed_model_gives_no_token_states() -> None:
    closed = MiniLM(1)
    closed.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        closed.embed_tokens("retry")


def test_threads_that_ask_for_the_first_states_at_once_all_get_them(model: MiniLM) -> None:
    expected = model.embed_tokens("retry").states
    opened = MiniLM(1)
    with ThreadPoolExecutor(6) as pool:
        states = list(
            pool.map(lambda n: opened.embed_tokens("retry").states if n % 2 else opened.embed_query("retry"), range(24))
        )
    assert all(np.array_equal(one, expected) for one in states[1::2])
    assert all(np.array_equal(one, states[0]) for one in states[::2])
    opened.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        opened.embed_query("retry")


# --- searching


@pytest.mark.usefixtures("weighted")
def test_the_drawer_whose_tokens_answer_every_word_comes_first(stocked: Palace) -> None:
    answer = ask(stocked, "queue billing renamed", disabled_stages=frozenset({"floor"}))
    assert answer.index == "ready"
    assert answer.hits[0].drawer.text == NOTES[1]
    assert signals_of(answer)[0]["tokens"] == 1


@pytest.mark.usefixtures("weighted")
def test_nothing_is_compared_unless_the_query_wants_it(stocked: Palace, words: WordedTokens) -> None:
    for fields in ({"rerank": False}, {"disabled_stages": frozenset({"tokens"})}):
        answer = ask(stocked, "queue billing", **fields)
        assert not words.read
        assert all("tokens" not in own for own in signals_of(answer))


@pytest.mark.parametrize("texts_with_states", [0, 1, 2], ids=["gone", "of the query alone", "half made"])
def test_missing_token_states_are_said_and_the_answer_is_as_without_them(
    stocked: Palace, words: WordedTokens, texts_with_states: int
) -> None:
    plain = ask(stocked, "queue retries", rerank=False)
    words.states_left = texts_with_states
    answer = ask(stocked, "queue retries")
    assert plain.hits
    assert (answer.index, answer.hits) == ("without-tokens", plain.hits)
    assert "token states" in answer.note
    words.states_left = None
    assert ask(stocked, "queue retries").index == "ready"


def test_tokens_of_another_model_than_that_of_the_vectors_are_not_compared(stocked: Palace, tmp_path: Path) -> None:
    plain = ask(stocked, "queue retries", rerank=False, disabled_stages=frozenset({"vectors"}))
    other = WordedTokens("other-tokens", dimension=64)
    with Palace.open(tmp_path / "palace.db", "read", embedder=lambda: other) as palace:
        answer = ask(palace, "queue retries", disabled_stages=frozenset({"vectors"}))
    assert (answer.index, other.read) == ("keyword-only", [])
    assert [hit.text for hit in answer.hits] == [hit.text for hit in plain.hits] != []
    assert "other-tokens" in answer.note


class Searcher(Context):
    """A caller without settings of its own but those in `variables`, who searches with these embedders."""

    def __init__(self, path: Path, words: WordedTokens, **variables: str) -> None:
        environment = {"PALAZZO_SERVICE": "off", "HOME": str(path.parent), **variables}
        super().__init__(palace=path, cwd=path.parent, variables=environment)
        self._words = words

    def open_embedder(self, threads: int = 1) -> WordedTokens:
        return self._words


def test_the_setting_decides_and_missing_states_start_no_embedding(
    stocked: Palace, words: WordedTokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[str] = []
    monkeypatch.setattr(operation, "start_embedding", lambda *arguments, **more: starts.append("begun"))
    with Searcher(tmp_path / "palace.db", words, PALAZZO_RERANK="off") as caller:
        assert operation.search(caller, SearchRequest("queue retries")).index == "ready"
        assert not words.read
    with Searcher(tmp_path / "palace.db", words) as caller:
        assert operation.search(caller, SearchRequest("queue retries")).index == "ready"
        assert words.read
        words.states_left = 0
        result = operation.search(caller, SearchRequest("queue retries"))
    assert (result.index, result.note) == ("without-tokens", "The graph of the token states is missing.")
    assert not starts


def test_what_was_ranked_by_tokens_is_judged_by_its_own_constants(
    stocked: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score, "NEARNESS_BY_TOKENS", score.NEARNESS._replace(intercept=-100.0))
    assert ask(stocked, "queue retries").chance < 0.01 < ask(stocked, "queue retries", rerank=False).chance
    assert score.choose_scale(True, False, True) is score.WORK_BY_TOKENS
    assert score.choose_scale(True, True, True) is score.TALK_BY_TOKENS
    assert score.choose_scale(True, False, False) is score.WORK
    assert score.choose_scale(False, False, True) is score.BY_KEYWORD


def test_passages_come_in_the_order_of_the_drawers_asked_for(stocked: Palace) -> None:
    with stocked.database.snapshot() as connection:
        rows = [int(row) for (row,) in connection.execute("SELECT id FROM drawer ORDER BY id")]
        for order in (rows, rows[::-1]):
            assert [passage.drawer for passage in passage_rows.passages_of(connection, order)] == order


@pytest.mark.parametrize(
    "text",
    ["a", "ก", "キュー", "คิวลองใหม่", "queue " * 10_000, "queue " + "x" * 100_000, "queue キュー คิว очередь", "?"],
)
def test_any_query_is_answered(stocked: Palace, text: str) -> None:
    assert ask(stocked, text).index == "ready"


@pytest.mark.parametrize("text", ["a", "キュー 再試行", "ลองใหม่", "why four times " * 3_000, "?!"])
def test_the_bundled_model_answers_any_query(tmp_path: Path, model: MiniLM, text: str) -> None:
    with Palace.open(tmp_path / "palace.db", embedder=lambda: MiniLM(1)) as palace:
        for note in NOTES:
            palace.remember(note, SHOP)
        palace.embed_pending()
        assert ask(palace, text).index == "ready"


@pytest.mark.parametrize("rerank", [True, False], ids=["by tokens", "without"])
def test_a_lone_word_finds_the_drawer_that_has_it(tmp_path: Path, rerank: bool) -> None:
    """Also where others speak of the same subject in other words, and say more about it."""
    notes = {
        "invoices": "Invoices are rounded half even.",
        "argon2": "We chose argon2 for it in March, says the log of the call.",
        "haircut": "Bo asked whether the haircut is on Friday.",
        "rollback": "Mara: a rollback took nine minutes last time.",
        "greenlight": "Nobody may greenlight it but Ana.",
    }
    others = (
        "A bill is sent to each customer at the end of the month, with the amount in cents and the tax.",
        "Passwords are hashed with a salt for each user, and compared in constant time by the login service.",
        "The barber is closed on Mondays, so appointments are moved to the next day.",
        "If the deploy fails, go back to the previous release with one command, then restart the workers.",
        "Approval is given by the release manager, who signs the checklist before anything is shipped.",
    )
    with Palace.open(tmp_path / "palace.db", embedder=lambda: MiniLM(1)) as palace:
        for note in (*notes.values(), *others):
            palace.remember(note, SHOP)
        palace.embed_pending()
        answers = {word: ask(palace, word, rerank=rerank) for word in notes}
    assert {word: answer.hits[0].drawer.text for word, answer in answers.items()} == notes


def test_a_drawer_that_is_not_embedded_yet_is_compared_too(stocked: Palace) -> None:
    stocked.remember("The zebra queue sleeps at night.", SHOP)
    answer = ask(stocked, "zebra queue sleeps", disabled_stages=frozenset({"floor"}))
    assert answer.index == "building"
    assert answer.hits[0].drawer.text.startswith("The zebra")


def test_few_drawers_and_characters_are_read(
    stocked: Palace, words: WordedTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_matching, "MATCH_LIMIT", 2)
    ask(stocked, "queue")
    assert len(words.read) == 3  # the query too
    words.read.clear()
    monkeypatch.setattr(token_matching, "_CHARACTERS_READ", 1)
    stocked.remember("The queue again.", SHOP)
    ask(stocked, "queue again")
    assert len(words.read) == 2


def test_a_passage_is_read_once_for_several_queries(stocked: Palace, words: WordedTokens) -> None:
    ask(stocked, "queue")
    words.read.clear()
    ask(stocked, "the queue")
    assert words.read == ["the queue"]


# --- the parts


def test_the_cache_is_bounded_in_bytes_and_drops_what_was_not_used_longest(words: WordedTokens) -> None:
    size = 2 * (words.dimension // 2 + 4)  # two tokens
    cache = StatesCache(2 * size)
    texts = {bytes([n]): f"word{n} other" for n in range(3)}
    for digest in (b"\0", b"\1", b"\0", b"\2", b"\0"):
        cache.states({digest: texts[digest]}, words.embed_tokens)
    assert words.read == [texts[b"\0"], texts[b"\1"], texts[b"\2"]]
    cache.states({b"\1": texts[b"\1"]}, words.embed_tokens)
    assert words.read[3:] == [texts[b"\1"]]
    assert cache.size <= 2 * size


def test_a_passage_larger_than_the_cache_is_compared_and_not_held(words: WordedTokens) -> None:
    cache = StatesCache(10)
    assert cache.states({b"\0": "one two"}, words.embed_tokens)[b"\0"].codes.shape == (2, words.dimension // 2)
    assert cache.size == 0


def test_a_match_is_the_mean_of_the_best_cosine_of_each_token_and_rare_words_weigh_more(words: WordedTokens) -> None:
    query = words.embed_tokens("queue zebra")
    weights = token_matching._weigh_tokens("queue zebra", query.spans, {"queue": 1.0, "zebra": 3.0})
    passage = token_matching._quantise(words.embed_tokens("the zebra sleeps").states)
    absent = float((query.states[:1] @ words.embed_tokens("the zebra sleeps").states.T).max())
    match = token_matching._compare(query.states, weights, passage)
    assert match.mean == pytest.approx((absent + 1) / 2, abs=0.03)
    assert match.weighted_mean == pytest.approx((absent + 3) / 4, abs=0.03)


def test_four_bits_keep_the_order_of_the_passages(model: MiniLM) -> None:
    query = model.embed_tokens("why does the queue retry four times").states
    exact, packed = [], []
    for note in (*NOTES[:3], "The bank answers slowly, so every payment is tried again.", "Bo likes tea."):
        states = model.embed_tokens(note).states
        exact.append(float((query @ states.T).max(axis=1).mean()))
        packed.append(
            token_matching._compare(query, np.ones(len(query), np.float32), token_matching._quantise(states)).mean
        )
    assert np.argsort(exact).tolist() == np.argsort(packed).tolist()
    np.testing.assert_allclose(packed, exact, atol=0.03)


def test_a_token_has_the_worth_of_the_shortest_term_that_it_is_in() -> None:
    spans = [(0, 3), (4, 6), (8, 12)]
    weights = token_matching._weigh_tokens("src/ab, THEN", spans, {"src/ab": 5.0, "ab": 2.0})
    assert weights.tolist() == pytest.approx([5.0, 2.0, token_matching._LEAST_WORTH])


def ranked(row: int, rank: float, **signals: float) -> CandidateRank:
    return CandidateRank(Candidate(row, 0.5, 2.0, 1.0), Signals(**signals), rank, WORK)


def in_a_row(*kinds: str) -> Around:
    """Drawers 1, 2, … of one source, each after the one before."""
    rows = range(1, len(kinds) + 1)
    placements = {
        row: DrawerPlacement(row, source=1, kind=kind, author="", size=300, marks=0, wing="w")
        for row, kind in zip(rows, kinds, strict=True)
    }
    sides = {row: (tuple(range(row - 1, 0, -1))[:2], tuple(range(row + 1, len(kinds) + 1))[:2]) for row in rows}
    return Around(tuple(rows), placements, sides, {}, {}, {}, {})


def test_candidates_that_were_not_examined_stay_behind_at_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "WORK_BY_TOKENS", Signals(words=1.0, tokens=2.0))
    rest = ranked(3, -1.5)._replace(signals=NOT_EXAMINED)
    order = reranking.rerank(
        [ranked(1, 0.9, words=0.9), ranked(2, 0.5, words=0.5), rest],
        {1: TokenMatch(0.1, 0.1), 2: TokenMatch(0.4, 0.4)},
        in_a_row("note", "note", "note"),
    )
    assert [(one.candidate.row, round(one.rank, 2)) for one in order] == [(2, 2.5), (1, 0.9), (3, -1.1)]


def test_what_was_said_after_a_message_that_repeats_the_question_gains_by_it() -> None:
    matches = {1: TokenMatch(0.9, 0.9), 2: TokenMatch(0.3, 0.3), 3: TokenMatch(0.3, 0.3)}
    candidates = [ranked(row, 1.0) for row in (1, 3, 2)]
    after_speech = reranking.rerank(candidates, matches, in_a_row("exchange", "exchange", "exchange"))
    assert {one.candidate.row: one.signals.follows_tokens for one in after_speech} == {1: 0, 2: 1, 3: 0}
    assert [one.candidate.row for one in after_speech] == [1, 2, 3]
    of_a_page = reranking.rerank(candidates, matches, in_a_row("section", "section", "section"))
    assert not any(one.signals.follows_tokens for one in of_a_page)


def test_talk_work_and_pages_have_weights_of_their_own() -> None:
    candidates = [ranked(1, 1.0)._replace(is_talk=True), ranked(2, 1.0), ranked(3, 1.0, document=1.0)]
    order = reranking.rerank(candidates, {}, in_a_row("exchange", "exchange", "section"))
    assert {one.candidate.row: one.weights for one in order} == {
        1: reranking.TALK_BY_TOKENS,
        2: reranking.WORK_BY_TOKENS,
        3: reranking.PAGE_BY_TOKENS,
    }


def test_nothing_to_compare_changes_nothing() -> None:
    assert reranking.rerank([], {}, in_a_row()) == []
    assert [one.candidate.row for one in reranking.rerank([ranked(1, 1.0)], {}, in_a_row("note"))] == [1]


def test_an_embedder_without_token_states_is_no_token_embedder(model: MiniLM) -> None:
    from tests.index.hashed_words import HashedWords

    assert isinstance(model, TokenEmbedder)
    assert not isinstance(HashedWords(), TokenEmbedder)
