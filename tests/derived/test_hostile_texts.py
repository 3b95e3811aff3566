"""No text stops a consumer: generated and hostile ones, and the sources of many packages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.archive.conversations import Ticking
from tests.derived.hostile import follow_all, packages, set_aside, take_in, texts
from tests.index.hashed_words import HashedWords
from tests.reliability.sizes import FACTOR

from palazzo.derived.integrity_checks import verify
from palazzo.index.failure_isolation import write_log_by
from palazzo.index.query import Query
from palazzo.palace import Palace

SENTENCE = "The :doc:`sites </ref/contrib/sites>` framework no longer is."


@contextmanager
def another_palace() -> Iterator[Palace]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "palace.db"
        with Palace.open(path, embedder=HashedWords, clock=Ticking()) as palace:
            yield palace


def check(palace: Palace, log: list[str]) -> None:
    assert (set_aside(palace), log) == ([], [])
    assert [check_result for check_result in verify(palace.database, palace.embedder) if not check_result.ok] == []


def feed(pieces: list[str]) -> None:
    log: list[str] = []
    write_log_by(log.append)
    with another_palace() as palace:
        palace.know_people(piece[:60] for piece in pieces if piece.strip())
        take_in(palace, pieces)
        follow_all(palace)
        hits = palace.search(Query(pieces[0][:2000] or "x")).hits
        palace.forget([hit.drawer.id for hit in hits[:1]])
        follow_all(palace)
        check(palace, log)


@settings(max_examples=3, deadline=None)
@given(st.lists(texts, min_size=1, max_size=2))
@example([SENTENCE])
@example(["DECIMAL_SEPARATOR = '\xa0'"])
def test_no_text_stops_a_consumer(pieces: list[str]) -> None:
    feed(pieces)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(texts, min_size=1, max_size=4))
def test_no_text_stops_a_consumer_of_many(pieces: list[str]) -> None:
    feed(pieces)


@pytest.mark.slow
def test_the_sources_of_many_packages_stop_no_consumer() -> None:
    count = 20 if FACTOR >= 1 else 8
    log: list[str] = []
    write_log_by(log.append)
    read = 0
    with another_palace() as palace:
        for name, files in packages(count):
            for file in files[:: max(1, len(files) // 12)]:
                text = file.read_bytes()[:16_000].decode("utf-8", "surrogateescape")
                take_in(palace, [text[:8_000], text[8_000:]], f"{name}/{file.name}")
                read += 1
        follow_all(palace)
        check(palace, log)
    assert read > 5 * count
