"""The command palazzo statusline, for its help and for --json; a host's call is answered by `client/status_line`."""

from __future__ import annotations

from palazzo.client import status_line
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen


@frozen
class StatusLineRequest:
    """No arguments: the host gives the session on standard input."""


def statusline(request: StatusLineRequest, common: Common) -> int:
    """Print one short line for a host to show: the wing, its drawers, what the session received, the last save.

    The host gives the session on standard input, as JSON. 'palazzo install claude-code --status-line' makes Claude Code
    run this command. It is quick and never fails; without a running service it says so and starts none.
    """
    arguments = ["statusline", *([] if common.palace is None else ["--palace", str(common.palace)])]
    if not common.as_json:
        return status_line.main(arguments)
    from palazzo.faces.cli.json_output import write_json

    write_json({"line": status_line.current_line(arguments)})
    return 0


COMMAND = LocalCommand("statusline", StatusLineRequest, statusline, examples=("palazzo statusline < session.json",))
