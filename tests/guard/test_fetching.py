"""Which files a command brings in from outside."""

from __future__ import annotations

import pytest

from palazzo.guard.fetching import fetched, looks_at_what_it_fetched, named, saved, written


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("curl -sSLo page.html https://example.com/a", {"page.html"}),
        ("curl --output 'my page.html' https://example.com", {"my page.html"}),
        ("curl -s https://example.com/a > /tmp/out/a.md 2>/dev/null", {"a.md"}),
        ("cd docs && curl -O https://example.com/b/page.html?x=1", {"page.html"}),
        ("wget https://example.com/b/page.html", {"page.html"}),
        ("wget https://example.com/ -O - | tee -a notes.txt", {"index.html", "notes.txt"}),
        ("git clone --depth 1 https://github.com/a/b.git", {"b"}),
        ("git -c core.x=1 clone -b main git@github.com:a/b.git libs/bee && ls", {"bee"}),
        ("gh repo clone a/b", {"b"}),
        ("gh issue view 3 > issue.md", {"issue.md"}),
        ("scp host:/x/page.html .", {"page.html"}),
        ("curl -sL https://example.com/a.tgz -o a.tgz && tar xzf a.tgz", {"a.tgz", "a"}),
        ("curl -s https://example.com/a.tgz | tar xz -C third", {"third"}),
        ("Invoke-WebRequest https://example.com -OutFile page.html", {"page.html"}),
        ("bash -lc 'curl -o page.html example.com/u'", {"page.html"}),
        ('curl -fsSL "$URL" -o "${TMP}/key.txt"', {"key.txt"}),
        ("python3 -c \"import urllib.request as u; u.urlretrieve('https://example.com/p', 'p.html')\"", {"p.html"}),
        ("npm view left-pad readme >> readme.md", {"readme.md"}),
    ],
)
def test_a_network_command_names_the_files_that_it_brings_in(command: str, names: set[str]) -> None:
    assert fetched(command) == names


@pytest.mark.parametrize(
    "command",
    [
        "ls > files.txt",
        "git clone /srv/mirror here",
        "git clone ../other",
        "curl http://localhost:3000/health -o health.json",
        "cp a.md b.md",
        "git status",
        "curl -s https://example.com",
        "curl -s https://example.com 2>/dev/null | head",
    ],
)
def test_what_stays_on_this_machine_or_writes_nothing_brings_in_no_file(command: str) -> None:
    assert fetched(command) == frozenset()


def test_a_command_may_read_what_it_has_just_cloned() -> None:
    assert looks_at_what_it_fetched("git clone https://example.com/x && cat x/README.md")
    assert looks_at_what_it_fetched("git clone https://example.com/x.git y; ls y")
    assert not looks_at_what_it_fetched("git clone https://example.com/x && cd other && make")
    assert not looks_at_what_it_fetched("git clone https://example.com/x")


def test_what_is_made_of_a_file_is_known_by_where_it_is_put() -> None:
    assert written("cp page.html docs/x.md") == {"x.md"}
    assert written("mv page.html notes/") == {"notes", "page.html"}
    assert written("sed 's/a/b/' page.html > clean.txt") == {"clean.txt"}
    assert written("unzip pack.zip -d out") == {"pack", "out"}


def test_what_a_tool_says_of_where_it_put_its_answer_is_a_file_too() -> None:
    said = "Error: result exceeds the limit. Output has been saved to /home/dev/tool-results/mcp-1.txt."
    assert saved(said) == {"mcp-1.txt"}
    assert saved("nothing was kept") == frozenset()


def test_every_component_of_a_path_is_named() -> None:
    assert {"docs", "page.html", "b"} <= named('cat "docs/page.html"; rg TODO ./b/src')
    assert "page.html" in named(r"type C:\work\page.html")
    assert "page.html" not in named("cat page.html.bak")
