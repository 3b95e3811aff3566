"""What must not work: requests of other pages, other users and other tokens, and recorded words that are markup."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.faces.web.conftest import SESSION
from tests.faces.web.served_viewer import Answer, ServedViewer, served_viewer
from tests.features.trust.sessions_written import World, run

from palazzo.bench.fence_texts import generate_attacks
from palazzo.client.rpc import address
from palazzo.daemon.engine import Engine
from palazzo.daemon.viewer_host import ViewerHost
from palazzo.faces.web.page_templates import make_address
from palazzo.faces.web.web_app import PAGES
from palazzo.faces.web.web_guard import LARGEST_FORM, LARGEST_HEAD
from palazzo.faces.web.web_sessions import LINK_SECONDS, Visitor, WebSessions

PATHS = sorted({re.sub(r"\{[^}]*\}", SESSION, path) for path, _ in PAGES})
WING = '<img src=x onerror=alert(4)>"'
REPOSITORY = "shop"
MARKED_FILE = "<img src=x onerror=alert(6)>.py"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{{7*7}}"


# --- who asks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_page_needs_a_cookie(viewer: ServedViewer, path: str) -> None:
    answer = viewer.get(path)
    assert answer.status == 403
    assert "palazzo view" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""),
        *("localhost:{port}@evil.example", "0.0.0.0:{port}", "127.0.0.1:{port}, evil.example", "[::2]:{port}"),
    ],
)
def test_a_name_that_was_pointed_at_this_machine_gets_nothing(visitor: ServedViewer, host: str) -> None:
    """DNS rebinding: the page of another site calls the viewer under its own name."""
    for path in ("/", "/static/viewer.js", visitor.link()):
        answer = visitor.get(path, {"Host": host.format(port=visitor.server.port)})
        assert answer.status == 421
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "localhost.:{port}"])
def test_the_own_names_are_answered(visitor: ServedViewer, host: str) -> None:
    assert visitor.get("/", {"Host": host.format(port=visitor.server.port)}).status == 200


OTHER_PAGES = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "websocket", "Upgrade": "websocket", "Connection": "Upgrade"},
]


@pytest.mark.parametrize("headers", OTHER_PAGES)
@pytest.mark.parametrize("path", ["/", "/static/viewer.css", "/sessions"])
def test_another_origin_reads_nothing(visitor: ServedViewer, headers: dict[str, str], path: str) -> None:
    """A fetch, an image, a frame, a WebSocket: even if the browser sent the cookie."""
    sent = {name: value.format(port=visitor.server.port) for name, value in headers.items()}
    answer = visitor.get(path, sent)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("headers", [*OTHER_PAGES, {"Origin": ""}])
def test_another_origin_changes_nothing(visitor: ServedViewer, headers: dict[str, str]) -> None:
    sent = {"Origin": "http://evil.example", **headers}
    sent = {name: value.format(port=visitor.server.port) for name, value in sent.items()}
    answer = visitor.post("/", {"form_token": "0" * 64}, sent)
    assert answer.status == 403


def test_a_form_without_an_origin_is_refused(visitor: ServedViewer) -> None:
    """An old browser sends neither; so does a program without the page."""
    answer = visitor.request("POST", "/", {"Content-Type": "application/x-www-form-urlencoded"}, b"")
    assert answer.status == 403


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
def test_a_form_without_the_pages_token_is_refused(visitor: ServedViewer, token: str) -> None:
    answer = visitor.post("/", {"form_token": token})
    assert answer.status == 403
    assert "out of date" in answer.text


def test_the_token_of_another_browsers_page_is_refused(visitor: ServedViewer) -> None:
    token = visitor.enter().get("/review").form_token()
    assert visitor.post("/review", {"form_token": token, "action": "drop", "id": "x"}).status == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data; boundary=x", ""])
def test_only_a_plain_form_is_read(visitor: ServedViewer, kind: str) -> None:
    assert visitor.post("/", {}, {"Content-Type": kind}).status == 415


def test_a_large_form_is_refused(visitor: ServedViewer) -> None:
    assert visitor.post("/", {"x": "y" * LARGEST_FORM}).status == 413


def test_many_fields_are_refused(visitor: ServedViewer) -> None:
    assert visitor.post("/", {f"x{n}": "" for n in range(1_000)}).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(visitor: ServedViewer, method: str) -> None:
    assert visitor.request(method, "/").status == 405


def test_a_large_head_is_refused(visitor: ServedViewer) -> None:
    assert visitor.get(f"/?q={'x' * LARGEST_HEAD}").status == 431


# --- links and cookies ----------------------------------------------------------------------------------------


def test_a_link_opens_once(viewer: ServedViewer) -> None:
    link = viewer.link()
    first, second = viewer.get(link), viewer.get(link)
    assert (first.status, second.status) == (200, 403)
    assert "set-cookie" not in second.headers


def test_a_cookie_is_for_this_page_alone(viewer: ServedViewer) -> None:
    cookie = viewer.get(viewer.link()).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie
    assert f"palazzo_{viewer.server.port}=" in cookie


def test_a_browser_that_looks_ahead_does_not_use_a_link_up(viewer: ServedViewer) -> None:
    link = viewer.link()
    assert viewer.get(link, {"Sec-Purpose": "prefetch;prerender"}).status == 204
    assert viewer.get(link).status == 200


def test_an_old_link_is_refused() -> None:
    now = [0.0]
    sessions = WebSessions(clock=lambda: now[0])
    token = sessions.make_link(Visitor(Path(), {}))
    now[0] = LINK_SECONDS + 1
    assert sessions.redeem(token) is None


def test_an_old_cookie_is_refused(viewer: ServedViewer) -> None:
    client = viewer.enter()
    for name, value in dict(client.cookies).items():
        client.cookies[name] = value[:-1] + ("A" if value[-1] != "A" else "B")
    assert client.get("/").status == 403


def test_the_link_and_the_state_are_files_of_this_user_alone(tmp_path: Path) -> None:
    """A second user of the machine reads neither the link nor who is admitted; the state opens nothing by itself."""
    endpoint = address(str(tmp_path / "palace.db"), {})
    Path(endpoint.directory).mkdir(mode=0o700, exist_ok=True)
    engine = Engine(tmp_path / "palace.db")
    host = ViewerHost(endpoint, engine)
    try:
        answer = host.answer({"surroundings": {"cwd": str(tmp_path), "variables": {"PALAZZO_EMBEDDER_API_KEY": "k3y"}}})
        host.close_if_idle()
        redirect, state = (Path(endpoint.socket).with_suffix(suffix) for suffix in (".html", ".viewer"))
        assert answer["link"] in redirect.read_text()
        assert [stat.S_IMODE(file.stat().st_mode) for file in (redirect, state)] == [0o600, 0o600]
        assert "k3y" not in state.read_text()
        if os.geteuid() == 0:  # only root can become another user
            for file in (redirect, state):
                read = subprocess.run(["cat", file], user=65534, group=65534, extra_groups=[], capture_output=True)
                assert (read.returncode != 0, read.stdout) == (True, b"")
    finally:
        host.end()
        engine.close()
        for suffix in (".html", ".viewer"):
            Path(endpoint.socket).with_suffix(suffix).unlink(missing_ok=True)


# --- headers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*PATHS, "/static/viewer.js", "/nothing"])
def test_every_answer_forbids_scripts_of_the_page_and_frames(visitor: ServedViewer, path: str) -> None:
    headers = visitor.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_stored(visitor: ServedViewer, path: str) -> None:
    assert visitor.get(path).headers["cache-control"] == "no-store"


# --- words that are markup -------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Collects the elements and the attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def assert_inert(answer: Answer) -> None:
    """Assert that a page has the viewer's own script and nothing else that acts, and addresses of its own only."""
    parser = Elements()
    parser.feed(answer.text)
    scripts = [attributes for tag, attributes in parser.elements if tag == "script"]
    assert all(set(script) == {"type", "src"} and script["src"] == "/static/viewer.js" for script in scripts)
    for tag, attributes in parser.elements:
        assert tag not in ("iframe", "object", "embed", "base", "style", "math")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            value = attributes.get(name)
            assert value is None or (value.startswith(("/", "#")) and not value.startswith("//"))
        if tag == "img":
            assert str(attributes["src"]).startswith("/static/")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedViewer]:
    """A viewer of a palace in which every name and every text is markup."""
    home = tmp_path_factory.mktemp("hostile")
    world = World(home)
    session = world.session("markup")
    session.asks(f"{MARKUP} Which database do we use?")
    session.calls(f"mcp__{MARKUP}", MARKUP, **{MARKUP: MARKUP})
    session.calls("Edit", "Exit code 1: failed", file_path=str(world.project / MARKED_FILE), new_string=MARKUP)
    session.asks("".join(attack.text for attack in generate_attacks(60)))
    session.answers(f"Decision: we use {MARKUP} for the database, because {MARKUP} is fast.")
    session.reads_a_page(f"https://tips.example/{MARKUP}")
    rows = session.path.read_text().replace('"cwd":', f'"gitBranch": {json.dumps(MARKUP)}, "cwd":')
    session.path.write_text(f"{rows}{json.dumps({'type': 'summary', 'summary': MARKUP, 'leafUuid': 'x'})}\n")
    run(world.context(), "mine", (world.histories,))
    run(
        world.context(),
        "remember",
        f"database {MARKUP}",
        wing=WING,
        room="<b onclick=alert(5)>",
    )
    run(world.context(), "kg_add", MARKUP[:60], "uses", f"database {MARKUP[:60]}")
    run(world.context(), "kg_add", MARKUP[:60], "uses", f"other {MARKUP[:60]}")
    run(world.context(), "todo_add", f"todo {MARKUP}", wing=WING)
    run(world.context(), "remind", f"reminder {MARKUP}", topic=MARKUP)
    run(world.context(), "remember", f"See the database {MARKUP}", wing=WING, room="<i>")
    run(world.context(), "tunnel_add", f"{WING}/<b onclick=alert(5)>", f"{WING}/<i>", label=MARKUP[:60])
    run(world.context(), "mine", (world.histories, commit_markup(world)), git=True)
    run(world.agent("markup"), "remember", f"quarantined {MARKUP}")
    run(world.context(), "hook", host="claude-code", event="session-start", session="later")
    world.close()
    with served_viewer(home) as served:
        yield served.enter()


def commit_markup(world: World) -> Path:
    """Commit a file whose name, author and message are markup, and again with a message and an author without end.

    Return the repository.
    """
    repository = world.home / REPOSITORY
    repository.mkdir()
    file = repository / MARKED_FILE
    authors = (f"<b>{MARKUP[:25]}", f"\u202e<b>{'A' * 5_000}")
    messages = (f"Commit {MARKUP}", f"\u202e\x1b[31mLong {'<i>' * 2_000}\n\n{MARKUP * 100}")
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True, capture_output=True)
    for number, (author, message) in enumerate(zip(authors, messages, strict=True)):
        file.write_text(f"x = {number}\n")
        person = ("-c", f"user.name={author}", "-c", "user.email=<i>@example.com", "-c", "core.hooksPath=/dev/null")
        for arguments in (("add", "."), (*person, "commit", "-q", "-m", message)):
            subprocess.run(["git", *arguments], cwd=repository, check=True, capture_output=True)
    return repository


def hostile_paths(viewer: ServedViewer) -> list[str]:
    """The pages that show something of what was recorded."""
    hits = viewer.run("search", query="database", limit=20).hits
    assert hits
    drawers = [f"/drawer/{hit.id}" for hit in hits]
    session = viewer.run("session_conversation", session="markup")
    texts = [f"/text/{message.id}" for message in session.messages]
    queries = ["/?q=database", f"/?q={'%3Cscript%3Ealert(1)%3C/script%3E'}", "/?q=database&part=hits"]
    fixed_paths = [path for path, _ in PAGES if "{" not in path]
    (drawer,) = viewer.run("list_drawers", wing=WING, limit=1).drawers
    places = [make_address("/room", wing=drawer.wing, room=drawer.room), make_address("/sessions", wing=drawer.wing)]
    places += [make_address("/code", path=MARKED_FILE, wing="api"), make_address("/knowledge", entity=MARKUP[:60])]
    later = ["/review?with=conflicts", "/review?with=duplicates", "/code?with=friction", "/knowledge?graph=drawn"]
    sessions = ["/session/markup", "/told/markup", "/told/later"]
    return [*fixed_paths, *queries, *drawers, *texts, *places, *later, *sessions]


def test_recorded_markup_is_text_on_every_page(hostile: ServedViewer) -> None:
    shown = 0
    for path in hostile_paths(hostile):
        answer = hostile.get(path)
        assert answer.status == 200, path
        assert_inert(answer)
        shown += "&lt;script&gt;alert(1)" in answer.text
        assert "49" not in re.findall(r"svg/onload=alert\(3\)&gt;(\S\S)", answer.text)
    assert shown > 15
    review = hostile.get("/review?with=conflicts").text
    for words in ("todo", "reminder", "quarantined"):
        assert f"{words} &lt;script&gt;" in review
    commits = hostile.run("list_drawers", kind="commit", limit=9).drawers
    pages = [hostile.get(f"/drawer/{commit.id}") for commit in commits]
    for page in pages:
        assert_inert(page)
    assert any("Commit &lt;script&gt;alert(1)" in page.text for page in pages)
    conversation = hostile.run("session_conversation", session="markup")
    assert {message.branch for message in conversation.messages} == {MARKUP}
    assert any(part.name == f"mcp__{MARKUP}" for message in conversation.messages for part in message.parts)
    assert "&lt;img src=x onerror=alert(6)&gt;.py" in hostile.get("/session/markup").text
    assert "&lt;script&gt;" in hostile.get("/told/later").text


FILE_TRICKS = (
    *(
        f"x/../{MARKED_FILE}",
        f"{MARKED_FILE}:1",
        f"{MARKED_FILE}:999999999",
        "*",
        ":(glob)**",
        ":!x",
        "-L1,1:x",
        "--all",
    ),
    *("--output=x", ".git/config:1", "/etc/passwd:1", "../../../../../../etc/passwd:1", r"C:\Windows\win.ini:1"),
    *("\u202e<b>x", "\x1b[31m\n\r", "%2e%2e%2fx", "x" * 9_000, "../" * 3_000, ":1" * 3_000),
)


def test_the_commits_of_a_file_are_inert_short_and_of_that_file_alone(hostile: ServedViewer) -> None:
    in_project = replace(hostile, directory=hostile.directory / REPOSITORY, cookies={}).enter()
    page = in_project.get(make_address("/code", path=MARKED_FILE, **{"with": "history"}))
    assert_inert(page)
    commits = page.text[page.text.index("<h3>Commits</h3>") :]
    assert commits.count("<article") == 2
    assert "Commit &lt;script&gt;alert(1)" in commits
    assert "A" * 40 in commits  # git itself removes angle brackets from names
    assert "A" * 100 not in commits
    assert len(commits) < 5_000
    assert not {"\u202e", "\x1b"} & set(page.text)
    for trick in FILE_TRICKS:
        answer = in_project.get(make_address("/code", path=trick, **{"with": "history"}))
        assert answer.status in (200, 400, 404, 414, 431), trick[:40]
        assert_inert(answer)
        assert len(answer.body) < 50_000
        for leak in ("root:", "repositoryformatversion", "Traceback", "bug in Palazzo"):
            assert leak not in answer.text, trick[:40]
        assert "<h3>Commits</h3>" not in answer.text or MARKED_FILE in trick, trick


OTHER_PARAMETERS = {
    "/?q=x": ("host", "tags", "external", "part"),
    "/palace": ("wing",),
    "/room": ("wing", "room", "kind", "tags", "since", "until", "offset"),
    "/knowledge": ("entity", "wing", "known_at", "offset", "part", "graph"),
    "/told": ("offset",),
    f"/told/{SESSION}": ("host",),
    "/review": ("with", "did"),
    "/code": ("path", "topic", "wing", "with"),
    "/health": ("check",),
    "/sessions": ("host", "unit", "before"),
}
"""The parameters of pages that the test below does not name."""


@pytest.mark.parametrize(
    "value",
    [
        *("../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "C:%5CWindows", "%00", "%ff"),
        *("'%20OR%201=1--", "%0d%0aSet-Cookie:%20x=y", MARKUP.replace("%", "").replace("?", "").replace("#", "%23")),
    ],
)
def test_tricks_in_addresses_get_a_sentence(visitor: ServedViewer, value: str) -> None:
    value = value.replace(" ", "%20")
    names = ("q", "wing", "room", "kind", "branch", "source", "since", "until", "as_of", "at", "offset", "limit")
    paths = [path.replace(SESSION, value) for path in PATHS if SESSION in path] + [f"/static/{value}"]
    paths += [f"/?q=x&{name}={value}" for name in names[1:]] + [f"/?q={value}"]
    paths += [f"/sessions?{name}={value}" for name in names] + [f"/session/{SESSION}?{name}={value}" for name in names]
    paths += [
        f"{path}{'&' if '?' in path else '?'}{name}={value}"
        for path, names in OTHER_PARAMETERS.items()
        for name in names
    ]
    for path in paths:
        answer = visitor.get(path)
        assert answer.status in (200, 400, 403, 404), path
        assert "root:" not in answer.text
        assert "Traceback" not in answer.text
        assert "bug in Palazzo" not in answer.text, path
        assert "x=y" not in answer.headers.get("set-cookie", "")
        if answer.headers["content-type"].startswith("text/html"):
            assert_inert(answer)


# --- words that are many --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_megabytes_in_one_message_and_a_line_of_a_million_characters(tmp_path: Path) -> None:
    """Every page answers, if need be with a sentence: the digest of such a message takes a minute."""
    world = World(tmp_path)
    session = world.session("long")
    session.asks("Show me the log.")
    session.answers("long words " * 900_000)
    session.answers("x" * 1_000_000)
    run(world.context(), "mine", (world.histories,))
    world.close()
    with served_viewer(tmp_path) as served:
        client = served.enter()
        messages = client.run("session_conversation", session="long").messages
        pages = [client.get("/session/long"), client.get("/?q=log")]
        pages += [client.get(f"/text/{message.id}") for message in messages]
        assert [page.status for page in pages] == [200] * len(pages)
        assert max(len(page.body) for page in pages) < 1_000_000
        longest = messages[1]
        last = client.get(f"/text/{longest.id}?start={longest.parts[0].length - 20}")
        assert "long words" in last.text
        sessions = client.get("/sessions")
        assert sessions.status == 200 or "reload the page" in sessions.text
