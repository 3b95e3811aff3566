"""The application: runs a command line, whose commands are those of the command table."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.faces.cli import error_messages, local_command, runner, standard_output
from palazzo.faces.cli.argument_parser import CommandLine, UnreadableLine, parse
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.operations import registry

PROGRAM = "palazzo"


def run(arguments: list[str]) -> int:
    """Run `arguments`; return the exit code."""
    as_json = wants_json(arguments)
    try:
        code: object = run_line(parse(arguments))
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:
        code = error_messages.INTERRUPT
    except BrokenPipeError:  # the reader has gone, which is no failure
        code = standard_output.discard(0)
    except standard_output.OutputUnwritable as error:
        code = error_messages.unwritable_output(error, False, as_json)
    except UnreadableLine as error:
        code = error_messages.wrong_usage(str(error), f"See '{' '.join([PROGRAM, 'help', *error.words])}'.", as_json)
    except Exception as error:  # noqa: BLE001 - a refusal of the system, or a bug, which is reported as one
        code = error_messages.unforeseen(error, arguments, "--debug" in arguments, as_json)
    return standard_output.flush(code if isinstance(code, int) else 0 if code is None else 1)


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether a line that may not be readable asks for JSON."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def run_line(line: CommandLine) -> int:
    """Run what a command line asks for; return the exit code. Without a command that is `today`, or a group's help."""
    if line.asks_version:
        from palazzo import __version__

        print(f"{PROGRAM} {__version__}")
        return 0
    if line.asks_help or (line.command is None and line.words):
        return _show_help(line)
    if isinstance(line.command, LocalCommand):
        return local_command.run(line.command, line.request, line.common)
    if line.command is None:
        today = registry.operation("today")
        return runner.run(today, today.request, line.common)
    return runner.run(line.command, line.request, line.common)


def _show_help(line: CommandLine) -> int:
    from palazzo.faces.cli import help_layout, help_pages

    if line.common.as_json and not line.asks_help:
        from palazzo.faces.cli.json_output import write_json

        write_json(help_pages.document(line.words))
    else:
        help_layout.write(help_pages.page(line.words) or ())
    return 0
