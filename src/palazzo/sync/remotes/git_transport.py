"""Git transport: runs git to fetch from a remote, to push to it, and to assemble pushes.

`git/git_process` reads repositories that somebody else made, within 0.2 s and without network; this module is the
opposite case. The local repository is Palazzo's own (bare, no working files, no hooks, no configuration but Palazzo's),
and the user named the remote. So the user's git settings apply, with the credentials, proxies and ssh commands that
they name. Programs that a *remote* can make git start are disabled (`ext::` and other helpers). Without a terminal, git
asks no questions.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from palazzo.errors import RemoteUnusable
from palazzo.frozen_class import frozen
from palazzo.git.git_process import find_program

LOCAL_WITHIN = 120.0
"""Maximum seconds for git operations without the network: the slowest is `gc` of a repository with years of
segments.
"""
LOOK_WITHIN = 60.0
"""Maximum seconds in which a remote must list its branches."""
TRANSFER_WITHIN = 900.0
"""Maximum seconds for one push or fetch: 100 MB at 1 Mbit/s. A stalled connection ends it earlier (`_STILL`)."""
_HEED_EVERY = 0.5
"""Seconds between two checks whether to continue waiting for git."""
_STILL = 30
"""Maximum seconds with less than 100 bytes per second over HTTP."""

_SETTINGS = (
    *(("protocol.allow", "never"), ("protocol.file.allow", "always"), ("protocol.git.allow", "always")),
    *(("protocol.http.allow", "always"), ("protocol.https.allow", "always"), ("protocol.ssh.allow", "always")),
    *(("core.hooksPath", os.devnull), ("core.fsmonitor", "false"), ("gc.auto", "500"), ("gc.autoPackLimit", "50")),
    *(("core.compression", "0"), ("core.bigFileThreshold", "64k")),  # segments are compressed already
    *(("fetch.fsckObjects", "true"), ("push.gpgSign", "false"), ("push.followTags", "false"), ("color.ui", "false")),
    *(("http.lowSpeedLimit", "100"), ("http.lowSpeedTime", str(_STILL)), ("push.recurseSubmodules", "no")),
    *(
        ("gc.autoDetach", "false"),
        ("fetch.recurseSubmodules", "no"),
        ("core.logAllRefUpdates", "false"),
        ("fetch.writeCommitGraph", "false"),
    ),
)
_VARIABLE_PATTERN = re.compile(
    r"GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|HTTP_\w+|PROXY_\w+|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM)"
)
"""Variables of git that say how the user reaches remotes. Other variables (`GIT_DIR` in a hook) concern another
repository.
"""


@frozen
class Answer:
    """Result of a git call: its exit code, its standard output, and its messages in English."""

    code: int
    out: bytes
    stderr: str

    @property
    def is_of_the_way(self) -> bool:
        """Return whether access to the remote failed: the network, or a permission."""
        return any(re.search(pattern, self.stderr, re.IGNORECASE) for pattern in (_NO_RIGHT, _NO_WAY, _SERVER_FAILED))

    @property
    def last_words(self) -> str:
        """Return the most informative line of the error, made safe to show."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        error_lines = [line for line in lines if line.lower().startswith(("fatal:", "error:", "remote:", "!"))] or lines
        return (
            _replace_unprintable(without_password(error_lines[0])[:300])
            if error_lines
            else f"it exited with {self.code}"
        )


class Git:
    """Calls git in one bare repository. `asks` lets it ask the user at the terminal for a password.

    `heed` is called regularly while git runs; an exception from it ends git.
    """

    def __init__(
        self,
        repository: Path,
        variables: Mapping[str, str] = os.environ,
        *,
        asks: bool = False,
        heed: Callable[[], None] = lambda: None,
    ) -> None:
        self.repository, self._asks, self._heed = repository, asks, heed
        program = find_program()
        if program is None:
            raise RemoteUnusable("git is not on PATH: install it, or use a folder as the remote.")
        self._program = program
        self._variables = _environment(variables, asks)

    def __call__(
        self, *arguments: str, stdin: bytes = b"", timeout: float = LOCAL_WITHIN, cwd: Path | None = None
    ) -> Answer:
        """Run one command and return its result; raises RemoteUnusable if it takes longer than `timeout` seconds."""
        settings = [part for name, value in _SETTINGS for part in ("-c", f"{name}={value}")]
        if not self._asks:
            settings += ["-c", "core.askPass="]
        repository_options = [] if cwd else ["--git-dir", str(self.repository)]
        line = [self._program, *settings, "--no-pager", *repository_options, *arguments]
        process_options: dict[str, Any] = {"start_new_session": not self._asks}
        if sys.platform == "win32":
            process_options = {"creationflags": 0 if self._asks else subprocess.CREATE_NO_WINDOW}
        with _open_stdin(stdin) as stdin_file, tempfile.TemporaryFile() as stderr_file:
            process = subprocess.Popen(  # noqa: S603 - no shell; the remote's address is checked (`remote_factory`)
                line,
                cwd=cwd or self.repository.parent,
                env=self._variables,
                stdin=stdin_file,
                stdout=subprocess.PIPE,
                stderr=stderr_file,
                **process_options,
            )
            with process:
                try:
                    out = self._out(process, timeout)
                except subprocess.TimeoutExpired:
                    self._end(process)
                    raise RemoteUnusable(
                        f"git {arguments[0]} did not finish within {timeout:.0f} seconds; check the network and try "
                        "again."
                    ) from None
                except BaseException:
                    self._end(process)
                    raise
            stderr_file.seek(0)
            return Answer(process.returncode, out, stderr_file.read(64 * 1024).decode("utf-8", "replace"))

    def tell(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return the output of a command in the local repository; raises BrokenCache if it fails."""
        answer = self(*arguments, stdin=stdin)
        if answer.code:
            raise BrokenCache(answer.stderr)
        return answer.out

    def _out(self, process: subprocess.Popen[bytes], timeout: float) -> bytes:
        """Wait for the process to end and return its output. Raises TimeoutExpired, and what `heed` raises."""
        until = time.monotonic() + timeout
        while True:
            try:
                return process.communicate(timeout=max(0.0, min(_HEED_EVERY, until - time.monotonic())))[0]
            except subprocess.TimeoutExpired:
                if time.monotonic() >= until:
                    raise
            self._heed()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Terminate the process and its children: ssh, remote helpers."""
        if sys.platform == "win32" or self._asks:
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class BrokenCache(Exception):
    """The local copy is damaged; it can be fetched again."""


def refuse(answer: Answer, address: str) -> NoReturn:
    """Raise RemoteUnusable with git's message about a remote, in a sentence that says what to do."""
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, answer.stderr, re.IGNORECASE):
            raise RemoteUnusable(sentence.format(address))
    raise RemoteUnusable(
        f"git could not reach or change {address} ({answer.last_words}); fix that, and run the command again."
    )


def _replace_unprintable(text: str) -> str:
    """Replace unprintable characters: a server's text may contain terminal control sequences."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


_NO_RIGHT = (
    r"authentication failed|permission denied|could not read (?:username|password)|terminal prompts disabled"
    r"|host key verification|access denied|invalid username|returned error: 40[13]"
)
_NO_WAY = (
    r"could not resolve|connection (?:refused|timed out|reset|closed)|network is unreachable|timed out"
    r"|no route to host|operation too slow|hung up|failed to connect"
)
_SERVER_FAILED = r"returned error: \d|rpc failed|early eof"
_SENTENCES = (
    (
        r"dubious ownership",
        "git does not trust the repository {}, which belongs to another user; allow it with git's setting "
        "safe.directory.",
    ),
    (
        r"hash algorithm|object format",
        "{} does not use git's usual hash algorithm; use a repository with SHA-1 objects.",
    ),
    (
        r"no space left|disk quota|file too large|exceeds .{0,40}limit|out of space",
        "{} is full, or does not accept a file of this size: free some space there, and run the command again.",
    ),
    (
        r"read-only file system|insufficient permission|unable to create temporary|unpacker error",
        "{} cannot be written: check its permissions, and run the command again.",
    ),
    (
        _NO_RIGHT,
        "git has no access to {}: set up its credentials (as for 'git push' there), and run the command again.",
    ),
    (
        r"does not appear to be a git repository|repository .{0,400}not found|does not exist|not a git repository"
        r"|returned error: 404|no such file or directory",
        "There is no git repository at {} any more, or you have no access to it: check the address.",
    ),
    (
        _NO_WAY,
        "{} cannot be reached: check the network, and run the command again.",
    ),
    (
        r"protected branch|non-fast-forward|denynonfastforwards|denying",
        "{} does not allow the branch palazzo/v1 to be replaced: let its owner force-push to that one branch, and "
        "run the command again.",
    ),
    (
        r"hook declined",
        "{} refused the push because of one of its hooks or rules: let it accept the branch palazzo/v1, also when "
        "that branch is replaced, and run the command again.",
    ),
    (
        r"directory file conflict|cannot lock ref .{0,300}exists; cannot create",
        "{} has a branch named 'palazzo', so a branch named 'palazzo/v1' cannot exist: rename the other one.",
    ),
)


def without_password(text: str) -> str:
    """Return text with the passwords of URLs masked, and the tokens that stand in place of a user name."""
    masked_text = re.sub(r"(\w{2,20}://[^/@:\s]*):[^/@\s]*@", r"\1:***@", text)
    return re.sub(r"(https?://)[^/@:\s]{20,}(:\*\*\*)?@", r"\1***@", masked_text, flags=re.IGNORECASE)


@contextlib.contextmanager
def _open_stdin(stdin: bytes) -> Iterator[Any]:
    """Provide standard input from a file, so that nothing has to be written while waiting."""
    if not stdin:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        yield file


def _environment(variables: Mapping[str, str], asks: bool) -> dict[str, str]:
    environment = {
        name: value
        for name, value in variables.items()
        if not name.startswith("GIT_") or _VARIABLE_PATTERN.fullmatch(name)
    }
    environment |= {"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "Palazzo", f"GIT_{role}_EMAIL": "palazzo@localhost"}
    if asks:
        return environment
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        environment.pop(name, None)
    environment |= {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never", "GCM_INTERACTIVE": "never"}
    return environment
