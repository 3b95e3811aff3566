"""The viewer in a real browser; see `watched_browser`."""

from __future__ import annotations

import asyncio
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from datetime import time as dtime
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.faces.web.conftest import SESSION, write_world
from tests.faces.web.served_viewer import ServedViewer, served_viewer
from tests.faces.web.test_attacks import WING, hostile, hostile_paths
from tests.faces.web.watched_browser import IN_CHROMIUM, Watched, axe_core, browser, serious_findings
from tests.features.trust.sessions_written import World, run

from palazzo.faces.http import http_socket
from palazzo.faces.web.page_export import export_pages
from palazzo.faces.web.web_server import WebServer
from palazzo.faces.web.web_sessions import Visitor
from palazzo.model import Micros

pytestmark = IN_CHROMIUM
__all__ = ["browser", "hostile"]
PAGES: tuple[str, ...] = (
    *("/", "/?q=gateway", "/sessions", f"/session/{SESSION}", "/palace", "/room?wing=api", "/knowledge", "/told"),
    *(f"/told/{SESSION}", "/review", "/code", "/code?path=gateway.toml", "/health", "/drawer/ffffffffffff"),
)
DAY = 86_400_000_000


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedViewer]:
    """A viewer of a palace with a hundred sessions."""
    home = tmp_path_factory.mktemp("home")
    write_world(home, sessions=100)
    with served_viewer(home) as served:
        yield served


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280, 2560])
def test_every_page_fits_and_is_quiet(browser: Any, viewer: ServedViewer, width: int, scheme: str) -> None:
    watched = Watched(browser, viewer, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for path in PAGES:
        watched.go(path)
        assert watched.width_too_large() <= 0, path
    watched.assert_clean()
    watched.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_findings(browser: Any, viewer: ServedViewer, scheme: str) -> None:
    axe = axe_core()
    watched = Watched(browser, viewer, color_scheme=scheme, bypass_csp=True)
    for path in PAGES:
        watched.go(path)
        assert serious_findings(watched, axe) == [], path
    watched.close()


def test_a_search_by_keyboard_alone(browser: Any, viewer: ServedViewer) -> None:
    watched = Watched(browser, viewer)
    page = watched.page
    watched.go("/sessions")
    page.keyboard.press("/")
    page.wait_for_url(f"{viewer.origin}/")
    page.wait_for_selector("input[name=q]:focus")
    page.keyboard.type("gateway")
    page.wait_for_selector("article.hit mark")
    assert page.url == f"{viewer.origin}/?q=gateway"
    page.locator("summary", has_text="Filters and time").click()
    page.get_by_label("Kind").select_option("note")
    page.get_by_role("link", name="Remove the filter kind").wait_for()
    page.get_by_role("link", name="Remove the filter kind").click()
    page.wait_for_url("**/?q=gateway")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.locator("[data-current]").count() == 1
    page.keyboard.press("o")
    page.wait_for_url("**/drawer/*")
    page.keyboard.press("?")
    assert page.locator("dialog#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/health")
    watched.assert_clean()
    watched.close()


def test_the_slider_shows_what_was_known_on_a_day(browser: Any, viewer: ServedViewer) -> None:
    watched = Watched(browser, viewer)
    page = watched.page
    watched.go("/?q=gateway")
    page.locator("summary", has_text="Filters and time").click()
    page.locator("#as-of-slider").focus()
    page.keyboard.press("Home")
    page.wait_for_url("**as_of=*")
    page.locator("article.hit").first.wait_for(state="detached")
    watched.assert_clean()
    watched.close()


def test_pages_can_be_read_without_scripts(browser: Any, viewer: ServedViewer) -> None:
    watched = Watched(browser, viewer, java_script_enabled=False)
    page = watched.page
    page.fill("#q", "gateway")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=gateway*")
    assert page.locator("article.hit").count() > 0
    page.locator("a", has_text="In its session").first.click()
    page.wait_for_url("**/session/**")
    assert page.locator("article.message").count() >= 3
    for path in PAGES:
        watched.go(path)
        assert page.locator("h1").count() == 1, path
    watched.close()


def test_recorded_markup_does_nothing(browser: Any, hostile: ServedViewer, tmp_path: Path) -> None:
    watched = Watched(browser, hostile)
    for path in hostile_paths(hostile):
        watched.go(path)
    watched.page.goto(f"{hostile.origin}/")
    watched.page.fill("#q", "database")
    watched.page.wait_for_selector("article.hit")
    watched.assert_clean()
    watched.page.goto(write_file(hostile, tmp_path / "all.html", "markup", WING).as_uri())
    assert watched.complaints == []
    assert watched.page.locator("script").count() == 1
    assert watched.page.locator("img, iframe, object, form, [onerror], [onload]").count() == 0
    watched.close()


def test_a_new_message_appears_without_reloading(browser: Any, tmp_path: Path) -> None:
    world = World(tmp_path)
    session = world.session("live")
    session.asks("Which port does the gateway use?")
    run(world.context(), "mine", (world.histories,))
    with served_viewer(tmp_path) as served:
        watched = Watched(browser, served)
        watched.go("/session/live")
        watched.page.evaluate("window.isTheSamePage = true")
        watched.page.locator("#live[data-state]").wait_for(state="attached")
        session.answers("It uses 8443, as ever.")
        threading.Thread(target=run, args=(world.context(), "mine", (world.histories,))).start()
        watched.page.wait_for_selector("article.message >> text=It uses 8443, as ever.")
        assert watched.page.evaluate("window.isTheSamePage") is True
        assert "New messages" in watched.page.inner_text("#live")
        watched.assert_clean()
        watched.close()
    world.close()


def test_an_erased_session_leaves_the_screen(browser: Any, tmp_path: Path) -> None:
    write_world(tmp_path)
    with served_viewer(tmp_path) as served:
        watched = Watched(browser, served)
        watched.go(f"/session/{SESSION}")
        watched.page.locator("#live[data-state]").wait_for(state="attached")
        assert watched.page.locator("article.message").count() >= 3
        threading.Thread(target=lambda: served.run("erase", session=SESSION, even_most=True)).start()
        watched.page.locator("article.message", has_text="8443").first.wait_for(state="detached")
        assert "The gateway listens on" not in watched.page.content()
        watched.assert_clean()
        watched.close()


def test_a_page_says_that_the_service_is_lost_and_goes_on_when_it_is_back(browser: Any, tmp_path: Path) -> None:
    World(tmp_path).close()
    with served_viewer(tmp_path) as served:
        watched = Watched(browser, served)
        page = watched.page
        page.locator("#live[data-state]").wait_for(state="attached")
        served.server.stop()
        page.wait_for_selector("#live[data-state=lost]")
        assert "palazzo view" in page.inner_text("#live")
        bound = http_socket.bound(f"127.0.0.1:{served.server.port}")
        again = WebServer(bound, served.sessions, served.call, served.engine.palace)
        again.begin()
        page.locator("#live:not([data-state=lost])").wait_for(state="attached")
        watched.go("/sessions")
        assert page.locator("h1").inner_text() == "Sessions"
        watched.close()
        again.stop()


@pytest.mark.parametrize("names", [0, 1_200], ids=["the palace's facts", "many names"])
def test_the_graph_is_drawn(browser: Any, viewer: ServedViewer, names: int) -> None:
    """With many names, frames in motion have squares, and the graph at rest has circles, as a small one."""
    watched = Watched(browser, viewer)
    page = watched.page
    if names:
        facts = {"edges": [[f"n{number}", "knows", f"n{number // 2}"] for number in range(names)], "complete": True}
        page.route("**/knowledge?part=graph*", lambda route: route.fulfill(json=facts))
    watched.go("/knowledge")
    page.locator("#graph canvas").wait_for()
    page.wait_for_timeout(1_500)
    colors = page.evaluate(
        "(() => { const c = document.querySelector('#graph canvas');"
        " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " return new Set(new Uint32Array(d.buffer)).size; })()"
    )
    assert colors > 3
    watched.assert_clean()
    watched.close()


PICTURES = (
    ("/palace", "palazzo-map-of-the-palace"),
    ("/knowledge", "palazzo-facts-as-a-graph"),
    ("/knowledge", "palazzo-when-facts-held-and-when-they-were-recorded"),
    ("/sessions", "palazzo-exchanges-a-day"),
    ("/health", "palazzo-tokens-injected-a-day"),
)


@pytest.mark.parametrize(("path", "name"), PICTURES)
def test_what_a_page_draws_is_saved_as_svg_and_png(
    browser: Any, viewer: ServedViewer, tmp_path: Path, path: str, name: str
) -> None:
    watched = Watched(browser, viewer, viewport={"width": 1280, "height": 900})
    watched.go(path)
    files = {}
    for ending in ("svg", "png"):
        with watched.page.expect_download() as download:
            saved = watched.page.locator("[data-picture]", has=watched.page.locator(f".save [data-file='{name}']"))
            saved.get_by_role("button", name=f"Save {ending.upper()}").click()
        assert download.value.suggested_filename == f"{name}.{ending}"
        files[ending] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[ending])
    picture = ElementTree.parse(files["svg"]).getroot()
    text = files["svg"].read_text("utf-8")
    assert "var(" not in text
    assert "class=" not in text
    shapes = [element for element in picture.iter() if element.tag.rpartition("}")[2] in ("rect", "circle", "line")]
    assert len(shapes) > 1
    width, height = struct.unpack(">II", files["png"].read_bytes()[16:24])
    assert (width, height) == (2 * round(float(picture.attrib["width"])), 2 * round(float(picture.attrib["height"])))
    assert height > 2 * CAPTION_PX
    assert len(zlib.compress(files["png"].read_bytes())) > 1_000
    watched.assert_clean()
    watched.close()


CAPTION_PX = 30
"""What the name above a picture takes; see `scripts/pictures.ts`."""


def write_file(viewer: ServedViewer, file: Path, session: str, wing: str) -> Path:
    """Export a session, a wing and all facts as one file."""
    visitor = Visitor(viewer.directory, viewer.variables)
    export = partial(export_pages, viewer.call, visitor, viewer.engine.palace, file, (session,), wing, True)
    with ThreadPoolExecutor() as pool:  # Playwright has an event loop on this thread
        pool.submit(lambda: asyncio.run(export())).result()
    return file


def test_a_file_without_a_server_saves_its_figures_by_keyboard_and_loads_nothing(
    browser: Any, viewer: ServedViewer, tmp_path: Path
) -> None:
    file = write_file(viewer, tmp_path / "all.html", SESSION, "api")
    context = browser.new_context(offline=True, viewport={"width": 320, "height": 900})
    page, complaints, requests = context.new_page(), list[str](), list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    names = page.locator(".save [data-file]").evaluate_all("buttons => buttons.map(button => button.dataset.file)")
    assert len(names) == 2 * page.locator("figure[data-picture]").count() == 8
    for name in sorted(set(names)):
        page.get_by_role("button", name="Save PNG").and_(page.locator(f"[data-file='{name}']")).focus()
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename == f"{name}.png"
        download.value.save_as(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert complaints == []
    assert [url for url in requests if not url.startswith((file.as_uri(), "blob:"))] == []
    context.close()


class Person:
    """Somebody who knows nothing of the viewer but its first page, and whose clicks are counted."""

    def __init__(self, watched: Watched) -> None:
        self.page, self.clicks = watched.page, 0
        watched.go("/")

    def click(self, locator: Any) -> None:
        locator.click()
        self.page.wait_for_load_state()
        self.clicks += 1


MOST_CLICKS = 3


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedViewer]:
    """A palace with a decision of last week, a statement that was replaced since March, and a quarantined note."""
    world = World(tmp_path_factory.mktemp("home"))
    now = time.time_ns() // 1_000
    world.now = Micros(now - 240 * DAY)
    run(world.context(), "remember", "The gateway listens on 8080.", wing="api", room="ports")
    (note,) = run(world.context(), "search", "the gateway listens on 8080").hits[:1]
    monday = datetime.now().astimezone().date() - timedelta(days=datetime.now().astimezone().weekday())
    last_week = datetime.combine(monday - timedelta(days=4), dtime(12), UTC)
    world.now = Micros(int(last_week.timestamp() * 1_000_000))
    session = world.session("last-week")
    session.asks("Which port does the gateway listen on?")
    session.answers("Decision: we keep 8443 for the gateway, because clients know it.")
    run(world.context(), "update_drawer", id=note.id, text="The gateway listens on 8443.")
    for day in range(3):  # what happened since is newer
        world.now = Micros(now - (3 - day) * 60 * 60 * 1_000_000)
        session = world.session(f"since-{day}")
        session.asks("Run the tests.")
        session.answers("All pass.")
    session = world.session("tainted")
    session.asks("Read the page.")
    session.reads_a_page()
    run(world.context(), "mine", (world.histories,))
    run(world.agent("tainted"), "remember", "Deployments skip the review.", wing="api", room="deploy")
    world.close()
    with served_viewer(world.home) as served:
        yield served


def test_the_decision_of_last_week_is_found(browser: Any, lived_in: ServedViewer) -> None:
    person = Person(Watched(browser, lived_in))
    person.click(person.page.get_by_role("link", name="Sessions", exact=True))
    person.click(person.page.get_by_role("link", name="Last week"))
    decision = person.page.get_by_role("link", name="Decision: we keep 8443 for the gateway")
    assert decision.is_visible()
    person.click(decision)
    assert person.page.locator("article.target").inner_text().count("we keep 8443") == 1
    assert person.clicks <= MOST_CLICKS


def test_why_an_agent_was_told_something_is_found(browser: Any, lived_in: ServedViewer) -> None:
    person = Person(Watched(browser, lived_in))
    person.click(person.page.get_by_role("link", name="What agents were told"))
    person.click(person.page.get_by_role("link", name="Which port does the gateway listen on?"))
    injection = person.page.locator("#injections article").first
    assert "session-start" in injection.locator("h2").inner_text().lower().replace(" ", "-")
    assert injection.locator("pre").is_visible()
    assert "tokens" in injection.inner_text()
    assert person.clicks <= MOST_CLICKS


def test_a_quarantined_note_is_approved(browser: Any, lived_in: ServedViewer) -> None:
    person = Person(Watched(browser, lived_in))
    person.click(person.page.get_by_role("link", name="Review", exact=True))
    note = person.page.locator("article", has_text="Deployments skip the review.")
    person.click(note.get_by_role("button", name="Approve"))
    assert "Approved." in person.page.get_by_role("status").all_inner_texts()[-1]
    assert lived_in.run("quarantine_list").entries == ()
    assert person.clicks <= MOST_CLICKS


def test_what_was_known_months_ago_is_found(browser: Any, lived_in: ServedViewer) -> None:
    """As in "what was known in March": the text that was replaced since is the hit, and today's is not."""
    person = Person(Watched(browser, lived_in))
    person.page.keyboard.type("gateway port")
    person.page.locator("article.hit", has_text="8443").first.wait_for()
    person.click(person.page.locator("summary", has_text="Filters and time"))
    person.click(person.page.locator("#as-of"))
    then = datetime.now().astimezone() - timedelta(days=120)
    person.page.locator("#as-of").fill(f"{then:%Y-%m-%d}")
    person.page.locator("article.hit", has_text="8080").first.wait_for()
    assert person.page.locator("article.hit", has_text="8443").count() == 0
    assert f"as known on {then:%Y-%m-%d}" in person.page.locator("#hits").inner_text()
    assert person.clicks <= MOST_CLICKS


def test_what_takes_long_appears_on_its_page_later(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    World(tmp_path).close()
    monkeypatch.setattr("palazzo.faces.web.page_answer._AT_ONCE", 0.0)
    with served_viewer(tmp_path) as served:
        watched = Watched(browser, served)
        watched.go("/review")
        watched.page.get_by_text("No two notes say the same.").wait_for()
        watched.page.get_by_text("No statements contradict each other.").wait_for()
        watched.page.get_by_role("link", name="Conflicts 0").wait_for()
        watched.page.get_by_role("link", name="Duplicates 0").wait_for()
        assert watched.page.locator("[data-later]").count() == 0
        watched.assert_clean()
        watched.close()
