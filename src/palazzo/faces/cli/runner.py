"""Runner: runs one operation with its environment and progress, prints its result, and returns its exit code."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalaceGone, PalazzoError, UsageError
from palazzo.faces.cli import error_messages
from palazzo.operations.context import Context
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.faces.cli.common_options import Common

_SAYS_PROBLEMS = ("settings", "doctor")
"""Operations whose result reports problems in settings files."""
_TELLS_WORDS = (
    *("search", "show", "wake_up", "proactive_context", "context_summary", "digest", "list_drawers"),
    *("check_duplicate", "diary_read", "diary_handoff", "todo_list", "reminders", "why"),
    *("kg_query", "kg_timeline", "kg_conflicts", "quarantine_list"),
)
"""Operations whose result contains recorded words. An agent that calls them in its shell gets the words in the
fence.
"""


def run(operation: Operation[Any, Any], request: Callable[[], Any], common: Common) -> int:
    """Run `operation` and write its result; return the exit code."""
    from palazzo.faces.cli.progress_bar import ProgressBar

    bar = ProgressBar()

    def show_event(event: object) -> None:
        bar.close()
        _write_event(operation, event, common)

    try:
        with Context(
            palace=common.palace, on_progress=bar.show, on_notice=_notice(common), on_event=show_event
        ) as context:
            try:
                result = _result(operation, request(), context, common, bar)
            except PalaceGone as error:
                bar.close()
                _ask_for_new_palace(error, context)
                result = _result(operation, request(), context, common, bar)
            bar.close()
            _write(operation, result, common)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        bar.close()
        return error_messages.report_interrupt(bar.last, operation.writes)
    except PalazzoError as error:
        bar.close()
        return error_messages.expected(error, common.debug)
    except Exception as error:  # noqa: BLE001 - whatever else is raised is a bug, and is reported as one
        bar.close()
        if damage_error := _explain_damage(common, error):
            return error_messages.expected(damage_error, common.debug)
        return error_messages.bug(error, sys.argv[1:], common.debug)
    return error_messages.FAILED if operation.failed is not None and operation.failed(result) else 0


def _ask_for_new_palace(error: PalaceGone, context: Context) -> None:
    """Ask the user at a terminal whether to create a new palace in place of a missing one; raise `error` if not."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise error
    from palazzo.faces.cli.confirmation import ConfirmationError, confirm
    from palazzo.security import known_palaces

    try:
        confirm(
            lambda: print(
                f"palazzo: {error_messages.one_line(str(error))}\nCreate an empty palace there?", file=sys.stderr
            )
        )
    except ConfirmationError:
        raise error from None
    known_palaces.forget(context.palace_path, context.variables)


def _explain_damage(common: Common, error: Exception) -> PalazzoError | None:
    """Return the error that explains a damaged palace; None if it is sound. An error from damage is not a bug."""
    from palazzo.operations import damage

    with Context(palace=common.palace) as context:
        return damage.explain(context, error)


def flush_output(code: int) -> int:
    """Write out buffered output; a closed reader is not an error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _notice(common: Common) -> Callable[[str], None] | None:
    def tell(sentence: str) -> None:
        print(f"palazzo: {error_messages.one_line(sentence)}", file=sys.stderr, flush=True)

    return None if common.as_json else tell


def _result(operation: Operation[Any, Any], request: Any, context: Context, common: Common, bar: Any) -> Any:
    if operation.name not in _SAYS_PROBLEMS:
        for problem in context.settings.problems_by_file:
            print(f"palazzo: {error_messages.one_line(problem)}", file=sys.stderr)
    if common.as_json and getattr(request, "raw", False):
        raise UsageError("--raw writes bytes and --json writes a document: give only one of them.")
    writes_bytes = getattr(request, "raw", False) or (operation.name == "export" and str(request.out) == "-")
    if writes_bytes and sys.stdout.isatty():
        raise UsageError(
            "Recorded bytes can contain terminal control sequences: send them to a file or a pipe, such as '| less'."
        )
    if common.as_json and operation.name == "export" and str(request.out) == "-":
        raise UsageError("The export and the document of --json would both go to standard output: name a file.")
    asks = operation.destructive or (operation.asks is not None and operation.asks(request))
    if asks and not request.dry_run and not common.yes:
        from palazzo.faces.cli.confirmation import confirm

        would = operation.run(context, replace(request, dry_run=True))
        bar.close()
        if operation.changes_nothing is not None and operation.changes_nothing(would):
            return replace(would, dry_run=False)
        confirm(lambda: _render(operation, would, to_error=True))
        request = request if operation.confirm_request is None else operation.confirm_request(request, would)
    if operation.warm:
        from palazzo.faces.cli.service_client import carried_out

        return carried_out(operation, request, context)
    return operation.run(context, request)


def _write(operation: Operation[Any, Any], result: Any, common: Common) -> None:
    if common.as_json:
        write_json(result)
    else:
        _render(operation, result)


def _render(operation: Operation[Any, Any], result: Any, to_error: bool = False) -> None:
    from palazzo.faces.cli.renderers import renderer
    from palazzo.features.screen import Screen
    from palazzo.security.note_taint import is_agents

    show = renderer(operation.name)
    is_told = operation.name in _TELLS_WORDS and getattr(result, "raw", None) is None
    if to_error or not is_told or sys.stdout.isatty() or not is_agents(os.environ):
        show(Screen(sys.stderr if to_error else sys.stdout), result)
        return
    from palazzo.security.fences import fence_text

    buffer = io.StringIO()
    show(Screen(buffer), result)
    if text := buffer.getvalue():
        Screen(sys.stdout)  # says how what a locale lacks is written
        sys.stdout.write(f"{fence_text(text.rstrip(chr(10)))}\n")


def _write_event(operation: Operation[Any, Any], event: object, common: Common) -> None:
    """Write an event immediately: one line of text, or one line of JSON."""
    from palazzo.faces.cli.renderers import event_renderer
    from palazzo.features.screen import Screen

    if common.as_json:
        write_json(event, indent=None)
    else:
        event_renderer(operation.name)(Screen(sys.stdout), event)
    sys.stdout.flush()


def write_json(result: Any, indent: int | None = 2) -> None:
    """Write a result as one JSON document on standard output, in UTF-8 whatever the locale.

    On a terminal, characters that would control it or reverse the text are written as escapes; the document means the
    same.
    """
    from palazzo.operations.serialisation import to_json
    from palazzo.text.visible import escape_controls

    plain = to_json(result)
    try:
        document = json.dumps(plain, ensure_ascii=False, indent=indent)
        content = (escape_controls(document) if sys.stdout.isatty() else document).encode()
    except UnicodeEncodeError:  # archived text may hold lone surrogates, which JSON writes as escapes
        content = json.dumps(plain, indent=indent).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(content + b"\n")
