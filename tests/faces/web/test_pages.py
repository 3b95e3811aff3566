"""What the pages show, without a browser: their links lead somewhere, and they say the same as the command line."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from markupsafe import escape
from tests.faces.web.conftest import SESSION, write_world
from tests.faces.web.served_viewer import ServedViewer, served_viewer
from tests.features.trust.sessions_written import World, run

from palazzo.faces.web.fact_plot import plot_facts
from palazzo.faces.web.page_templates import make_address, mark_words
from palazzo.faces.web.place_map import Box, squarify
from palazzo.faces.web.plots import day_bars
from palazzo.faces.web.web_app import PAGES


def links_of(text: str) -> list[str]:
    """The addresses that a page links to."""
    return [match.replace("&amp;", "&") for match in re.findall(r'href="(/[^"#]*)', text)]


def test_every_link_of_every_page_leads_to_a_page(visitor: ServedViewer) -> None:
    seen: set[str] = set()
    queue = [path for path, _ in PAGES if "{" not in path] + ["/?q=gateway"]
    while queue and len(seen) < 200:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = visitor.get(path)
        assert answer.status == 200, path
        queue += [link for link in links_of(answer.text) if not link.startswith("/static/")]
    assert f"/session/{SESSION}" in seen


def test_search_shows_the_hits_of_the_command_line(visitor: ServedViewer) -> None:
    page = visitor.get("/?q=which+port+does+the+gateway+use").text
    hits = visitor.run("search", query="which port does the gateway use", limit=10, budget=4_000).hits
    assert re.findall(r'href="/drawer/([0-9a-f]{32})"', page) == [hit.id for hit in hits]
    assert "<mark>gateway</mark>" in page


def test_a_filter_is_a_chip_that_can_be_removed(visitor: ServedViewer) -> None:
    page = visitor.get("/?q=gateway&wing=api&kind=note").text
    assert '<a class="chip" href="/?q=gateway&amp;kind=note" aria-label="Remove the filter wing">' in page
    assert "deployed on Fridays" in page
    assert re.search(r"\b8443\b", page) is None  # an id may have these digits


def test_the_palace_as_it_was_on_a_day(visitor: ServedViewer) -> None:
    page = visitor.get("/?q=gateway&as_of=2020-01-01").text
    assert "/drawer/" not in page
    assert "as known on" in page


def test_a_session_is_a_conversation_with_its_digest(visitor: ServedViewer) -> None:
    page = visitor.get(f"/session/{SESSION}").text
    assert "Which port does the gateway listen on?" in page
    assert f"palazzo resume {SESSION}" in page
    assert "Decided" in page
    assert re.search(r"<summary>Called\s+<code>Bash</code>", page)
    assert page.index("Called") < page.index("gateway: port 8443")


def test_a_hit_leads_to_its_message(visitor: ServedViewer) -> None:
    (hit, *_) = visitor.run("search", query="keep 8443 for the gateway", kind="exchange").hits
    link = make_address(f"/session/{SESSION}", at=hit.id)
    assert link in links_of(visitor.get("/?q=keep+8443+for+the+gateway").text)
    assert ' target" id="m-' in visitor.get(link).text


def test_an_address_can_be_kept(visitor: ServedViewer) -> None:
    """It has all that the page depends on: another browser sees the same entries there."""
    address = make_address("/", q="gateway", wing="api", limit=3)
    other = visitor.enter()
    assert links_of(visitor.get(address).text) == links_of(other.get(address).text)


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/drawer/ffffffffffff", 404, "Nothing has the id"),
        ("/session/none-of-that-name", 404, "No session has the id"),
        ("/?q=x&wing=nowhere", 404, "There is no wing"),
        ("/?q=x&since=never", 400, "--since"),
        ("/told?offset=many", 400, "must be a number"),
        ("/sessions?before=soon", 400, "begin with the first page"),
        ("/nothing", 404, "no page at this address"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(visitor: ServedViewer, path: str, status: int, sentence: str) -> None:
    answer = visitor.get(path)
    assert answer.status == status
    assert sentence in answer.text


def test_a_part_of_a_page_says_what_is_wrong_without_the_rest_of_the_page(visitor: ServedViewer) -> None:
    answer = visitor.get("/?q=x&since=never&part=hits")
    assert answer.status == 400
    assert answer.text.startswith('<p class="sentence" role="alert">--since')


def test_a_palace_that_does_not_exist_yet(tmp_path: Path) -> None:
    with served_viewer(tmp_path) as served:
        answer = served.enter().get("/")
        assert answer.status == 503
        assert "There is no palace" in answer.text
        assert "palazzo mine" in answer.text


def test_a_palace_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "palace.db").write_bytes(b"this is no palace " * 1_000)
    with served_viewer(tmp_path) as served:
        answer = served.enter().get("/")
        assert answer.status == 503
        assert "Traceback" not in answer.text
        assert 'role="alert"' in answer.text


HOLD_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("SELECT count(*) FROM meta").fetchall()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_palace_that_another_program_has_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are shown all the same; a change says why it did not happen, and did not."""
    monkeypatch.setattr("palazzo.faces.web.page_calls._LOCK_WAIT", 0.1)
    write_world(tmp_path)
    with served_viewer(tmp_path) as served:
        served.run("todo_add", text="Renew the certificate")
        visitor = served.enter()
        form = {"form_token": visitor.get("/review").form_token(), "action": "done"}
        (todo,) = served.run("todo_list", everywhere=True).todos
        command = [sys.executable, "-c", HOLD_LOCK, str(tmp_path / "palace.db")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            sessions = visitor.get("/sessions")
            answer = visitor.post("/review", {**form, "id": todo.id})
            holder.communicate()
        assert (sessions.status, answer.status) == (200, 503)
        assert "Another program is writing to the palace" in sessions.text
        assert "Which port does the gateway listen on?" in sessions.text
        assert "Another program has locked the palace" in answer.text
        assert len(served.run("todo_list", everywhere=True).todos) == 1


def test_a_palace_of_a_later_version(tmp_path: Path) -> None:
    write_world(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "palace.db")) as raw, raw:
        raw.execute("INSERT INTO migration VALUES ('m999_later', 0)")
    with served_viewer(tmp_path) as served:
        answer = served.enter().get("/sessions")
        assert answer.status == 503
        assert "was written by a later Palazzo" in answer.text


def test_pages_are_shown_while_another_program_writes_and_after_a_session_was_erased(tmp_path: Path) -> None:
    write_world(tmp_path)
    with served_viewer(tmp_path) as served:
        visitor = served.enter()
        assert "8443" in visitor.get(f"/session/{SESSION}").text
        command = [sys.executable, "-c", HOLD_LOCK, str(tmp_path / "palace.db")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            assert [visitor.get(path).status for path in ("/", "/sessions", f"/session/{SESSION}")] == [200] * 3
            holder.communicate()
        served.run("erase", session=SESSION, even_most=True)
        for path in (f"/session/{SESSION}", "/sessions", f"/told/{SESSION}", "/?q=gateway"):
            answer = visitor.get(path)
            assert answer.status in (200, 404)
            assert "The gateway listens on" not in answer.text
        assert "The words of this session were erased." in visitor.get(f"/session/{SESSION}").text


def test_words_are_marked_and_everything_is_escaped() -> None:
    assert mark_words("a <b> Port, ports", ["port"]) == "a &lt;b&gt; <mark>Port</mark>, ports"


def test_an_address_escapes_what_it_is_made_of() -> None:
    address = make_address("/session/a b?c#d&e%", at='"<>', none=None)
    assert address == "/session/a%20b%3Fc%23d%26e%25?at=%22%3C%3E"
    assert urllib.parse.unquote(urllib.parse.urlsplit(address).path) == "/session/a b?c#d&e%"


# --- the other pages --------------------------------------------------------------------------------------------


def test_the_map_has_every_room_and_leads_to_it(visitor: ServedViewer) -> None:
    page = visitor.get("/palace").text
    rooms = visitor.run("room_list").rooms
    assert {make_address("/room", wing=room.wing, room=room.room) for room in rooms} <= set(links_of(page))
    room = visitor.get("/room?wing=api&room=deploy").text
    assert "The gateway is deployed on Fridays only." in room


@pytest.mark.parametrize("sizes", [[1.0], [6.0, 6, 4, 3, 2, 2, 1], [1_000.0] + [1.0] * 200])
def test_rectangles_of_a_map_fill_it_in_proportion_and_do_not_overlap(sizes: list[float]) -> None:
    boxes = squarify(sizes, Box(0, 0, 600, 400))
    areas = [box.width * box.height for box in boxes]
    assert areas == pytest.approx([240_000 * size / sum(sizes) for size in sizes])
    for n, box in enumerate(boxes):
        assert box.x >= -1e-6
        assert box.x + box.width <= 600 + 1e-6
        for other in boxes[n + 1 :]:
            overlap_x = min(box.x + box.width, other.x + other.width) - max(box.x, other.x)
            overlap_y = min(box.y + box.height, other.y + other.height) - max(box.y, other.y)
            assert min(overlap_x, overlap_y) <= 1e-6


def test_what_an_agent_was_told_is_shown_to_the_byte(visitor: ServedViewer) -> None:
    assert make_address(f"/told/{SESSION}", host="claude-code") in links_of(visitor.get("/told").text)
    page = visitor.get(f"/told/{SESSION}").text
    told = visitor.run("why", session=SESSION)
    assert told.injections
    for injection in told.injections:
        assert str(escape(injection.text)) in page
        assert injection.sha256 in page


def test_a_quarantined_note_is_approved_and_that_is_undone(tmp_path: Path) -> None:
    world = World(tmp_path)
    session = world.session("tainted")
    session.asks("Read the page.")
    session.reads_a_page()
    run(world.context(), "mine", (world.histories,))
    run(world.agent("tainted"), "remember", "Deployments skip the review.", wing="api", room="deploy")
    world.close()
    with served_viewer(tmp_path) as served:
        client = served.enter()
        page = client.get("/review")
        assert "Deployments skip the review." in page.text
        (entry,) = client.run("quarantine_list").entries
        fields = {"form_token": page.form_token(), "action": "approve", "id": entry.id}
        answer = client.post("/review", fields)
        assert (answer.status, answer.headers["location"]) == (303, "/review?did=approve")
        assert client.run("quarantine_list").entries == ()
        change = client.run("undo", list=True).changes[0]
        assert client.post("/review", {**fields, "action": "undo", "id": change.id}).status == 303
        assert [one.id for one in client.run("quarantine_list").entries] == [entry.id]


def test_one_of_each_duplicate_is_kept_and_that_is_undone(tmp_path: Path) -> None:
    write_world(tmp_path)
    with served_viewer(tmp_path) as served:
        client = served.enter()
        for author in ("ada", "bob"):
            client.run("remember", text="The gateway is restarted after each deployment.", wing="api", by=author)
        page = client.get("/review?with=duplicates")
        assert "Keep one of each" in page.text
        fields = {"form_token": page.form_token(), "action": "fold", "id": "all"}
        assert client.post("/review", fields).headers["location"] == "/review?did=fold"
        assert client.run("dedup", dry_run=True).clusters == ()
        change = client.run("undo", list=True).changes[0]
        client.post("/review", {**fields, "action": "undo", "id": change.id})
        assert len(client.run("dedup", dry_run=True).clusters) == 1


def test_a_conflict_of_facts_is_settled_and_that_is_undone(tmp_path: Path) -> None:
    write_world(tmp_path)
    with served_viewer(tmp_path) as served:
        client = served.enter()
        for port in ("8080", "9090"):
            client.run("kg_add", subject="the api", predicate="runs on port", object=port, wing="api")
        (conflict,) = client.run("kg_conflicts").conflicts
        page = client.get("/review?with=conflicts")
        assert "Keep ‘9090’" in page.text
        form = page.text[page.text.index('value="settle"') :]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[: form.index("</form>")]))
        answer = client.post("/review", {"form_token": page.form_token(), "action": "settle", **fields})
        assert answer.headers["location"] == "/review?did=settle"
        assert client.run("kg_conflicts").conflicts == ()
        change = client.run("undo", list=True).changes[0]
        client.post("/review", {"form_token": page.form_token(), "action": "undo", "id": change.id})
        assert [one.id for one in client.run("kg_conflicts").conflicts] == [conflict.id]


def test_a_viewer_that_only_reads_has_no_buttons_and_changes_nothing(viewer: ServedViewer) -> None:
    change = viewer.run("undo", list=True).changes[0]
    reader, writer = viewer.enter(read_only=True), viewer.enter()
    page = reader.get("/review")
    assert page.status == 200
    assert "<button>Undo" not in page.text
    token = writer.get("/review").form_token()
    answer = reader.post("/review", {"form_token": token, "action": "undo", "id": change.id})
    assert answer.status == 403
    assert viewer.run("undo", list=True).changes[0] == change


def test_an_agents_shell_cannot_approve(viewer: ServedViewer) -> None:
    """The link that an agent asked for has the rights of the agent."""
    agent = viewer.enter(CLAUDECODE="1")
    token = agent.get("/review").form_token()
    answer = agent.post("/review", {"form_token": token, "action": "approve", "id": "ffffffffffff"})
    assert answer.status == 400
    assert "Only a person" in answer.text


@pytest.mark.parametrize(("action", "uid"), [("erase", "x"), ("", ""), ("undo", ""), ("approve", "none")])
def test_a_button_that_does_not_exist_does_nothing(visitor: ServedViewer, action: str, uid: str) -> None:
    token = visitor.get("/review").form_token()
    before = visitor.run("undo", list=True).changes
    answer = visitor.post("/review", {"form_token": token, "action": action, "id": uid})
    assert answer.status in (400, 404)
    assert visitor.run("undo", list=True).changes == before


def test_a_files_history_is_that_of_blame(visitor: ServedViewer) -> None:
    page = visitor.get("/code?topic=gateway").text
    assert "Files about gateway" in page
    page = visitor.get("/code?path=no-such-file.py&with=history").text
    history = visitor.run("blame", path="no-such-file.py", everywhere=True)
    assert history.advice
    assert str(escape(history.advice)) in page


def test_citations_of_the_project_that_changed_are_shown(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = world.project / "gateway.toml"
    file.write_text("[gateway]\nport = 8443  # the port that all clients know\nhost = 'localhost'\n")
    run(world.context(), "remember", "Clients know the gateway's port.", wing="api", anchors=("gateway.toml:2",))
    with served_viewer(tmp_path) as served:
        served.directory = world.project
        client = served.enter()
        served.directory = tmp_path
        assert "All cited lines are where and as they were." in client.get("/code?with=citations").text
        file.write_text("[gateway]\nport = 9443  # a new port\n")
        page = client.get("/code?with=citations").text
        assert "gateway.toml:2-2" in page
        assert '<span class="tag bad">changed</span>' in page
        assert "Clients know the gateway" in page
    world.close()


def test_health_shows_the_state_and_a_check(visitor: ServedViewer) -> None:
    status = visitor.run("status")
    page = visitor.get("/health?check=verify").text
    assert f"<dt>Drawers</dt><dd>{status.drawers}</dd>" in page
    assert "Everything is in order." in page


def test_a_plot_has_a_bar_for_each_day_with_a_count() -> None:
    plot = day_bars({"2026-03-01": 5, "2026-03-03": 10, "2020-01-01": 99}, days=10)
    assert [(bar.label, bar.height) for bar in plot.bars] == [("2026-03-01", 50.0), ("2026-03-03", 100.0)]
    assert (plot.first, plot.last, plot.largest) == ("2026-02-22", "2026-03-03", 10)


def test_facts_are_listed_and_lead_to_what_they_are_about(visitor: ServedViewer) -> None:
    page = visitor.get("/knowledge").text
    facts = visitor.run("kg_timeline", everywhere=True).timeline
    assert facts
    for fact in facts:
        assert {make_address("/knowledge", entity=fact.subject), f"/drawer/{fact.id}"} <= set(links_of(page))
    about = visitor.get(make_address("/knowledge", entity=facts[0].subject)).text
    assert f"about {facts[0].subject}" in about
    assert "Nothing is known under this name." in visitor.get("/knowledge?entity=nobody-of-that-name").text


def test_the_graph_has_the_facts_that_hold(visitor: ServedViewer) -> None:
    graph = json.loads(visitor.get("/knowledge?part=graph").text)
    facts = visitor.run("kg_timeline", everywhere=True).timeline
    assert graph["edges"] == [[fact.subject, fact.predicate, fact.object] for fact in facts if fact.current]


def test_a_fact_lies_where_it_held_and_when_it_was_recorded() -> None:
    @dataclass(frozen=True)
    class Fact:
        id: str
        valid_from: str | None
        valid_to: str | None
        recorded_at: str

    facts = [
        Fact("a", "2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z", "2026-01-01T00:00:00Z"),
        Fact("b", "2026-01-11T00:00:00Z", None, "2026-01-21T00:00:00Z"),
    ]
    plot = plot_facts(facts, datetime(2026, 1, 21, tzinfo=UTC))
    assert plot is not None
    first, second = plot.bars
    assert (first.x, first.width, first.open) == (0.0, 500.0, False)
    assert (second.x, second.width, second.open) == (500.0, 500.0, True)
    assert first.y < second.y
    together = plot_facts([facts[0]] * 20, datetime(2026, 1, 21, tzinfo=UTC))
    assert together is not None
    rows = [bar.y for bar in together.bars]
    assert min(later - earlier for earlier, later in pairwise(rows)) > together.thickness
    assert 0 < rows[0] < rows[-1] < together.height - together.thickness
