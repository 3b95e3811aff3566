"""The protocol's conformance suite, for the server's features that we declare: tools, resources, prompts, progress.

Its scenarios of logging, completion, sampling, elicitation and subscriptions are of features that are not declared. Its
other scenarios of tools, resources and prompts ask for content of its own (`test_image_content`, `test://static-text`),
which a memory does not have; those of tools that return text, fail and report progress are run with tools that do so.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients import suite as suite_tools
from tests.clients.from_npm import CONFORMANCE, Programs, programs
from tests.clients.served import http_without_token
from tests.clients.stock import Stock
from tests.daemon.conftest import User

from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.profile import MODULES
from palazzo.faces.mcp.stdio_server import in_a_thread

pytestmark = pytest.mark.slow

OF_ANY_SERVER = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
OF_ITS_OWN_TOOLS = ("tools-call-simple-text", "tools-call-error", "tools-call-with-progress")


@pytest.fixture(scope="module")
def suite() -> Programs:
    return programs()


@pytest.fixture(scope="module")
def served(someone: User, stock: Stock) -> Iterator[str]:
    """All of Palazzo's tools."""
    around = Surroundings(stock.project, {"HOME": str(someone.home), "PALAZZO_SERVICE": "off"}, someone.palace)
    with http_without_token(someone.palace, around, "palazzo", in_a_thread) as address:
        yield address


def run(suite: Programs, scenario: str, address: str, scratch: Path) -> None:
    """Run a scenario, which must find something to check and nothing wrong."""
    arguments = ["server", "--url", address, "--scenario", scenario, "--output-dir", str(scratch)]
    done = subprocess.run(
        suite.command(CONFORMANCE, "dist/index.js", *arguments),
        cwd=scratch, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 0/" not in done.stdout, done.stdout


@pytest.mark.parametrize("scenario", OF_ANY_SERVER)
def test_it_conforms(suite: Programs, served: str, tmp_path: Path, scenario: str) -> None:
    run(suite, scenario, served, tmp_path)


@pytest.mark.parametrize("scenario", OF_ITS_OWN_TOOLS)
def test_its_tools_conform_on_our_server(
    suite: Programs, someone: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: str
) -> None:
    with its_tools(someone, monkeypatch) as address:
        run(suite, scenario, address, tmp_path)


@contextmanager
def its_tools(someone: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a profile of the tools that the suite asks for; the address."""
    monkeypatch.setitem(MODULES, "suite", suite_tools.__name__)
    around = Surroundings(someone.home, {"HOME": str(someone.home)}, someone.palace)
    with http_without_token(someone.palace, around, "suite", suite_tools.carry_out) as address:
        yield address
