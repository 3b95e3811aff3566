"""Runs the steps of a script in a pseudo-terminal of a given width, and records what a person would see.

A step is a table with one of these keys:
`say`    a comment; with `above` the text of the next step stands directly below it
`run`    a command of the shell; `answers` lists pairs of a pattern and the keys that are pressed when it is printed,
         `code` is the expected exit code
`hook`   an event of Claude Code, with its captured payload for `session`; the text for the agent is shown, unless the
         step is `silent`
`clear`  an empty screen
Each may have `wait` (seconds afterwards), and `run` and `hook` may have `read`, the time to read the answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.coding.sessions import session_id
from tools.recording.cast import Cast
from tools.recording.machine import PROJECT, ROOT, Machine

Step = Mapping[str, Any]
PAYLOADS = ROOT / "tests" / "fixtures" / "hooks" / "claude-code"
_PROMPT = f"\x1b[1;32m~/{PROJECT}\x1b[0m $ "
_TYPED_AT_ONCE = 3
_KEY_SECONDS = 0.09
_ANSWER_SECONDS = 0.4
_FRAME_SECONDS = 0.12
_READING_SECONDS = 1.2
_LIMIT_SECONDS = 180
_ATTEMPTS = 6
_EVENTS = {
    "session-start": "SessionStart.startup", "prompt": "UserPromptSubmit", "stop": "Stop", "session-end": "SessionEnd",
}  # fmt: skip


def record_script(script: Step, title: str, machine: Machine, columns: int) -> Cast:
    """Run all steps of a script; return what was printed."""
    for command in script.get("before", ()):
        subprocess.run(
            ["/bin/sh", "-c", command], cwd=machine.project, env=machine.environment, check=True, capture_output=True
        )
    cast = Cast(title, columns, script.get("rows", 30))
    cast.add(_PROMPT)
    for step in script["steps"]:
        record_step(step, machine, cast)
    cast.wait(script.get("end", 4.0))
    cast.add("")
    return cast


def record_step(step: Step, machine: Machine, cast: Cast) -> None:
    """Record one step."""
    if "say" in step:
        cast.wait(0.5)
        type_text(f"\x1b[36m# {step['say']}\x1b[0m", cast, whole=True)
        cast.add("\r\n" if step.get("above") else f"\r\n{_PROMPT}")
    elif "run" in step:
        cast.wait(0.4)
        type_text(step["run"], cast)
        cast.wait(0.2)
        cast.add("\r\n")
        run_command(step, machine, cast)
        cast.add(_PROMPT)
        cast.wait(step.get("read", _READING_SECONDS))
    elif "hook" in step:
        cast.wait(0.4)
        show_hook(step, machine, cast)
        cast.wait(step.get("read", _READING_SECONDS))
    elif "clear" in step:
        cast.add(f"\x1b[H\x1b[2J{_PROMPT}")
    cast.wait(step.get("wait", 0.0))


def type_text(text: str, cast: Cast, whole: bool = False) -> None:
    """Print text as if it was typed, a few characters at a time."""
    for start in range(0, len(text), len(text) if whole else _TYPED_AT_ONCE):
        cast.add(text if whole else text[start : start + _TYPED_AT_ONCE])
        cast.wait(_KEY_SECONDS)


def run_command(step: Step, machine: Machine, cast: Cast) -> None:
    """Run a command in a terminal; give the answers that the step lists when they are asked for."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(machine.project)
        os.execve("/bin/sh", ["sh", "-c", step["run"]], machine.environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", cast.rows, cast.columns, 0, 0))
    answers, printed, deadline = list(step.get("answers", ())), "", time.monotonic() + _LIMIT_SECONDS
    cast.wait(_ANSWER_SECONDS)
    while (block := read_block(terminal, child, deadline)) is not None:
        text = machine.shown(block)
        cast.add(text)
        cast.wait(_FRAME_SECONDS)
        printed += text
        if answers and re.search(answers[0][0], printed):
            cast.wait(_READING_SECONDS)
            os.write(terminal, answers.pop(0)[1].encode())
            printed = ""
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != step.get("code", 0):
        raise SystemExit(f"'{step['run']}' ended with {code}:\n{printed}")
    if answers:
        raise SystemExit(f"'{step['run']}' never printed {answers[0][0]!r}:\n{printed}")


def read_block(terminal: int, child: int, deadline: float) -> str | None:
    """Return what is printed until a short silence; None at the end."""
    data = b""
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.08 if data else 1.0)
        if not ready:
            if data:
                return data.decode("utf-8", "replace")
            continue
        try:
            block = os.read(terminal, 65_536)
        except OSError:  # Linux raises it when the program has closed its end
            block = b""
        if not block:
            return data.decode("utf-8", "replace") if data else None
        data += block
    os.kill(child, signal.SIGKILL)
    raise SystemExit(f"A command did not end within {_LIMIT_SECONDS} seconds.")


def show_hook(step: Step, machine: Machine, cast: Cast) -> None:
    """Run the hook program with a captured payload of this session; show the text that it gives to the agent."""
    text = ""
    for _attempt in range(
        1 if step.get("silent") else _ATTEMPTS
    ):  # on a busy machine a hook keeps its limit and gives nothing
        answer = run_hook(step, machine)
        text = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        if text:
            break
        time.sleep(1)
    if step.get("silent"):
        wait_until_indexed(machine)
        return
    if not text:
        raise SystemExit(f"The hook {step['hook']} of {step['session']} gave the agent nothing: {answer}")
    cast.add(
        "\r" + "".join(f"\x1b[35m│\x1b[0m {line}\r\n" for line in wrap_lines(machine.shown(text), cast.columns - 2))
    )
    cast.add(f"\r\n{_PROMPT}")


def wait_until_indexed(machine: Machine) -> None:
    """Wait until the service has archived what a hook passed to it, and computed its vectors."""
    deadline = time.monotonic() + _LIMIT_SECONDS
    command = ["/bin/sh", "-c", "palazzo status --json"]
    while time.monotonic() < deadline:
        status = subprocess.run(command, env=machine.environment, cwd=machine.project, capture_output=True, check=True)
        answer = json.loads(status.stdout)
        if answer["drawers"] and answer["embedder"]["state"] == "ready":
            return
        time.sleep(1)
    raise SystemExit("The service did not index a session in time.")


def run_hook(step: Step, machine: Machine) -> dict[str, Any]:
    """Return the hook's answer."""
    payload = json.loads((PAYLOADS / f"{_EVENTS[step['hook']]}.json").read_text(encoding="utf-8"))
    payload |= {
        "session_id": session_id(step["session"]), "cwd": str(machine.project),
        "transcript_path": str(machine.transcript(step["session"])),
    }  # fmt: skip
    payload |= {key: step[key] for key in ("prompt", "last_assistant_message") if key in step}
    hook = subprocess.run(
        ["palazzo", "hook", "claude-code", payload["hook_event_name"]],
        input=json.dumps(payload).encode(), capture_output=True, check=True, cwd=machine.project,
        env=machine.environment, executable=str(machine.home / ".local/bin/palazzo"),
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(hook.stdout)
    return answer


def wrap_lines(text: str, width: int) -> list[str]:
    """Return the lines of a text, broken at words where they are longer than the width."""
    import textwrap

    lines: list[str] = []
    for line in text.splitlines():
        indent = re.match(r"\s*(- )?", line)
        lines += textwrap.wrap(line, width, subsequent_indent=" " * (indent.end() if indent else 0)) or [""]
    return lines


def script_path() -> Path:
    """Return the file of the scripts."""
    return Path(__file__).with_name("scripts.yaml")
