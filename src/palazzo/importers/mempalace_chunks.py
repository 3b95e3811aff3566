"""MemPalace chunks: reassembles texts that MemPalace cut into chunks. Pure.

How MemPalace cuts (3.0 to 3.11): a text that a tool files, every `chunk_size` characters; a file, at the end of a
paragraph or line before that limit, each chunk without the surrounding space and beginning `chunk_overlap` characters
before the end of the previous one; a conversation, turn by turn, and a long turn after a space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

CHUNK_SIZE, OVERLAP = 800, 100
"""MemPalace's defaults, if its settings do not override them."""


def of_file(chunks: Sequence[str], size: int, overlap: int) -> str:
    """Return the text that a file's chunks were cut from, without surrounding whitespace."""
    parts = [*chunks[:1]]
    for previous_chunk, chunk in pairwise(chunks):
        shared = _shared(previous_chunk, chunk, overlap)
        if not shared:
            parts.append("" if len(previous_chunk) >= size else "\n")
        parts.append(chunk[shared:])
    return "".join(parts)


def _shared(previous_chunk: str, chunk: str, overlap: int) -> int:
    """Return how many characters at the start of a chunk repeat the end of the previous one."""
    most = min(overlap, len(previous_chunk), len(chunk))
    return next((size for size in range(most, 0, -1) if previous_chunk.endswith(chunk[:size])), 0)


def of_conversation(chunks: Sequence[str], size: int) -> Iterator[tuple[int, str]]:
    """Yield the turns of a conversation, each with the number of its first chunk.

    A chunk begins a turn if it begins with `>`, unless the previous one was cut after a space.
    """
    first, turn = 0, chunks[0]
    for n, chunk in enumerate(chunks[1:], 1):
        was_cut = chunks[n - 1][-1:].isspace() or len(chunks[n - 1]) >= size
        if chunk.lstrip().startswith(">") and not was_cut:
            yield first, turn
            first, turn = n, chunk
        else:
            turn += chunk if was_cut else f"\n\n{chunk}"
    yield first, turn


def runs(numbers: Sequence[int]) -> Iterator[slice]:
    """Yield the runs of consecutive numbers."""
    start = 0
    for n in range(1, len(numbers) + 1):
        if n == len(numbers) or numbers[n] != numbers[n - 1] + 1:
            yield slice(start, n)
            start = n
