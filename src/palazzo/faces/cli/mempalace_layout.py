"""`search`, `status` and `wake-up` in MemPalace's output format, for the clients that parse it.

    python -P -m palazzo.faces.cli.mempalace_layout VERB [options]

Layout and exit codes are those of MemPalace 3.11.0, also without a palace, for an unknown wing or room, and without a
hit. Any other error prints its sentence on standard error and ends with the exit code of `palazzo`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from palazzo.errors import NoSuchPlace, PalaceMissing, PalazzoError
from palazzo.faces.cli import error_messages, standard_output
from palazzo.faces.cli.service_client import carried_out
from palazzo.faces.mcp.profiles.mempalace.mempalace_search_layout import render_results
from palazzo.features.search.contract import SearchRequest, SearchResult
from palazzo.features.upkeep.contract import StatusRequest, StatusResult
from palazzo.features.wakeup.contract import WakeUpRequest, WakeUpResult
from palazzo.operations.context import Context
from palazzo.operations.registry import operation
from palazzo.security.fences import fence_text
from palazzo.security.note_taint import is_agents
from palazzo.text.visible import visible

_NO_MEMORIES = "No palace found. Run: mempalace mine <dir>"
_NO_PALACE = "\n  No palace found at {path}\n  Run: mempalace init <dir> then mempalace mine <dir>"
_CHARACTERS_PER_TOKEN = 4
"""MemPalace's estimate for the tokens of its wake-up text."""

Render = Callable[[argparse.Namespace, Context], str]


def main(arguments: list[str] | None = None) -> int:
    """Run one verb, and return its exit code."""
    options = _parser().parse_intermixed_args(arguments)
    code = 0
    try:
        with Context(palace=options.palace, on_notice=_notice) as context:
            try:
                text = _RENDERERS[options.verb](options, context)
            except PalaceMissing:
                text = _render_missing_palace(options.verb, context.palace_path)
                code = error_messages.FAILED if options.verb == "search" else 0
        _write(text)
    except BrokenPipeError:
        code = 0  # a client may stop reading, as `head` does
    except KeyboardInterrupt:
        return error_messages.report_interrupt(None)
    except PalazzoError as error:
        return error_messages.expected(error, debug=False)
    except Exception as error:  # noqa: BLE001 - any other exception is a bug in Palazzo, and is reported as one
        return error_messages.bug(error, sys.argv[1:], debug=False)
    return standard_output.flush(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mempalace", add_help=False)
    parser.add_argument("verb", choices=sorted(_RENDERERS))
    parser.add_argument("--palace", type=Path)
    for option in ("--wing", "--room", "--since", "--until"):
        parser.add_argument(option)
    parser.add_argument("--limit", type=int, default=5)
    parser.add_argument("query", nargs="*")
    return parser


def _notice(sentence: str) -> None:
    print(f"mempalace: {error_messages.one_line(sentence)}", file=sys.stderr)


def _write(text: str) -> None:
    """Print a text, inside the fence if an agent reads the output in its shell."""
    if sys.stdout.isatty():
        text = visible(text)
    elif is_agents(os.environ):
        text = fence_text(text)
    sys.stdout.buffer.write(f"{text}\n".encode(errors="replace"))
    sys.stdout.flush()


# --- search ------------------------------------------------------------------------------------------------


def _render_search(options: argparse.Namespace, context: Context) -> str:
    query = " ".join(options.query)
    request = SearchRequest(
        query,
        wing=options.wing,
        room=options.room,
        since=options.since,
        until=options.until,
        limit=options.limit,
        reasoning=False,  # its layout has no label for it
    )
    try:
        result: SearchResult = carried_out(operation("search"), request, context)
    except NoSuchPlace as error:
        _notice(str(error))
        return render_results(query, {}, ())
    if result.note:
        _notice(result.note)
    filters = {"wing": options.wing, "room": options.room, "since": options.since, "before": options.until}
    return render_results(query, filters, result.hits)


# --- status ------------------------------------------------------------------------------------------------


def _render_status(options: argparse.Namespace, context: Context) -> str:
    context.reading()  # raises PalaceMissing, which `main` renders as MemPalace does
    result: StatusResult = carried_out(operation("status"), StatusRequest(), context)
    lines = ["", "=" * 55, f"  MemPalace Status -- {result.drawers} drawers", "=" * 55, ""]
    for name, wing in sorted(result.wings.items()):
        rooms = sorted(wing.rooms.items(), key=lambda room: -room[1])
        lines += [f"  WING: {name}", *(f"    ROOM: {room:20} {count:5} drawers" for room, count in rooms), ""]
    return "\n".join((*lines, "=" * 55, ""))


# --- wake-up -----------------------------------------------------------------------------------------------


def _render_wake_up(options: argparse.Namespace, context: Context) -> str:
    try:
        result: WakeUpResult = carried_out(operation("wake_up"), WakeUpRequest(wing=options.wing), context)
    except NoSuchPlace as error:
        _notice(str(error))
        return _frame_wake_up("No memories yet.")
    return _frame_wake_up(result.text)


def _frame_wake_up(text: str) -> str:
    return f"Wake-up text (~{len(text) // _CHARACTERS_PER_TOKEN} tokens):\n{'=' * 50}\n{text}"


# --- without a palace --------------------------------------------------------------------------------------


def _render_missing_palace(verb: str, path: Path) -> str:
    return _frame_wake_up(_NO_MEMORIES) if verb == "wake-up" else _NO_PALACE.format(path=path)


_RENDERERS: dict[str, Render] = {"search": _render_search, "status": _render_status, "wake-up": _render_wake_up}


if __name__ == "__main__":
    sys.exit(main())
