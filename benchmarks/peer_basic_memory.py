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
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.docs_search import pages
from benchmarks.peer_corpora import LabelledCorpus, ShownHit, messages
from benchmarks.peer_search import DEPTH, PATIENCE, Answers
from benchmarks.peer_tools import running_server, texts

_DIMENSIONS = 384
_TRIES = 4
_SESSIONS, _PAGES = "sessions", "docs"
_WITH_WORDS = "SELECT file_path FROM search_index WHERE type = 'entity'"
_WITH_VECTORS = """
SELECT file_path FROM entity JOIN search_vector_chunks ON entity_id = entity.id
GROUP BY entity.id HAVING min(embedding_status = 'ready')
"""


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
    }
    _reindex(program, environment, home)
    with running_server([program, "mcp"], environment, home, PATIENCE) as server:
        return [read_hits(texts(server.call("search_notes", _request(question.text)))) for question in corpus.questions]


def _reindex(program: str, environment: Mapping[str, str], home: Path) -> None:
    """Index all notes, by words and then by vectors, and again while some are missing. Raises if some still are.

    Eight tasks write at once, whatever its settings say; on a busy machine some fail with "database is locked". Such a
    note counts as unchanged at the next `reindex`, which passes it over; only one with `--full` indexes it.
    """
    database = home / ".basic-memory" / "memory.db"
    for retry in range(_TRIES):
        run = _run([program, "reindex", "--search", *(["--full"] if retry else [])], environment, home)
        if not database.exists():
            raise RuntimeError(f"basic-memory indexed nothing:\n{run.stdout[-1000:]}{run.stderr[-2000:]}")
        if not unindexed_notes(home / "notes", database):
            break
    for _ in range(_TRIES):
        run = _run([program, "reindex", "--embeddings"], environment, home)
        if "Embeddings skipped" in run.stdout:
            raise RuntimeError(f"basic-memory made no vectors:\n{run.stdout[-1000:]}")
        if not unindexed_notes(home / "notes", database, by_vectors=True):
            return
    raise RuntimeError(f"basic-memory reindex failed:\n{run.stdout[-1000:]}{run.stderr[-2000:]}")


def _run(command: Sequence[str], environment: Mapping[str, str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def unindexed_notes(notes: Path, database: Path, by_vectors: bool = False) -> set[str]:
    """Return the notes that are not indexed by words, or, if `by_vectors`, of which some part has no vector."""
    paths = {str(path.relative_to(notes)) for path in notes.rglob("*.md")}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        indexed = connection.execute(_WITH_VECTORS if by_vectors else _WITH_WORDS).fetchall()
    return paths - {path for (path,) in indexed}


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
