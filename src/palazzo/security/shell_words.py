"""A command line parsed as in a POSIX shell: steps, pipelines, simple commands, words and their expansions. Pure.

It expands nothing and runs nothing; `command_trust` decides what an expansion may be. Text that it cannot parse for
certain raises `ShellSyntaxError`, so that nothing is guessed. Each character is read once: a nested substitution is
parsed in place.
"""

from __future__ import annotations

from palazzo.security.shell_reader import (
    ASSIGNMENT,
    CLOSERS,
    DEEPEST,
    LONGEST_COMMAND,
    OPERATORS,
    REDIRECTION,
    WordReader,
    literal_text,
)
from palazzo.security.shell_syntax import (
    Group,
    Piece,
    Redirection,
    Script,
    ShellSyntaxError,
    Simple,
    Step,
    Text,
    Word,
)


def parse_command(text: str) -> Script:
    """Return the script that a shell would run. Raises ShellSyntaxError if it is uncertain."""
    if len(text) > LONGEST_COMMAND or "\0" in text:
        raise ShellSyntaxError("too long")
    reader = _Reader(text.replace("\r\n", "\n"))
    script = reader.script(frozenset(), 0)
    if reader.at < len(reader.text):
        raise ShellSyntaxError("a closing sign without its opening one")
    return script


class _Reader(WordReader):
    """Reads commands: steps, pipelines, groups, simple commands."""

    # --- scripts ----------------------------------------------------------------------------------------------

    def script(self, ends: frozenset[str], depth: int) -> Script:
        """Read steps up to one of the reserved words `ends`, a closing mark or the end."""
        if depth + self._depth > DEEPEST:
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
        match = OPERATORS.match(self.text, self.at)
        if not match or match[0] in (")", ";;", ";&", ";;&"):
            return ";"
        if match[0] in ("|", "|&", "("):
            raise ShellSyntaxError("unexpected sign")
        self.at = match.end()
        if match[0] == "\n":
            self._read_documents()
        return ";" if match[0] == "\n" else match[0]

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
            return self._new_group("subshell", (body,))
        if word == "{":
            self.at += 1
            body = self.script(frozenset({"}"}), depth + 1)
            self._expect("}")
            return self._new_group("group", (body,))
        if word in ("if", "while", "until", "for", "select", "case", "function", "[["):
            return self._compound(word, depth)
        if word in CLOSERS:
            raise ShellSyntaxError(f"unexpected {word}")
        return self._simple(depth)

    def _compound(self, word: str, depth: int) -> Simple | Group:
        self.at += len(word)
        match word:
            case "if":
                return self._if(depth)
            case "while" | "until":
                condition = self.script(frozenset({"do"}), depth + 1)
                return self._new_group("loop", (condition, self._do(depth)))
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
            closer = self._peek()
            self._expect(closer if closer in ("elif", "else", "fi") else "fi")
            if closer == "fi":
                return self._new_group("if", tuple(scripts))
            if closer == "elif":
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
            return self._new_group("loop", (self._do(depth),))
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
        return self._new_group("for", (body,), name, tuple(words))

    def _case(self, depth: int) -> Group:
        words = [self._word(depth)]
        self._skip_lines()
        self._expect("in")
        scripts: list[Script] = []
        while True:
            self._skip_lines(semicolons=True)
            if self._peek() == "esac":
                self.at += 4
                return self._new_group("case", tuple(scripts), "", tuple(words))
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
        """Read `[[ … ]]`: only the substitutions in its words count."""
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

    def _new_group(
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
            match = ASSIGNMENT.match(self.text, self.at) if not words else None
            if match:
                self.at = match.end()
                assignments.append((match[1], self._value(depth)))
                continue
            word = self._word(depth)
            if word:
                words.append(word)
                if len(words) == 1 and not assignments and self.text.startswith("()", self.at):
                    self.at += 2
                    return self._function(literal_text(word), depth)
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
        match = REDIRECTION.match(self.text, self.at)
        if not match:
            return False
        self.at = match.end()
        self._skip_blanks()
        word = self._word(depth)
        if not word:
            raise ShellSyntaxError("a redirection leads nowhere")
        if match[2] in ("<<", "<<-"):
            is_quoted = any(isinstance(piece, Text) and piece.is_quoted for piece in word)
            self._documents.append((literal_text(word), is_quoted, match[2] == "<<-", into, len(into)))
        into.append(Redirection(match[2], word))
        return True
