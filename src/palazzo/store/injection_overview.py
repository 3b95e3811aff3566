"""All injections at a glance: the sessions that were given something, and how much was given on each day."""

from __future__ import annotations

from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection

HOUR = 3_600_000_000


class InjectedSession(NamedTuple):
    """A session or a sub-agent that was given something; `entries` counts what it was given, `used` what it used."""

    host: str
    session: str
    first_at: Micros
    last_at: Micros
    injections: int
    tokens: int
    entries: int
    used: int


class InjectionHour(NamedTuple):
    """The injections of one hour since 1970: how many, their tokens, and the microseconds that they took together."""

    hour: int
    injections: int
    tokens: int
    took: int


def count_sessions(connection: Connection) -> int:
    """Return the number of sessions that were given something."""
    return int(next(connection.execute("SELECT count(DISTINCT session) FROM injection"))[0])


def list_sessions(connection: Connection, limit: int, offset: int) -> list[InjectedSession]:
    """Return sessions that were given something, the last given first."""
    rows = connection.execute(
        "SELECT s.host, s.session, i.first_at, i.last_at, i.n, i.tokens,"
        " (SELECT count(*) FROM injection_part p JOIN injection own ON own.id = p.injection WHERE own.session = s.id),"
        " (SELECT count(*) FROM (SELECT DISTINCT u.injection, u.n FROM injection_use u"
        " JOIN injection own ON own.id = u.injection WHERE own.session = s.id))"
        " FROM (SELECT session, min(at) AS first_at, max(at) AS last_at, count(*) AS n, sum(tokens) AS tokens"
        " FROM injection GROUP BY session ORDER BY max(at) DESC LIMIT ? OFFSET ?) i"
        " JOIN hook_session s ON s.id = i.session ORDER BY i.last_at DESC",
        (limit, offset),
    )
    return [
        InjectedSession(
            str(host), str(session), Micros(first), Micros(last), int(n), int(tokens), int(parts), int(used)
        )
        for host, session, first, last, n, tokens, parts, used in rows
    ]


def by_hour(connection: Connection) -> list[InjectionHour]:
    """Return the hours with injections, in order."""
    rows = connection.execute(
        f"SELECT at / {HOUR}, count(*), sum(tokens), sum(took) FROM injection GROUP BY 1 ORDER BY 1"
    )
    return [InjectionHour(int(hour), int(count), int(tokens), int(took)) for hour, count, tokens, took in rows]
