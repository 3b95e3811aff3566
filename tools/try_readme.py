"""Run the README's two commands as on a new machine, in copies of this checkout; print which passed.

    python3 tools/try_readme.py [--python PATH]… [--way terminal|background|user]… [--tests PATH]… [--user NAME]

Each run has a copy of the files that git tracks, or of all files where the checkout is an unpacked archive. Its
environment is HOME, PATH, TERM and the variables with which pip reaches its index (`PIP_*`, certificates, proxies).
`terminal`: in the foreground of a pseudo-terminal. `background`: without a terminal and with SIGINT ignored, as a shell
starts a command before `&`. `user`: as a new user of this machine, who is removed afterwards; this needs root. With
--tests, `dev.py test` runs only these tests.
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
class Machine:
    """A copy of the checkout, the environment of its commands, and the user who runs them (empty: the caller)."""

    checkout: Path
    environment: Mapping[str, str]
    user: str = ""


@dataclass(frozen=True)
class Result:
    """The exit code and duration of one command."""

    python: str
    way: str
    command: str
    code: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run each command in each way with each Python; return 1 if a command failed."""
    parser = argparse.ArgumentParser(description="Run the README's commands as on a new machine.")
    parser.add_argument("--python", action="append", help="an interpreter; may be repeated [this one]")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="may be repeated [all]")
    parser.add_argument("--tests", action="append", default=[], help="run only these tests; may be repeated")
    parser.add_argument("--user", default="palazzo-readme", help="the name of the new user")
    options = parser.parse_args(arguments)
    results = []
    for python in options.python or [sys.executable]:
        for way in options.way or WAYS:
            with make_machine(options.user if way == "user" else "") as machine:
                for command in (["demo"], ["test", *options.tests]):
                    results.append(run_command(python, way, machine, command))
    print(f"\n{'python':<10} {'way':<12} {'command':<8} {'result':<10} seconds")
    for result in results:
        verdict = "passed" if result.code == 0 else f"FAILED {result.code}"
        print(f"{result.python:<10} {result.way:<12} {result.command:<8} {verdict:<10} {result.seconds:.0f}")
    return int(any(result.code for result in results))


def run_command(python: str, way: str, machine: Machine, command: list[str]) -> Result:
    """Run one command and print the end of its output if it failed."""
    version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    print(f"Python {version}, {way}: dev.py {' '.join(command)}", flush=True)
    began, log = time.monotonic(), machine.checkout.parent / "output.txt"
    code = WAYS[way](machine, [python, "dev.py", *command], log)
    if code:
        print(*log.read_text(errors="replace").splitlines()[-SHOWN_LINES:], sep="\n", flush=True)
    return Result(version, way, command[0], code, time.monotonic() - began)


@contextmanager
def make_machine(user: str) -> Iterator[Machine]:
    """Copy the files that git tracks to a new home, of a new user if `user` is given; remove both afterwards."""
    home = Path(tempfile.mkdtemp(prefix="try-readme-"))
    if user:
        subprocess.run(["useradd", "--no-create-home", "--home-dir", str(home), user], check=True)
    try:
        checkout = home / "palazzo"
        for name in list_files():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name, follow_symlinks=False)
        if user:
            subprocess.run(["chown", "--recursive", f"{user}:", str(home)], check=True)
        variables = {name: value for name, value in os.environ.items() if name.startswith(NEEDED_BY_PIP)}
        variables |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        own = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": os.environ.get("TERM", "dumb")}
        yield Machine(checkout, variables | own, user)
    finally:
        if user:
            end_processes(user)
            subprocess.run(["userdel", user], check=True)
        shutil.rmtree(home, ignore_errors=True)


def list_files() -> list[str]:
    """Return the names of the checkout's files: those that git tracks, or all of an archive that was unpacked here."""
    if (ROOT / ".git").exists():
        tracked_files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        return [os.fsdecode(name) for name in tracked_files.split(b"\0") if name]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not path.is_dir()]


def end_processes(user: str) -> None:
    """End and print the processes that the created user left running."""
    number = pwd.getpwnam(user).pw_uid
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == number:
                print("left running:", (process / "cmdline").read_text().replace("\0", " "))
                os.kill(int(process.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            continue


def run_in_terminal(machine: Machine, command: list[str], log: Path) -> int:
    """Run a command in the foreground of a pseudo-terminal of its own."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(machine.checkout)
        os.execve(command[0], command, dict(machine.environment))
    with log.open("wb") as output:
        while True:
            try:
                block = os.read(terminal, 65_536)
            except OSError:  # Linux raises it when the other end is closed
                break
            if not block:
                break
            output.write(block)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_in_background(machine: Machine, command: list[str], log: Path) -> int:
    """Run a command without a terminal and with SIGINT ignored, as a script does with `command &`."""
    former_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a child inherits it
    try:
        return _run(machine, command, log)
    finally:
        signal.signal(signal.SIGINT, former_handler)


def run_as_user(machine: Machine, command: list[str], log: Path) -> int:
    """Run a command as the created user. A mount makes an interpreter reachable that this user could not reach."""
    become = ["setpriv", f"--reuid={machine.user}", f"--regid={machine.user}", "--init-groups"]
    if subprocess.run([*become, "test", "-x", command[0]], check=False).returncode:
        directories = [*find_closed_directory(command[0]), str(machine.checkout)]
        become = ["unshare", "--mount", "sh", "-e", "-c", MOUNT_SCRIPT, "sh", *directories, *become]
    return _run(machine, [*become, *command], log)


MOUNT_SCRIPT = """
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
"""Cover a directory that other users may not enter with an empty one; mount one directory below it at its path."""


def find_closed_directory(python: str) -> tuple[str, str]:
    """Return the directory that other users may not enter, and the one below it with this Python or all of pyenv."""
    query = [python, "-c", "import sys; print(sys.base_prefix)"]
    prefix = Path(subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip())
    closed_parent = next(parent for parent in reversed(prefix.parents) if not parent.stat().st_mode & stat.S_IXOTH)
    return str(closed_parent), str(prefix.parents[1] if ".pyenv" in prefix.parts else prefix)


def _run(machine: Machine, command: list[str], log: Path) -> int:
    with log.open("wb") as output:
        process = subprocess.run(
            command, cwd=machine.checkout, env=machine.environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    return process.returncode


WAYS: dict[str, Callable[[Machine, list[str], Path], int]] = {
    "terminal": run_in_terminal,
    "background": run_in_background,
    "user": run_as_user,
}

if __name__ == "__main__":
    sys.exit(main())
