"""basic-memory, filled and asked for `peer_suite.py`.

What to know of the peer: it keeps notes in Markdown, and reads no transcripts and no other pages. So each session
becomes one note with a heading for each message, and each page a note with the page's text. It is asked by the tool
`search_notes` of its MCP server in its default mode, which with vectors fuses them with FTS5. Its own embedder
downloads its model; here it embeds through its LiteLLM provider. It needs Python 3.12:

    python3.12 -m venv VENV && VENV/bin/pip install basic-memory

For vectors it needs a `sqlite3` that loads extensions; without one it searches by words alone, and this raises.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks.docs_search import pages
from benchmarks.peer_corpora import LabelledCorpus, ShownHit, messages
from benchmarks.peer_search import DEPTH, PATIENCE, Answers
from benchmarks.peer_tools import running_server, texts

_DIMENSIONS = 384
_TRIES = 4
_SESSIONS, _PAGES = "sessions", "docs"


def ask_basic_memory(corpus: LabelledCorpus, scratch: Path, venv: Path, url: str) -> Answers:
    """Write the corpus as notes, index them with vectors, and ask."""
    home, program = scratch / "basic-memory", str(venv / "bin" / "basic-memory")
    write_notes(corpus, home / "notes")
    environment = {
        "PATH": os.defpath,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "BASIC_MEMORY_HOME": str(home / "notes"),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "true",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER": "litellm",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL": "openai/all-MiniLM-L6-v2",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_API_BASE": f"{url}/v1",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_API_KEY": "none",
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS": str(_DIMENSIONS),
        # By default four tasks write at once; on a busy machine some then fail with "database is locked".
        "BASIC_MEMORY_INDEX_ENTITY_MAX_CONCURRENT": "1",
        "BASIC_MEMORY_INDEX_METADATA_UPDATE_MAX_CONCURRENT": "1",
    }
    _reindex(program, environment, home)
    with running_server([program, "mcp"], environment, home, PATIENCE) as server:
        return [read_hits(texts(server.call("search_notes", _request(question.text)))) for question in corpus.questions]


def _reindex(program: str, environment: Mapping[str, str], home: Path) -> None:
    """Index all notes; again while some could not be indexed, as happens by its own locks on a busy machine."""
    for _ in range(_TRIES):
        run = subprocess.run(
            [program, "reindex"],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        if "Embeddings skipped" in run.stdout:
            raise RuntimeError(f"basic-memory made no vectors:\n{run.stdout[-1000:]}")
        if not run.returncode:
            return
    raise RuntimeError(f"basic-memory reindex failed:\n{run.stdout[-1000:]}{run.stderr[-2000:]}")


def _request(question: str) -> dict[str, object]:
    return {"query": question, "page_size": DEPTH, "output_format": "json"}


def write_notes(corpus: LabelledCorpus, directory: Path) -> None:
    """Write a note for each session and each page."""
    for transcript in sorted(corpus.transcripts.rglob("*.jsonl")) if corpus.transcripts else ():
        parts = [f"## {speaker.capitalize()}\n\n{text}\n" for speaker, text in messages(transcript)]
        _write_note(directory / _SESSIONS / f"{transcript.stem}.md", "\n".join(parts))
    for page in pages(corpus.documents) if corpus.documents else ():
        assert corpus.documents is not None
        path = directory / _PAGES / f"{page.relative_to(corpus.documents)}.md"
        _write_note(path, page.read_text("utf-8", "replace"))


def _write_note(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\ntitle: {json.dumps(path.stem)}\ntype: note\n---\n\n{text}", "utf-8")


def read_hits(answer: str) -> list[ShownHit]:
    """Return the notes of an answer of `search_notes`, with the part of each that it shows."""
    return [
        ShownHit(_source(str(row["file_path"])), str(row.get("matched_chunk") or row.get("content") or ""))
        for row in json.loads(answer)["results"]
    ]


def _source(path: str) -> str:
    folder, _, name = path.partition("/")
    return name.removesuffix(".md") if folder in (_SESSIONS, _PAGES) else path
