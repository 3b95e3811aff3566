"""How long it takes to say how memories of other branches stand, in a repository of 100,000 commits.

    python benchmarks/ancestry.py [--commits 100000] [--times 5] [--json]

The repository is written by `git fast-import`: files in directories, a commit to one of them each, every tenth a side
branch that is merged. Branches part from it 1, 1,000 and 90,000 commits ago and are left alone, deleted or squashed.
`until known` is the work itself, `answer` what a caller waits for it (0.2 s at most, then it is told `unknown`), `warm`
the same question again, `next head` after one commit more. Beside it stands what git alone takes, started by Python:
`merge-base --is-ancestor`. All of it without a commit-graph, which git writes by itself in time, and with one.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, median, milliseconds, report

from palazzo.git import branch_status_cache
from palazzo.git.ancestry import Ancestry, Visibility
from palazzo.git.git_files import Repository, repository_of

FILES, DIRECTORIES = 2_000, 50
BACK = {"yesterday": 1, "a month ago": 1_000, "long ago": 90_000}
Asked = list[tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the repository, ask, and print a row for each kind of question."""
    parser = argparse.ArgumentParser(description="Ancestry in a large repository.")
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="palazzo-ancestry-") as temporary:
        root = Path(temporary)
        git(root, "init", "-q", "-b", "main")
        git(root, "fast-import", "--quiet", stdin=b"".join(history(given.commits)))
        git(root, "reset", "-q", "--mixed")
        cases = written_branches(root, given.commits)
        rows = measured(root, cases, given.times, "without")
        git(root, "commit-graph", "write", "--reachable")
        rows += measured(root, cases, given.times, "with")
    report(f"Ancestry among {given.commits:,} commits, milliseconds", rows, given.json)
    return 0


def history(commits: int) -> Iterator[bytes]:
    """The stream for git: `main` with the files of a project, a change in each commit, and merged side branches."""
    for mark in range(1, commits + 1):
        words = f"commit {mark}\n".encode()
        who = f"A <a@example.com> {1_500_000_000 + mark * 60} +0000"
        yield (
            f"commit refs/heads/main\nmark :{mark}\nauthor {who}\ncommitter {who}\ndata {len(words)}\n".encode() + words
        )
        if mark > 20 and mark % 10 == 0:
            yield f"from :{mark - 1}\nmerge :{mark - 8}\n".encode()
        names = range(FILES) if mark == 1 else [mark * 7919 % FILES]
        for name in names:
            text = f"{mark}\n{name}\n".encode()
            path = f"d{name % DIRECTORIES}/f{name}.txt"
            yield f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n"
        yield b"\n"


def written_branches(root: Path, commits: int) -> dict[str, Asked]:
    """Three commits each on branches of many ages; return what to ask."""
    line = git(root, "rev-list", "--first-parent", "main").decode().split()
    cases: dict[str, Asked] = {}
    everything: Asked = []
    for age, back in BACK.items():
        start = line[min(back, len(line) - 1)]
        cases[f"merged, {age}"] = [("elsewhere", start)]
        for fate in ("left alone", "deleted", "squashed"):
            branch = f"{fate}/{back}".replace(" ", "-")
            mine = [(branch, commit) for commit in three_commits(root, branch, start)]
            cases[f"{fate}, {age}"] = mine[-1:]
            everything += mine
    for back in BACK.values():
        git(root, "update-ref", "-d", f"refs/heads/deleted/{back}")
        squash(root, f"squashed/{back}", line[min(back, len(line) - 1)])
    cases[f"all {len(everything)} at once"] = everything
    return cases


def three_commits(root: Path, branch: str, start: str) -> list[str]:
    """Commits that add a file each, at a path of their own."""
    found, parent = [], start
    for n in range(3):
        parent = commit_with(root, parent, {f"new/{branch}/{n}.txt": f"{branch} {n}\n"}, f"{branch} {n}")
        found.append(parent)
    git(root, "update-ref", f"refs/heads/{branch}", parent)
    return found


def squash(root: Path, branch: str, start: str) -> None:
    """One commit on `main` with all that the branch adds."""
    head = git(root, "rev-parse", "main").decode().strip()
    files = {f"new/{branch}/{n}.txt": f"{branch} {n}\n" for n in range(3)}
    git(root, "update-ref", "refs/heads/main", commit_with(root, head, files, f"squashed {branch} since {start}"))


def commit_with(root: Path, parent: str, files: dict[str, str], subject: str) -> str:
    """A commit on another one that adds files, without a checkout."""
    git(root, "read-tree", parent)
    for path, text in files.items():
        blob = git(root, "hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()
        git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    tree = git(root, "write-tree").decode().strip()
    return git(root, "commit-tree", tree, "-p", parent, "-m", subject).decode().strip()


def measured(root: Path, cases: dict[str, Asked], times: int, graph: str) -> list[Row]:
    """A row for each kind of question, the medians of some times."""
    repository = repository_of(root.resolve())
    assert repository is not None
    head = git(root, "rev-parse", "main").decode().strip()
    rows: list[Row] = []
    for name, asked in cases.items():
        runs: list[dict[str, float]] = []
        said = ""
        for _ in range(times):
            git(root, "update-ref", "refs/heads/main", head)
            command = ["git", "-C", str(root), "merge-base", "--is-ancestor", asked[-1][1], "HEAD"]
            alone = milliseconds(partial(subprocess.run, command, check=False))
            branch_status_cache.forget_all()
            began = time.perf_counter()
            answer = milliseconds(partial(Ancestry(repository).standings, asked))
            said = ", ".join(sorted(set(until_known(repository, asked))))
            known = (time.perf_counter() - began) * 1000
            warm = milliseconds(partial(Ancestry(repository).standings, asked))
            git(root, "update-ref", "refs/heads/main", commit_with(root, head, {"next": "next\n"}, "next"))
            following = milliseconds(partial(until_known, repository, asked))
            runs.append(
                {"git alone": alone, "answer": answer, "until known": known, "warm": warm, "next head": following}
            )
        git(root, "update-ref", "refs/heads/main", head)
        figures = {figure: median([run[figure] for run in runs]) for figure in runs[0]}
        rows.append({"asked": name, "commit-graph": graph, "said": said, **figures})
    return rows


def until_known(repository: Repository, asked: Asked) -> list[Visibility]:
    """Ask until the work is done; return what is said then."""
    Ancestry(repository).standings(asked)
    while branch_status_cache.get_cache(repository, None).is_working:
        time.sleep(0.001)
    return list(Ancestry(repository).standings(asked).values())


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git there as somebody; return what it prints."""
    program = shutil.which("git") or "git"
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    return subprocess.run([program, *who, *arguments], cwd=root, input=stdin, check=True, capture_output=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
