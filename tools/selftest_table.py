"""Run the selftest at its public size, in parts, and print one table of all of them.

    nice python3 tools/selftest_table.py parts.jsonl [--kills 10000] [--flips 10000] [--writer-runs 10] [--minutes 480]
        [--part-kills 100] [--part-flips 500] [--seed 1] [--directory DIR] [--no-faults]

Each part is a `palazzo selftest` of its own with the next seed, so a run that was stopped loses one part at most: the
same command goes on after the parts in the file. Faults are a part for each operation. A part that lost something stays
in the file with its first sentences, its palaces and journal are kept, and the exit code is 1. Ten runs of writers are
16 processes with 500 writes each. The whole takes days on two cores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from palazzo.features.selftest.fault_suite import STEPS

COUNTS = ("runs", "acknowledged", "present", "lost", "doubled", "detected", "repaired", "seconds")


class Part(NamedTuple):
    """The arguments of one `palazzo selftest`."""

    suite: str
    arguments: tuple[str, ...]


def parts(options: argparse.Namespace) -> Iterator[Part]:
    """Yield the parts of the whole, each with a seed of its own."""
    seed = options.seed

    def part(suite: str, *arguments: str) -> Part:
        nonlocal seed
        seed += 1
        return Part(suite, (*arguments, "--seed", str(seed - 1)))

    for start in range(0, options.kills, options.part_kills):
        yield part("kill9", "--kill9", str(min(options.part_kills, options.kills - start)))
    for _ in range(options.writer_runs):
        yield part("writers", "--writers", "16")
    for start in range(0, options.flips, options.part_flips):
        yield part("bits", "--bits", str(min(options.part_flips, options.flips - start)))
    for name in STEPS if options.faults else ():
        yield part("faults", "--faults", "--operation", name)
    if options.minutes:
        yield part("soak", "--minutes", str(options.minutes))


def read_done(path: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the results in the file, by the arguments of their part; a line that was cut off does not count."""
    results = {}
    for line in filter(None, path.read_text(encoding="utf-8").splitlines()) if path.exists() else ():
        try:
            result = json.loads(line)
        except ValueError:
            continue
        results[tuple(result["arguments"])] = result
    return results


def run_part(part: Part, directory: str | None) -> dict[str, Any] | None:
    """Run a part; return its result, None if it was interrupted."""
    where = [] if directory is None else ["--directory", directory]
    command = [sys.executable, "-m", "palazzo", "selftest", "--json", *part.arguments, *where]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    result: dict[str, Any] = json.loads(done.stdout or "{}")
    if "rows" not in result:  # it could not run at all, and has said why
        raise SystemExit(f"palazzo selftest ended with exit code {done.returncode}.")
    return None if result["interrupted"] else {"arguments": part.arguments, **result}


def table(results: list[dict[str, Any]]) -> str:
    """Return the sums of the parts, a line for each suite, and what they ran on."""
    sums: dict[str, Counter[str]] = {}
    for result in results:
        for row in result["rows"]:
            counts = sums.setdefault(row["suite"], Counter())
            counts.update({name: row[name] for name in COUNTS})
            counts["parts"] += 1
    names = ("parts", *COUNTS)
    lines = [f"{'suite':<10}" + "".join(f"{name:>14}" for name in names)]
    lines += [
        f"{suite:<10}" + "".join(f"{round(counts[name]):>14,}" for name in names) for suite, counts in sums.items()
    ]
    first = results[0]
    versions = ", ".join(f"{name} {version}" for name, version in first["versions"].items())
    seeds = [result["seed"] for result in results]
    lines.append(f"Seeds {min(seeds)} to {max(seeds)}; {first['file_system']} ({first['mount_options']}); {versions}.")
    return "\n".join(lines)


def main() -> int:
    """Run the parts that are not in the file yet, and print the table of all that are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--writer-runs", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=480)
    parser.add_argument("--part-kills", type=int, default=100)
    parser.add_argument("--part-flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory")
    parser.add_argument("--no-faults", dest="faults", action="store_false")
    options = parser.parse_args()
    done = read_done(options.file)
    planned = list(parts(options))
    for number, part in enumerate(planned, 1):
        if part.arguments in done:
            continue
        print(f"{time.strftime('%H:%M')} part {number} of {len(planned)}: {' '.join(part.arguments)}", file=sys.stderr)
        result = run_part(part, options.directory)
        if result is None:
            break
        with options.file.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(result) + "\n")  # the line before may have been cut off
        done[part.arguments] = result
    results = [done[part.arguments] for part in planned if part.arguments in done]
    if results:
        print(table(results))
    if len(results) < len(planned):
        print(f"{len(planned) - len(results)} of {len(planned)} parts are missing; the same command goes on.")
    failures = [failure for result in results for row in result["rows"] for failure in row["failures"]]
    print("\n".join(failures[:20]), end="\n" if failures else "")
    return 1 if failures or len(results) < len(planned) else 0


if __name__ == "__main__":
    raise SystemExit(main())
