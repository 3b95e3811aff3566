"""Trust of shell commands: whether a command's output is known to be local, and what the command changes. Pure.

The rule is an allow-list: a command is local if every program that it runs is known to print the project's own files,
its builds and tests, its version control or this machine's state. Any other command, and one that cannot be parsed for
certain, is foreign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from palazzo.security import file_writes
from palazzo.security.git_commands import OWN_REVISION, GitEffect, last_component
from palazzo.security.own_sources import OwnSources
from palazzo.security.program_arguments import Outcome
from palazzo.security.program_trust import is_plain_program, judge_program
from palazzo.security.project_paths import (
    LOCAL_TEXT,
    OWN_FILE,
    UNKNOWN_TEXT,
    Project,
    is_dependency,
    reaches_everything,
)
from palazzo.security.shell_syntax import (
    Group,
    Redirection,
    Script,
    ShellSyntaxError,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)
from palazzo.security.shell_words import parse_command
from palazzo.security.word_expansion import has_braces, is_dangerous, is_own_socket, printed_by, spread_braces
from palazzo.text.lazy_patterns import make_regex

_OWN_LIST = "/dev/fd/62"
"""A placeholder for a list of names of the project's own files."""
MOST_STEPS = 2_000
"""The most simple commands that are judged in one command line; each loop iteration counts."""
_MOST_TURNS = 8
_LONGEST_VALUE = 8_192
_MOST_NAMES = 64
_OWN_DEVICES = make_regex(r"-|/dev/(?:null|zero|stdin|stdout|stderr|fd/\d+|u?random|tty)|&\d+|\d+-?")


@dataclass(slots=True)
class CommandEffect:
    """What a command prints, and which files, references and ports it changes.

    `is_local`: all of its output is known to be local, if the working tree is. `reads_project`: the output shows files
    or history of the project. `foreign_names`: files and references that hold untrusted content afterwards.
    `own_paths`: the normalized paths to which local text was written. `git`: the effects on the working tree, in order.
    """

    is_local: bool = True
    reads_project: bool = False
    foreign_names: set[str] = field(default_factory=set)
    foreign_paths: set[str] = field(default_factory=set)
    """Normalized paths of files with untrusted content, where the paths are known."""
    own_paths: list[str] = field(default_factory=list)
    git: list[GitEffect] = field(default_factory=list)
    ports: set[str] = field(default_factory=set)
    """Ports at which untrusted content may be served from now on."""
    runs: set[str] = field(default_factory=set)
    """Names of the files that define the commands it runs: scripts, `Makefile`, `package.json`."""
    pulls: bool = False
    """Whether it may have put foreign files anywhere in the project."""
    scripts: dict[str, str] = field(default_factory=dict)
    """The text that a here-document writes into a file, by path."""
    shows_diff: bool = False
    """Whether its output may show lines of files that the command does not name."""


Holds = Callable[[str], bool]


def judge_command(
    command: str, project: Project | None = None, holds: Holds | None = None, own: OwnSources | None = None
) -> CommandEffect:
    """Judge a command line. `own`: the sources that the user allow-listed.

    `holds` lists the effects of earlier calls: `made:PATH` (they wrote local content there), `script:PATH` (they wrote
    a script that is itself local), `port:N` (untrusted content may be served there).
    """
    try:
        script = parse_command(command)
    except (ShellSyntaxError, RecursionError):
        return CommandEffect(False, True, foreign_names=set(file_writes.names_in(command)))
    shell = Shell(project or Project(), holds or (lambda _: False), own or OwnSources())
    shell.run(script)
    effect = shell.effect
    effect.is_local = effect.is_local and shell.steps < MOST_STEPS
    if not effect.is_local:
        effect.foreign_paths = {
            place
            for path in shell.written
            if not path.isdigit() and (place := shell.places.get(path) or shell.plain(path))
        }
        effect.foreign_names.update(
            last_component(path) for path in shell.written if not shell.places.get(path) and not path.isdigit()
        )
        effect.foreign_names.update(file_writes.names_in_program(command))
    else:
        paths = (shell.places.get(path) or shell.plain(path) for path in shell.written)
        effect.own_paths = [place for place in paths if place][:_MOST_NAMES]
    effect.foreign_paths = set(sorted(effect.foreign_paths)[:_MOST_NAMES])
    effect.foreign_names = set(sorted(effect.foreign_names - file_writes.NO_NAMES)[:_MOST_NAMES])
    return effect


class Shell:
    """The state of a shell that runs a script: variables, directory, written paths."""

    def __init__(self, project: Project, holds: Holds, own: OwnSources) -> None:
        self.project, self._holds, self.own = project, holds, own
        self.effect = CommandEffect()
        self.steps = 0
        self.written: list[str] = []
        self.places: dict[str, str] = {}
        """The normalized written paths, by their spelling in the command."""
        self.directory = project.directory or project.root
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, tuple[Script, ...]] = {}
        self._running: set[str] = set()
        self._read = UNKNOWN_TEXT
        self._is_led = False
        self._last: bool | None = None
        self.own_written: set[str] = set()
        self.fed_text: str | None = None
        """The text that a here-document feeds to the command being judged."""

    # --- scripts -------------------------------------------------------------------------------------------------

    def run(self, script: Script) -> None:
        """Judge a script step by step."""
        for step in script:
            skips = (step.operator == "&&" and self._last is False) or (step.operator == "||" and self._last is True)
            if skips:
                continue
            self._last = None
            self._pipeline(step.pipeline)

    def run_text(self, text: str) -> bool:
        """Judge the text of a script; return whether it could be parsed."""
        try:
            script = parse_command(text)
        except (ShellSyntaxError, RecursionError):
            return False
        self.run(script)
        return True

    def _pipeline(self, commands: Sequence[Simple | Group]) -> None:
        lists_own_files: bool | None = None
        for n, command in enumerate(commands):
            self.steps += 1
            if self.steps >= MOST_STEPS:
                return
            if isinstance(command, Group):
                self._group(command, bool(lists_own_files))
                lists_own_files = None
            else:
                lists_own_files = self._simple(command, n > 0, lists_own_files)

    def _group(self, group: Group, input_lists_files: bool = False) -> None:
        if group.kind == "function":
            self.functions[group.variable] = group.scripts
            return
        directory, read = self.directory, self._read
        self._redirections(group.redirections)
        fed = [self.expand(redirection.word) for redirection in group.redirections if redirection.operator == "<"]
        self._read = OWN_FILE if input_lists_files or fed == [[_OWN_LIST]] else UNKNOWN_TEXT
        turns: list[str] = [""]
        if group.kind == "for":
            turns = [text for word in group.words for text in self.expand(word)] or [UNKNOWN_TEXT]
            turns = turns if len(turns) <= _MOST_TURNS else [*turns[:_MOST_TURNS], UNKNOWN_TEXT]
        else:
            for word in group.words:
                self.expand(word)
        for turn in turns:
            if group.kind == "for":
                self.variables[group.variable] = [OWN_FILE if self._is_pattern_of_own(turn) else turn]
            for script in group.scripts:
                self.run(script)
        self._read = read
        if group.kind == "subshell":
            self.directory = directory

    def _is_pattern_of_own(self, text: str) -> bool:
        return bool(re.search(r"[*?\[]", text)) and self.is_own(text)

    # --- words -----------------------------------------------------------------------------------------------------

    def expand(self, word: Word) -> list[str]:
        """Return the texts that a word expands to; several if a variable or a substitution is split."""
        texts = [""]
        for piece in word:
            match piece:
                case Text(text=text):
                    texts[-1] += text
                case Variable(is_quoted=True):
                    texts[-1] += " ".join(self._value(piece))
                case Variable():
                    first, *rest = " ".join(self._value(piece)).split() or [""]
                    texts[-1] += first
                    texts += rest
                case Substitution():
                    texts[-1] += self._substitute(piece)
        if (
            len(texts) == 1
            and word
            and isinstance(word[0], Text)
            and not word[0].is_quoted
            and texts[0].startswith("~")
        ):
            return texts
        return [alternative for text in texts for alternative in spread_braces(text)] if has_braces(word) else texts

    def _value(self, piece: Variable) -> list[str]:
        """Return the texts of a variable; UNKNOWN for one that has grown too large."""
        texts = self._look_up(piece)
        return texts if sum(map(len, texts)) <= _LONGEST_VALUE and len(texts) <= _MOST_NAMES else [UNKNOWN_TEXT]

    def _look_up(self, piece: Variable) -> list[str]:
        name = piece.name
        if name.startswith(("#", "?")) or name in (
            "$",
            "?",
            "#",
            "-",
            "LINENO",
            "RANDOM",
            "SECONDS",
            "UID",
            "EUID",
            "PPID",
        ):
            return ["0"]
        if name in self.variables:
            values = self.variables[name]
            return (
                values if not piece.operator or piece.operator.startswith((":-", "-", "[@]", "[*]")) else [UNKNOWN_TEXT]
            )
        if name == "PWD":
            return [self.directory or "."]
        if name == "HOME":
            return ["~"] if not piece.operator else [UNKNOWN_TEXT]
        if name in ("USER", "LOGNAME", "HOSTNAME", "SHELL", "LANG", "TERM", "BASH_VERSION"):
            return [LOCAL_TEXT]
        return [UNKNOWN_TEXT]

    def _substitute(self, piece: Substitution) -> str:
        was_local, self.effect.is_local = self.effect.is_local, True
        self.run(piece.script)
        is_local = self.effect.is_local
        self.effect.is_local = was_local and is_local
        if piece.is_process:
            lists = is_local and printed_by(self, piece.script) == OWN_FILE
            return _OWN_LIST if lists else "/dev/fd/63" if is_local else UNKNOWN_TEXT
        return printed_by(self, piece.script) if is_local else UNKNOWN_TEXT

    # --- simple commands ---------------------------------------------------------------------------------------------

    def _simple(self, simple: Simple, has_input: bool, input_lists_files: bool | None) -> bool:
        """Judge a command; return whether it prints names of the project's own files."""
        words = [text for word in simple.words for text in self.expand(word)]
        new_variables = {name: self.expand(value) for name, value in simple.assignments}
        self.fed_text = None
        written_count = len(self.written)
        feeds = self._redirections(simple.redirections)
        if not words:
            self.variables.update(new_variables)
            return False
        if any(is_dangerous(name, text) for name, values in new_variables.items() for text in values):
            self.effect.is_local = False
        if words[0] in ("read", "export", "declare", "local", "readonly", "typeset", "trap"):
            self._builtin(words)
        if self._is_led and not is_plain_program(words[0]):
            self.effect.is_local = False
        outcome = judge_program(self, words, has_input or feeds, bool(input_lists_files))
        self.places.update({path: self.plain(path) for path in self.written[written_count:]})
        self._last = outcome.status
        if not outcome.is_local:
            self.effect.is_local = False
        self.effect.reads_project |= outcome.reads_project
        if self.fed_text is not None and words[0] in ("cat", "tee"):
            targets = self.written[written_count:] if written_count < len(self.written) else []
            self.effect.scripts.update(dict.fromkeys(targets[:8], self.fed_text))
        if outcome.is_local and self.effect.is_local:
            self.own_written.update(place for path in self.written[written_count:] if (place := self.places[path]))
        return outcome.lists_own_files

    def _builtin(self, words: list[str]) -> None:
        """Apply a shell builtin: to the shell's variables, or to the commands that it runs later."""
        if words[0] == "read":
            self.variables.update({word: [self._read] for word in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", word)})
            return
        if words[0] == "trap":
            if len(words) > 2 and not self.run_text(words[1]):
                self.effect.is_local = False
            return
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if equals and not name.startswith("-"):
                self.variables[name] = [value]
            if words[0] == "export":
                texts = [value] if equals else self.variables.get(name, [])
                self._is_led |= any(is_dangerous(name, text) for text in texts)

    def call_function(self, name: str) -> bool:
        """Run the body of a previously defined function; return whether its effect can be judged."""
        if name in self._running or len(self._running) > _MOST_TURNS:
            return False
        self._running.add(name)
        for script in self.functions[name]:
            self.run(script)
        self._running.discard(name)
        return True

    def _redirections(self, redirections: Sequence[Redirection]) -> bool:
        """Judge the files that a command reads, and note those that it writes; return whether it gets input."""
        feeds = False
        for redirection in redirections:
            text = "".join(self.expand(redirection.word))
            match redirection.operator:
                case "<<" | "<<<" | "<<-":
                    feeds = True
                    self.fed_text = text
                case "<" | "<>":
                    feeds = True
                    if not self.is_own(text) and not is_own_socket(text):
                        self.effect.is_local = False
                case _:
                    if text.startswith(("/dev/tcp/", "/dev/udp/")) and not is_own_socket(text):
                        self.effect.is_local = False
                    if not _OWN_DEVICES.fullmatch(text):
                        self.written.append(text)
        return feeds

    def judge(self, words: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
        """Judge a program that another one runs."""
        return judge_program(self, words, has_input, input_lists_files)

    # --- effects -----------------------------------------------------------------------------------------------------

    def note_git(self, effect: GitEffect) -> None:
        """Note what a git command does to the working tree and to references."""
        self.effect.git.append(effect)
        self.effect.foreign_names |= effect.foreign_names
        if effect.made_directory:
            self.written.append(effect.made_directory)
            if effect.is_local and (plain := self.plain(effect.made_directory)):
                self.own_written.add(plain)

    def note_detour(self) -> None:
        """Note that an untrusted commit was checked out."""
        self.effect.git.append(GitEffect(False, "detour"))

    def is_dangerous_assignment(self, word: str) -> bool:
        """Whether `NAME=value` before a program may redirect it elsewhere."""
        name, _, value = word.partition("=")
        return is_dangerous(name, value)

    def is_foreign_port(self, port: str) -> bool:
        """Whether a port of this machine may serve untrusted content."""
        return port in self.effect.ports or self._holds(f"port:{port}")

    def is_judged_script(self, path: str) -> bool:
        """Whether the session wrote this script and the script itself is local."""
        plain = self.plain(path)
        return bool(plain) and self._holds(f"script:{plain}")

    def is_here(self) -> bool:
        """Whether the current directory is the project's own."""
        return self.is_own(".")

    # --- paths -----------------------------------------------------------------------------------------------------

    def plain(self, path: str) -> str:
        """Return a path in plain form, '' if it is not known."""
        return "" if UNKNOWN_TEXT in path or LOCAL_TEXT in path else self.project.resolve(path, self.directory)

    def is_own(self, path: str) -> bool:
        """Whether a path is the project's own, or local content was written to it."""
        if _OWN_DEVICES.fullmatch(path):
            return True
        if not path or UNKNOWN_TEXT in path or LOCAL_TEXT in path or "://" in path or "\0" in path:
            return False
        path = path.replace(OWN_FILE, "own").replace(OWN_REVISION, "0")
        plain = self.plain(path)
        if not plain:
            return False
        if plain in self.own_written or self.is_made(plain):
            return True
        if self.own.has_path(plain, self.project):
            return True
        return not reaches_everything(path) and self.project.is_own(plain)

    def was_made(self, plain: str) -> bool:
        """Whether local content was written to exactly this path."""
        return plain in self.own_written or self._holds(f"made:{plain}")

    def is_build_output(self, path: str) -> bool:
        """Whether a path is in a build output directory: its file names are own, but its content may not be."""
        plain = self.plain(path)
        first = self.project.relative(plain).split("/")[0] if plain and self.project.is_inside(plain) else ""
        return first in ("dist", "out", "public", ".next", ".nuxt", ".output", "coverage") and not is_dependency(plain)

    def is_made(self, plain: str) -> bool:
        """Whether local content was written to a path, or to a directory above it."""
        if re.search(r"[*?\[]", plain):
            plain = plain.rpartition("/")[0]
        parts = plain.split("/")
        return any(self._holds("made:" + "/".join(parts[:n])) for n in range(len(parts), 0, -1) if n > 1 or parts[0])

    def change_directory(self, path: str) -> bool:
        """Go to a directory; return whether it is the project's own."""
        is_own = self.is_own(path)
        self.directory = self.plain(path) or "/unknown"
        return is_own
