"""Run one suite of the selftest until something is lost: `python suite_run.py DIRECTORY faults kg 'disk full'`.

Or `… DIRECTORY bits [FLIPS]`, or `… DIRECTORY writers`.

Prints the counts as JSON. It is a program of its own, so that the selftest of another copy of the package can be run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from palazzo.features.selftest.bit_suite import run_bits
from palazzo.features.selftest.fault_suite import run_faults
from palazzo.features.selftest.journal import Journal
from palazzo.features.selftest.scratch import make_scratch
from palazzo.features.selftest.writer_suite import run_writers

FLIPS, WRITERS = 12, 6


def quiet(activity: str, done: int, total: int, detail: str) -> None:
    """Report nothing."""


def main(arguments: list[str]) -> None:
    """Run the suite, and print its counts."""
    directory, suite = Path(arguments[0]), arguments[1]
    with make_scratch(directory / "palace.db", None) as scratch, Journal(directory / "journal.jsonl") as journal:
        if suite == "bits":
            runs = run_bits(scratch, journal, int(arguments[2]) if arguments[2:] else FLIPS, 1, quiet)
        elif suite == "writers":
            runs = run_writers(scratch, journal, WRITERS, 1, quiet)
        else:
            runs = run_faults(scratch, journal, 1, quiet, arguments[2:3], arguments[3:4])
        for counts in runs:
            if counts.lost or counts.doubled:
                break
    print(json.dumps({"runs": counts.runs, "lost": counts.lost, "doubled": counts.doubled, "why": counts.failures}))


if __name__ == "__main__":
    main(sys.argv[1:])
