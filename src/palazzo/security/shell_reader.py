"""The reader of a shell command line, character by character. Pure.

`shell_words` uses it to read commands, and also the substitutions within words.
"""

from __future__ import annotations

import re
from abc import abstractmethod

from palazzo.security.shell_syntax import (
    Piece,
    Redirection,
    Script,
    ShellSyntaxError,
    Substitution,
    Text,
    Variable,
    Word,
)
from palazzo.text.lazy_patterns import make_regex

LONGEST_COMMAND = 65_536
"""The most characters of a command that are parsed. The limit is generous: agents write whole files with
here-documents.
"""
DEEPEST = 24
"""The greatest nesting depth of substitutions and groups."""
_COPY = 6
"""The depth that copied text (backquotes, here-documents) adds, so that the time remains linear."""
OPERATORS = make_regex(r"&&|\|\||;;&?|;&|\|&|[;&|\n()]")
REDIRECTION = make_regex(r"(\d{0,4}|\{\w{1,40}\})(<<<|<<-?|<>|>>|>\||<&|>&|&>>|&>|<(?!\()|>(?!\())")
ASSIGNMENT = make_regex(r"([A-Za-z_]\w{0,100})(\[[^\]\s$`'\"]{0,100}\])?\+?=")
_NAME = make_regex(r"[A-Za-z_]\w{0,100}|[0-9@*#?$!-]")
_PLAIN = make_regex(r"[^\s;&|<>()'\"`$\\#]+")
_QUOTED_TEXT = make_regex(r'[^"\\$`]+')
_RESERVED_WORD = make_regex(r"[^\s;&|<>()'\"`$\\]{1,40}")
_BLANK = make_regex(r"(?:[ \t]|\\\n)+")
_ANSI = make_regex(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}", ")"})


class WordReader:
    """A position in a command line, and the here-documents whose bodies start on the next line."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self._depth = text, 0, depth
        self._documents: list[tuple[str, bool, bool, list[Redirection], int]] = []

    @abstractmethod
    def script(self, ends: frozenset[str], depth: int) -> Script:
        """Read steps up to one of the reserved words `ends`, a closing mark or the end."""

    @abstractmethod
    def _arithmetic(self) -> object: ...

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for name, is_quoted, has_tabs, into, at in documents:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise ShellSyntaxError("a here-document has no end")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                line = line.lstrip("\t") if has_tabs else line
                if line == name:
                    break
                lines.append(line)
            body = "\n".join((*lines, ""))
            pieces: Word = (Text(body, True),) if is_quoted else self._document(body)
            into[at] = Redirection("<<", pieces)

    def _document(self, body: str) -> Word:
        """Return the words of a here-document with an unquoted delimiter: variables and substitutions, but no
        quotes.
        """
        if re.search(r"(?<!\\)(?:\$\(|`)", body):
            return type(self)('"' + body.replace('"', '\\"') + '"', self._depth + _COPY).read_quoted()
        return (Text(_IN_DOCUMENT.sub(lambda found: found[0][-1] if found[0][0] == "\\" else found[0], body), True),)

    # --- words -----------------------------------------------------------------------------------------------------

    def _word(self, depth: int) -> Word:
        self._skip_blanks()
        pieces: list[Piece] = []
        text, start = self.text, self.at
        while self.at < len(text):
            sign = text[self.at]
            if plain := _PLAIN.match(text, self.at):
                pieces.append(Text(plain[0], False))
                self.at = plain.end()
            elif sign == "#" and self.at > start:
                pieces.append(Text("#", False))
                self.at += 1
            elif sign == "\\":
                if self.at + 1 >= len(text):
                    raise ShellSyntaxError("nothing behind a backslash")
                if text[self.at + 1] != "\n":
                    pieces.append(Text(text[self.at + 1], True))
                self.at += 2
            elif sign == "'":
                end = text.find("'", self.at + 1)
                if end < 0:
                    raise ShellSyntaxError("a quote has no end")
                pieces.append(Text(text[self.at + 1 : end], True))
                self.at = end + 1
            elif sign == '"':
                self._read_quoted_pieces(pieces, depth)
            elif sign in "$`":
                self._dollar(pieces, depth, False)
            elif sign in "<>" and text.startswith("(", self.at + 1) and self.at == start:
                self.at += 2
                pieces.append(Substitution(self._substitution(depth), False, True))
            elif sign == "(" and pieces and _is_pattern(pieces[-1]):
                raise ShellSyntaxError("extended pattern")
            else:
                break
        return tuple(pieces)

    def read_quoted(self) -> Word:
        """Read one double-quoted text."""
        pieces: list[Piece] = []
        self._read_quoted_pieces(pieces, 0)
        return tuple(pieces)

    def _read_quoted_pieces(self, pieces: list[Piece], depth: int) -> None:
        text = self.text
        self.at += 1
        pieces.append(Text("", True))
        while self.at < len(text):
            sign = text[self.at]
            if sign == '"':
                self.at += 1
                return
            if match := _QUOTED_TEXT.match(text, self.at):
                pieces.append(Text(match[0], True))
                self.at = match.end()
            elif sign == "\\":
                follows = text[self.at + 1 : self.at + 2]
                if follows in ("$", "`", '"', "\\"):
                    pieces.append(Text(follows, True))
                elif follows != "\n":
                    pieces.append(Text("\\" + follows, True))
                self.at += 2
            else:
                self._dollar(pieces, depth, True)
        raise ShellSyntaxError("a quote has no end")

    def _dollar(self, pieces: list[Piece], depth: int, is_quoted: bool) -> None:
        text = self.text
        if text[self.at] == "`":
            end = self.at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                raise ShellSyntaxError("a backquote has no end")
            inner = re.sub(r"\\([`\\$])", r"\1", text[self.at + 1 : end])
            reader = type(self)(inner, self._depth + depth + _COPY)
            pieces.append(Substitution(reader.script(frozenset(), 0), is_quoted, False))
            if reader.at < len(inner):
                raise ShellSyntaxError("backquotes")
            self.at = end + 1
            return
        if text.startswith("$((", self.at):
            self.at += 1
            self._arithmetic()
            pieces.append(Text("0", True))
        elif text.startswith("$(", self.at):
            self.at += 2
            pieces.append(Substitution(self._substitution(depth), is_quoted, False))
        elif text.startswith("${", self.at):
            pieces.append(self._braced_variable(is_quoted))
        elif text.startswith("$'", self.at) and not is_quoted:
            pieces.append(self._ansi())
        elif text.startswith('$"', self.at) and not is_quoted:
            self.at += 1
        elif name := _NAME.match(text, self.at + 1):
            pieces.append(Variable(name[0], "", is_quoted))
            self.at = name.end()
        else:
            pieces.append(Text("$", True))
            self.at += 1

    def _substitution(self, depth: int) -> Script:
        outer_documents, self._documents = self._documents, []
        script = self.script(frozenset(), depth + 1)
        if self._documents:
            raise ShellSyntaxError("a here-document has no body")
        self._documents = outer_documents
        self._expect(")")
        return script

    def _braced_variable(self, is_quoted: bool) -> Piece:
        end = self.text.find("}", self.at)
        inner = self.text[self.at + 2 : end]
        if end < 0 or "$(" in inner or "`" in inner or "${" in inner:
            raise ShellSyntaxError("an expansion within another")
        name = re.match(r"[!#]?(?:[A-Za-z_]\w{0,100}|[0-9@*])", inner)
        if not name:
            raise ShellSyntaxError("expansion")
        self.at = end + 1
        return Variable(name[0], inner[name.end() :], is_quoted)

    def _ansi(self) -> Piece:
        end = self.at + 2
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ShellSyntaxError("a quote has no end")
        inner, self.at = self.text[self.at + 2 : end], end + 1
        return Text(_ANSI.sub(_ansi_character, inner), True)

    # --- positions -----------------------------------------------------------------------------------------------

    def _peek(self) -> str:
        """Return the plain word at the position, which may be a reserved word."""
        self._skip_blanks()
        match = _RESERVED_WORD.match(self.text, self.at)
        return match[0] if match else ""

    def _expect(self, word: str) -> None:
        self._skip_lines()
        if not self.text.startswith(word, self.at):
            raise ShellSyntaxError(f"{word} is missing")
        self.at += len(word)

    def _skip_blanks(self) -> None:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        if self.text.startswith("#", self.at) and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _skip_lines(self, semicolons: bool = False) -> None:
        while True:
            self._skip_blanks()
            if self.text.startswith("\n", self.at):
                self.at += 1
                self._read_documents()
            elif semicolons and self.text.startswith(";", self.at):
                self.at += 1
            else:
                return


def literal_text(word: Word) -> str:
    """Return a word that contains no expansion; raise ShellSyntaxError otherwise."""
    if not all(isinstance(piece, Text) for piece in word):
        raise ShellSyntaxError("an expansion stands where a name must")
    return "".join(piece.text for piece in word if isinstance(piece, Text))


def _is_pattern(piece: Piece) -> bool:
    return isinstance(piece, Text) and not piece.is_quoted and piece.text[-1:] in ("?", "*", "+", "@", "!")


_IN_DOCUMENT = make_regex(r"\\[$`\\]|\$\(|`|\$\{?\w{1,100}\}?")


def _ansi_character(match: re.Match[str]) -> str:
    escape = match[1]
    try:
        if escape[0] in "xuU" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        if escape[0] in "01234567":
            return chr(int(escape, 8) & 0xFF)
    except (ValueError, OverflowError):
        return ""
    return _ANSI_LETTERS.get(escape, escape if len(escape) == 1 else "")
