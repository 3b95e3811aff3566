"""Reading the labelled prompts: those that ask for the past, those that sound like it, and ordinary ones."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ORDINARY = HERE.parent / "coding" / "prompts.txt"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: whether it asks for the past, and words that its topic must have."""

    text: str
    asks: bool
    kind: str
    topic: tuple[str, ...] = ()

    @property
    def split(self) -> str:
        """The half it belongs to: `dev` may be tuned on, `held-out` never."""
        return "held-out" if hashlib.sha256(self.text.encode()).digest()[0] % 2 else "dev"


def read_prompts() -> list[Prompt]:
    """Read all of them."""
    found = []
    for line in _lines(HERE / "asks.txt"):
        topic, _, text = line.partition("| ")
        found.append(Prompt(_unescaped(text), True, "asks", tuple(topic.split())))
    found += [Prompt(_unescaped(line), False, "sounds like it") for line in _lines(HERE / "others.txt")]
    found += [Prompt(line, False, "ordinary") for line in _lines(ORDINARY)]
    return found


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n")
