"""A session at work on real text: what is cited with words stood there with them, then and after each later edit."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from palazzo.knowledge.session_citations import Citation, LocatedMessage, Reader, take
from palazzo.model import Part
from palazzo.sessions.digest_turns import SessionMessage
from palazzo.sources.formats.block_text import call_text
from palazzo.text.cited_lines import lines_of

WORDS = ["x = 1", "def f():", "    return 2", "", "}", "foo(bar)", "\tif a:", "path: y", "old_string: z", "offset: 3"]
LONG = "A long line of code(1)\nanother line of code(2)\nthird of them(3)"


def plain(lines: Sequence[str]) -> bytes:
    """The words themselves, to be looked for in the file."""
    return "\n".join(lines).encode()


@dataclass
class Work:
    """An agent with two files, who reads, edits, writes and patches at random; as Claude Code and Codex tell of it."""

    chance: random.Random
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = {name: self.text() for name in ("a.py", "b.py")}

    def text(self) -> str:
        ends = ["", "  ", str(self.chance.randint(0, 40))]
        count = self.chance.randint(1, 40)
        return "".join(f"{self.chance.choice(WORDS)}{self.chance.choice(ends)}\n" for _ in range(count))

    def steps(self, count: int) -> Iterator[tuple[str, list[LocatedMessage]]]:
        """Yield the file that each step is about, and its messages, once the file is as the step leaves it."""
        for n in range(0, 2 * count, 2):
            name = self.chance.choice([*self.files])
            act = self.chance.choice(
                [self.read, self.read_some, self.edit, self.edit, self.edit, self.write, self.patch]
            )
            told = act(name)
            if told is not None:
                tool, given, result = told
                call = call_text(tool, given)
                parts = Part("tool_call", 0, len(call), tool, f"c{n}"), Part("tool_result", 0, len(result), "", f"c{n}")
                rows = SessionMessage(n, "assistant", call, parts[:1]), SessionMessage(n + 1, "tool", result, parts[1:])
                yield name, [LocatedMessage(row, "/p") for row in rows]

    def read(self, name: str) -> tuple[str, dict[str, object], str]:
        return "Read", {"file_path": f"/p/{name}"}, self.numbered(name)

    def read_some(self, name: str) -> tuple[str, dict[str, object], str]:
        first, count = self.chance.randint(1, self.files[name].count("\n")), self.chance.randint(1, 10)
        given = {"file_path": f"/p/{name}", "offset": first, "limit": count}
        return "Read", given, "\n".join(self.numbered(name).split("\n")[first - 1 : first - 1 + count])

    def edit(self, name: str) -> tuple[str, dict[str, object], str] | None:
        text = self.files[name]
        start = self.chance.randrange(len(text))
        old = text[start : start + self.chance.randint(1, 60)].removesuffix("\n")
        new = self.chance.choice([f"{old}Z", "q", "", old.replace("\n", "\nnew line\n"), LONG])
        if not old or not self.is_one(text, old) or not text.replace(old, new).strip("\n"):
            return None
        self.files[name] = text.replace(old, new)
        return "Edit", {"file_path": f"/p/{name}", "old_string": old, "new_string": new}, "The file has been updated."

    def write(self, name: str) -> tuple[str, dict[str, object], str]:
        self.files[name] = f"first\n{self.text()}"
        return "Write", {"file_path": f"/p/{name}", "content": self.files[name]}, "File created successfully."

    def patch(self, name: str) -> tuple[str, dict[str, object], str] | None:
        lines = self.files[name].split("\n")[:-1]
        at = self.chance.randrange(len(lines))
        old, new = lines[at : at + 3], f"patched {self.chance.random()}"
        if len(old) < 3 or not self.is_one(self.files[name], "\n".join(old)):
            return None
        self.files[name] = "".join(f"{line}\n" for line in [*lines[: at + 1], new, *lines[at + 2 :]])
        hunk = f" {old[0]}\n-{old[1]}\n+{new}\n {old[2]}"
        patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n{hunk}\n*** End Patch"
        return "apply_patch", {"input": patch}, "Done!"

    def numbered(self, name: str) -> str:
        return "\n".join(f"{n}\t{line}" for n, line in enumerate(self.files[name].split("\n"), 1))

    @staticmethod
    def is_one(text: str, words: str) -> bool:
        return len(re.findall(f"(?={re.escape(words)})", text)) == 1


def stands(one: Citation, lines: Sequence[str]) -> bool:
    """Whether the words of a citation stand where it says."""
    anchor = one.anchor
    if not anchor.digest:
        return True
    if anchor.first >= 0:
        return anchor.digest == plain(lines[anchor.first - 1 : anchor.last] if anchor.first else lines)
    return any(plain(lines[n : n + anchor.lines]) == anchor.digest for n in range(len(lines)))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_cited_stood_there_then_and_an_edits_lines_move_with_those_that_follow(seed: int) -> None:
    work = Work(random.Random(seed))
    reader = Reader(lambda name, cwd: name.removeprefix("/p/"), plain)
    turn: list[Citation] = []
    known = 0
    for name, messages in work.steps(30):
        lines = lines_of(work.files[name])
        for one in reader.citations(messages):
            take(turn, one)
            known += bool(one.anchor.digest)
            assert stands(one, lines), messages
        edited = [
            one for one in turn if (one.anchor.path, one.anchor.how) == (name, "edited") and one.anchor.first >= 0
        ]
        assert all(stands(one, lines) for one in edited)
    assert known > 5
