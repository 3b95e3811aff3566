"""Rules for package managers and build systems: which of their commands are local. Tables and small rules; pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from palazzo.security.known_programs import TESTS_AND_LINTERS, is_build_task, is_fetching_task
from palazzo.text.lazy_patterns import make_regex


class ManagerVerdict(NamedTuple):
    """The judgement of a manager's command: local, foreign, or like the program that it `runs`."""

    is_local: bool
    pulls: bool = False
    runs: list[str] = []  # noqa: RUF012 - read only


_LOCAL, _FOREIGN = ManagerVerdict(True), ManagerVerdict(False)


def _plain(arguments: Sequence[str], with_value: Sequence[str] = ()) -> list[str]:
    plain: list[str] = []
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in with_value
        else:
            plain.append(word)
    return plain


def _by_command(
    *commands: str, values: Sequence[str] = (), options: Sequence[str] = ()
) -> Callable[[list[str]], ManagerVerdict]:
    """Return a rule: local if the first plain word is one of the commands, or an option is one of `options`."""

    def rule(arguments: list[str]) -> ManagerVerdict:
        plain = _plain(arguments, values)
        if set(options) & set(arguments):
            return _LOCAL
        return ManagerVerdict(bool(plain) and plain[0] in commands)

    return rule


_NODE_VALUES = (
    "-C",
    "--dir",
    "--filter",
    "-F",
    "--prefix",
    "--cwd",
    "-w",
    "--workspace",
    "--reporter-value",
    "--scope",
)
_NODE_QUIET = frozenset(
    (
        "test",
        "t",
        "tst",
        "version",
        "prefix",
        "root",
        "bin",
        "init",
        "pkg",
        "config",
        "get",
        "set",
        "workspaces",
    )
)


def _node(arguments: list[str]) -> ManagerVerdict:
    """Judge npm, pnpm, yarn and bun: local for scripts whose names say that they build or test, and for known tools."""
    if "--dry-run" in arguments and "pack" in arguments:
        return _LOCAL
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word in _NODE_VALUES and rest and not (word == "-w" and rest[0] in ("run", "test", "exec", "lint", "build")):
            rest.pop(0)
    if rest[:1] == ["workspace"] and len(rest) > 2:
        rest = rest[2:]
    if rest[:1] == ["workspaces"] and "run" in rest:
        rest = rest[rest.index("run") :]
    if rest[:1] == ["foreach"] or rest[:2] == ["workspaces", "foreach"]:
        rest = rest[rest.index("run") :] if "run" in rest else []
    command, *rest_after_command = rest or [""]
    plain = _plain(rest_after_command, (*_NODE_VALUES,))
    if command in ("run", "run-script", "rum"):
        if not plain:
            return _LOCAL
        return ManagerVerdict(is_build_task(plain[0]), is_fetching_task(plain[0]))
    if command in ("exec", "x"):
        rest_after_command = [word for word in rest_after_command if word != "--"]
        while (
            rest_after_command
            and rest_after_command[0].startswith("-")
            and rest_after_command[0] not in ("-y", "--yes", "-p", "--package", "-c")
        ):
            rest_after_command.pop(0)
        return (
            ManagerVerdict(False, runs=rest_after_command)
            if rest_after_command and not rest_after_command[0].startswith("-") and "@" not in rest_after_command[0][1:]
            else _FOREIGN
        )
    if command in _NODE_QUIET:
        return _LOCAL
    if command in TESTS_AND_LINTERS:
        return ManagerVerdict(False, runs=rest)
    return ManagerVerdict(
        bool(command)
        and is_build_task(command)
        and command
        not in (
            "list",
            "info",
            "show",
            "audit",
            "docs",
            "help",
            "package",
            "types",
            "ci",
            "install",
            "link",
            "licenses",
        )
    )


def _npm(arguments: list[str]) -> ManagerVerdict:
    """Judge npm: it runs scripts only by `run`."""
    verdict = _node(arguments)
    command = next(iter(_plain(arguments, _NODE_VALUES)), "")
    if "--dry-run" in arguments and command == "publish":
        return _LOCAL
    return verdict if command in ("run", "run-script", "exec", "x", "pack") or command in _NODE_QUIET else _FOREIGN


def _cargo(arguments: list[str]) -> ManagerVerdict:
    arguments = [word for word in arguments if not word.startswith("+")]
    plain = _plain(
        arguments,
        ("-p", "--package", "--bin", "--example", "--features", "--target", "-j", "--manifest-path", "--color"),
    )
    command = next(iter(plain), "")
    if command in ("run", "r"):
        own = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
        names = [word for option, word in itertools.pairwise(arguments) if option in ("--bin", "--example", "-p")]
        harmless = {"--help", "-h", "--version", "-V", "help"} & set(own)
        words = [word for word in own if not word.startswith("-")]
        return ManagerVerdict(
            bool(harmless) or (bool(words or names) and all(is_build_task(word) for word in (*words, *names)))
        )
    if command == "xtask":
        return ManagerVerdict(all(is_build_task(word) for word in plain[1:]))
    return ManagerVerdict(
        command
        in (
            "build",
            "b",
            "check",
            "c",
            "test",
            "t",
            "nextest",
            "clippy",
            "fmt",
            "bench",
            "doc",
            "rustdoc",
            "clean",
            "fix",
            "llvm-cov",
            "tarpaulin",
            "hack",
            "miri",
            "machete",
            "udeps",
            "rustc",
            "pkgid",
            "verify-project",
            "locate-project",
            "expand",
            "criterion",
            "insta",
            "make",
            "package",
            "init",
            "new",
            "sort",
            "careful",
            "mutants",
            "fuzz",
            "asm",
            "bloat",
            "size",
        )
    )


def _go(arguments: list[str]) -> ManagerVerdict:
    plain = _plain(
        arguments, ("-C", "-run", "-bench", "-count", "-tags", "-o", "-timeout", "-coverprofile", "-ldflags", "-p")
    )
    command, *rest = plain or [""]
    if command == "run":
        harmless = {"--help", "-h", "-help", "--version", "-version"} & set(arguments)
        last = [re.split(r"[/\\]", word)[-1].removesuffix(".go") for word in rest[:1]]
        return ManagerVerdict(bool(harmless) or (bool(last) and is_build_task(last[0]) and "@" not in rest[0]))
    if command == "list":
        return ManagerVerdict(
            "-m" not in arguments and "-deps" not in arguments and all(word.startswith(".") for word in rest)
        )
    if command == "doc":
        return ManagerVerdict(bool(rest) and all(word.startswith("./") for word in rest))
    if command == "mod":
        return ManagerVerdict(rest[:1] in (["verify"], ["edit"], ["init"]))
    if command in ("tool",):
        return ManagerVerdict(
            rest[:1] in (["cover"], ["vet"], ["compile"], ["asm"], ["nm"], ["objdump"], ["trace"], ["pprof"], ["fix"])
        )
    if command == "env":
        return _LOCAL
    return ManagerVerdict(command in ("build", "test", "vet", "fmt", "generate", "fix", "version", "clean", "work"))


_MAVEN = make_regex(
    r"(?:clean|validate|compile|test-compile|test|package|verify|install|integration-test|process-\w+|generate-\w+|checkstyle:\w+|spotless:\w+|jacoco:\w+|surefire:test|failsafe:\w+|pmd:\w+|spotbugs:\w+|exec:noop|javadoc:\w+|formatter:\w+|fmt:\w+|site)"
)


def _maven(arguments: list[str]) -> ManagerVerdict:
    goals = _plain(arguments, ("-pl", "--projects", "-f", "-P", "-T", "-rf", "-s"))
    return ManagerVerdict(bool(goals) and all(_MAVEN.fullmatch(goal) for goal in goals) and "-U" not in arguments)


def _gradle(arguments: list[str]) -> ManagerVerdict:
    tasks = _plain(arguments, ("-p", "--tests", "-x", "-b", "-P", "--exclude-task"))
    tasks = [task.rpartition(":")[2] for task in tasks]
    denied_options = {"--refresh-dependencies", "-I", "--init-script", "--scan"} & set(arguments)
    return ManagerVerdict(not denied_options and bool(tasks) and all(is_build_task(task) for task in tasks))


def _dotnet(arguments: list[str]) -> ManagerVerdict:
    plain = _plain(arguments, ("-c", "-f", "--filter", "--logger", "-v", "-o", "-p"))
    if plain[:1] == ["ef"]:
        return ManagerVerdict(plain[1:3] in (["migrations", "list"], ["migrations", "add"], ["migrations", "script"]))
    return ManagerVerdict(
        plain[:1] in (["build"], ["test"], ["format"], ["clean"], ["publish"], ["msbuild"], ["vstest"], ["pack"])
    )


def _swift(arguments: list[str]) -> ManagerVerdict:
    return ManagerVerdict(_plain(arguments)[:1] in (["build"], ["test"], ["format"]))


def _bazel(arguments: list[str]) -> ManagerVerdict:
    plain = _plain(arguments)
    targets = plain[1:]
    return ManagerVerdict(
        plain[:1] in (["build"], ["test"], ["coverage"], ["query"], ["clean"], ["info"])
        and not any(word.startswith("@") for word in targets)
    )


def _mix(arguments: list[str]) -> ManagerVerdict:
    return ManagerVerdict(
        next(iter(_plain(arguments)), "test")
        in (
            "test",
            "compile",
            "format",
            "credo",
            "dialyzer",
            "ecto.migrate",
            "ecto.migrations",
            "phx.routes",
            "docs",
            "clean",
            "coveralls",
            "xref",
            "ecto.gen.migration",
            "sobelow",
        )
    )


def _uv(arguments: list[str]) -> ManagerVerdict:
    return ManagerVerdict(
        _plain(arguments)[:1] in (["version"], ["build"], ["format"], ["venv"])
        or _plain(arguments)[:2] in (["python", "list"], ["python", "find"])
    )


def _deno(arguments: list[str]) -> ManagerVerdict:
    plain = _plain(arguments, ("--config", "-c", "--filter"))
    if plain[:1] == ["task"]:
        return ManagerVerdict(all(is_build_task(word) for word in plain[1:2]))
    remote = "-A" in arguments or "--allow-net" in arguments or "--reload" in arguments
    return ManagerVerdict(
        plain[:1] in (["test"], ["lint"], ["fmt"], ["check"], ["bench"], ["coverage"], ["doc"])
        and not ("--reload" in arguments and remote)
    )


def _pip(arguments: list[str]) -> ManagerVerdict:
    return ManagerVerdict(
        _plain(arguments)[:1] in (["check"], ["cache"], ["--version"]) and _plain(arguments)[:1] == ["check"]
    )


def _monorepo(arguments: list[str]) -> ManagerVerdict:
    """Judge turbo, nx and lerna by the names of their tasks."""
    plain = _plain(arguments, ("--filter", "-p", "--projects", "-t", "--target", "--targets", "--scope", "-c"))
    targets = [value for option, value in itertools.pairwise(arguments) if option in ("-t", "--target", "--targets")]
    targets += [word.partition("=")[2] for word in arguments if word.startswith(("--target", "-t="))]
    names = [word for word in plain if word not in ("run", "run-many", "affected")]
    names = targets or [name.rpartition(":")[2] for name in names[:1]]
    return ManagerVerdict(bool(names) and all(is_build_task(name) for name in names))


def _composer(arguments: list[str]) -> ManagerVerdict:
    plain = _plain(arguments)
    if plain[:1] in (["run"], ["run-script"]):
        plain = plain[1:]
    return ManagerVerdict(
        plain[:1] in (["validate"], ["dump-autoload"], ["dumpautoload"])
        or (
            bool(plain)
            and is_build_task(plain[0])
            and plain[0] not in ("show", "info", "audit", "licenses", "help", "list")
        )
    )


def _bundle(arguments: list[str]) -> ManagerVerdict:
    return ManagerVerdict(_plain(arguments)[:1] in (["check"], ["config"], ["platform"], ["version"]))


MANAGERS: dict[str, Callable[[list[str]], ManagerVerdict]] = {
    "npm": _npm,
    "pnpm": _node,
    "yarn": _node,
    "bun": _node,
    "cargo": _cargo,
    "go": _go,
    "mvn": _maven,
    "mvnw": _maven,
    "gradle": _gradle,
    "gradlew": _gradle,
    "dotnet": _dotnet,
    "swift": _swift,
    "bazel": _bazel,
    "bazelisk": _bazel,
    "mix": _mix,
    "uv": _uv,
    "deno": _deno,
    "pip": _pip,
    "pip3": _pip,
    "composer": _composer,
    "bundle": _bundle,
    "turbo": _monorepo,
    "nx": _monorepo,
    "lerna": _monorepo,
    "poetry": _by_command("check", "version", "build", "env", "config"),
    "pdm": _by_command("build", "info"),
    "rye": _by_command("test", "lint", "fmt", "build", "version"),
    "hatch": _by_command("test", "fmt", "build", "version", "env"),
    "pipenv": _by_command("--venv"),
    "zig": _by_command("build", "test", "fmt", "version", "build-exe", "build-lib", "ast-check"),
    "sbt": _by_command(
        "test", "compile", "clean", "package", "testOnly", "scalafmt", "scalafmtCheck", "scalafmtAll", "Test/compile"
    ),
    "mill": _by_command("test", "compile", "__.test", "__.compile"),
    "lein": _by_command("test", "check", "compile", "clean", "eastwood"),
    "stack": _by_command("build", "test", "bench", "clean"),
    "cabal": _by_command("build", "test", "bench", "check", "clean", "haddock"),
    "dune": _by_command("build", "test", "runtest", "fmt", "clean", "promote"),
    "rebar3": _by_command("ct", "eunit", "compile", "dialyzer", "xref", "fmt", "lint"),
    "flutter": _by_command("test", "analyze", "build", "format", "clean", "gen-l10n", "drive"),
    "dart": _by_command("test", "analyze", "format", "compile", "fix"),
    "gleam": _by_command("test", "build", "check", "format"),
    "nimble": _by_command("test", "build", "check"),
    "shards": _by_command("check", "build"),
    "crystal": _by_command("spec", "build", "tool"),
    "forge": _by_command("test", "build", "fmt", "coverage", "snapshot", "inspect", "clean"),
    "hardhat": _by_command("test", "compile", "coverage", "size-contracts"),
    "anchor": _by_command("test", "build"),
    "elm": _by_command("make"),
    "ng": _by_command("test", "build", "lint", "e2e", "generate", "g"),
    "vue-cli-service": _by_command("build", "lint", "test:unit"),
    "next": _by_command("build", "lint", "info"),
    "astro": _by_command("build", "check"),
    "nuxt": _by_command("build", "typecheck", "generate"),
    "remix": _by_command("build", "routes", "vite:build"),
    "expo": _by_command("lint"),
    "react-scripts": _by_command("test", "build"),
    "rust-analyzer": _by_command("diagnostics"),
    "wasm-pack": _by_command("build", "test"),
    "maturin": _by_command("build"),
    "pod": _by_command("--version"),
    "fastlane": _by_command("test", "tests", "lint"),
    "tuist": _by_command("build", "test"),
    "earthly": _by_command("+test", "+lint", "+build"),
    "pants": _by_command("test", "check", "lint", "fmt"),
    "buck2": _by_command("build", "test"),
    "west": _by_command("build"),
    "idf.py": _by_command("build", "size"),
    "pio": _by_command("test", "check"),
    "platformio": _by_command("test", "check"),
    "arduino-cli": _by_command("compile"),
    "sphinx-build": lambda _: _LOCAL,
    "jekyll": _by_command("build", "doctor"),
}
"""The rule for each package manager's commands, by its name."""
