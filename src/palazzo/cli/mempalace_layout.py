"""`search`, `status` and `wake-up` as MemPalace prints them, for the clients that read its output.

    python -P -m palazzo.cli.mempalace_layout VERB [options]

The layout is that of MemPalace 3.11.0, also where there is no palace, no such wing or nothing to show, and so are the
exit codes. What goes wrong otherwise is said and counted as by `palazzo`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from palazzo.cli import failing
from palazzo.cli.warmth import carried_out
from palazzo.errors import NoSuchPlace, PalaceMissing, PalazzoError
from palazzo.operations.context import Context
from palazzo.operations.hits import HitView
from palazzo.operations.registry import operation
from palazzo.operations.search import SearchRequest, SearchResult
from palazzo.operations.status import StatusRequest, StatusResult
from palazzo.operations.wake_up import WakeUpRequest, WakeUpResult

_NO_MEMORIES = "No palace found. Run: mempalace mine <dir>"
_NO_PALACE = "\n  No palace found at {path}\n  Run: mempalace init <dir> then mempalace mine <dir>"
_CHARACTERS_PER_TOKEN = 4
"""By which MemPalace counts the tokens of its wake-up text."""

Show = Callable[[argparse.Namespace, Context], str]


def main(arguments: list[str] | None = None) -> int:
    """Carry out one verb, and return its exit code."""
    asked = _parser().parse_intermixed_args(arguments)
    try:
        with Context(palace=asked.palace, on_notice=_notice) as context:
            try:
                shown = _SHOWS[asked.verb](asked, context)
            except PalaceMissing:
                shown = _without_palace(asked.verb, context.palace_path)
                _write(shown)
                return failing.FAILED if asked.verb == "search" else 0
        _write(shown)
    except KeyboardInterrupt:
        return failing.interrupted(None, writes=False)
    except PalazzoError as error:
        return failing.expected(error, debug=False)
    except Exception as error:  # noqa: BLE001 - whatever else is raised is a bug, and is reported as one
        return failing.bug(error, sys.argv[1:], debug=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mempalace", add_help=False)
    parser.add_argument("verb", choices=sorted(_SHOWS))
    parser.add_argument("--palace", type=Path)
    for option in ("--wing", "--room", "--since", "--until"):
        parser.add_argument(option)
    parser.add_argument("--limit", type=int, default=5)
    parser.add_argument("query", nargs="*")
    return parser


def _notice(sentence: str) -> None:
    print(f"mempalace: {sentence}", file=sys.stderr)


def _write(text: str) -> None:
    """Print a text, in the fence where an agent reads it in its shell."""
    import os

    from palazzo.guard.fences import fenced
    from palazzo.guard.taint import is_agents

    if is_agents(os.environ) and not sys.stdout.isatty():
        text = fenced(text)
    sys.stdout.buffer.write(f"{text}\n".encode(errors="replace"))
    sys.stdout.flush()


# --- search ------------------------------------------------------------------------------------------------


def _search(asked: argparse.Namespace, context: Context) -> str:
    query = " ".join(asked.query)
    request = SearchRequest(
        query, wing=asked.wing, room=asked.room, since=asked.since, until=asked.until, limit=asked.limit
    )
    try:
        result: SearchResult = carried_out(operation("search"), request, context)
    except NoSuchPlace:
        return _nothing_found(query)
    if result.note:
        _notice(result.note)
    if not result.hits:
        return _nothing_found(query)
    return "\n".join((_heading(query, asked), *(_hit(n, hit) for n, hit in enumerate(result.hits, start=1)), ""))


def _nothing_found(query: str) -> str:
    return f'\n  No results found for: "{query}"'


def _heading(query: str, asked: argparse.Namespace) -> str:
    narrowed = (("Wing", asked.wing), ("Room", asked.room), ("Since", asked.since), ("Before", asked.until))
    lines = [f'  Results for: "{query}"', *(f"  {name}: {value}" for name, value in narrowed if value)]
    return "\n".join(("", "=" * 60, *lines, "=" * 60, ""))


def _hit(number: int, hit: HitView) -> str:
    text = "\n".join(f"      {line}" for line in hit.text.strip().split("\n"))
    place = f"  [{number}] {hit.wing} / {hit.room}\n      Source: {_source(hit)}\n      Match:  {_match(hit)}"
    return f"{place}\n\n{text}\n\n  {'-' * 56}"


def _match(hit: HitView) -> str:
    """What was found of it. Without a vector of its own it has no cosine; it was found by its words."""
    values: Mapping[str, float] = {reason.name: reason.value for reason in hit.reasons}
    words = f"bm25={round(values.get('bm25', 0.0), 3)}"
    if "vector" not in values:
        return f"{words}  (found by its words)"
    return f"cosine_sim={round(max(values['vector'], 0.0), 3)}  {words}"


def _source(hit: HitView) -> str:
    from palazzo.mcp.profiles.mempalace.shaping import source_file

    return Path(source_file(hit.source)).name or "?"


# --- status ------------------------------------------------------------------------------------------------


def _status(asked: argparse.Namespace, context: Context) -> str:
    context.reading()  # what is asked of a palace that is not there is answered elsewhere
    result: StatusResult = carried_out(operation("status"), StatusRequest(), context)
    lines = ["", "=" * 55, f"  MemPalace Status -- {result.drawers} drawers", "=" * 55, ""]
    for name, wing in sorted(result.wings.items()):
        rooms = sorted(wing.rooms.items(), key=lambda room: -room[1])
        lines += [f"  WING: {name}", *(f"    ROOM: {room:20} {count:5} drawers" for room, count in rooms), ""]
    return "\n".join((*lines, "=" * 55, ""))


# --- wake-up -----------------------------------------------------------------------------------------------


def _wake_up(asked: argparse.Namespace, context: Context) -> str:
    try:
        result: WakeUpResult = carried_out(operation("wake_up"), WakeUpRequest(wing=asked.wing), context)
    except NoSuchPlace:
        return _waking("No memories yet.")
    return _waking(result.text)


def _waking(text: str) -> str:
    return f"Wake-up text (~{len(text) // _CHARACTERS_PER_TOKEN} tokens):\n{'=' * 50}\n{text}"


# --- where there is nothing --------------------------------------------------------------------------------


def _without_palace(verb: str, path: Path) -> str:
    return _waking(_NO_MEMORIES) if verb == "wake-up" else _NO_PALACE.format(path=path)


_SHOWS: dict[str, Show] = {"search": _search, "status": _status, "wake-up": _wake_up}


if __name__ == "__main__":
    sys.exit(main())
