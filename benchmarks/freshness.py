"""How often it is right whether cited lines still stand, and how long that takes, on projects that a script changed.

    python benchmarks/freshness.py [--projects 40] [--seed 1000] [--changes 8 30] [--json] [--misses]

`scripted_files` writes, edits, moves, renames and deletes files, and labels by what it did. Citations are checked as
the hits of an answer are, five at a time and within its 25 ms: when nothing of the project was asked of git yet, and
again when it was. `--misses` names each that is wrong. The second table is of single files, by their lines, and of a
file that was renamed among many.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, percentile, report
from benchmarks.scripted_files import Citation, Project

from palazzo.git.freshness import TIMEOUT_SECONDS, Checkout, CitationStatus
from palazzo.model import Anchor
from palazzo.text.cited_lines import digest

KEY = bytes(range(32))
AN_ANSWER = 5
"""Citations that are checked together: a search has five hits."""
LONG_ENOUGH = 30.0


@dataclass
class Tally:
    """What came of checking citations; seconds are of single citations, and of answers."""

    checked: int = 0
    right: int = 0
    wrong_fresh: int = 0
    late: int = 0
    misses: list[str] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)

    def count(self, citation: Citation, found: CitationStatus) -> None:
        """Add one citation."""
        self.checked += 1
        self.late += not found.is_checked
        if found.freshness == citation.label:
            self.right += 1
        else:
            self.wrong_fresh += found.freshness == "fresh"
            where = f"{citation.anchor.path}:{citation.anchor.first} now {citation.file.path}"
            self.misses.append(f"{citation.form}: {citation.label}, told {found.freshness}: {where}")

    def row(self, name: str) -> Row:
        """Return the figures."""
        return {
            "": name,
            "citations": self.checked,
            "right %": round(100 * self.right / self.checked, 2),
            "wrong": self.checked - self.right,
            "not in time": self.late,
            "wrong and fresh": self.wrong_fresh,
            "p50 ms an answer": 1000 * percentile(self.answers, 0.5),
            "p95 ms": 1000 * percentile(self.answers, 0.95),
            "max ms": 1000 * max(self.answers),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Check scripted projects, then files of several sizes."""
    parser = argparse.ArgumentParser(description="How fresh cited lines are told to be, and how fast.")
    parser.add_argument("--projects", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1000, help="of the first project; the rules were made on 0 to 39")
    parser.add_argument("--changes", type=int, nargs="+", default=[8, 30])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as directory:
        for changes in given.changes:
            for seed in range(given.seed, given.seed + given.projects):
                _check_project(tallies, Path(directory) / f"{changes}-{seed}", changes, seed)
        report("citations of scripted projects", [one.row(name) for name, one in tallies.items()], given.json)
        if given.misses:
            print("\n".join(f"{name}: {miss}" for name, one in tallies.items() for miss in one.misses))
        rows = [*_by_size(Path(directory) / "sizes"), *_an_answer(Path(directory) / "answer")]
        rows += _among_many(Path(directory) / "many", given.files)
        report("single citations, and an answer with many", rows, given.json)
    return 0


def _check_project(tallies: dict[str, Tally], root: Path, changes: int, seed: int) -> None:
    project = Project(root, seed, KEY)
    cited = project.cite(each=7)
    project.change(changes)
    if seed % 3 == 0:
        project.rename_untold()
    random.Random(seed).shuffle(cited)
    _check(tallies.setdefault(f"{changes} changes, asked first", Tally()), root, cited, TIMEOUT_SECONDS)
    Checkout(root, KEY, LONG_ENOUGH).check([one.anchor for one in cited])
    _check(tallies.setdefault(f"{changes} changes, asked again", Tally()), root, cited, TIMEOUT_SECONDS)


def _check(tally: Tally, root: Path, cited: Sequence[Citation], within: float) -> None:
    for first in range(0, len(cited), AN_ANSWER):
        some = cited[first : first + AN_ANSWER]
        began = time.perf_counter()
        found = Checkout(root, KEY, within).check([one.anchor for one in some])
        tally.answers.append(time.perf_counter() - began)
        for citation, standing in zip(some, found, strict=True):
            tally.count(citation, standing)


# --- one citation ------------------------------------------------------------------------------------------


def _by_size(root: Path) -> Iterator[Row]:
    """A stretch of twelve lines that stands where it stood, elsewhere, and nowhere any more."""
    root.mkdir()
    for count in (100, 1_000, 10_000):
        lines = [f"    value_{n} = measure({n % 7}, {n})" for n in range(count)]
        anchor = Anchor("a.py", count // 2 + 1, count // 2 + 12, digest(KEY, lines[count // 2 : count // 2 + 12]), 12)
        stands = {"where it stood": lines, "elsewhere": ["# new", *lines], "nowhere": lines[: count // 2]}
        for name, words in stands.items():
            (root / "a.py").write_text("\n".join(words) + "\n", encoding="utf-8")
            yield {"": f"of {count:,} lines, it stands {name}", **_timed(root, [anchor], 200)}


def _an_answer(root: Path) -> Iterator[Row]:
    """Five hits that cite 32 places each, in 40 files of 400 lines."""
    root.mkdir()
    anchors = []
    for n in range(40):
        lines = [f"    value_{n}_{line} = measure({line % 7}, {line})" for line in range(400)]
        (root / f"module_{n}.py").write_text("\n".join(["# new", *lines][n % 2 :]) + "\n", encoding="utf-8")
        for first in (10, 100, 200, 300):
            known = digest(KEY, lines[first : first + 12])
            anchors.append(Anchor(f"module_{n}.py", first + 1, first + 12, known, 12))
    yield {"": "an answer with five times 32 citations", **_timed(root, anchors, 50)}


def _among_many(root: Path, files: int) -> Iterator[Row]:
    for n in range(files):
        path = root / f"directory_{n % 100}" / f"module_{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"line_{n}_{line} = {line}\n" for line in range(20)), encoding="utf-8")
    words = [f"line_7_{line} = {line}" for line in range(20)]
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("commit", "-qm", "all"),
        ("mv", *_MOVED),
        ("commit", "-qm", "mv"),
    ):
        settings = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "gc.auto=0")
        subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)
    anchor = Anchor(_MOVED[0], 1, 20, digest(KEY, words), 20)
    yield {"": f"renamed among {files:,}, asked first", **_timed(root, [anchor], 1)}
    began = time.perf_counter()
    assert Checkout(root, KEY, LONG_ENOUGH).check([anchor])[0].freshness == "moved"
    yield {"": "the same, until git has said it", "p50 ms": 1000 * (time.perf_counter() - began)}
    yield {"": "the same, asked again", **_timed(root, [anchor], 200)}


_MOVED = ("directory_7/module_7.py", "directory_8/renamed.py")


def _timed(root: Path, anchors: Sequence[Anchor], times: int) -> Row:
    """What is told, how long it takes, and how much of that is this process's own work: the machine may be busy."""
    took, worked = [], []
    for _ in range(times):
        began, before = time.perf_counter(), time.thread_time()
        found = Checkout(root, KEY).check(anchors)
        took.append(time.perf_counter() - began)
        worked.append(time.thread_time() - before)
    late = sum(not one.is_checked for one in found)
    told = found[0].freshness if len(found) == 1 else f"{len(found) - late} of {len(found)} in time"
    figures = {name: 1000 * percentile(took, share) for name, share in (("p50 ms", 0.5), ("p95 ms", 0.95))}
    return {"told": told, "CPU ms": 1000 * percentile(worked, 0.5), **figures, "max ms": 1000 * max(took)}


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_NOSYSTEM", "1")
    raise SystemExit(main())
