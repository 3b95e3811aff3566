"""Time a turn in the real Claude Code: a prompt, one command, an answer, with Palazzo's hooks and with bare ones.

    python benchmarks/claude_turn.py [--rounds 30] [--json]

Three sessions go on side by side and take the same turn one after the other: without hooks, with hooks that start a
bare Python at the same events, and with the hooks that `palazzo install` writes. The model is a script on this machine,
which answers at once, so a turn is Claude Code's own work and that of its hooks. Claude Code comes from npm and is kept
(`tests/end_to_end/programs.py`). The palace holds this repository's how-to pages.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, median, milliseconds, report, spread
from tests.end_to_end.claude_code import ClaudeCode
from tests.end_to_end.machine import Machine, machine
from tests.end_to_end.model import Call, Step
from tests.end_to_end.programs import claude_code

DOCUMENTS = Path(__file__).resolve().parents[1] / "docs" / "how-to"
BARE = (sys.executable, "-I", "-S", "-E", "-c", "pass")
"""Arguments that follow are not looked at."""
WITHOUT, WITH_BARE, WITH_PALAZZO = "no hooks", "bare Python hooks", "Palazzo's hooks"
WARM_UP = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the turns and print a row for each session."""
    parser = argparse.ArgumentParser(description="Time a turn in the real Claude Code.")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palazzo-turn-") as directory, machine(Path(directory)) as home:
        fill_palace(home, DOCUMENTS)
        times = take_turns(home, settings_files(home), options.rounds)
    report("A turn in Claude Code", rows_of(times), options.json)
    return 0


def fill_palace(home: Machine, documents: Path) -> None:
    """Index the documents and wait for their vectors, so that nothing else runs while turns are timed."""
    shutil.copytree(documents, home.project / "docs", ignore=shutil.ignore_patterns("*.png", "*.svg"))
    home.palazzo("mine", ".")
    home.settle()


def settings_files(home: Machine) -> dict[str, Path]:
    """Return the settings of each session, and leave none that apply to all."""
    own = home.user.home / ".claude" / "settings.json"
    own.parent.mkdir(exist_ok=True)
    home.palazzo("install", "claude-code")
    wired = json.loads(own.read_text(encoding="utf-8"))
    own.unlink()
    script = shutil.which("palazzo", path=home.variables["PATH"])  # as a wheel installs it; a checkout's starts twice
    contents = {
        WITHOUT: {},
        WITH_BARE: {"hooks": replace_commands(wired["hooks"], BARE)},
        WITH_PALAZZO: {"hooks": replace_commands(wired["hooks"], (str(script),))},
    }
    files = {}
    for number, (name, content) in enumerate(contents.items()):
        files[name] = home.user.home / f"settings-{number}.json"
        files[name].write_text(json.dumps(content), encoding="utf-8")
    return files


def replace_commands(hooks: Any, command: Sequence[str]) -> Any:
    """Return the same hooks at the same events, which start this command with their arguments."""
    if isinstance(hooks, list):
        return [replace_commands(hook, command) for hook in hooks]
    if not isinstance(hooks, dict):
        return hooks
    if "command" in hooks:
        return hooks | {"command": command[0], "args": [*command[1:], *hooks["args"]]}
    return {name: replace_commands(value, command) for name, value in hooks.items()}


def take_turns(home: Machine, files: dict[str, Path], rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each turn of each session."""
    times: dict[str, list[float]] = {name: [] for name in files}
    command = Call("Bash", {"command": "true", "description": "Do nothing"})
    with contextlib.ExitStack() as stack:
        sessions = {
            name: stack.enter_context(
                ClaudeCode(claude_code(), home.model, home.project, home.variables, "--settings", str(file))
            )
            for name, file in files.items()
        }
        for number in range(WARM_UP + rounds):
            prompt = home.model.answers(
                f"Run step {number} of the list.", Step("I run it.", (command,)), f"Step {number} is done."
            )
            for name, session in sessions.items():
                taken = milliseconds(lambda: session.turn(prompt))  # noqa: B023 - called at once
                if number >= WARM_UP:
                    times[name].append(taken)
    return times


def rows_of(times: dict[str, list[float]]) -> list[Row]:
    """Return p50, p95 and p99 of each session, and how much longer its turns are than others of the same round."""
    rows: list[Row] = []
    for name, taken in times.items():
        row: Row = {"session": name, **spread(taken)}
        for other in (WITHOUT, WITH_BARE):
            more = [mine - its for mine, its in zip(taken, times[other], strict=True)]
            row[f"over {other}, median"] = round(median(more), 1)
        rows.append(row)
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
