"""Rules for git commands: whether they print local history or content from a remote, and what they change. Pure.

A revision is the project's own if it names no remote: `main`, `HEAD~2`, a hash, `feature/x`. A name with a slash is
classified by its first part, since `contributor/feature` is a remote's branch and `feature/contributor` is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from palazzo.security.git_options import (
    ALL_BRANCHES,
    CLONE_WITH_VALUE,
    MESSAGE,
    PRINTS_COMMITS,
    PRINTS_LOCAL,
    TREE,
    TREE_WITH_VALUE,
    WITH_VALUE,
)
from palazzo.security.project_paths import LOCAL_TEXT, UNKNOWN_TEXT
from palazzo.text.lazy_patterns import make_regex

OWN_REVISION = "\ue001"
"""A placeholder for a hash that a local command printed."""
_REMOTES = frozenset(
    """
    origin upstream fork forks remote remotes mirror github gitlab bitbucket contributor contributors contrib theirs
    downstream community heroku partner vendor public gerrit pull pr merge-requests changes dependabot renovate
    """.split()
)
_BRANCHES = frozenset(
    """
    feature features feat fix fixes bugfix bug hotfix chore docs doc release releases refactor test tests testing
    wip topic topics task tasks user users dev ci build perf style experiment experiments exp spike spikes my mine
    local codex claude cursor agent agents aider copilot opencode cline issue issues ticket tickets story epic
    improvement improve enhancement tmp backup archive support rfc design hack try demo poc prototype heads tags
    stash tag v
    """.split()
)
_SOURCES = frozenset(
    """
    src lib app apps packages pkg cmd internal test tests spec docs doc web server client config scripts tools
    services crates modules components core api cli ui db sql infra deploy charts examples fixtures include bin
    benches integration e2e frontend backend migrations assets styles public benchmarks proto types .github site
    examples plugins python js
    """.split()
)
_REMOTE_REFERENCE = make_regex(r"FETCH_HEAD|MERGE_HEAD|refs/(?!heads(?:/|$)|tags(?:/|$)|stash$|notes$)", re.IGNORECASE)
_UPSTREAM = make_regex(r"@\{(?:u|upstream|push)\}", re.IGNORECASE)
_RANGE = make_regex(r"(?P<low>[^.\s][^\s]*?|)(?P<dots>\.\.\.?)(?P<high>(?![./])[^\s]*|)")
_FILE = make_regex(r"(?:\./|\.\./).*|.*\.[A-Za-z][\w+-]{0,9}/?|.*/|:[!^(/:].*|.*[*?].*")
_SAFE_CONFIG = make_regex(
    r"(?:user|color|advice|commit|init|log|gc|merge|rebase|status|branch|column|safe|pack|index|push|fetch|blame)\.[\w.-]+="
    r"|core\.(?:quotepath|autocrlf|eol|filemode|ignorecase|longpaths|precomposeunicode)=|core\.(?:pager|editor)=(?:cat|true)?$"
    r"|(?:diff\.(?!external|.*\.(?:command|textconv))[\w.-]+|protocol\.file\.allow|pager\.\w+)=",
    re.IGNORECASE,
)


@dataclass(slots=True)
class GitEffect:
    """What a git command does: whether its output is local, and what it changes.

    `tree`: the change of the working tree: `pulled` (foreign commits came into the branch), `detour` (a foreign commit
    was checked out), `switched` (to an own `branch`), `reset` (to the own `branch`), `''` (none).
    """

    is_local: bool
    tree: str = ""
    branch: str = ""
    foreign_names: set[str] = field(default_factory=set)
    """Names of files and references that now hold foreign content."""
    restored_paths: list[str] = field(default_factory=list)
    """Paths that again hold the project's own version."""
    marked_reference: str = ""
    """One of the project's own references that the command created at this commit."""
    changes_tree: bool = False
    """Whether it applies a commit or a patch to the working tree."""
    made_directory: str = ""
    """The directory of a new working tree; its commit is the project's own if the command is local."""


def judge_git(words: Sequence[str], is_own_path: Callable[[str], bool], own: frozenset[str] = frozenset()) -> GitEffect:
    """Judge `git` followed by `words`; `is_own_path` judges a path, `own` lists the user's own remotes."""
    words, is_here = _without_globals(list(words), is_own_path)
    if not is_here or not words:
        return GitEffect(is_here and not words)
    command, arguments = words[0], words[1:]
    if arguments[:1] in (["--help"], ["-h"]):
        return GitEffect(False)
    return _GitCommand(command, arguments, is_own_path, own).effect()


def _without_globals(words: list[str], is_own_path: Callable[[str], bool]) -> tuple[list[str], bool]:
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-C" and words:
            if not is_own_path(words.pop(0)):
                return [], False
        elif option == "-c" and words:
            if not _SAFE_CONFIG.match(words.pop(0)):
                return [], False
        elif option not in (
            "--no-pager",
            "-P",
            "--no-optional-locks",
            "--literal-pathspecs",
            "--paginate",
            "--version",
            "-v",
        ):
            return [], False
    return words, True


class _GitCommand:
    """One git command, with its revisions and its paths."""

    def __init__(
        self, command: str, arguments: list[str], is_own_path: Callable[[str], bool], own: frozenset[str]
    ) -> None:
        self._command, self._is_own_path, self._own = command, is_own_path, own
        self._options = [word for word in arguments if word.startswith("-") and word != "-"]
        self._arguments = arguments
        self._plain, self._paths = self._positional(arguments)

    def _positional(self, arguments: list[str]) -> tuple[list[str], list[str]]:
        plain: list[str] = []
        skip = False
        for n, word in enumerate(arguments):
            if word == "--":
                return plain, arguments[n + 1 :]
            if skip:
                skip = False
            elif word.startswith("-") and word != "-":
                skip = word in self._with_value()
            else:
                plain.append(word)
        return plain, []

    def _with_value(self) -> frozenset[str]:
        if self._command in ("clone", "fetch", "pull", "submodule"):
            return CLONE_WITH_VALUE
        if self._command in TREE or self._command == "worktree":
            return TREE_WITH_VALUE
        return WITH_VALUE | MESSAGE if self._command in ("commit", "tag", "stash", "notes") else WITH_VALUE

    def effect(self) -> GitEffect:
        """Return the effect of the command."""
        command = self._command
        if command in (
            "fetch",
            "pull",
            "clone",
            "ls-remote",
            "remote",
            "submodule",
            "worktree",
            "branch",
            "tag",
            "config",
        ):
            return getattr(self, f"_{command.replace('-', '_')}")()  # type: ignore[no-any-return]
        if command in TREE:
            effect = self._changes_tree()
            effect.changes_tree = not effect.restored_paths
            return effect
        if command in ("subtree", "svn", "lfs", "annex", "p4", "quiltimport", "filter-repo"):
            return GitEffect(False, "pulled")
        if command == "init":
            return GitEffect(True, made_directory=next(iter(self._plain), ""))
        if command == "bisect" and "run" in self._plain[:1]:
            return GitEffect(
                self._plain[1:2] in (["pytest"], ["make"], ["npm"], ["cargo"], ["go"], ["ctest"])
                and "test" in "".join(self._plain)
            )
        if command == "commit" and any(word in ("-F", "--file", "-t") for word in self._arguments):
            return GitEffect(all(self._is_path(word) for word in self._values(("-F", "--file", "-t"))))
        if command in PRINTS_LOCAL:
            return GitEffect(True)
        if command == "show-ref":
            return GitEffect(bool({"--heads", "--tags", "--branches", "-q", "--verify"} & set(self._options)))
        if command == "for-each-ref":
            return GitEffect(
                bool(self._plain) and all(word.startswith(("refs/heads", "refs/tags")) for word in self._plain)
            )
        if command in PRINTS_COMMITS:
            return GitEffect(self._commits_are_own())
        return GitEffect(False)

    # --- revisions -------------------------------------------------------------------------------------------------

    def _commits_are_own(self) -> bool:
        if {"--all", "--remotes"} & set(self._options) or any(
            word.startswith(("--remotes=", "--glob=")) for word in self._options
        ):
            return False
        if any(word in ("--no-index", "--ext-diff", "--textconv", "--remote") for word in self._options):
            return self._command == "diff" and all(self._is_path(word) for word in (*self._plain, *self._paths))
        if any(word.startswith(("--remote=",)) for word in self._options):
            return False
        return all(self._is_shown_own(word) for word in self._plain) and all(
            self._is_path(word) for word in self._paths
        )

    def _is_shown_own(self, word: str) -> bool:
        """Whether a word of a command names own commits or files."""
        match = _RANGE.fullmatch(word)
        if not match or word.startswith((".", "/")):
            if ":/" in word[:2] or "^{/" in word:
                return False  # a search in all references
            if word.startswith("^"):
                return True  # an excluded revision
            revision, colon, path = word.partition(":")
            if colon and revision:
                return self._is_own_revision(revision) and self._is_path(path or ".")
            return self._is_own_revision(word)
        if not self._is_own_revision(match["high"] or "HEAD"):
            return False
        if self._is_own_revision(match["low"] or "HEAD"):
            return True
        return match["dots"] == ("..." if self._command == "diff" else "..") and self._command != "range-diff"

    def _is_own_revision(self, word: str) -> bool:
        if UNKNOWN_TEXT in word or LOCAL_TEXT in word:
            return False
        if OWN_REVISION in word:
            return True
        if word.startswith(("@{-", "-")) or word in ("HEAD", "@", "-"):
            return True
        if _UPSTREAM.search(word):
            return bool(self._own & {"origin", "upstream"})
        if _REMOTE_REFERENCE.search(word):
            return False
        bare = re.split(r"[~^@]", word, maxsplit=1)[0]
        bare = bare.removeprefix("refs/heads/").removeprefix("refs/tags/").removeprefix("heads/").removeprefix("tags/")
        first, slash, _ = bare.partition("/")
        if first in self._own:
            return True
        if first.lower() in _REMOTES and (slash or first.lower() in ("origin", "upstream")):
            return False
        if "://" in word or (":" in word and not word.startswith(":")):
            return False
        if not slash:
            return self._is_path(word) if _FILE.fullmatch(word) else True
        if first.lower() in _BRANCHES:
            return True
        return (first in _SOURCES or bool(_FILE.fullmatch(word)) or word.startswith("/")) and self._is_path(word)

    def _is_path(self, word: str) -> bool:
        word = re.sub(r"^:(?:\([\w,:]*\)|[!^/]*)", "", word)
        return self._is_own_path(word or ".")

    def _values(self, options: Sequence[str]) -> list[str]:
        return [value for option, value in zip(self._arguments, self._arguments[1:], strict=False) if option in options]

    # --- remotes and references --------------------------------------------------------------------------------------

    def _is_own_remote(self) -> bool:
        name = next(iter(self._plain), "origin")
        return name in self._own

    def _fetch(self) -> GitEffect:
        if self._is_own_remote():
            return GitEffect(True)
        branches = {word.rpartition(":")[2].removeprefix("refs/heads/") for word in self._plain[1:] if ":" in word}
        return GitEffect(False, foreign_names=branches | {last_component(name) for name in branches})

    def _pull(self) -> GitEffect:
        return GitEffect(True) if self._is_own_remote() else GitEffect(False, "pulled")

    def _ls_remote(self) -> GitEffect:
        return GitEffect(self._is_own_remote())

    def _clone(self) -> GitEffect:
        sources = [word for word in self._plain if word != OWN_REVISION]
        if not sources:
            return GitEffect(False)
        source, *rest = sources
        name = (rest[-1] if rest else re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")) or "repository"
        is_local = "://" not in source and ":" not in source and self._is_path(source)
        return GitEffect(is_local, made_directory=name)

    def _remote(self) -> GitEffect:
        return GitEffect(
            not self._plain or self._plain[0] in ("add", "remove", "rm", "rename", "set-url", "get-url", "set-head")
        )

    def _submodule(self) -> GitEffect:
        if not self._plain or self._plain[0] in ("status", "summary", "deinit", "init", "absorbgitdirs"):
            return GitEffect(True)
        names = {last_component(word) for word in self._plain[1:] if "://" not in word}
        return GitEffect(False, "" if names else "pulled", foreign_names=names)

    def _worktree(self) -> GitEffect:
        if self._plain[:1] != ["add"]:
            return GitEffect(True)
        created = self._values(("-b", "-B"))
        plain = [word for word in self._plain[1:] if word not in created]
        is_own = all(self._is_own_revision(word) for word in plain[1:])
        place = plain[0] if plain else "worktree"
        return GitEffect(is_own, made_directory=place)

    def _branch(self) -> GitEffect:
        is_making = any(
            word in ("-d", "-D", "-m", "-M", "--show-current", "-u", "--unset-upstream") for word in self._options
        )
        if is_making or any(word.startswith("--set-upstream-to") for word in self._options):
            return GitEffect(True)
        if ALL_BRANCHES & set(self._options) or "--remotes" in self._options:
            return GitEffect(False)
        return self._names(
            is_listing=bool({"-l", "--list", "--contains", "--merged", "--no-merged"} & set(self._options))
        )

    def _tag(self) -> GitEffect:
        if any(re.match(r"-n\d*$|--format|--verify$|-v$", word) for word in self._options):
            return GitEffect(False)
        return self._names(is_listing=bool({"-l", "--list", "-d", "--contains", "--merged"} & set(self._options)))

    def _names(self, is_listing: bool) -> GitEffect:
        """Judge a new reference: it is own at an own commit, and foreign at a foreign one."""
        if is_listing or not self._plain:
            return GitEffect(True)
        name, *at = self._plain
        if all(self._is_own_revision(word) for word in at):
            return GitEffect(True, marked_reference=name if not at else "")
        return GitEffect(True, foreign_names={name, last_component(name)})

    def _config(self) -> GitEffect:
        """Judge `git config`: reading is local; a setting that runs a program, or an alias, makes git foreign."""
        setting_words = " ".join(self._plain).lower()
        if len(self._plain) > 1 and re.search(
            r"pager|command|external|textconv|editor|fsmonitor|hookspath|filter\.|proxy", setting_words
        ):
            return GitEffect(False, foreign_names={"run:git"})
        return GitEffect("alias." not in setting_words or len(self._plain) < 2)

    # --- the working tree --------------------------------------------------------------------------------------------

    def _changes_tree(self) -> GitEffect:
        command = self._command
        if {"--continue", "--abort", "--skip", "--quit", "--show-current-patch"} & set(self._options):
            return GitEffect(True)
        if command in ("am", "apply"):
            is_own = all(self._is_path(word) for word in (*self._plain, *self._paths))
            return GitEffect(True) if is_own else GitEffect(False, "" if "--stat" in self._options else "pulled")
        if command == "restore" or (command == "checkout" and self._paths):
            return self._files()
        if any((word == "-x" and command == "rebase") or word.startswith("--exec") for word in self._options):
            return GitEffect(False)
        if command in ("merge", "rebase", "cherry-pick"):
            is_own = all(self._is_own_revision(word) for word in (*self._plain, *self._values(("--onto",))))
            return GitEffect(is_own, "" if is_own else "pulled")
        created = self._values(("-b", "-B", "-c", "-C", "--orphan"))
        targets = [word for word in self._plain if word not in created]
        if not all(self._is_own_revision(word) for word in targets[:1]):
            return GitEffect(False, "pulled" if command == "reset" else "detour")
        if command == "reset":
            is_hard = "--hard" in self._options
            return GitEffect(True, "reset" if is_hard and targets else "", next(iter(targets), ""))
        if created or not targets:
            return GitEffect(True)
        if command == "checkout" and (
            len(targets) > 1 or (_FILE.fullmatch(targets[0]) and not self._is_version(targets[0]))
        ):
            return GitEffect(True, restored_paths=targets if _FILE.fullmatch(targets[0]) else targets[1:])
        return GitEffect(True, "switched", targets[0])

    @staticmethod
    def _is_version(word: str) -> bool:
        return re.fullmatch(r"v?\d[\w.-]*|[\w-]+/v?\d[\w.-]*", word) is not None

    def _files(self) -> GitEffect:
        sources = self._values(("-s", "--source")) if self._command == "restore" else self._plain
        sources = [*sources, *(word.partition("=")[2] for word in self._options if word.startswith("--source="))]
        paths = self._paths or (
            [word for word in self._plain if word not in sources] if self._command == "restore" else []
        )
        if all(self._is_own_revision(word) for word in sources):
            return GitEffect(True, restored_paths=list(paths))
        whole = any(path in (".", "./", ":/") for path in paths) or not paths
        return GitEffect(False, "pulled" if whole else "", foreign_names={last_component(path) for path in paths})


def last_component(path: str) -> str:
    """Return the last component of a path."""
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]
