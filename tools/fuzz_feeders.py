#!/usr/bin/env python3
"""Fuzz every feeder with Atheris, which follows the code that its inputs reach: `pip install atheris`, then

    PYTHONPATH=src python3 tools/fuzz_feeders.py [-runs=100000] [-max_total_time=600] [DIRECTORY]

The captured sessions and a conversation in each format are the seeds; with a directory, what is found is kept there.
The first byte of an input chooses the feeder. A finding is an exception other than SourceUnreadable, a broken promise
of a row (`tests/fidelity/damage.py`), or an input that takes longer than ten seconds. Options are libFuzzer's.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

LONGEST_SEED = 16 * 1024
NAMES = {
    "opencode": "opencode.db",
    "claude-ai": "conversations.json",
    "chatgpt": "conversations.json",
    "slack": "export.zip",
    "continue": "s1.json",
    "vscode": "s1.jsonl",
    "amp": "T-019b9d03-62e3-772f-9780-3e637f90eaec.json",
    "cline": "s1.messages.json",
    "roo-code": "api_conversation_history.json",
    "aider": ".aider.chat.history.md",
    "transcript": "chat.txt",
    "diary": "2026-11-21.md",
}
"""A name under which each collection takes a file."""


def main() -> int:
    """Fuzz until libFuzzer's options say to stop."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        print("Atheris is not installed; install it with 'pip install atheris'.", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["palazzo.sources.formats", "palazzo.hosts"]):
        registry = importlib.import_module("palazzo.sources.formats.transcript_formats")
    damage = importlib.import_module("tests.fidelity.damage")
    scratch = Path(tempfile.mkdtemp(prefix="palazzo-fuzz-"))
    collections = [one for one in registry.COLLECTIONS if one.kind in NAMES]

    def one_input(data: bytes) -> None:
        if not data:
            return
        chosen, content = data[0] % (len(registry.TRANSCRIPTS) + len(collections)), data[1:]
        if chosen < len(registry.TRANSCRIPTS):
            feeder = registry.TRANSCRIPTS[chosen]
            feeder.recognises(Path("session.jsonl"), content[:65536])
            feeder.identify(Path("session.jsonl"), content[:65536])
            damage.read(feeder, content)
            return
        collection = collections[chosen - len(registry.TRANSCRIPTS)]
        path = scratch / NAMES[collection.kind]
        path.write_bytes(content)
        collection.recognises(path, content[:65536])
        damage.readable(lambda: [row for session in collection.sessions(path) for row in session.rows()])

    corpus = scratch / "seeds"
    corpus.mkdir()
    _write_seeds(corpus, len(registry.TRANSCRIPTS), [one.kind for one in collections])
    given = sys.argv[1:]
    directories = [one for one in given if not one.startswith("-")]
    options = [one for one in given if one.startswith("-")]
    limits = ["-timeout=10", "-max_len=65536", f"-artifact_prefix={scratch}/"]
    atheris.Setup([sys.argv[0], *limits, *options, *directories, str(corpus)], one_input)
    atheris.Fuzz()
    return 0


def _write_seeds(corpus: Path, transcripts: int, kinds: list[str]) -> None:
    """Captured sessions for every transcript feeder, and a small conversation for each collection."""
    exports = importlib.import_module("tests.fidelity.exports")
    kept = importlib.import_module("tests.fidelity.kept")
    told_module = importlib.import_module("tests.fidelity.told")
    told = [
        told_module.Turn(role, f"{role} says 8443", told_module.START + n)
        for n, role in enumerate(["user", "assistant", "tool", "assistant"])
    ]
    files = sorted((ROOT / "tests" / "fixtures").rglob("*.jsonl"))
    for n, file in enumerate(files):
        data = file.read_bytes()[:LONGEST_SEED]
        for feeder in range(transcripts):
            (corpus / f"session-{n}-{feeder}").write_bytes(bytes([feeder]) + data)
    makers = {
        "claude-ai": (exports.claude_ai, 0),
        "chatgpt": (exports.chatgpt, 0),
        "slack": (exports.slack, 2),
        "continue": (kept.continue_dev, 1),
        "vscode": (kept.vscode, 1),
        "amp": (kept.amp_thread, 1),
        "cline": (kept.cline_session, 1),
        "roo-code": (kept.task_files, 0),
        "aider": (kept.aider, 0),
        "transcript": (kept.plain_text, 0),
        "diary": (kept.diary, 0),
    }
    for n, kind in enumerate(kinds):
        if kind in makers:
            make, way = makers[kind]
            with tempfile.TemporaryDirectory() as directory:
                path = make(told, Path(directory), way)
                (corpus / f"collection-{n}").write_bytes(bytes([transcripts + n]) + path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
