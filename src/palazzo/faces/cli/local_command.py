"""The type of a command that only the command line has, such as `palazzo help`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from palazzo.errors import PalazzoError
from palazzo.faces.cli import error_messages
from palazzo.faces.cli.common_options import Common
from palazzo.frozen_class import frozen


@frozen
class LocalCommand:
    """A command that is no operation. Its help is the docstring of `run`, which returns an exit code."""

    name: str
    request: type
    run: Callable[[Any, Common], int]
    examples: tuple[str, ...] = ()
    ignored_options: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """Return what the command does, for a person."""
        return (self.run.__doc__ or "").strip()


def run(command: LocalCommand, request: Callable[[], Any], common: Common) -> int:
    """Run a command; return its exit code."""
    try:
        code = command.run(request(), common)
        sys.stdout.flush()
    except PalazzoError as error:
        return error_messages.expected(error, common.debug, common.as_json)
    return code
