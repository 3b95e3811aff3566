"""Measure the guard: what of labelled secrets is found, what of ordinary lines is marked, and how fast text passes.

    python benchmarks/guard.py [--lines N] [--missed] [--peer DIR] [--json]

Labels come from palazzo.bench and were committed before the rules; half of them are held out by hash. `--missed`
lists what was missed of the half that rules are tuned on, and what was falsely marked there. `--peer DIR` also
runs detect-secrets, installed with `pip install --target DIR detect-secrets`, on the same texts. A speed is the
best of several rounds of processor time: the least that the machine's other work can spoil.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.measuring import Row, report

from palazzo.bench.labelled_secrets import cases
from palazzo.bench.ordinary_lines import LINES, Excerpt, excerpts
from palazzo.bench.redaction_figures import finds_secret, ours, quality
from palazzo.security.redactor import redact
from palazzo.security.row_redactor import redact_row
from palazzo.security.secret_scanner import SecretSpan, find_secrets

ROOT = Path(__file__).resolve().parents[1]
KEY = b"benchmark"
ROUNDS = 5


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=LINES, help="ordinary lines to look through")
    parser.add_argument("--missed", action="store_true", help="list errors on the half that rules are tuned on")
    parser.add_argument("--peer", type=Path, help="where detect-secrets is installed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    ordinary = list(excerpts(arguments.lines))
    report(
        "Secrets found and ordinary lines marked, in percent",
        cast("list[Row]", list(quality(ordinary))),
        arguments.json,
    )
    report("Speed, in MB/s", list(speed(ordinary)), arguments.json)
    if arguments.missed:
        report("Errors on the half that rules are tuned on", list(errors(ordinary)), arguments.json)
    if arguments.peer:
        report("detect-secrets on the same", list(peer(arguments.peer, ordinary)), arguments.json)


def speed(ordinary: Sequence[Excerpt]) -> Iterator[Row]:
    """Yield a row for each kind of text."""
    for kind, texts in kinds(ordinary).items():
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
        raw = [text.encode("utf-8", "surrogatepass") for text in texts]
        rates = {
            "find_secrets": fastest(partial(each, find_secrets, texts)),
            "redact": fastest(partial(each, partial(redact, key=KEY), texts)),
            "redact_row": fastest(partial(each, partial(redact_row, key=KEY), raw)),
        }
        row: Row = {"text": kind, "MB": round(size, 2), "pieces": len(texts)}
        yield row | {name: round(size / seconds, 1) for name, seconds in rates.items()}


def kinds(ordinary: Sequence[Excerpt]) -> dict[str, list[str]]:
    """Return the texts that speed is measured on, by kind."""
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    python = [path.read_text("utf-8") for path in library]
    prose = [path.read_text("utf-8") for path in sorted(ROOT.rglob("*.md"))]
    sessions = [path.read_text("utf-8") for path in sorted((ROOT / "tests/fixtures").rglob("*.jsonl"))]
    by_suffix: dict[str, list[str]] = defaultdict(list)
    for excerpt in ordinary:
        by_suffix[Path(excerpt.name).suffix].append(excerpt.text)
    return {
        "Python": python,
        "Markdown": prose,
        "JSON": by_suffix[".json"],
        "all ordinary lines": [excerpt.text for excerpt in ordinary],
        "transcripts, whole": sessions,
        "transcripts, by row": [row for session in sessions for row in session.splitlines(keepends=True)],
        "messages of 300": [text[at : at + 300] for text in prose for at in range(0, len(text), 300)],
    }


def each(function: Callable[..., object], texts: Sequence[object]) -> None:
    """Call the function on every text."""
    for text in texts:
        function(text)


def fastest(work: Callable[[], object]) -> float:
    """Return the processor time of the fastest round, in seconds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return max(min(times), 1e-9)


def errors(ordinary: Sequence[Excerpt]) -> Iterator[Row]:
    """Yield what was missed and what was falsely marked, of the half that is not held out."""
    for case in cases():
        if not case.kind.held_out and not finds_secret(case, ours):
            yield {"what": "missed", "where": f"{case.kind.id}, {case.context}", "text": case.text[:100]}
    for excerpt in ordinary:
        for span in [] if excerpt.held_out else find_secrets(excerpt.text):
            yield {"what": span.rule, "where": excerpt.name[-60:], "text": around(excerpt.text, span)}


def around(text: str, span: SecretSpan) -> str:
    """Return a span with a little of what stands before it."""
    return text[max(0, span.start - 30) : span.end][:100].replace("\n", "\\n")


def peer(directory: Path, ordinary: Sequence[Excerpt]) -> Iterator[Row]:
    """Yield detect-secrets' figures on the same labels, and its speed on Python."""
    sys.path.insert(0, str(directory))
    from detect_secrets.core.scan import scan_line  # type: ignore[import-not-found]
    from detect_secrets.settings import default_settings  # type: ignore[import-not-found]

    def theirs(text: str) -> list[tuple[int, int]]:
        spans, at = [], 0
        for line in text.split("\n"):
            for secret in scan_line(line):
                start = line.find(secret.secret_value or "\0")
                spans += [(at + start, at + start + len(secret.secret_value))] if start >= 0 else []
            at += len(line) + 1
        return spans

    with default_settings():
        yield from cast("list[Row]", list(quality([], theirs)))[:2]
        text = "\n".join(kinds(ordinary)["Python"])[:200_000]
        begun = time.process_time()
        theirs(text)
        yield {"what": "MB/s on Python", "tuned on": round(len(text) / 1e6 / (time.process_time() - begun), 3)}


if __name__ == "__main__":
    main()
