"""Write the corpora that no fixture provides: `python -m tests.fuzz.make_corpus`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from palazzo.features.selftest.steps import run_operation
from palazzo.model import Micros
from palazzo.store import page_kinds
from palazzo.sync import segments
from palazzo.sync.segments import Head, Series

CORPUS = Path(__file__).parent / "corpus"
DEVICE, PALACE = "d" * 32, "p" * 32


def main() -> None:
    """Write an export, a segment of it, a head, calls, and the first pages of a palace."""
    CORPUS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        palace = Path(directory) / "palace.db"
        variables = {"HOME": directory, "PALAZZO_SERVICE": "off"}

        def run(name: str, /, **fields: object) -> None:
            run_operation(palace, variables, name, **fields)

        run("remember", text="The gateway listens on port 8443.", wing="shop", room="ports", tags=("kept",))
        run("kg_add", subject="gateway", predicate="listens on", object="8443", wing="shop")
        run("diary_write", agent="ada", text="Moved the gateway.")
        run("todo_add", text="Renew the certificate.", wing="shop")
        run("forget", tags=("kept",))
        run("export", out=CORPUS / "export.jsonl")
        page_kinds.fold_log(palace)
        (CORPUS / "pages.db").write_bytes(palace.read_bytes()[: 24 * page_kinds.PAGE])
    lines = (CORPUS / "export.jsonl").read_bytes().splitlines()
    (segment,) = segments.write(lines, Series(PALACE, DEVICE, None), lambda: Micros(1))
    (CORPUS / "segment.seg").write_bytes(segment.content)
    (CORPUS / "head").write_bytes(segments.dump_head(Head.of(segment, "laptop")))
    calls = (
        {"id": 1, "operation": "search", "request": {"query": "port"}, "key": "k", "surroundings": {"cwd": "/"}},
        {"id": 2, "operation": "remember", "request": {"text": "A note.", "tags": ["a"], "importance": 0.5}},
        {"id": 3, "operation": "mine", "request": {"paths": ["docs"], "mode": "auto", "since": None}},
    )
    for n, call in enumerate(calls):
        (CORPUS / f"call-{n}.json").write_text(json.dumps(call), encoding="utf-8")


if __name__ == "__main__":
    main()
