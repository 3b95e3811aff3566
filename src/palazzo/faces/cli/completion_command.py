"""The command palazzo completion: prints or installs the script by which a shell completes Palazzo's commands."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Literal

from palazzo import paths
from palazzo.errors import PalazzoError
from palazzo.faces.cli.common_options import Common
from palazzo.faces.cli.completion_scripts import SCRIPTS, ZSH_LINES
from palazzo.faces.cli.local_command import LocalCommand
from palazzo.frozen_class import frozen
from palazzo.operations.operation import About

Shell = Literal["bash", "zsh", "fish"]


@frozen
class CompletionRequest:
    """The shell, and whether to install the script."""

    shell: Annotated[Shell, About("The shell.", positional=True)]
    install: Annotated[bool, About("Write the script where the shell reads it, and say what was written.")] = False


@frozen
class CompletionInstallation:
    """The files that the shell reads, those that were changed now, and what to do next."""

    shell: Shell
    files: tuple[Path, ...]
    changed: tuple[Path, ...]
    note: str


def completion(request: CompletionRequest, common: Common) -> int:
    """Print the script by which a shell completes Palazzo's commands, options and values, or install it.

    Values are choices of an option, hosts, settings, and the names of your wings and rooms. The script asks the
    installed program, so it needs no renewal after an upgrade. Installing again changes nothing.
    """
    if not request.install:
        script = SCRIPTS[request.shell]
        if common.as_json:
            _print_json({"shell": request.shell, "script": script})
        else:
            print(script, end="")
        return 0
    done = install(request.shell)
    if common.as_json:
        _print_json(done)
        return 0
    for file in done.files:
        print(f"{'Wrote' if file in done.changed else 'Unchanged:'} {file}")
    print(done.note)
    return 0


def install(shell: Shell) -> CompletionInstallation:
    """Write a shell's script where the shell reads it; a file that is right already is not touched."""
    variables = os.environ
    home = Path(paths.home_place(variables))
    try:
        if shell == "bash":
            data = Path(variables.get("XDG_DATA_HOME") or home / ".local" / "share")
            directory = Path(variables.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion") / "completions"
            file = directory / "palazzo"
            loading = f"source {shlex.quote(str(file))}"
            note = f"New shells read it through the package bash-completion; without that, run: {loading}"
            return _installation(shell, {file: _write(file, SCRIPTS[shell])}, note)
        if shell == "fish":
            configuration = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
            file = configuration / "fish" / "completions" / "palazzo.fish"
            return _installation(shell, {file: _write(file, SCRIPTS[shell])}, "fish reads it at once.")
        file = Path(paths.data_place(variables)) / "completion.zsh"
        start = Path(variables.get("ZDOTDIR") or home) / ".zshrc"
        changes = {
            file: _write(file, SCRIPTS[shell]),
            start: _append(start, ZSH_LINES.format(file=shlex.quote(str(file)))),
        }
        return _installation(shell, changes, "New shells read it; 'exec zsh' starts one.")
    except OSError as error:
        raise PalazzoError(
            f"The completion of {shell} cannot be installed: {error.filename} cannot be written ({error.strerror})."
        ) from None


def _installation(shell: Shell, changes: dict[Path, bool], note: str) -> CompletionInstallation:
    return CompletionInstallation(shell, tuple(changes), tuple(file for file in changes if changes[file]), note)


def _write(file: Path, text: str) -> bool:
    """Write a file of ours; return whether that changed it."""
    if file.is_file() and file.read_bytes() == text.encode():
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return True


def _append(file: Path, text: str) -> bool:
    """Append lines to a file of the user, unless it has them; return whether that changed it."""
    old = file.read_bytes() if file.is_file() else b""
    if text.encode() in old:
        return False
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    with file.open("ab") as stream:
        stream.write(gap + text.encode())
    return True


def _print_json(document: object) -> None:
    from palazzo.faces.cli.json_output import write_json

    write_json(document)


COMMAND = LocalCommand(
    "completion",
    CompletionRequest,
    completion,
    examples=("palazzo completion zsh --install", "source <(palazzo completion bash)"),
)
