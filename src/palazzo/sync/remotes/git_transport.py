"""Starts git where it goes out: to fetch from a remote, to push to it, and to put together what is pushed.

`git/git_process` reads repositories that somebody else made, within 0.2 s and with no network; this is the other case. The
repository at hand is our own (bare, no working files, no hooks, no configuration but ours), and the remote is one that
the user named. So the user's git settings hold, with the credentials, proxies and ssh commands that they name; what a
*remote* can make git start is off (`ext::` and other helpers). Where nobody sits at a terminal, nobody is asked.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from palazzo.errors import RemoteUnusable
from palazzo.git.git_process import find_program

LOCAL_WITHIN = 120.0
"""Seconds for what git does without the network: the slowest is `gc` of a repository with years of segments."""
LOOK_WITHIN = 60.0
"""Seconds in which a remote says which branches it has."""
TRANSFER_WITHIN = 900.0
"""Seconds for one push or fetch: 100 MB at 1 Mbit/s. A line that stands still ends it sooner (`_STILL`)."""
_HEED_EVERY = 0.5
"""Seconds after which whoever waits for git is asked whether to go on."""
_STILL = 30
"""Seconds in which fewer than 100 bytes a second came over HTTP."""

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
"""Variables of git that say how the user reaches remotes. Others (`GIT_DIR` in a hook) are about another repository."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What git said: how it ended, what it printed, and what it said of that, in English."""

    code: int
    out: bytes
    stderr: str

    @property
    def is_of_the_way(self) -> bool:
        """Whether it is the way to the remote that failed: the network, or a right."""
        return any(re.search(pattern, self.stderr, re.IGNORECASE) for pattern in (_NO_RIGHT, _NO_WAY, _SERVER_FAILED))

    @property
    def last_words(self) -> str:
        """The line that says most of what went wrong, as it may be shown."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        error_lines = [line for line in lines if line.lower().startswith(("fatal:", "error:", "remote:", "!"))] or lines
        return (
            _replace_unprintable(without_password(error_lines[0])[:300])
            if error_lines
            else f"it ended with {self.code}"
        )


class Git:
    """Calls git in one bare repository. `asks` lets it ask the person at the terminal for a password.

    `heed` is called now and then while git is waited for; what it raises ends git.
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
        """Run one command and return what came of it; RemoteUnusable where it takes longer than `within` seconds."""
        settings = [part for name, value in _SETTINGS for part in ("-c", f"{name}={value}")]
        if not self._asks:
            settings += ["-c", "core.askPass="]
        repository_options = [] if cwd else ["--git-dir", str(self.repository)]
        line = [self._program, *settings, "--no-pager", *repository_options, *arguments]
        process_options: dict[str, Any] = {"start_new_session": not self._asks}
        if sys.platform == "win32":
            process_options = {"creationflags": 0 if self._asks else subprocess.CREATE_NO_WINDOW}
        with _open_stdin(stdin) as stdin_file, tempfile.TemporaryFile() as stderr_file:
            process = subprocess.Popen(  # noqa: S603 - no shell; the remote's address is checked (`opening`)
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
                        f"git {arguments[0]} has not ended in {timeout:.0f} seconds; check the network and try again."
                    ) from None
                except BaseException:
                    self._end(process)
                    raise
            stderr_file.seek(0)
            return Answer(process.returncode, out, stderr_file.read(64 * 1024).decode("utf-8", "replace"))

    def tell(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return what a command of our own repository prints; BrokenCache where it fails."""
        answer = self(*arguments, stdin=stdin)
        if answer.code:
            raise BrokenCache(answer.stderr)
        return answer.out

    def _out(self, process: subprocess.Popen[bytes], timeout: float) -> bytes:
        """Wait for it to end; return what it printed. Raises TimeoutExpired, and what `heed` raises."""
        until = time.monotonic() + timeout
        while True:
            try:
                return process.communicate(timeout=max(0.0, min(_HEED_EVERY, until - time.monotonic())))[0]
            except subprocess.TimeoutExpired:
                if time.monotonic() >= until:
                    raise
            self._heed()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End it with what it started: ssh, remote helpers."""
        if sys.platform == "win32" or self._asks:
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class BrokenCache(Exception):
    """Our own repository does not do what it must; it can be fetched anew."""


def refuse(answer: Answer, address: str) -> NoReturn:
    """Raise RemoteUnusable with what git said of a remote, in a sentence that says what to do."""
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, answer.stderr, re.IGNORECASE):
            raise RemoteUnusable(sentence.format(address))
    raise RemoteUnusable(f"git could not reach or change {address} ({answer.last_words}); mend that, and run it again.")


def _replace_unprintable(text: str) -> str:
    """What a server says may hold anything, also what would steer a terminal."""
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
        "git does not trust the repository {}, which belongs to another user; git's setting safe.directory allows it.",
    ),
    (
        r"hash algorithm|object format",
        "{} keeps its objects by another hash than git's usual one; use a repository that has SHA-1 objects.",
    ),
    (
        r"no space left|disk quota|file too large|exceeds .{0,40}limit|out of space",
        "{} is full, or takes no file of this size: free some space there, and run it again.",
    ),
    (
        r"read-only file system|insufficient permission|unable to create temporary|unpacker error",
        "{} cannot be written: check its permissions, and run it again.",
    ),
    (
        _NO_RIGHT,
        "git may not use {}: set up its credentials (as for 'git push' there), and run it again.",
    ),
    (
        r"does not appear to be a git repository|repository .{0,400}not found|does not exist|not a git repository"
        r"|returned error: 404|no such file or directory",
        "There is no git repository at {} any more, or it may not be seen: check the address.",
    ),
    (
        _NO_WAY,
        "{} cannot be reached: check the network, and run it again.",
    ),
    (
        r"protected branch|non-fast-forward|denynonfastforwards|denying",
        "{} refuses to have the branch palazzo/v1 replaced: allow its owner to force-push to that one branch, "
        "and run it again.",
    ),
    (
        r"hook declined",
        "{} refused the push by a hook or a rule of its own: let it take the branch palazzo/v1, also when that is "
        "replaced, and run it again.",
    ),
    (
        r"directory file conflict|cannot lock ref .{0,300}exists; cannot create",
        "{} has a branch named 'palazzo', so there cannot be one named 'palazzo/v1': rename the other one.",
    ),
)


def without_password(text: str) -> str:
    """Return text with the passwords of URLs blotted out, and the tokens that stand there in the place of a name."""
    masked_text = re.sub(r"(\w{2,20}://[^/@:\s]*):[^/@\s]*@", r"\1:***@", text)
    return re.sub(r"(https?://)[^/@:\s]{20,}(:\*\*\*)?@", r"\1***@", masked_text, flags=re.IGNORECASE)


@contextlib.contextmanager
def _open_stdin(stdin: bytes) -> Iterator[Any]:
    """What it reads lies in a file, so that nobody has to feed it while it is waited for."""
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
