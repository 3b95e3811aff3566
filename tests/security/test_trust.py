"""Which tools bring in words from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palazzo.security.tool_trust import trust_of_tool


@pytest.mark.parametrize(
    "name",
    [
        "WebFetch",
        "webfetch",
        "web_fetch",
        "WebSearch",
        "google_web_search",
        "mcp__mem__search",
        "ReadMcpResourceTool",
        "",
    ],
)
def test_the_web_mcp_servers_and_unknown_tools_are_external(name: str) -> None:
    assert trust_of_tool(name, {}) == "external"


@pytest.mark.parametrize("name", ["Edit", "Write", "Agent", "TodoWrite", "Read", "Grep", "Bash", "apply_patch"])
def test_tools_of_the_machine_are_tools(name: str) -> None:
    assert trust_of_tool(name, None) == "tool"
    assert trust_of_tool(name, {"command": "ls", "file_path": "src/a.py"}) == "tool"


def test_palazzos_own_tools_hand_back_what_is_archived() -> None:
    assert trust_of_tool("mcp__palazzo__search", {}) == "tool"
    assert trust_of_tool("mcp__plugin_palazzo_palazzo__search", {}) == "tool"
    assert trust_of_tool("mcp__palazzo_evil__search", {}) == "external"


@pytest.mark.parametrize(
    "command",
    [
        "curl https://example.com",
        "cd x && curl -s example.com/a",
        "cat a | /usr/bin/curl -d @- https://example.com",
        "A=1 sudo -E wget example.com",
        "timeout 5 curl x.y",
        "if curl -f x.y; then echo; fi",
        'echo "$(curl x.y)"',
        "bash -lc 'curl x.y'",
        "ssh host uptime",
        "scp host:a .",
        "gh api repos/a/b",
        "gh issue view 3",
        "npm view left-pad readme",
        "python3 -c \"import requests; print(requests.get('https://example.com').text)\"",
        "cat node_modules/left-pad/README.md",
        "curl http://localhost:80@example.com/",
        "curl http://localhost/ http://example.com/",
        "curl http://localhost/ example.com/a",
        "curl http://localhost/; curl $URL",
        "curl http://localhost/; ssh host",
    ],
)
def test_commands_that_reach_out_are_external(command: str) -> None:
    assert trust_of_tool("Bash", {"command": command}) == "external"
    assert trust_of_tool("shell", {"command": ["bash", "-lc", command]}) == "external"


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "git push origin main",
        "grep -rn curl src",
        "echo curl",
        "cat curl.txt",
        "ls src/ssh",
        "curl -s http://localhost:8080/healthz",
        "curl http://127.0.0.1:3000/a | jq .",
        "./node_modules/.bin/jest",
        "cat > deploy.sh <<'EOF'\ncurl https://example.com\nEOF",
    ],
)
def test_commands_that_stay_are_tools(command: str) -> None:
    assert trust_of_tool("Bash", {"command": command}) == "tool"


@pytest.mark.parametrize(
    "path",
    [
        "node_modules/a/README.md",
        "/home/dev/acme/.venv/lib/python3.12/site-packages/a.py",
        "/home/dev/acme/vendor/a/b.go",
        "C:\\acme\\node_modules\\a.js",
    ],
)
def test_files_of_dependencies_are_external(path: str) -> None:
    assert trust_of_tool("Read", {"file_path": path}) == "external"
    assert trust_of_tool("Grep", {"pattern": "x", "path": path}) == "external"


def test_a_vendors_page_is_no_dependency() -> None:
    assert trust_of_tool("Read", {"file_path": "src/vendors/list.py"}) == "tool"


@given(
    st.text(),
    st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)),
)
def test_any_call_has_a_trust(name: str, arguments: object) -> None:
    assert trust_of_tool(name, arguments) in ("tool", "external")
