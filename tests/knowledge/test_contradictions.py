"""When a later text takes back what an earlier one says."""

from __future__ import annotations

import pytest

from palazzo.knowledge.compared_text import tell
from palazzo.knowledge.contradictions import contradictions


def between(earlier: str, later: str, roles: tuple[str, str] = ("user", "user")) -> list[tuple[str, str, str | None]]:
    found = contradictions(tell(earlier, roles[0]), tell(later, roles[1]))
    return [(one.kind, one.old, one.new) for one in found]


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        ("The admin API listens on port 8080.", "The admin API listens on port 9090 now.", ("port", "8080", "9090")),
        ("The site is built with Django 4.2.", "We upgraded to Django 5.2.", ("version", "4.2", "5.2")),
        ("Logs go to /var/log/app.", "Logs go to /srv/log/app now.", ("path", "/var/log/app", "/srv/log/app")),
        ("Signups are open.", "signups are closed until the spam wave is over", ("boolean", "open", "closed")),
        ("Backups are kept for 30 days.", "we keep backups for 90 days", ("value", "30", "90")),
        ("A release needs two approvals.", "A release needs three approvals.", ("value", "two", "three")),
        ("Mira owns billing.", "Tomasz owns billing since Monday.", ("value", "Mira", "Tomasz")),
        ("Our broker is RabbitMQ.", "we switched the broker from RabbitMQ to NATS", ("switch", "RabbitMQ", "NATS")),
        ("Search is Solr.", "Instead of Solr, search uses Meilisearch.", ("instead", "Solr", "Meilisearch")),
        ("The broker listens on :1883.", "API aside, the broker comes up on :8883 now.", ("port", "1883", "8883")),
        ("The debug toolbar is enabled.", "turned the debug toolbar off", ("boolean", "enabled", "disabled")),
        ("TLS checks are off.", "TLS checks are back on.", ("boolean", "off", "on")),
        ("CI is CircleCI.", "ci: migrate from CircleCI to Buildkite", ("switch", "CircleCI", "Buildkite")),
        ("We use TypeORM.", "We dropped TypeORM in favour of Drizzle.", ("instead", "TypeORM", "Drizzle")),
        ("We use Jenkins for CI.", "Jenkins is gone.", ("ended", "Jenkins", None)),
        ("Wir unterstützen IE 11 noch.", "IE 11 wird nicht mehr unterstützt.", ("ended", "IE 11", None)),
    ],
)  # fmt: skip
def test_a_later_text_that_says_something_else_holds_contradicts(
    earlier: str, later: str, found: tuple[str, str, str | None]
) -> None:
    assert between(earlier, later) == [found]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The API listens on port 8080.", "Should the API listen on port 9090?"),
        ("In production the API listens on 8443.", "the staging API listens on 9443"),
        ("We're on python 3.11 everywhere.", "We're on python 3.11.4."),
        ("numpy >=1.24 is supported.", "numpy >=2.0 is supported."),
        ("The tarballs are in /srv/app.", "The tarballs are in /srv/app/."),
        ("The read timeout is 30 seconds.", "The connect timeout is 2 seconds."),
        ("The rate limit is 100 requests per minute.", "The rate limit is 2 requests per second."),
        ("Deploys run on Heroku.", "We considered moving from Heroku to Fly.io."),
        ("The templates rely on jQuery.", "`date-picker.js` no longer uses jQuery. Others still use jQuery."),
        ("The API listens on port 8080.", "For local work the API listens on port 3000."),
        ("Redis is on 6379.", "the test suite starts its own Redis on 16379"),
        ("Prometheus scrapes port 9090.", "Prometheus also scrapes port 9187."),
        ("Caching is enabled by default.", "Caching is disabled when `--no-cache` is given."),
        ("Rate limiting is enabled.", "Rate limiting is disabled for the health check."),
        ("The upload limit is 10 MB.", "The upload limit per day is 500 MB."),
        ("The backend uses Kafka.", "Analytics switched from Kafka to Kinesis."),
        ("We use Redux.", "The settings page no longer uses Redux."),
        ("jQuery is used in the admin.", "Removed jQuery from the landing page."),
        ("We use Terraform.", "We stopped using Terraform workspaces."),
        ("The client supports Windows.", "The client no longer crashes on Windows."),
        ("We use Redux.", "**PR 7 – draft, do not merge**\n\nZustand replaced Redux."),
    ],
)
def test_where_both_may_hold_there_is_no_conflict(earlier: str, later: str) -> None:
    assert between(earlier, later) == []


def test_configuration_is_compared_where_it_is_of_one_file() -> None:
    shown = "$ cat a.yaml\nworkers: {}\nname: shop"
    assert between(shown.format(4), shown.format(9), ("tool", "tool")) == [("value", "4", "9")]
    assert between("$ cat a.yaml\nworkers: 4", "$ cat b.yaml\nworkers: 9", ("tool", "tool")) == []


def test_an_entry_is_compared_with_the_one_under_the_same_keys() -> None:
    pool, other = "postgres:\n  pool: {}", "redis:\n  pool: {}"
    assert between(pool.format(5), pool.format(30), ("tool", "tool")) == [("value", "5", "30")]
    assert between(pool.format(5), other.format(30), ("tool", "tool")) == []


def test_an_object_is_compared_with_the_one_of_the_same_name() -> None:
    shown = '{{"service": "{}", "tracing": {}}}'
    assert between(shown.format("mail", "true"), shown.format("mail", "false"), ("tool", "tool"))
    assert between(shown.format("mail", "true"), shown.format("push", "false"), ("tool", "tool")) == []


def test_both_places_are_told_to_the_character() -> None:
    earlier, later = "Hi! The API listens on port 1080. Bye.", "Done. The API listens on port 2080."
    (one,) = contradictions(tell(earlier, "user"), tell(later, "user"))
    assert earlier[slice(*one.earlier)] == "The API listens on port 1080."
    assert later[slice(*one.later)] == "The API listens on port 2080."


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "By default, the sidebar gets an empty list.",
            ".. versionchanged:: 5.0\n\n   Changed the default value from an empty list to `toc`.",
        ),
        ("John is 37.", "Note that in the last example the article has moved from John to Paul."),
        ("The bucket is in Ohio.", "For users in the US, the bucket of row i moved from Ohio to Oregon."),
    ],
)
def test_what_a_page_describes_changes_nothing_on_another_page(earlier: str, later: str) -> None:
    assert list(contradictions(tell(earlier, ""), tell(later, "")))
    assert list(contradictions(tell(earlier, ""), tell(later, ""), switches_only=True)) == []
