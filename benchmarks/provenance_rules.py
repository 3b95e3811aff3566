"""How well the rules of provenance tell foreign output from local output, on `benchmarks/provenance`.

    python benchmarks/provenance_rules.py [--missed]

The entries are halved by a hash of their ids. Rules are tuned on one half; of the other only the sums are looked at,
and `--missed` lists errors of the tuning half alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from palazzo.palace import Palace
from palazzo.security.project_paths import Project
from palazzo.security.tool_trust import judge_tool
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

DATA = Path(__file__).parent / "provenance"
ROOT = "/home/dev/app"
"""Where the project of the sequences lies, as the header of their file says."""
EARLIER_RESULTS = {
    ("commands", "tuning"): "; before: 44 of 156, 99 of 110",
    ("commands", "held out"): "; before: 33 of 138, 100 of 110",
    ("sequences", "tuning"): "; before: 4 of 21, 22 of 26",
    ("sequences", "held out"): "; before: 7 of 23, 17 of 18",
}
"""The figures of the code before the allow-list (commit 7060602), by the same halves."""


def half_of(identity: str) -> str:
    """Return which half an entry belongs to."""
    return "held out" if hashlib.sha256(identity.encode()).digest()[0] % 2 else "tuning"


def command_verdicts(entries: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Return by id whether the output of a command is judged local."""
    project = Project(ROOT, ROOT)
    return {entry["id"]: judge_tool("Bash", {"command": entry["command"]}, project).is_local for entry in entries}


def sequence_verdicts(entries: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Return by id whether the last output of a sequence is judged local: mined as sessions of Claude Code."""
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            (Path(folder) / f"{entry['id']}.jsonl").write_text("\n".join(_rows(entry)) + "\n", encoding="utf-8")
        with Palace.open(Path(folder) / "palace.db") as palace:
            mine(palace.database, palace.clock, MineRequest((Path(folder),)))
            return dict(_last_outputs(palace))


def _rows(entry: Mapping[str, Any]) -> Iterable[str]:
    session = entry["id"]
    common = {
        "sessionId": session,
        "cwd": ROOT,
        "gitBranch": "main",
        "version": "2.0.0",
        "isSidechain": False,
        "userType": "external",
    }
    parent = None
    number = 0

    def row(kind: str, content: object) -> str:
        nonlocal parent, number
        own, number = f"{session}-{number}", number + 1
        line = {
            **common, "parentUuid": parent, "uuid": own, "type": kind,
            "timestamp": f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z",
            "message": {"role": kind, "content": content, "id": own, "model": "m"},
        }  # fmt: skip
        parent = own
        return json.dumps(line)

    yield row("user", "please go on with the task at hand")
    for n, step in enumerate(entry["steps"]):
        call = f"toolu_{session}_{n}"
        yield row("assistant", [{"type": "tool_use", "id": call, "name": step["tool"], "input": step["input"]}])
        yield row("user", [{"type": "tool_result", "tool_use_id": call, "content": f"output {n} of the call"}])


def _last_outputs(palace: Palace) -> Iterable[tuple[str, bool]]:
    with palace.database.snapshot() as connection:
        rows = connection.execute(
            "SELECT s.session_id, (SELECT d.trust = 'external' AND EXISTS"
            " (SELECT 1 FROM outside o WHERE o.item = i.id AND o.kind = 'met')"
            " FROM drawer_span p JOIN drawer d ON d.id = p.drawer WHERE p.item = i.id ORDER BY d.id DESC LIMIT 1)"
            " FROM source s JOIN item i ON i.source = s.id WHERE i.kind = 'message'"
            " AND i.ordinal = (SELECT max(ordinal) FROM item WHERE source = s.id AND kind = 'message')"
        )
        for session, is_foreign in rows:
            yield str(session), not is_foreign


def report(name: str, entries: Iterable[Mapping[str, Any]], verdicts: Mapping[str, bool], error_verdict: bool) -> None:
    """Print the figures of both halves, and the errors of the tuning half where asked for."""
    for half in ("tuning", "held out"):
        counts: Counter[tuple[str, bool]] = Counter()
        for entry in entries:
            if half_of(entry["id"]) == half:
                counts[entry["label"], verdicts[entry["id"]]] += 1
                is_wrong = verdicts[entry["id"]] != (entry["label"] == "local")
                if error_verdict and half == "tuning" and is_wrong:
                    words = entry.get("command") or json.dumps(entry["steps"])
                    print(f"  {entry['label']} taken for the other: {entry['id']} [{entry['category']}] {words[:300]}")
        foreign = counts["foreign", True] + counts["foreign", False]
        local = counts["local", True] + counts["local", False]
        print(
            f"{name}, {half}: foreign called foreign {counts['foreign', False]} of {foreign}"
            f" ({counts['foreign', False] / foreign:.1%}), local called local {counts['local', True]} of {local}"
            f" ({counts['local', True] / local:.1%}){EARLIER_RESULTS.get((name, half), '')}"
        )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="list the errors of the tuning half")
    parser.add_argument("--only", choices=("commands", "sequences"), help="one of the files")
    arguments = parser.parse_args()
    if arguments.only != "sequences":
        commands = yaml.safe_load((DATA / "commands.yaml").read_text(encoding="utf-8"))
        start = time.perf_counter()
        verdicts = command_verdicts(commands)
        seconds = time.perf_counter() - start
        report("commands", commands, verdicts, arguments.missed)
        print(f"{seconds / len(commands) * 1e6:.0f} microseconds per command")
    if arguments.only != "commands":
        sequences = yaml.safe_load((DATA / "sequences.yaml").read_text(encoding="utf-8"))
        report("sequences", sequences, sequence_verdicts(sequences), arguments.missed)


if __name__ == "__main__":
    main()
