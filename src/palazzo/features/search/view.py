"""Terminal output of search, show and wake-up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from palazzo.features.facts.fact_view import fact
from palazzo.features.screen import Screen
from palazzo.features.search.hit_view import Answer, moment, write_hit
from palazzo.features.search.reasons_view import write_reasons
from palazzo.security.display_names import quoted_name
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

if TYPE_CHECKING:  # each result's own module alone is loaded, by whoever made it
    from palazzo.features.search.contract import SearchResult, ShowEntry, ShowResult


def search(screen: Screen, result: SearchResult) -> None:
    """Show hits, best first: where each is, what it is, and the lines around its best sentence."""
    hits = result.hits or result.below
    if result.below:
        screen.say(("Nearest matches, unlikely to answer the query:", "yellow"))
        screen.gap()
    answer = Answer(
        result.searched_at,
        result.home,
        result.scope.wing,
        hits,
        frozenset(result.matched_words),
        result.explained,
    )
    for rank, hit in enumerate(hits, 1):
        write_hit(screen, rank, hit, answer)
    if hits and hits[-1].strength == "weak" and not result.explained:
        screen.gap()
    if result.explained and hits:
        write_reasons(screen, hits, result.floor)
    screen.say((_summary(result), "dim"), wrap_indent=0)
    if result.advice:
        screen.say((result.advice, "yellow"), wrap_indent=0)
    if result.note:
        screen.say((result.note, "yellow"), wrap_indent=0)
    elif result.index == "building":
        screen.say(
            ("Vectors are still being computed: new text is found by keyword now, and by meaning soon.", "yellow"),
            wrap_indent=0,
        )


def _summary(result: SearchResult) -> str:
    count_text = count_noun(len(result.hits), "hit") if result.hits else "Nothing found"
    scope_text = f" in {result.scope.wing}" if result.scope.wing else ""
    scope_text += f" as of {to_iso(result.scope.as_of)}" if result.scope.as_of is not None else ""
    if result.explained:
        scope_text += f", {count_noun(result.total_candidates, 'candidate')}, {result.took_ms:,.0f} ms"
    first = result.hits[0] if result.hits else None
    hint = f"; 'palazzo show {first.short_id}' shows the first in full" if first and not first.person else ""
    return f"{count_text}{scope_text}{hint}"


def show(screen: Screen, result: ShowResult) -> None:
    """Show a drawer with its neighbours, an item, or a session; or only its raw bytes."""
    if result.raw is not None:
        screen.bytes(result.raw)
        return
    if result.as_of is not None:
        screen.say((result.note or f"As of {to_iso(result.as_of)}:", "yellow"))
    if result.kind == "fact":
        fact(screen, result.id, result.versions)
        return
    if result.kind == "session":
        _session(screen, result)
        return
    for entry in result.before:
        _brief(screen, entry)
    for entry in result.entries:
        _entry(screen, result.kind, entry)
    for entry in result.after:
        _brief(screen, entry)


def _entry(screen: Screen, kind: str, entry: ShowEntry) -> None:
    screen.say((f"{kind} {entry.id}", "bold"))
    facts = [
        ("title", quoted_name(entry.title) if entry.title and entry.source.session_id else entry.title),
        ("kind", entry.kind),
        ("filed in", f"{entry.wing}/{entry.room}"),
        ("said by", f"{entry.role} {entry.author}".strip()),
        ("at", moment(entry.created_at)),
        ("recorded", moment(entry.recorded_at)),
        ("retired", moment(entry.retired_at) if entry.retired_at else ""),
        ("source", f"{entry.source.uri}, {entry.source.locator}"),
        ("session", entry.source.session_id),
        ("trust", entry.trust),
        ("branch", f"{quoted_name(entry.branch) if entry.branch else ''} {entry.commit}".strip()),
        ("standing", "" if entry.visibility == "merged" else entry.visibility),
        ("superseded", f"{entry.superseded.value or 'ended'} ({entry.superseded.by})" if entry.superseded else ""),
        ("cites", "; ".join(filter(None, (entry.freshness if entry.citations else "", entry.cited)))),
        ("tags", ", ".join(entry.tags)),
        ("filed as", entry.filed_as),
        ("importance", "" if entry.importance is None else f"{entry.importance:g}"),
        ("metadata", json.dumps(entry.metadata, ensure_ascii=False) if entry.metadata else ""),
        ("replaces", " ".join(entry.replaces)),
        *(
            ("also said", f"{moment(copy.created_at)} by {copy.author or copy.trust} ({copy.id})")
            for copy in entry.folded
        ),
        ("drawers", " ".join(entry.drawers)),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in facts if value])
    screen.gap()
    screen.exact(entry.text, indent="")
    if entry.later:
        screen.say((f"… and {count_noun(entry.later, 'character')} added later; palazzo show {entry.id}", "dim"))
    screen.gap()


def _brief(screen: Screen, entry: ShowEntry) -> None:
    screen.say((f"{entry.id}  {entry.source.locator}  {entry.role}", "dim"))
    screen.exact(entry.text)
    screen.gap()


def _session(screen: Screen, result: ShowResult) -> None:
    title = next((entry.title for entry in result.entries if entry.title), "")
    screen.say((f"session {result.id}", "bold"), f"  {title}")
    screen.gap()
    for entry in result.entries:
        screen.say((f"{entry.role}  {moment(entry.created_at)}  {entry.id}", "cyan"))
        screen.exact(entry.text)
        screen.gap()
    screen.say((count_noun(len(result.entries), "message"), "dim"))
