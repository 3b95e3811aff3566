"""Lists of sessions page by page, and their digests without waiting."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.web.served_viewer import served_viewer
from tests.features.trust.sessions_written import MINUTE, World, run

from palazzo.errors import UsageError
from palazzo.features.facts.contract import KgConflictsResult
from palazzo.features.viewer.contract import SessionPageResult
from palazzo.model import Micros
from palazzo.operations.context import Context

SESSIONS = 7
DAY = 24 * 60 * MINUTE
ERROR = "Exit code 1\nE   zlib.error: incorrect header check\n1 failed"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Seven sessions on three days; two of them end at the same moment."""
    written = World(tmp_path_factory.mktemp("home"))
    for number in range(SESSIONS):
        session = written.session(f"s{number}")
        session.asks(f"Which port does service {number} use?")
        session.answers(f"Decision: service {number} listens on 80{number}0, because clients know it.")
        if number in (1, 4):
            written.now = Micros(written.now + DAY)
        if number == 5:
            written.now = Micros(written.now - 2 * MINUTE)
    run(written.context(), "mine", (written.histories,))
    run(written.context(), "digest", session="s0")  # it makes all of them
    yield written
    written.close()


def pages(world: World, limit: int, **filters: object) -> list[SessionPageResult]:
    """All pages of a list, each from the cursor of the page before."""
    results = [run(world.context(), "session_page", limit=limit, **filters)]
    while results[-1].next:
        results.append(run(world.context(), "session_page", limit=limit, before=results[-1].next, **filters))
    return results


def listed(results: list[SessionPageResult]) -> list[str]:
    return [session.id for page in results for period in page.periods for session in period.sessions]


@pytest.mark.parametrize("limit", [1, 2, 3, SESSIONS, 50])
def test_pages_have_each_session_once_and_in_order(world: World, limit: int) -> None:
    results = pages(world, limit)
    everything = listed(pages(world, 50))
    assert listed(results) == everything
    assert sorted(everything) == [f"s{n}" for n in range(SESSIONS)]
    assert len(results) == -(-SESSIONS // limit)
    ended = [session.ended_at for page in results for period in page.periods for session in period.sessions]
    assert ended == sorted(ended, reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_a_day_has_its_number_of_sessions_on_every_page_that_it_is_on(world: World, limit: int) -> None:
    totals = {(period.first_day, period.total) for page in pages(world, limit) for period in page.periods}
    assert totals == {("2026-11-22", 2), ("2026-11-21", 3), ("2026-11-20", 2)}
    weeks = {(p.first_day, p.last_day, p.total) for page in pages(world, limit, week=True) for p in page.periods}
    assert weeks == {("2026-11-16", "2026-11-22", SESSIONS)}


def test_the_first_page_counts_the_days_of_its_filter_alone(world: World) -> None:
    first, *others = pages(world, 2)
    assert first.by_day == {"2026-11-20": 2, "2026-11-21": 3, "2026-11-22": 2}
    assert [page.by_day for page in others] == [{}, {}, {}]
    assert pages(world, 2, until="2026-11-21")[0].by_day == {"2026-11-20": 2}
    assert pages(world, 2, host="codex")[0].by_day == {}


def test_a_page_has_what_its_sessions_decided(world: World) -> None:
    first = pages(world, 2)[0]
    decided = [(line.session, line.text) for period in first.periods for line in period.decided]
    assert {session for session, _ in decided} == set(listed([first]))
    assert first.note == ""


def test_a_filter_of_a_list_holds_on_all_pages(world: World) -> None:
    assert listed(pages(world, 1, host="claude-code")) == listed(pages(world, 50))
    assert listed(pages(world, 1, host="codex")) == []
    assert listed(pages(world, 1, until="2026-11-21")) == ["s1", "s0"]
    with pytest.raises(UsageError, match="not complete"):
        run(world.context(), "session_page", before="soon:s1")


def test_a_digest_is_that_of_the_command_line(world: World) -> None:
    result = run(world.context(), "session_digest", session="s3")
    assert result.complete
    assert result.digest == run(world.context(), "digest", session="s3")


def test_the_page_of_sessions_leads_from_page_to_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palazzo.faces.web.pages.sessions_page._SESSIONS", 3)
    with served_viewer(world.home) as served:
        visitor = served.enter()
        address, seen = "/sessions", []
        while address:
            page = visitor.get(address).text
            seen += re.findall(r'class="open" href="/session/(s\d)"', page)
            following = re.search(r'rel="next" href="([^"]+)"', page)
            address = "" if following is None else following[1].replace("&amp;", "&")
        assert seen == listed(pages(world, 50))
        assert "3\N{NO-BREAK SPACE}sessions, 1 of them on this page" in visitor.get("/sessions").text


def test_search_finds_only_what_sessions_of_a_host_said(world: World) -> None:
    hits = run(world.context(), "search", "which port does service 3 use", host="claude-code").hits
    assert hits
    assert all(hit.source.session_id for hit in hits)
    assert run(world.context(), "search", "tests are run with pytest", host="codex").hits == ()
    with pytest.raises(UsageError, match=r"'nobody' is not a host; hosts: .*claude-code"):
        run(world.context(), "search", "port", host="nobody")


def test_the_host_is_a_filter_and_a_chip_of_search(world: World) -> None:
    with served_viewer(world.home) as served:
        page = served.enter().get("/?q=port&host=claude-code").text
    assert 'aria-label="Remove the filter host"' in page
    assert '<option selected value="claude-code">' in page


def test_a_page_does_not_wait_for_what_compares_many_texts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    run(world.context(), "kg_conflicts")  # nothing is left to be compared
    began, may_end, calls = threading.Event(), threading.Event(), []

    def compare(context: Context, request: object) -> KgConflictsResult:
        calls.append(request)
        began.set()
        may_end.wait(30)
        return KgConflictsResult((), 0, "")

    monkeypatch.setattr("palazzo.features.facts.kg_conflicts.kg_conflicts", compare)
    with served_viewer(world.home) as served:
        visitor = served.enter()
        page = visitor.get("/review").text
        assert began.wait(30)
        assert 'data-later="conflicts"' in page
        assert 'href="/review?with=conflicts#conflicts"' in page
        may_end.set()
        assert "No statements contradict each other." in visitor.get("/review?with=conflicts").text
        assert len(calls) == 1


def test_a_page_shows_what_is_derived_and_derives_the_rest_when_its_part_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("palazzo.faces.web.page_answer._AT_ONCE", 30.0)  # a busy machine is not what is tested
    world = World(tmp_path)
    run(world.context(), "remember", "We use PostgreSQL 14 for billing.", wing="api")
    world.now = Micros(world.now + DAY)
    run(world.context(), "remember", "We switched billing from PostgreSQL 14 to SQLite.", wing="api")
    write_failures(world)
    world.close()
    with served_viewer(tmp_path) as served:
        visitor = served.enter()
        parts = {
            "conflicts": ("/review", "are not compared yet", "PostgreSQL 14 to SQLite"),
            "friction": ("/code", "are not read yet", "incorrect header check"),
            "history": ("/code?path=src/cart.py", "are not read yet", "Tests fail"),
        }
        for part, (path, remark, shown) in parts.items():
            page = visitor.get(path).text
            assert f'data-later="{part}"' in page
            assert remark in page
            assert shown not in section(page, part)
            assert "No statements contradict" not in page
            assert "Nothing failed more" not in page
            assert "Nothing is recorded about" not in page
            address = f"{path}{'&' if '?' in path else '?'}with={part}"
            page = visitor.get(address).text
            assert shown in section(page, part)
            assert f'data-later="{part}"' not in page
            assert remark not in visitor.get(path).text


def section(page: str, part: str) -> str:
    """Return a part of a page, from its heading on."""
    return page[page.index(f'id="{part}"') :].partition("</section>")[0]


def write_failures(world: World) -> None:
    """Write two sessions in which the same command fails in the same way, after an edit of a file."""
    for number in range(2):
        session = world.session(f"failing-{number}")
        session.asks("Tests fail, please look.")
        session.calls("Edit", "edited", file_path=str(world.project / "src" / "cart.py"))
        session.calls("Bash", ERROR, command="pytest tests/a.py")
        session.answers("The header is wrong.")
    run(world.context(), "mine", (world.histories,))
