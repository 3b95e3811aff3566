"""The results of a search as MemPalace's command line prints them, for clients that parse that text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import source_file
from palazzo.features.search.contract import HitView


def render_results(query: str, filters: Mapping[str, str | None], hits: Sequence[HitView]) -> str:
    """Return the text for these hits; `filters` are shown above them, except those that are None."""
    if not hits:
        return f'\n  No results found for: "{query}"'
    rendered_hits = (_render_hit(number, hit) for number, hit in enumerate(hits, start=1))
    return "\n".join((_render_heading(query, filters), *rendered_hits, ""))


def _render_heading(query: str, filters: Mapping[str, str | None]) -> str:
    lines = [f'  Results for: "{query}"', *(f"  {name.title()}: {value}" for name, value in filters.items() if value)]
    return "\n".join(("", "=" * 60, *lines, "=" * 60, ""))


def _render_hit(number: int, hit: HitView) -> str:
    text = "\n".join(f"      {line}" for line in hit.text.strip().split("\n"))
    place = (
        f"  [{number}] {hit.wing} / {hit.room}\n      Source: {_file_name(hit)}\n      Match:  {_render_scores(hit)}"
    )
    return f"{place}\n\n{text}\n\n  {'-' * 56}"


def _render_scores(hit: HitView) -> str:
    """Return the scores of a hit. A hit that has no vector yet has no cosine, and matches by its words alone."""
    values: Mapping[str, float] = {reason.name: reason.value for reason in hit.reasons}
    keyword_score = f"bm25={round(values.get('bm25', 0.0), 3)}"
    if "vector" not in values:
        return f"{keyword_score}  (found by its words)"
    return f"cosine_sim={round(max(values['vector'], 0.0), 3)}  {keyword_score}"


def _file_name(hit: HitView) -> str:
    return Path(source_file(hit.source)).name or "?"
