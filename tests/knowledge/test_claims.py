"""What sentences claim, rule by rule, and what of it would be a fact."""

from __future__ import annotations

import pytest

from palazzo.knowledge.rules.claim import candidate
from palazzo.knowledge.text_claims import read_claims


def facts(text: str, role: str = "user") -> set[tuple[str, str, str]]:
    found = [candidate(claim) for claim in read_claims(text, role)]
    return {(fact.subject, fact.predicate, fact.object) for fact in found if fact is not None}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The gateway listens on port 8443.", ("gateway", "runs_on_port", "8443")),
        ("Le serveur de licences écoute sur le port 27000.", ("serveur de licences", "runs_on_port", "27000")),
        ("User uploads are stored in `/mnt/blob/uploads`.", ("User uploads", "located_at", "/mnt/blob/uploads")),
        ("Telemetry is turned off in the shipped config.", ("Telemetry", "enabled", "false")),
        ("The chunk limit is 512 characters.", ("chunk limit", "has_value", "512 characters")),
        ("Production runs Python 3.12.3.", ("Production", "version", "Python 3.12.3")),
        ("We use FastAPI for the public API.", ("public API", "uses", "FastAPI")),
        ("The importer depends on libpq 16.", ("importer", "depends_on", "libpq 16")),
        ("Biome replaced Prettier.", ("Prettier", "replaced_by", "Biome")),
        ("We switched the broker from RabbitMQ to NATS.", ("RabbitMQ", "replaced_by", "NATS")),
        ("Data access goes through Drizzle instead of Sequelize.", ("Sequelize", "replaced_by", "Drizzle")),
        ("fyi we no longer use Snyk.", ("project", "stopped_using", "Snyk")),
        ("I renamed `fetch_rows` to `iter_rows`.", ("fetch_rows", "renamed_to", "iter_rows")),
        ("`send_all` is deprecated since 4.2.", ("send_all", "deprecated", "4.2")),
        ("Mira owns billing.", ("billing", "owned_by", "Mira")),
        ("Billing is owned by Mira.", ("Billing", "owned_by", "Mira")),
        ("We decided that tags are cut on Tuesdays.", ("Tuesdays", "decided", "tags are cut on Tuesdays")),
    ],
)  # fmt: skip
def test_a_sentence_that_states_is_worth_a_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Should we use Litestream for backups?",
        "process 4121 owns lock 16391",
        "The request dropped from 900 ms to 70 ms.",
        "I used ripgrep to find the callers.",
        "sure, we use Excel as our database. come on, look at the compose file",
        "the login page does not depend on the CMS",
        "I replaced tabs by four spaces.",
        "If the flag were enabled, it would be written twice.",
        "312 tests passed in 19 s.",
    ],
)
def test_what_states_nothing_of_one_s_own_is_worth_none(text: str) -> None:
    assert facts(text) == set()


def test_a_claim_knows_its_sentence_to_the_character() -> None:
    text = "Hello. 🙂 The gateway listens\non port 8443. Bye."
    (claim,) = [one for one in read_claims(text, "user") if one.predicate == "runs_on_port"]
    assert text[claim.start : claim.end] == "🙂 The gateway listens\non port 8443."


def test_hostile_text_is_read_in_time_that_grows_with_its_length() -> None:
    for text in ("from " * 3000, "a, " * 5000, "is no longer " * 1000, "x" * 40_000, "- [ ] " * 2000, "`" * 5000):
        read_claims(text, "user")
        read_claims(text, "tool")


@pytest.mark.parametrize(
    "text",
    [
        "The :doc:`sites </ref/contrib/sites>` framework no longer is.",
        "The default branch of the Project is .",
        "The runner is '.",
        "The main branch is ...",
        "branch: .",
        "DECIMAL_SEPARATOR = '\xa0'",
        "`THOUSAND_SEPARATOR: \u2009`",
        "\u2003 no longer uses Redis.",
        "\xa0 uses Redis for the cache.",
        "\x85 owns billing.",
    ],
)
def test_punctuation_in_the_place_of_a_value_is_none(text: str) -> None:
    for role in ("author", "user", "tool"):
        assert all(claim.value is None or claim.value.text for claim in read_claims(text, role))
