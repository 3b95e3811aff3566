"""The parts of a shell's command line: steps, pipelines, commands, words. Data only."""

from __future__ import annotations

from typing import Literal, NamedTuple


class ShellSyntaxError(ValueError):
    """This parser cannot parse the command line with certainty."""


class Text(NamedTuple):
    """Literal characters; in quotes they form no pattern and are not split."""

    text: str
    is_quoted: bool


class Variable(NamedTuple):
    """`$name`, or `${name…}` with an operator after the name."""

    name: str
    operator: str
    is_quoted: bool


class Substitution(NamedTuple):
    """`$(script)`, backquotes, or `<(script)` and `>(script)` as a `process`."""

    script: Script
    is_quoted: bool
    is_process: bool


Piece = Text | Variable | Substitution
Word = tuple[Piece, ...]


class Redirection(NamedTuple):
    """The source or the target of a stream; for a here-document, `word` is its body."""

    operator: str
    word: Word


class Simple(NamedTuple):
    """A program with its arguments, the assignments before it and its redirections."""

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...]
    redirections: list[Redirection]


class Group(NamedTuple):
    """Scripts in braces, in parentheses or of a keyword; a `for` has a `variable` and its words."""

    kind: Literal["group", "subshell", "if", "loop", "for", "case", "function"]
    scripts: tuple[Script, ...]
    variable: str
    words: tuple[Word, ...]
    redirections: list[Redirection]


class Step(NamedTuple):
    """A pipeline, and the operator before it."""

    operator: str
    pipeline: tuple[Simple | Group, ...]


Script = tuple[Step, ...]
