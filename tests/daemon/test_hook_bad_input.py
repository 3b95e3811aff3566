"""Whatever a host sends and wherever it runs: valid output with nothing to add, exit code 0, and a line in the log.

Every case is a process of the installed script. Most are slow, since each starts a Python; what the parts make of bad
input is tested with them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from tests.daemon.hook_machine import LOCKER, ROOT, TRANSCRIPT, Machine, eventually

from palazzo.features.hooks import spool
from palazzo.features.service.service_state import log_file
from palazzo.features.upkeep.contract import DoctorRequest
from palazzo.features.upkeep.doctor import doctor

NOTHING = b"{}\n"
LATE = "did not finish within"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the script is a shell's; Windows has a program in its place"),
]


@dataclass(frozen=True)
class Case:
    """What is wrong, what a host would send, and the words that the log has of it."""

    name: str
    payload: object
    event: str = "Stop"
    host: str = "claude-code"
    log: str = ""

    @property
    def sent(self) -> bytes:
        return self.payload if isinstance(self.payload, bytes) else json.dumps(self.payload).encode()


def told(**fields: Any) -> dict[str, Any]:
    return {"session_id": "s-1", "cwd": "/tmp", **fields}


DEEP = b'{"a":' * 100_000
CASES = [
    Case("empty", b"", log="claude-code stop: "),
    Case("spaces", b" \n\t", log="claude-code stop: "),
    Case("an array", [], log="not an object but a list"),
    Case("a text", "words", log="not an object but a str"),
    Case("a number", 3, log="not an object but a int"),
    Case("null", None, log="not an object but a NoneType"),
    Case("cut off", b'{"session_id": "s-1", "prom', log="claude-code stop: "),
    Case("no text at all", bytes(range(256)), log="claude-code stop: "),
    Case("nested without end", DEEP, log="claude-code stop: "),
    Case("more than is read", b'{"prompt": "' + b"x" * (10 << 20) + b'"}', log="was not read"),
    Case("a prompt of nearly ten megabytes", told(prompt="y " * (4 << 20)), "UserPromptSubmit"),
    Case("an event that is none", told(), "Nonsense", log="not known"),
    Case("another host's event", told(), "AfterAgent", log="not known"),
    Case("a host that is none", told(), host="nobody", log="not known"),
    Case("no host", told(), event="", host="", log="not known"),
    Case("a host like a path", told(), host="../../etc/passwd", log="not known"),
    Case("nothing in it", {}, log="hook "),
    Case("fields of other kinds", {"session_id": 3, "cwd": [], "transcript_path": {}, "prompt": 1.5}, log="hook "),
    Case("a tool without a name", told(tool_input={"command": "ls"}), "PostToolUse"),
    Case("a tool of another shape", told(tool_name="Bash", tool_input="ls", tool_response=[1, None]), "PostToolUse"),
    Case("a file with a zero", told(tool_name="Read", tool_input={"file_path": "/tmp/\x00"}), "PostToolUse"),
    Case("a file without end", told(tool_name="Read", tool_input={"file_path": "/tmp/" + "x" * 5_000}), "PostToolUse"),
    Case("a command without end", told(tool_name="Bash", tool_input={"command": "x" * 500_000}), "PostToolUseFailure"),
    Case("a session like a path", told(session_id="../../../etc/passwd"), log="hook "),
    Case("a session without end", told(session_id="s/" * 5_000), log="hook "),
    Case("a session of odd characters", told(session_id="\u202e\x00\ud800"), log="hook "),
    Case("a directory that is none", told(cwd="/does/not/exist", prompt="what did we decide?"), "UserPromptSubmit"),
    Case("a directory with a zero", told(cwd="/tmp/\x00", prompt="what did we decide?"), "UserPromptSubmit"),
    Case("no transcript there", told(transcript_path="/does/not/exist.jsonl"), log="does not exist"),
    Case("a directory as a transcript", told(transcript_path="/tmp"), log="is not a file"),
    Case("a file that no host may name", told(transcript_path="/etc/passwd"), log="not in any host's history"),
    Case("a device", told(transcript_path="/dev/zero"), log="is not a file"),
    Case("a relative path", told(transcript_path="x.jsonl"), log="path is not absolute"),
    Case("somebody's home", told(transcript_path="~nobody-at-all/x.jsonl"), log="path is not absolute"),
    Case("a path without end", told(transcript_path="/tmp/" + "x" * 5_000), log="the transcript "),
    Case("a path with a zero", told(transcript_path="/tmp/\x00.jsonl"), log="path is not absolute"),
    Case(
        "a sub-agent's transcript elsewhere",
        told(agent_type="x", agent_transcript_path="/etc/passwd"),
        "SubagentStop",
        log="not in any host's history",
    ),
    Case("an end elsewhere", told(transcript_path="/etc/passwd"), "SessionEnd", log="not in any host's history"),
]


class Installed(Machine):
    """A machine on which the script is laid out as installers do."""

    def __init__(self, home: Path, runtime: Path) -> None:
        super().__init__(home, runtime)
        self.script = home / "env" / "bin" / "palazzo"
        self.script.parent.mkdir(parents=True)
        shutil.copy(ROOT / "packaging" / "palazzo", self.script)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        (self.script.parent / version).symlink_to(sys.executable)
        packages = home / "env" / "lib" / version / "site-packages"
        packages.mkdir(parents=True)
        for package in (ROOT / "src" / "palazzo", *Path(sysconfig.get_path("platlib")).iterdir()):
            if package.suffix != ".pth" and not (packages / package.name).exists():
                (packages / package.name).symlink_to(package)

    def run(
        self, host: str, event: str, sent: bytes, variables: dict[str, str] | None = None, before: str = ""
    ) -> tuple[bytes, bytes, int]:
        """Run a hook; `before` is what a shell does first, in the same process."""
        command = [str(self.script), "hook", *filter(None, (host, event))]
        if before:
            command = ["sh", "-c", f'{before}; exec "$@"', "sh", *command]
        environment = self.variables if variables is None else variables
        done = subprocess.run(
            command, input=sent, capture_output=True, cwd=self.project, env=environment, timeout=60, check=False
        )
        return done.stdout, done.stderr, done.returncode

    def log(self) -> str:
        try:
            return log_file(self.palace, self.variables).read_text("utf-8")
        except OSError:
            return ""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """One with a service that runs, and a palace."""
    yield from made(tmp_path_factory, start=True)


@pytest.fixture
def lone_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """One on which no service is wanted."""
    yield from made(tmp_path_factory, start=False)


def made(factory: pytest.TempPathFactory, start: bool) -> Iterator[Installed]:
    runtime = Path("/tmp") / f"palazzo-test-{os.getpid()}-{time.monotonic_ns() % 10**9}"
    runtime.mkdir(mode=0o700)
    machine = Installed(factory.mktemp("machine") / "home", runtime)
    machine.note("We decided on a retry budget of ten percent.")
    try:
        if start:
            machine.start()
            asks = json.dumps(machine.payload(prompt="what did we decide about the retry budget?")).encode()
            eventually(lambda: machine.run("claude-code", "UserPromptSubmit", asks)[0] != NOTHING)
        else:
            machine.variables |= {"PALAZZO_SERVICE": "off", "PALAZZO_SERVICE_IDLE_MINUTES": "0"}
        yield machine
    finally:
        deadline = time.monotonic() + 20
        while (pid := machine.pid()) is not None and time.monotonic() < deadline:
            os.kill(pid, 15)
            time.sleep(0.1)
        shutil.rmtree(runtime, ignore_errors=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_with_a_service(served: Installed, case: Case) -> None:
    before = served.log()
    answered, complaint, code = served.run(case.host, case.event, case.sent)
    assert (answered, code) == (NOTHING, 0)
    assert is_complaint_of(case, complaint)
    eventually(lambda: served.log() != before)
    eventually(lambda: case.log in served.log().removeprefix(before), 5)
    assert "bug" not in served.log().removeprefix(before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_without_a_service(lone_machine: Installed, case: Case) -> None:
    for _ in range(10):
        before = lone_machine.log()
        answer, complaint, code = lone_machine.run(case.host, case.event, case.sent)
        log = lone_machine.log().removeprefix(before)
        if LATE not in log:  # a hook alone may be late on a busy machine, and says so in its log each time
            break
    assert (answer, code) == (NOTHING, 0)
    assert is_complaint_of(case, complaint)
    assert log.count("\n") <= 1
    assert "words" not in log


def is_complaint_of(case: Case, complaint: bytes) -> bool:
    """Whether standard error says what is not known, and the help where no host is named; else nothing."""
    if case.log != "not known":
        return complaint == b""
    name = case.event if case.host == "claude-code" else case.host
    return repr(name).encode() in complaint if case.host else complaint.startswith(b"usage: ")


# --- where it runs -----------------------------------------------------------------------------------------

STOP = json.dumps(told(transcript_path="/tmp/none.jsonl", last_assistant_message="words")).encode()
PROMPT = json.dumps(told(prompt="what did we decide about the retry budget?")).encode()


@pytest.mark.parametrize(("event", "payload"), [("Stop", STOP), ("UserPromptSubmit", PROMPT), ("SessionEnd", STOP)])
@pytest.mark.parametrize("service", ["on", "off"])
class TestSurroundings:
    """What is wrong is not the input but where the hook finds itself: nothing is said, and it ends as ever."""

    def test_a_directory_that_is_gone(self, lone_machine: Installed, service: str, event: str, payload: bytes) -> None:
        directory = lone_machine.home / "gone"
        setup_command = f"mkdir -p '{directory}' && cd '{directory}' && rmdir '{directory}'"
        variables = {**lone_machine.variables, "PALAZZO_SERVICE": service}
        assert is_valid(lone_machine.run("claude-code", event, payload, variables, setup_command))

    def test_no_home(self, lone_machine: Installed, service: str, event: str, payload: bytes) -> None:
        variables = {**lone_machine.variables, "PALAZZO_SERVICE": service, "PALAZZO_PALACE": str(lone_machine.palace)}
        del variables["HOME"]
        variables |= {
            "XDG_STATE_HOME": str(lone_machine.home / "state"),
            "XDG_CONFIG_HOME": str(lone_machine.home / "config"),
        }
        assert is_valid(lone_machine.run("claude-code", event, payload, variables))

    @pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null", "relative", ""])
    def test_a_home_that_cannot_be_written(
        self, lone_machine: Installed, service: str, event: str, payload: bytes, home: str
    ) -> None:
        variables = {**lone_machine.variables, "PALAZZO_SERVICE": service, "HOME": home}
        assert is_valid(lone_machine.run("claude-code", event, payload, variables))

    def test_a_disk_without_room(
        self, lone_machine: Installed, service: str, event: str, payload: bytes, full: Path
    ) -> None:
        variables = {**lone_machine.variables, "PALAZZO_SERVICE": service, "HOME": str(full)}
        assert is_valid(lone_machine.run("claude-code", event, payload, variables))


def test_a_damaged_installation_is_named_on_standard_error_and_in_the_log(lone_machine: Installed) -> None:
    text = HOOK_PROCESS.read_text()
    package = changed_installation(lone_machine, text[:2_000])  # an upgrade was cut off
    hook = run_hook(package, lone_machine, "Stop", STOP)
    assert (hook.stdout, hook.returncode) == (NOTHING, 0)
    assert hook.stderr.startswith(b"palazzo hook: failed (")
    assert b"palazzo doctor" in hook.stderr
    assert "failed (" in lone_machine.log()


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_a_hook_that_starts_slowly_and_meets_a_lock_leaves_its_pointer_and_says_so(
    lone_machine: Installed, event: str
) -> None:
    slow = "import time\n\ntime.sleep(1)\n"  # a busy machine that imports for a second
    text = HOOK_PROCESS.read_text().replace("import threading\n", f"import threading\n{slow}")
    package = changed_installation(lone_machine, text)
    transcript = lone_machine.transcripts / "slow.jsonl"
    shutil.copy(TRANSCRIPT, transcript)
    payload = json.dumps({"session_id": "slow", "cwd": "/tmp", "transcript_path": str(transcript)}).encode()
    with locked(lone_machine.palace):
        hook = run_hook(package, lone_machine, event, payload)
    assert (hook.returncode, hook.stderr) == (0, b"")
    assert "locked the palace" in lone_machine.log() or "did not finish within" in lone_machine.log()
    pointers = spool.take(lone_machine.palace, lone_machine.variables)
    assert [Path(pointer.path) for pointer in pointers] == [transcript]


HOOK_PROCESS = ROOT / "src" / "palazzo" / "faces" / "hooks" / "hook_process.py"


def changed_installation(machine: Installed, hook_process: str) -> Path:
    """Return a package of links to this one, in which the hook's own process has another text."""
    package = machine.home / "changed" / "palazzo"
    original = ROOT / "src" / "palazzo"
    faces, hooks = original / "faces", HOOK_PROCESS.parent
    (package / "faces" / "hooks").mkdir(parents=True)
    for source in (*original.iterdir(), *faces.iterdir(), *hooks.iterdir()):
        if source not in (faces, hooks, HOOK_PROCESS, original / "__main__.py"):
            (package / source.relative_to(original)).symlink_to(source)
    shutil.copy(original / "__main__.py", package)  # it finds its package by its own path
    (package / HOOK_PROCESS.relative_to(original)).write_text(hook_process)
    return package


def run_hook(package: Path, machine: Installed, event: str, payload: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run a hook of that package with the service switched off."""
    command = [sys.executable, "-I", "-S", "-E", str(package / "__main__.py"), "hook", "claude-code", event]
    variables = {**machine.variables, "PALAZZO_SERVICE": "off"}
    return subprocess.run(command, input=payload, capture_output=True, env=variables, timeout=60, check=False)


@contextlib.contextmanager
def locked(palace: Path) -> Iterator[None]:
    """Another process holds the palace's lock."""
    program = [sys.executable, "-c", LOCKER, str(palace)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as locker:
        assert locker.stdout is not None
        assert locker.stdout.readline() == b"locked\n"
        yield
        locker.communicate()


def is_valid(ended: tuple[bytes, bytes, int]) -> bool:
    answered, complaint, code = ended
    complaints = [line for line in complaint.splitlines() if b"getcwd" not in line]  # a shell's own, of what is gone
    return isinstance(json.loads(answered), dict) and complaints == [] and code == 0


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        write_for_ever(file)


def write_for_ever(file: IO[bytes]) -> None:
    while True:
        file.write(b"x" * 4_096)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system on which there is no room, where this user may make one."""
    point = tmp_path / "disk"
    point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(point)]
    if not sys.platform.startswith("linux") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a file system")
    try:
        (point / ".claude" / "projects").mkdir(parents=True)
        fill(point / "ballast")
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


# --- what is asked of it by hand ---------------------------------------------------------------------------


def test_help_names_the_hosts_and_the_events(lone_machine: Installed) -> None:
    for words in (("--help", ""), ("claude-code", "--help")):
        output, complaint, code = lone_machine.run(*words, b"")
        assert (complaint, code) == (b"", 0)
        assert all(name.encode() in output for name in ("usage: palazzo hook", "claude-code", "pre-compact"))


def test_doctor_shows_hooks_with_names_that_are_not_known(lone_machine: Installed) -> None:
    for host, event in (("claud-code", "Stop"), ("claude-code", "Stopped"), ("claude-code", "Stop")):
        lone_machine.run(host, event, STOP)
    with lone_machine.alone() as context:
        findings = doctor(context, DoctorRequest()).findings
    details = [finding.detail for finding in findings if finding.name == "hooks" and not finding.ok]
    assert len(details) == 2
    assert "'claud-code' 'Stop'" in details[0]
    assert "'claude-code' 'Stopped'" in details[1]
