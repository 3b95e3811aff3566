"""Runner: runs one operation with its environment and progress, prints its result, and returns its exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palazzo.errors import PalaceGone, PalazzoError, UsageError
from palazzo.faces.cli import error_messages
from palazzo.faces.cli.json_output import write_json
from palazzo.faces.cli.standard_output import OutputUnwritable
from palazzo.operations.context import Context
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.faces.cli.common_options import Common
    from palazzo.faces.cli.progress_bar import ProgressBar
    from palazzo.features.screen import Output

_KEPT = "Completed work is kept; run the same command again to continue."
_SAYS_PROBLEMS = ("settings", "doctor")
"""Operations whose result reports problems in settings files."""
_TELLS_WORDS = (
    *("search", "show", "wake_up", "proactive_context", "context_summary", "digest", "list_drawers"),
    *("sessions", "timeline"),
    *("check_duplicate", "diary_read", "diary_handoff", "todo_list", "reminders", "why"),
    *("kg_query", "kg_timeline", "kg_conflicts", "quarantine_list", "setup", "today"),
)
"""Operations whose result contains recorded words. An agent that calls them in its shell gets the words in the
fence.
"""


def run(operation: Operation[Any, Any], request: Callable[[], Any], common: Common) -> int:
    """Run `operation` and write its result; return the exit code."""
    from palazzo.faces.cli.progress_bar import ProgressBar

    bar, began, is_done = ProgressBar(), time.time(), False

    def show_event(event: object) -> None:
        bar.close()
        _write_event(operation, event, common)

    try:
        with Context(
            palace=common.palace, on_progress=bar.show, on_notice=_notice(common), on_event=show_event
        ) as context:
            with _before_work():
                values = request()
            if operation.name == "sessions":
                chosen = _choose_session(operation, values, context, common, bar)
                if chosen is None:
                    return 0
                operation, values = chosen
            try:
                result = _result(operation, values, context, common, bar)
            except PalaceGone as error:
                bar.close()
                _ask_for_new_palace(error, context)
                result = _result(operation, values, context, common, bar)
            bar.close()
            is_done = True
            _write(operation, result, common)
            is_quiet = operation.name == "mine" and result.directories and not context.settings.problems_by_file
        sys.stdout.flush()
        if is_quiet:
            _record_unchanged(operation, result, began)
        if operation.name == "resume":
            from palazzo.faces.cli.session_actions import start_host

            return start_host(result, common)
    except BrokenPipeError:
        raise
    except OutputUnwritable as error:
        bar.close()
        return error_messages.unwritable_output(error, is_done and operation.writes, common.as_json)
    except _InterruptedBeforeWork:
        bar.close()
        return error_messages.report_interrupt(None, "Nothing was done." if operation.writes else "", common.as_json)
    except KeyboardInterrupt:
        bar.close()
        return error_messages.report_interrupt(bar.last, _KEPT if operation.writes else "", common.as_json)
    except PalazzoError as error:
        bar.close()
        return error_messages.expected(error, common.debug, common.as_json)
    except Exception as error:  # noqa: BLE001 - damage, a refusal of the system, or a bug, which is reported as one
        bar.close()
        if damage_error := _explain_damage(common, error):
            return error_messages.expected(damage_error, common.debug, common.as_json)
        return error_messages.unforeseen(error, sys.argv[1:], common.debug, common.as_json)
    return _exit_code(operation, result)


def _exit_code(operation: Operation[Any, Any], result: Any) -> int:
    if operation.failed is not None and operation.failed(result):
        return error_messages.FAILED
    is_interrupted = operation.interrupted is not None and operation.interrupted(result)
    return error_messages.INTERRUPT if is_interrupted else 0


class _InterruptedBeforeWork(KeyboardInterrupt):
    """^C at a question, or while the input was read: nothing was done."""


@contextlib.contextmanager
def _before_work() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise _InterruptedBeforeWork from None


def _choose_session(
    operation: Operation[Any, Any], request: Any, context: Context, common: Common, bar: ProgressBar
) -> tuple[Operation[Any, Any], Any] | None:
    """Return the operation and request to run: another one if the user chooses a session; None if they leave."""
    from palazzo.faces.cli import session_actions

    if not session_actions.wants_picker(request, common, context):
        return operation, request
    context.on_progress = None  # the picker draws on the whole screen
    bar.close()
    return session_actions.choose_session(context, request)


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


def _notice(common: Common) -> Callable[[str], None] | None:
    return None if common.as_json else lambda sentence: error_messages.warn(sentence, as_json=False)


def _result(operation: Operation[Any, Any], request: Any, context: Context, common: Common, bar: Any) -> Any:
    if operation.name not in _SAYS_PROBLEMS:
        for problem in context.settings.problems_by_file:
            error_messages.warn(problem, common.as_json)
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

        with _before_work():
            would = operation.run(context, replace(request, dry_run=True))
            bar.close()
            if operation.changes_nothing is not None and operation.changes_nothing(would):
                return replace(would, dry_run=False)
            question = "" if operation.question is None else operation.question(would)
            if question or operation.question is None:
                confirm(lambda: _render(operation, would, to_error=True), question)
        request = request if operation.confirm_request is None else operation.confirm_request(request, would)
    if operation.warm:
        from palazzo.faces.cli.service_client import carried_out

        return carried_out(operation, request, context)
    return operation.run(context, request)


def _write(operation: Operation[Any, Any], result: Any, common: Common) -> None:
    if common.as_json:
        write_json(result)
    else:
        _render(operation, result, may_page=not common.no_pager and not operation.writes)


def _render(operation: Operation[Any, Any], result: Any, to_error: bool = False, may_page: bool = False) -> None:
    from palazzo.faces.cli.renderers import renderer
    from palazzo.features.screen import Output, Screen

    show = renderer(operation)
    if may_page and getattr(result, "raw", None) is None and sys.stdout.isatty():
        from palazzo.faces.cli import pager

        command = pager.find_pager(os.environ)
        if command:
            pager.show_paged(show, result, command)
            return
    if to_error or not _is_fenced(operation, result, sys.stdout.isatty(), os.environ):
        show(Screen(sys.stderr if to_error else sys.stdout), result)
    else:
        sys.stdout.write(format_text(operation, result, Output.of(sys.stdout)))


def _record_unchanged(operation: Operation[Any, Any], result: Any, began: float) -> None:
    """Let the next run with the same line only compare what this one depended on, and print the same output."""
    from palazzo.client import unchanged_run
    from palazzo.features.screen import Output

    text = format_text(operation, replace(result, took_s=0.0), Output.of(sys.stdout))
    unchanged_run.record(sys.argv[1:], os.environ, result.directories, text, began)


def format_text(operation: Operation[Any, Any], result: Any, output: Output) -> str:
    """Return a result in its form for an output; recorded words are fenced if an agent's shell receives them."""
    from palazzo.faces.cli.renderers import renderer
    from palazzo.features.screen import Screen
    from palazzo.security.fences import fence_text

    buffer = io.StringIO()
    renderer(operation)(Screen(buffer, output), result)
    text = buffer.getvalue()
    is_fenced = text and _is_fenced(operation, result, output.is_terminal, output.variables)
    return f"{fence_text(text.rstrip(chr(10)))}\n" if is_fenced else text


def _is_fenced(operation: Operation[Any, Any], result: Any, is_terminal: bool, variables: Mapping[str, str]) -> bool:
    from palazzo.security.note_taint import is_agents

    has_recorded_words = operation.name in _TELLS_WORDS and getattr(result, "raw", None) is None
    return has_recorded_words and not is_terminal and is_agents(variables)


def _write_event(operation: Operation[Any, Any], event: object, common: Common) -> None:
    """Write an event immediately: one line of text, or one line of JSON."""
    from palazzo.faces.cli.renderers import event_renderer
    from palazzo.features.screen import Screen

    if common.as_json:
        write_json(event, indent=None)
    else:
        event_renderer(operation)(Screen(sys.stdout), event)
    sys.stdout.flush()
