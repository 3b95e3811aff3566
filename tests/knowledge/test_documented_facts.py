"""Documentation explains, instructs and compares; of its claims, only those that state a fact are suggested."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.knowledge.conftest import Kg

from palazzo.model import Place
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

REFUSED = {
    "an instruction": [
        "To report a security vulnerability, please use the Tidelift security contact.",
        "Please use the new `structlog.get_context()`.",
        "When customizing the transport use `transport=...`.",
        "Only use HTTP/1.1 on short-lived connections like `httpx.get()`.",
        "``consul`` Use the `Consul`_ K/V store to store the results.",
        "Your worker bootstep must require the `Hub` bootstep to use this:",
        "However not every application needs a SQL database.",
        "To use Celery we need to create a RabbitMQ user and a virtual host:",
        "The callable needs to return SSLContext object.",
    ],
    "an example": [
        "For this example we use the `rpc` result backend, that sends states back as transient messages.",
        "All examples use a task called `add`, returning the sum of two arguments:",
    ],
    "a comparison": [
        "On Windows, the default ``prefork`` pool uses ``spawn`` instead of ``fork`` to create worker processes.",
        "Configure a `dead letter exchange`_ so dropped tasks are kept instead of lost.",
        "For better performance and security, use UNIX sockets instead of TCP:",
        "The default was changed from ``False`` to ``True`` for compatibility with RabbitMQ 4.3.0.",
    ],
    "another program's version": [
        "Flask supports Python 3.9 and newer.",
        "HTTPX is a fully featured HTTP client library for Python 3.",
        "Tenacity is an Apache 2.0 licensed general-purpose retrying library.",
        "Official support for Python 3.12.",
        "Please ensure that your Python version is 3.3 and above.",
        "The first commit to the Celery codebase was made on Fri Apr 24 13:30:00 2009 +0200.",
    ],
    "a description": [
        "Another big problem is CSRF.",
        "Celery supports two errback calling styles for chord errors.",
        "Individual migrations are Python functions that are then registered with that migration set.",
        "Whether debug mode is enabled.",
        "After the test is over, the temporary file is closed and removed.",
    ],
    "code": [
        "def test_update(client): assert client.get('/1/update').status_code == 200",
        "Client supports HTTP/2 over TLS (curl with `--http2`).",
    ],
    "a note of a change": ["Changed in 20.0.1: The default value has been changed from `SSLv23` to `TLSv1`."],
}
KEPT = {
    "The gateway listens on port 8443.": ("gateway", "runs_on_port", "8443"),
    "Mira owns billing.": ("billing", "owned_by", "Mira"),
    "We use RabbitMQ for the job queue.": ("project", "uses", "RabbitMQ"),
    "We use the `pgmq` queue for jobs.": ("project", "uses", "pgmq queue"),
    "HTTPX requires Python 3.8+.": ("HTTPX", "depends_on", "Python 3.8+"),
    "Flask uses the `Jinja`_ template library to render templates.": ("Flask", "uses", "Jinja template library"),
    "The default visibility timeout is 30 minutes.": ("default visibility timeout", "has_value", "30 minutes"),
    "The default serializer is `JSON`. Long polling is enabled by default.": (
        "default serializer",
        "has_value",
        "JSON",
    ),
    "Long polling is enabled by default.": ("Long polling", "enabled", "true"),
    "The soft shutdown is disabled by default.": ("soft shutdown", "enabled", "false"),
    "We switched from RabbitMQ to NATS for the job queue.": ("RabbitMQ", "replaced_by", "NATS"),
    "Logs go to `/var/log/shop/shop.log`.": ("Logs", "located_at", "/var/log/shop/shop.log"),
}
SENTENCES = [(name, sentence) for name, sentences in REFUSED.items() for sentence in sentences]


def suggested(tmp_path: Path, text: str, name: str = "guide.md") -> list[tuple[str, str, str]]:
    """Return the facts that a document of that text suggests."""
    kg = Kg(tmp_path)
    page = tmp_path / "docs" / name
    page.parent.mkdir(parents=True)
    question = "Is it enabled by default?"  # so that the passage is read for claims; it makes none
    page.write_text(f"# Guide\n\n{text}\n\n{question}\n", "utf-8")
    palace = kg.context.writing()
    mine(palace.database, palace.clock, MineRequest((tmp_path / "docs",)))
    facts = [(one.subject, one.predicate, one.object) for one in kg("suggest").suggestions]
    kg.context.close()
    return facts


@pytest.mark.parametrize(("name", "sentence"), SENTENCES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(SENTENCES)])
def test_documentation_that_states_no_fact_suggests_none(tmp_path: Path, name: str, sentence: str) -> None:
    assert suggested(tmp_path, sentence) == [], name


@pytest.mark.parametrize(("sentence", "fact"), KEPT.items(), ids=[fact[1] + fact[0] for fact in KEPT.values()])
def test_a_fact_in_documentation_is_suggested_with_plain_names(
    tmp_path: Path, sentence: str, fact: tuple[str, str, str]
) -> None:
    assert fact in suggested(tmp_path, sentence)


@pytest.mark.parametrize("log", ["CHANGELOG.md", "history/2.1.md", "whats-new.md", "release_notes.md"])
def test_a_change_log_suggests_nothing(tmp_path: Path, log: str) -> None:
    assert suggested(tmp_path, "The `proxies` argument is now deprecated. Mira owns billing.", log) == []


def test_a_note_is_not_judged_as_documentation(tmp_path: Path) -> None:
    kg = Kg(tmp_path)
    kg.context.writing().remember("On Windows, the pool uses spawn instead of fork.", Place("shop", "notes"))
    assert [(one.subject, one.predicate, one.object) for one in kg("suggest").suggestions] == [
        ("fork", "replaced_by", "spawn")
    ]
    kg.context.close()


def test_an_accepted_fact_of_a_document_is_not_suggested_again(tmp_path: Path) -> None:
    kg = Kg(tmp_path)
    page = tmp_path / "docs" / "guide.md"
    page.parent.mkdir(parents=True)
    page.write_text("Flask uses the `Jinja`_ template library to render templates.\n", "utf-8")
    palace = kg.context.writing()
    mine(palace.database, palace.clock, MineRequest((page,)))
    (one,) = kg("suggest").suggestions
    (fact,) = kg("accept", (one.id,)).facts
    assert fact.object == "Jinja template library"
    assert kg("suggest").suggestions == ()
    kg.context.close()
