"""Session titles for display: built from the user's own words if the host's title may repeat untrusted content.

Some hosts generate titles themselves (`security/clean_titles`). In a session that read untrusted content, the host's
model may have derived the title from it, so that title is not shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from palazzo.model import Source
from palazzo.security.clean_titles import is_of_host, title_from
from palazzo.store import source_rows, taint_rows, transcripts
from palazzo.store.database import Connection

_FIRST_READ, _MOST_READ = 2, 20
"""Number of user messages that are searched for a title: nearly always one of the first has one."""


def shown_title(connection: Connection, source: int, title: str) -> str:
    """Return the title to show for a session (its source's row), or ''."""
    return shown_titles(connection, {source: title})[source]


def shown_titles(connection: Connection, titles: Mapping[int, str]) -> dict[int, str]:
    """Return the titles to show for sessions, by their sources' rows; '' if the user said nothing in one."""
    distrusted_sources = taint_rows.sources_that_met(connection, titles)
    replaced_sources = {
        source for source, title in titles.items() if not title or source in distrusted_sources or is_of_host(title)
    }
    return {**titles, **_own_titles(connection, replaced_sources)}


def shown_title_of_session(connection: Connection, session: str, title: str) -> str:
    """Return the title to show for a session by its id, or ''."""
    rows = source_rows.sources_of_session(connection, session)
    return next(filter(None, shown_titles(connection, dict.fromkeys(rows, title)).values()), "")


def stored_title(connection: Connection, source: int, title: str) -> str:
    """Return the title to store for a session: replace only a host's own text, whatever content the session read."""
    return _own_titles(connection, [source])[source] if is_of_host(title) else title


def with_shown_titles(connection: Connection, sources_by_row: Mapping[int, Source]) -> dict[int, Source]:
    """Return sources, by their rows, with the titles to show."""
    titles = {row: source.title for row, source in sources_by_row.items() if source.session_id and source.title}
    if not titles:
        return {**sources_by_row}
    titles_to_show = shown_titles(connection, titles)
    return {row: replace(source, title=titles_to_show.get(row, source.title)) for row, source in sources_by_row.items()}


def _own_titles(connection: Connection, sources: Collection[int]) -> dict[int, str]:
    """Return titles made of the user's own words, by source; '' for a session without any."""
    titles = _titles_in_first(connection, sources, _FIRST_READ)
    return titles | _titles_in_first(connection, [source for source in sources if not titles[source]], _MOST_READ)


def _titles_in_first(connection: Connection, sources: Collection[int], at_most: int) -> dict[int, str]:
    texts = transcripts.first_of_person(connection, sources, at_most) if sources else {}
    return {source: next(filter(None, map(title_from, texts.get(source, ()))), "") for source in sources}
