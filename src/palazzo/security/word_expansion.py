"""The expansion of a command's words, and the output of local substitutions. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from palazzo.security.git_commands import OWN_REVISION, judge_git
from palazzo.security.loopback import is_own_server, names_foreign_address
from palazzo.security.project_paths import LOCAL_TEXT, OWN_FILE, UNKNOWN_TEXT
from palazzo.security.shell_syntax import Script, Simple, Text, Word
from palazzo.text.lazy_patterns import make_regex

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell

_MOST_BRACES = 32
_PROXY = make_regex(r"(?:https?|all|ftp|socks\w*|no)_proxy", re.IGNORECASE)
_DANGEROUS_VARIABLE = make_regex(
    r"(?:GIT_(?!PAGER$|AUTHOR|COMMITTER|EDITOR$|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|SEQUENCE_EDITOR$)\w+|LD_\w+|DYLD_\w+|PATH|BASH_ENV|ENV"
    r"|PROMPT_COMMAND|IFS|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|CURL_HOME|KUBECONFIG|DOCKER_HOST)"
)
_BRACES = make_regex(r"\{([^{}]*,[^{}]*)\}")


def is_own_socket(path: str) -> bool:
    """Whether bash would connect to a server on this machine."""
    parts = path.split("/")
    return path.startswith("/dev/tcp/") and len(parts) == 5 and is_own_server(f"{parts[3]}:{parts[4]}")


def has_braces(word: Word) -> bool:
    """Whether the braces of a word may be expanded."""
    return any(isinstance(piece, Text) and not piece.is_quoted and "{" in piece.text for piece in word)


def spread_braces(text: str) -> list[str]:
    """Return the texts that braces with commas expand to."""
    texts = [text]
    for _ in range(4):
        spread = []
        for spread_text in texts:
            match = _BRACES.search(spread_text)
            spread += (
                [spread_text[: match.start()] + part + spread_text[match.end() :] for part in match[1].split(",")]
                if match
                else [spread_text]
            )
        if len(spread) > _MOST_BRACES:
            return [UNKNOWN_TEXT]
        if spread == texts:
            break
        texts = spread
    return texts


def _first_words(script: Script, shell: Shell) -> list[str]:
    if len(script) != 1 or not script[0].pipeline or not isinstance(script[0].pipeline[0], Simple):
        return []
    return ["".join(shell.expand(word)) for word in script[0].pipeline[0].words]


def printed_by(shell: Shell, script: Script) -> str:
    """Return the text that represents the output of a local substitution."""
    words = _first_words(script, shell)
    match words:
        case ["pwd", *_]:
            return shell.directory or "."
        case ["which" | "type", *_, name] | ["command", "-v", name]:
            return name
        case ["git", "rev-parse", "--show-toplevel"]:
            return shell.project.root or "."
        case ["git", "merge-base", *_]:
            return OWN_REVISION
        case ["git", "rev-parse" | "rev-list" | "describe", *revisions]:
            plain = [word for word in revisions if not word.startswith("--")]
            return OWN_REVISION if judge_git(["show", *plain], shell.is_own, shell.own).is_local else UNKNOWN_TEXT
        case ["git", "ls-files" | "diff" | "grep", *_] | ["rg" | "fd" | "find" | "ls" | "grep" | "fdfind", *_]:
            lists = (
                words[1] == "ls-files"
                or words[0] in ("fd", "fdfind", "ls", "find")
                or bool(
                    {"--name-only", "-l", "--files", "--files-with-matches", "-rl", "-rln", "-lr", "-il"} & set(words)
                )
            )
            return OWN_FILE if lists and len(script[0].pipeline) <= 3 else LOCAL_TEXT
        case ["echo" | "printf", text] if len(script[0].pipeline) == 1:
            return text
        case ["dirname", path]:
            return path.rpartition("/")[0] or "."
        case ["mktemp", *_]:
            shell.written.append("/tmp/palazzo-mktemp")  # noqa: S108 - a name that stands for another
            shell.own_written.add("/tmp/palazzo-mktemp")  # noqa: S108
            return "/tmp/palazzo-mktemp"  # noqa: S108
        case _:
            return LOCAL_TEXT


def is_dangerous(name: str, value: str) -> bool:
    """Whether a variable with this value may make a program read foreign content."""
    if not value or name.lower() == "no_proxy":
        return False
    if re.fullmatch(r"(?:\w*_)?(?:PAGER|EDITOR|BROWSER)|VISUAL", name):
        return value not in ("cat", "less", "more", "true", ":", "vi", "vim", "nano")
    return bool(_PROXY.fullmatch(name) or _DANGEROUS_VARIABLE.fullmatch(name)) or names_foreign_address(value)
