"""Run the README's two commands as on a new machine, in copies of this checkout; print what passed.

    python3 tools/try_readme.py [--python PATH]… [--way terminal|background|user]… [--tests PATH]… [--user NAME]

Each way has a copy of what git tracks, and an environment of HOME, PATH and TERM, besides what pip needs to reach its
index (`PIP_*`, certificates, proxies). In a terminal: a pseudo-terminal of its own, in the foreground. In the
background: no terminal, and SIGINT is ignored, as a shell starts what stands before `&`. As a user: by a user of this
machine who is made for it and removed again, which takes root. With --tests, `dev.py test` runs these alone.
Standard library only.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED_BY_PIP = ("PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE")
SHOWN_LINES = 30


@dataclass(frozen=True)
class Place:
    """A copy of the checkout, the environment of commands in it, and whose they are."""

    checkout: Path
    environment: Mapping[str, str]
    user: str = ""


@dataclass(frozen=True)
class Result:
    """What a command came to."""

    python: str
    way: str
    command: str
    code: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each command in each way with each Python; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="Run the README's commands as on a new machine.")
    parser.add_argument("--python", action="append", help="an interpreter; may be repeated [this one]")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="may be repeated [all]")
    parser.add_argument("--tests", action="append", default=[], help="run only these tests; may be repeated")
    parser.add_argument("--user", default="palazzo-readme", help="the name of the user who is made")
    given = parser.parse_args(arguments)
    results = []
    for python in given.python or [sys.executable]:
        for way in given.way or WAYS:
            with place(given.user if way == "user" else "") as there:
                for command in (["demo"], ["test", *given.tests]):
                    results.append(tried(python, way, there, command))
    print(f"\n{'python':<10} {'way':<12} {'command':<8} {'result':<10} seconds")
    for one in results:
        verdict = "passed" if one.code == 0 else f"FAILED {one.code}"
        print(f"{one.python:<10} {one.way:<12} {one.command:<8} {verdict:<10} {one.seconds:.0f}")
    return int(any(one.code for one in results))


def tried(python: str, way: str, there: Place, command: list[str]) -> Result:
    """Run one command; show the end of its output if it failed."""
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    print(f"Python {version}, {way}: dev.py {' '.join(command)}", flush=True)
    began, log = time.monotonic(), there.checkout.parent / "output.txt"
    code = WAYS[way](there, [python, "dev.py", *command], log)
    if code:
        print(*log.read_text(errors="replace").splitlines()[-SHOWN_LINES:], sep="\n", flush=True)
    return Result(version, way, command[0], code, time.monotonic() - began)


@contextmanager
def place(user: str) -> Iterator[Place]:
    """Copy what git tracks to a new home, of a new user if one is named; remove both afterwards."""
    home = Path(tempfile.mkdtemp(prefix="try-readme-"))
    if user:
        subprocess.run(["useradd", "--no-create-home", "--home-dir", str(home), user], check=True)
    try:
        checkout = home / "palazzo"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in map(os.fsdecode, filter(None, tracked.split(b"\0"))):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name, follow_symlinks=False)
        if user:
            subprocess.run(["chown", "--recursive", f"{user}:", str(home)], check=True)
        variables = {name: value for name, value in os.environ.items() if name.startswith(NEEDED_BY_PIP)}
        variables |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        own = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": os.environ.get("TERM", "dumb")}
        yield Place(checkout, variables | own, user)
    finally:
        if user:
            end_processes(user)
            subprocess.run(["userdel", user], check=True)
        shutil.rmtree(home, ignore_errors=True)


def end_processes(user: str) -> None:
    """End what the user who was made has left running, and say so."""
    number = pwd.getpwnam(user).pw_uid
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == number:
                print("left running:", (process / "cmdline").read_text().replace("\0", " "))
                os.kill(int(process.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            continue


def run_in_terminal(there: Place, command: list[str], log: Path) -> int:
    """Run it on a pseudo-terminal of its own, as the program in the foreground."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(there.checkout)
        os.execve(command[0], command, dict(there.environment))
    with log.open("wb") as output:
        while True:
            try:
                said = os.read(terminal, 65_536)
            except OSError:  # Linux says so that the other end is closed
                break
            if not said:
                break
            output.write(said)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_in_background(there: Place, command: list[str], log: Path) -> int:
    """Run it without a terminal and with SIGINT ignored, as a script does with `command &`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a child inherits it
    try:
        return _run(there, command, log)
    finally:
        signal.signal(signal.SIGINT, before)


def run_as_user(there: Place, command: list[str], log: Path) -> int:
    """Run it as the user who was made. An interpreter that this user may not reach is shown to it by a mount."""
    become = ["setpriv", f"--reuid={there.user}", f"--regid={there.user}", "--init-groups"]
    if subprocess.run([*become, "test", "-x", command[0]], check=False).returncode:
        become = ["unshare", "--mount", "sh", "-e", "-c", SHOW, "sh", *hidden(command[0]), str(there.checkout), *become]
    return _run(there, [*become, *command], log)


SHOW = """
closed=$1 prefix=$2 checkout=$3
shift 3
kept=$(mktemp -d)
mount --bind "$prefix" "$kept"
mount -t tmpfs -o mode=755 tmpfs "$closed"
mkdir -p "$prefix"
mount --move "$kept" "$prefix"
rmdir "$kept"
cd "$checkout"
exec "$@"
"""
"""Put an empty directory over one that others may not enter; show one directory below it, at its own path."""


def hidden(python: str) -> tuple[str, str]:
    """Return the directory that others may not enter, and the directory of all Pythons below it, or of this one."""
    asked = [python, "-c", "import sys; print(sys.base_prefix)"]
    prefix = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    closed = next(one for one in reversed(prefix.parents) if not one.stat().st_mode & stat.S_IXOTH)
    return str(closed), str(prefix.parents[1] if ".pyenv" in prefix.parts else prefix)


def _run(there: Place, command: list[str], log: Path) -> int:
    with log.open("wb") as output:
        done = subprocess.run(
            command, cwd=there.checkout, env=there.environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    return done.returncode


WAYS: dict[str, Callable[[Place, list[str], Path], int]] = {
    "terminal": run_in_terminal,
    "background": run_in_background,
    "user": run_as_user,
}

if __name__ == "__main__":
    sys.exit(main())
