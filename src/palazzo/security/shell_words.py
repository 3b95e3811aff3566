"""A command line as a POSIX shell reads it: steps, pipelines, simple commands, words and their expansions. Pure.

It expands nothing and runs nothing; `command_trust` decides what an expansion may be. What it cannot parse for certain
raises `ShellSyntaxError`, so that nothing is guessed. Each character is read once: a nested substitution is parsed where
it stands.
"""

from __future__ import annotations

import re

from palazzo.security.shell_syntax import (
    Group,
    Piece,
    Redirection,
    Script,
    ShellSyntaxError,
    Simple,
    Step,
    Substitution,
    Text,
    Variable,
    Word,
)

LONGEST_COMMAND = 65_536
"""Characters of a command that are parsed; agents write whole files by here-documents, so it is generous."""
_DEEPEST = 24
"""Substitutions and groups within one another."""
_COPY = 6
"""What a text counts as that is copied to be read: backquotes, a here-document with substitutions. It keeps time linear."""
_OPERATORS = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|\n()]")
_REDIRECTION = re.compile(r"(\d{0,4}|\{\w{1,40}\})(<<<|<<-?|<>|>>|>\||<&|>&|&>>|&>|<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,100})(\[[^\]\s$`'\"]{0,100}\])?\+?=")
_NAME = re.compile(r"[A-Za-z_]\w{0,100}|[0-9@*#?$!-]")
_PLAIN = re.compile(r"[^\s;&|<>()'\"`$\\#]+")
_QUOTED = re.compile(r'[^"\\$`]+')
_RESERVED = re.compile(r"[^\s;&|<>()'\"`$\\]{1,40}")
_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_ANSI = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_CLOSERS = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}", ")"})


def parse_command(text: str) -> Script:
    """Return what a shell would run; ShellSyntaxError where that is not certain."""
    if len(text) > LONGEST_COMMAND or "\0" in text:
        raise ShellSyntaxError("too long")
    reader = _Reader(text.replace("\r\n", "\n"))
    script = reader.script(frozenset(), 0)
    if reader.at < len(reader.text):
        raise ShellSyntaxError("a closing sign without its opening one")
    return script


class _Reader:
    """A position in a command line, and the here-documents whose bodies follow at the next line."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self._depth = text, 0, depth
        self._documents: list[tuple[str, bool, bool, list[Redirection], int]] = []

    # --- scripts ----------------------------------------------------------------------------------------------

    def script(self, ends: frozenset[str], depth: int) -> Script:
        """Read steps up to one of the reserved words `ends`, a closing sign or the end."""
        if depth + self._depth > _DEEPEST:
            raise ShellSyntaxError("too deep")
        steps: list[Step] = []
        operator = ""
        while True:
            self._skip_lines()
            if self.at >= len(self.text) or self.text[self.at] == ")" or self._peek() in ends:
                return tuple(steps)
            if self.text.startswith(";;", self.at) and ";;" in ends:
                return tuple(steps)
            steps.append(Step(operator, self._pipeline(ends, depth)))
            operator = self._operator()

    def _operator(self) -> str:
        self._skip_blanks()
        found = _OPERATORS.match(self.text, self.at)
        if not found or found[0] in (")", ";;", ";&", ";;&"):
            return ";"
        if found[0] in ("|", "|&", "("):
            raise ShellSyntaxError("unexpected sign")
        self.at = found.end()
        if found[0] == "\n":
            self._read_documents()
        return ";" if found[0] == "\n" else found[0]

    def _pipeline(self, ends: frozenset[str], depth: int) -> tuple[Simple | Group, ...]:
        commands: list[Simple | Group] = []
        while True:
            self._skip_blanks()
            while (word := self._peek()) in ("!", "time"):
                self.at += len(word)
                self._skip_blanks()
                if self.text.startswith("-p ", self.at):
                    self.at += 3
            commands.append(self._command(depth))
            self._skip_blanks()
            if self.text.startswith("||", self.at) or not self.text.startswith("|", self.at):
                return tuple(commands)
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self._skip_lines()

    def _command(self, depth: int) -> Simple | Group:
        word = self._peek()
        if self.text.startswith("((", self.at):
            return self._arithmetic()
        if self.text.startswith("(", self.at):
            self.at += 1
            body = self.script(frozenset(), depth + 1)
            self._expect(")")
            return self._grouped("subshell", (body,))
        if word == "{":
            self.at += 1
            body = self.script(frozenset({"}"}), depth + 1)
            self._expect("}")
            return self._grouped("group", (body,))
        if word in ("if", "while", "until", "for", "select", "case", "function", "[["):
            return self._compound(word, depth)
        if word in _CLOSERS:
            raise ShellSyntaxError(f"unexpected {word}")
        return self._simple(depth)

    def _compound(self, word: str, depth: int) -> Simple | Group:
        self.at += len(word)
        match word:
            case "if":
                return self._if(depth)
            case "while" | "until":
                condition = self.script(frozenset({"do"}), depth + 1)
                return self._grouped("loop", (condition, self._do(depth)))
            case "for" | "select":
                return self._for(depth)
            case "case":
                return self._case(depth)
            case "function":
                self._skip_blanks()
                name = self._peek()
                self.at += len(name)
                self._skip_blanks()
                if self.text.startswith("()", self.at):
                    self.at += 2
                return self._function(name, depth)
            case _:
                return self._condition(depth)

    def _if(self, depth: int) -> Group:
        scripts = [self.script(frozenset({"then"}), depth + 1)]
        self._expect("then")
        while True:
            scripts.append(self.script(frozenset({"elif", "else", "fi"}), depth + 1))
            closing = self._peek()
            self._expect(closing if closing in ("elif", "else", "fi") else "fi")
            if closing == "fi":
                return self._grouped("if", tuple(scripts))
            if closing == "elif":
                scripts.append(self.script(frozenset({"then"}), depth + 1))
                self._expect("then")

    def _do(self, depth: int) -> Script:
        self._skip_lines()
        self._expect("do")
        body = self.script(frozenset({"done"}), depth + 1)
        self._expect("done")
        return body

    def _for(self, depth: int) -> Group:
        self._skip_blanks()
        if self.text.startswith("((", self.at):
            self._arithmetic()
            self._skip_lines(semicolons=True)
            return self._grouped("loop", (self._do(depth),))
        name = self._peek()
        self.at += len(name)
        self._skip_lines()
        words: list[Word] = []
        if self._peek() == "in":
            self.at += 2
            while word := self._word(depth):
                words.append(word)
        self._skip_lines(semicolons=True)
        body = self._do(depth)
        return self._grouped("for", (body,), name, tuple(words))

    def _case(self, depth: int) -> Group:
        words = [self._word(depth)]
        self._skip_lines()
        self._expect("in")
        scripts: list[Script] = []
        while True:
            self._skip_lines(semicolons=True)
            if self._peek() == "esac":
                self.at += 4
                return self._grouped("case", tuple(scripts), "", tuple(words))
            if self.text.startswith("(", self.at):
                self.at += 1
            while not self.text.startswith(")", self.at):
                self._skip_blanks()
                if self.text.startswith("|", self.at):
                    self.at += 1
                    continue
                if not self._word(depth):
                    raise ShellSyntaxError("case")
                self._skip_blanks()
            self.at += 1
            scripts.append(self.script(frozenset({"esac", ";;"}), depth + 1))

    def _function(self, name: str, depth: int) -> Group:
        self._skip_lines()
        body = self._command(depth + 1)
        return Group("function", ((Step("", (body,)),),), name, (), [])

    def _condition(self, depth: int) -> Simple:
        """`[[ … ]]`: its words are looked at for substitutions alone."""
        words: list[Word] = [(Text("[[", True),)]
        while True:
            self._skip_blanks()
            if self._peek() == "]]":
                self.at += 2
                return self._with_redirections(words)
            if self.at >= len(self.text):
                raise ShellSyntaxError("[[")
            word = self._word(depth)
            if word:
                words.append(word)
            else:
                self.at += 1  # an operator or a parenthesis of the condition

    def _with_redirections(self, words: list[Word]) -> Simple:
        return Simple(tuple(words), (), self._redirections(0))

    def _arithmetic(self) -> Simple:
        end = self.text.find("))", self.at + 2)
        inner = self.text[self.at : end]
        if end < 0 or "$(" in inner or "`" in inner:
            raise ShellSyntaxError("arithmetic")
        self.at = end + 2
        return Simple(((Text("((", True),),), (), [])

    def _grouped(
        self, kind: str, scripts: tuple[Script, ...], variable: str = "", words: tuple[Word, ...] = ()
    ) -> Group:
        return Group(kind, scripts, variable, words, self._redirections(0))  # type: ignore[arg-type]

    def _redirections(self, depth: int) -> list[Redirection]:
        into: list[Redirection] = []
        self._skip_blanks()
        while self._redirection(into, depth):
            self._skip_blanks()
        return into

    # --- simple commands -----------------------------------------------------------------------------------------

    def _simple(self, depth: int) -> Simple | Group:
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirections: list[Redirection] = []
        while True:
            self._skip_blanks()
            if self._redirection(redirections, depth):
                continue
            assigned = _ASSIGNMENT.match(self.text, self.at) if not words else None
            if assigned:
                self.at = assigned.end()
                assignments.append((assigned[1], self._value(depth)))
                continue
            word = self._word(depth)
            if word:
                words.append(word)
                if len(words) == 1 and not assignments and self.text.startswith("()", self.at):
                    self.at += 2
                    return self._function(_literal(word), depth)
                continue
            if not words and not assignments and not redirections:
                raise ShellSyntaxError("a command is missing")
            return Simple(tuple(words), tuple(assignments), redirections)

    def _value(self, depth: int) -> Word:
        if not self.text.startswith("(", self.at):
            return self._word(depth)
        self.at += 1
        pieces: list[Piece] = []
        while True:
            self._skip_lines()
            if self.text.startswith(")", self.at):
                self.at += 1
                return tuple(pieces)
            word = self._word(depth)
            if not word:
                raise ShellSyntaxError("array")
            pieces += [*([Text(" ", False)] if pieces else []), *word]

    def _redirection(self, into: list[Redirection], depth: int) -> bool:
        found = _REDIRECTION.match(self.text, self.at)
        if not found:
            return False
        self.at = found.end()
        self._skip_blanks()
        word = self._word(depth)
        if not word:
            raise ShellSyntaxError("a redirection leads nowhere")
        if found[2] in ("<<", "<<-"):
            is_quoted = any(isinstance(piece, Text) and piece.is_quoted for piece in word)
            self._documents.append((_literal(word), is_quoted, found[2] == "<<-", into, len(into)))
        into.append(Redirection(found[2], word))
        return True

    def _read_documents(self) -> None:
        waiting, self._documents = self._documents, []
        for name, is_quoted, has_tabs, into, at in waiting:
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
            pieces: Word = (Text(body, True),) if is_quoted else _document_pieces(body, self._depth + _COPY)
            into[at] = Redirection("<<", pieces)

    # --- words -----------------------------------------------------------------------------------------------------

    def _word(self, depth: int) -> Word:
        self._skip_blanks()
        pieces: list[Piece] = []
        text, begun = self.text, self.at
        while self.at < len(text):
            sign = text[self.at]
            if plain := _PLAIN.match(text, self.at):
                pieces.append(Text(plain[0], False))
                self.at = plain.end()
            elif sign == "#" and self.at > begun:
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
                self._quoted(pieces, depth)
            elif sign in "$`":
                self._dollar(pieces, depth, False)
            elif sign in "<>" and text.startswith("(", self.at + 1) and self.at == begun:
                self.at += 2
                pieces.append(Substitution(self._nested(depth), False, True))
            elif sign == "(" and pieces and _is_pattern(pieces[-1]):
                raise ShellSyntaxError("extended pattern")
            else:
                break
        return tuple(pieces)

    def quoted(self) -> Word:
        """Read one text in double quotes."""
        pieces: list[Piece] = []
        self._quoted(pieces, 0)
        return tuple(pieces)

    def _quoted(self, pieces: list[Piece], depth: int) -> None:
        text = self.text
        self.at += 1
        pieces.append(Text("", True))
        while self.at < len(text):
            sign = text[self.at]
            if sign == '"':
                self.at += 1
                return
            if found := _QUOTED.match(text, self.at):
                pieces.append(Text(found[0], True))
                self.at = found.end()
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
            reader = _Reader(inner, self._depth + depth + _COPY)
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
            pieces.append(Substitution(self._nested(depth), is_quoted, False))
        elif text.startswith("${", self.at):
            pieces.append(self._braced(is_quoted))
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

    def _nested(self, depth: int) -> Script:
        waiting, self._documents = self._documents, []
        script = self.script(frozenset(), depth + 1)
        if self._documents:
            raise ShellSyntaxError("a here-document has no body")
        self._documents = waiting
        self._expect(")")
        return script

    def _braced(self, is_quoted: bool) -> Piece:
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
        """The plain word at the position, where it may be a reserved one."""
        self._skip_blanks()
        found = _RESERVED.match(self.text, self.at)
        return found[0] if found else ""

    def _expect(self, word: str) -> None:
        self._skip_lines()
        if not self.text.startswith(word, self.at):
            raise ShellSyntaxError(f"{word} is missing")
        self.at += len(word)

    def _skip_blanks(self) -> None:
        if found := _BLANK.match(self.text, self.at):
            self.at = found.end()
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


def _literal(word: Word) -> str:
    if not all(isinstance(piece, Text) for piece in word):
        raise ShellSyntaxError("an expansion stands where a name must")
    return "".join(piece.text for piece in word if isinstance(piece, Text))


def _is_pattern(piece: Piece) -> bool:
    return isinstance(piece, Text) and not piece.is_quoted and piece.text[-1:] in ("?", "*", "+", "@", "!")


_IN_DOCUMENT = re.compile(r"\\[$`\\]|\$\(|`|\$\{?\w{1,100}\}?")


def _document_pieces(body: str, depth: int) -> Word:
    """A here-document whose name is not quoted: variables and substitutions count, quotes do not."""
    if re.search(r"(?<!\\)(?:\$\(|`)", body):
        return _Reader('"' + body.replace('"', '\\"') + '"', depth).quoted()
    return (Text(_IN_DOCUMENT.sub(lambda found: found[0][-1] if found[0][0] == "\\" else found[0], body), True),)


def _ansi_character(found: re.Match[str]) -> str:
    said = found[1]
    try:
        if said[0] in "xuU" and len(said) > 1:
            return chr(int(said[1:], 16))
        if said[0] in "01234567":
            return chr(int(said, 8) & 0xFF)
    except (ValueError, OverflowError):
        return ""
    return _ANSI_LETTERS.get(said, said if len(said) == 1 else "")
