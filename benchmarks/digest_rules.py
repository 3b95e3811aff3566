"""Precision and recall of digests on the labels in `benchmarks/digests`: `python benchmarks/digest_rules.py`.

Prints figures of both halves, by kind. A line is right when it cites the turn of a label of its kind and overlaps its
words; lines at optional labels count neither way. `--misses` prints what went wrong in the half that rules are made on,
never of the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.digests.labels import KINDS, Label, Labelled, read_labels, turns, write_transcript

from palazzo.knowledge.session_digest import Line, SessionMessage, digest


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print what went wrong, of the dev half")
    parser.add_argument("--half", choices=("dev", "held-out"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for name in ("dev", "held-out"):
            if arguments.half in (None, name):
                sessions = [one for one in read_labels() if one.split == name]
                judge(sessions, name, arguments.misses and name == "dev", Path(directory))


def judge(sessions: list[Labelled], name: str, told: bool, directory: Path) -> None:
    """Print precision and recall of one half."""
    found, wrong, missed, traps = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    lines = Counter[str]()
    for session in sessions:
        messages = turns(write_transcript(session, directory))
        said = [
            # the labels judge the rules on all words, also on those of untrusted results, which a digest never quotes
            SessionMessage(n, one.role, one.text, tuple(replace(part, trust=None) for part in one.parts))
            for n, one in enumerate(messages, 1)
            if one.standing == "said"
        ]
        seen = digest(said)
        texts = {one.item: one.text for one in said}
        hit = {n for n, label in enumerate(session.labels) for line in seen if finds(line, label, texts)}
        for n, label in enumerate(session.labels):
            if label.stands and not label.optional:
                (found if n in hit else missed)[label.kind] += 1
                if told and n not in hit:
                    print(f"{session.session}: MISSED {label.kind} [{label.cited[0].turn}] {label.cited[0].words}")
            elif not label.stands and n in hit:
                traps[label.kind] += 1
        for line in seen:
            of = [label for label in session.labels if finds(line, label, texts)]
            if any(label.optional for label in of) and not any(label.stands and not label.optional for label in of):
                continue
            if any(label.stands for label in of):
                lines[line.kind] += 1
            else:
                wrong[line.kind] += 1
                if told:
                    print(
                        f"{session.session}: WRONG {line.kind} [{line.item}] ",
                        repr(texts[line.item][line.start : line.end]),
                    )
    print(f"{name}, {len(sessions)} sessions: kind, precision, recall, traps")
    for kind in KINDS:
        share = lines[kind] / max(1, lines[kind] + wrong[kind])
        recall = found[kind] / max(1, found[kind] + missed[kind])
        print(
            f"  {kind:8} precision {share:.2f} ({lines[kind]} right, {wrong[kind]} wrong)"
            f"  recall {recall:.2f} ({found[kind]} found, {missed[kind]} missed)  {traps[kind]} of the wrong are traps"
        )
    both = found["decided"] + found["open"]
    print(f"  decided and open: recall {both / (both + missed['decided'] + missed['open']):.2f}")


def finds(line: Line, label: Label, texts: dict[int, str]) -> bool:
    """Whether a line is of the label's kind and cites words that prove it."""
    if line.kind != label.kind:
        return False
    for cited in label.cited:
        if cited.turn == line.item:
            start = texts[line.item].find(cited.words)
            while start >= 0:
                if start < line.end and line.start < start + len(cited.words):
                    return True
                start = texts[line.item].find(cited.words, start + 1)
    return False


if __name__ == "__main__":
    main()
