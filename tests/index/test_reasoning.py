"""What agents thought is found below what was said, is labelled, and leaves everything else as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.archive.conversations import file_rows, said
from tests.index.hashed_words import HashedWords

from palazzo.archive.ingest import NewItem
from palazzo.derived import claim_consumer, mention_consumer
from palazzo.features.search import hit_entries
from palazzo.features.search.contract import SearchRequest, SearchResult
from palazzo.features.search.search import search
from palazzo.index.presentation import Hit
from palazzo.index.query import Query
from palazzo.model import Part
from palazzo.operations.context import Context
from palazzo.palace import Palace
from palazzo.store import drawer_neighbours, drawers

SAID = [
    ("user", "Why does the retry queue grow overnight?", ""),
    (
        "assistant",
        "The worker stops at midnight, so nothing drains the retry queue.",
        "Maybe the zymurgy cron.",
    ),
    ("user", "Then start the worker again after midnight.", ""),
    ("assistant", "Done: the worker is started at five past twelve.", "The retry queue needs a worker after midnight."),
    ("user", "Which port does the gateway listen on?", ""),
    ("assistant", "The gateway listens on port 8443.", "Alice Johnson uses Postgres. Is the gateway port 8443?"),
]
QUESTIONS = ("retry queue worker midnight", "why does the retry queue grow", "gateway port 8443", "start the worker")


class Lasting(HashedWords):
    """Survives the palaces that it is lent to."""

    def close(self) -> None:
        """Nothing."""


def rows(has_thoughts: bool) -> list[NewItem]:
    """The conversation, with or without what the agent thought."""
    items = []
    for n, (role, words, thought) in enumerate(SAID):
        before = f"{thought}\n" if thought and has_thoughts else ""
        parts = [Part("text", len(before), len(before + words))]
        if before:
            parts.insert(0, Part("thinking", 0, len(before)))
        items.append(said(n, role, before + words, parts))  # type: ignore[arg-type]
    return items


def make(path: Path, has_thoughts: bool = True) -> Path:
    with Palace.open(path, embedder=Lasting) as palace:
        file_rows(palace, rows(has_thoughts))
        palace.embed_pending()
    return path


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    return make(tmp_path / "palace.db")


def find(palace_file: Path, text: str, **fields: object) -> list[Hit]:
    with Palace.open(palace_file, "read", embedder=Lasting) as palace:
        return palace.search(Query(text, **fields)).hits  # type: ignore[arg-type]


def ask(palace_file: Path, request: SearchRequest) -> SearchResult:
    variables = {"PALAZZO_SERVICE": "off", "HOME": str(palace_file.parent)}
    with Context(palace=palace_file, cwd=palace_file.parent, variables=variables) as context:
        return search(context, request)


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.drawer.text for hit in hits]


def test_a_thought_is_found_by_words_that_nobody_said(filed: Path) -> None:
    (hit, *_) = ask(filed, SearchRequest("zymurgy cron", drawers=True)).hits
    assert (hit.kind, hit.trust, hit.role, hit.text) == ("reasoning", "agent", "assistant", "Maybe the zymurgy cron.")
    assert "not said" in hit_entries.of_hit(hit, filed.parent).lines
    assert "reasoning" in " ".join(hit.why)


def test_only_who_asks_for_it_finds_it(filed: Path) -> None:
    assert not [hit for hit in find(filed, "zymurgy cron") if hit.drawer.kind == "reasoning"]
    assert not ask(filed, SearchRequest("zymurgy cron", reasoning=False)).hits
    assert {hit.drawer.kind for hit in find(filed, "zymurgy cron", kind="reasoning")} == {"reasoning"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_was_said_keeps_its_order_and_its_signals(filed: Path, tmp_path: Path, question: str) -> None:
    plain = find(make(tmp_path / "plain.db", has_thoughts=False), question)
    for hits in (find(filed, question), find(filed, question, reasoning=True)):
        words = [hit for hit in hits if hit.drawer.kind != "reasoning"]
        assert texts(words) == texts(plain)[: len(words)]
        for own, other in zip(words, plain, strict=False):
            assert own.score == pytest.approx(other.score, abs=0.05)
            assert [reason.name for reason in own.reasons] == [reason.name for reason in other.reasons]


def test_a_thought_comes_below_the_words_that_say_the_same(filed: Path) -> None:
    hits = find(filed, "retry queue worker after midnight", reasoning=True, limit=10)
    kinds = [hit.drawer.kind for hit in hits]
    assert kinds[0] == "exchange"
    assert "reasoning" in kinds


def test_it_stands_between_no_two_messages_and_in_no_hit_of_two(filed: Path) -> None:
    with Palace.open(filed, "read") as palace, palace.database.snapshot() as connection:
        live = connection.execute("SELECT id, kind FROM drawer WHERE retired_at IS NULL")
        kinds = {int(row): str(kind) for row, kind in live}
        beside = drawers.read_neighbours(connection, [row for row, kind in kinds.items() if kind != "reasoning"])
        assert {kinds[row] for sides in beside.values() for side in sides for row in side} == {"exchange"}
        for row in kinds:
            assert all(span.kind != "reasoning" for span in drawer_neighbours.read_next_spans(connection, row))
        # Neither claims nor names are read from it.
        thoughts = [row for row, kind in kinds.items() if kind == "reasoning"]
        assert thoughts
        assert claim_consumer.expected(connection, thoughts) == []
        assert mention_consumer.expected(connection, thoughts) == []
    for hit in find(filed, "gateway port 8443", reasoning=True, stretches=True):
        assert len({drawer.kind == "reasoning" for drawer in hit.drawers}) == 1


def test_forgotten_reasoning_is_gone_and_the_words_stay(filed: Path) -> None:
    (hit, *_) = find(filed, "zymurgy cron", reasoning=True)
    with Palace.open(filed, embedder=Lasting) as palace:
        palace.forget([hit.drawer.id])
    assert not [hit for hit in find(filed, "zymurgy cron", reasoning=True) if "zymurgy" in hit.drawer.text]
    assert any("drains the retry queue" in text for text in texts(find(filed, "drains the retry queue")))
