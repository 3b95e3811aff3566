"""Rules for version control, containers and clusters: the few commands that print only the project's content. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.security import known_programs as known
from palazzo.security.build_programs import judge_tool_run
from palazzo.security.git_commands import judge_git
from palazzo.security.loopback import names_foreign_address
from palazzo.security.program_arguments import FOREIGN, PURE_OUTCOME, Outcome, plain_words, program_name, values_behind

if TYPE_CHECKING:
    from palazzo.security.command_trust import Shell


def git_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge git, and note its effect on the working tree."""
    effect = judge_git(arguments, shell.is_own, shell.own)
    command = next((word for word in arguments if not word.startswith("-")), "")
    if (
        command in ("am", "apply")
        and has_input
        and not [word for word in arguments if not word.startswith("-")][1:]
        and not shell.effect.is_local
    ):
        effect.is_local, effect.tree = False, "pulled"
    shell.note_git(effect)
    if command in ("diff", "show", "log", "stash", "grep", "blame", "format-patch", "cherry-pick", "status", "commit"):
        shell.effect.shows_diff = True
    lists = (
        command in ("ls-files", "grep") and (command == "ls-files" or "-l" in arguments)
    ) or "--name-only" in arguments
    shell.effect.runs.update({"git"} | ({"hooks"} if command in _RUNS_HOOKS else set()))
    reads = command not in (
        "branch",
        "status",
        "describe",
        "rev-list",
        "merge-base",
        "push",
        "remote",
        "config",
        "init",
        "add",
        "rev-parse",
        "version",
        "tag",
        "fetch",
        "checkout",
        "switch",
        "restore",
        "stash",
        "reset",
        "worktree",
    )
    return Outcome(effect.is_local, reads and effect.is_local, lists and effect.is_local)


_RUNS_HOOKS = frozenset(
    ("commit", "push", "merge", "rebase", "checkout", "switch", "am", "cherry-pick", "pull", "clone", "gc")
)


def mercurial_command(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge hg, svn and jj: local for commands that contact no server."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    commands = {
        "hg": "status st diff log annotate blame cat commit ci add summary heads branches branch bookmarks files id"
        " identify update up parents root resolve shelve",
        "svn": "status st diff info add revert cleanup",
        "jj": "status st log diff show new describe desc commit squash bookmark op evolog abandon rebase edit split",
    }[name].split()
    if command not in commands or any(
        names_foreign_address(word) or word in ("-R", "--repository") for word in arguments
    ):
        shell.effect.pulls |= command in ("pull", "update", "up", "git", "switch", "merge", "import", "clone")
        return FOREIGN
    return Outcome(not any("@" in word and name == "jj" for word in arguments[1:] if "@origin" in word))


def compose_program(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge docker compose: local for the state of the project's services, and for tests that run in them."""
    if name in ("docker", "podman"):
        if arguments[:1] != ["compose"]:
            return FOREIGN
        arguments = arguments[1:]
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if (
            word in ("-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory")
            and rest
            and not shell.is_own(rest.pop(0))
        ):
            return FOREIGN
    command, arguments = next(iter(rest), ""), rest[1:]
    if command in ("ps", "config", "down", "stop", "restart", "start", "ls", "port", "kill", "rm", "version"):
        return Outcome(True)
    if command == "up":
        is_quiet = any(word in ("-d", "--detach", "--wait") for word in arguments) and values_behind(
            arguments, ("--pull",)
        ) in ([], ["never"])
        return Outcome(is_quiet and "--pull=always" not in arguments)
    if command in ("exec", "run"):
        while arguments and arguments[0].startswith("-"):
            word = arguments.pop(0)
            if word in ("-e", "--env", "-u", "--user", "-w", "--workdir", "--index", "--name") and arguments:
                arguments.pop(0)
        inner = arguments[1:]
        is_test = bool(inner) and (
            program_name(inner[0])
            in (
                *known.TESTS_AND_LINTERS,
                "python",
                "bundle",
                "npm",
                "pnpm",
                "yarn",
                "go",
                "cargo",
                "php",
                "make",
                "bin/rails",
                "rails",
                "mix",
                "./manage.py",
            )
        )
        return shell.judge(inner, False, False) if is_test and "pip" not in inner else FOREIGN
    return FOREIGN


CLUSTER = {
    "helm": ("template", "lint", "package", "version", "create", "schema"),
    "kustomize": ("build", "edit", "version"),
    "terraform": ("fmt", "validate", "version", "graph"),
    "tofu": ("fmt", "validate", "version", "graph"),
    "terragrunt": ("hclfmt", "hclvalidate"),
    "packer": ("fmt", "validate"),
    "alembic": (
        "history",
        "heads",
        "current",
        "branches",
        "check",
        "revision",
        "upgrade",
        "downgrade",
        "show",
        "stamp",
    ),
    "prisma": ("validate", "format", "generate", "version"),
    "drizzle-kit": ("generate", "check"),
    "knex": ("migrate:list", "migrate:make"),
    "typeorm": ("migration:show", "migration:generate"),
    "pre-commit": ("run", "validate-config", "install", "uninstall", "validate-manifest"),
    "prek": ("run", "validate-config"),
    "lefthook": ("run", "validate"),
    "flask": ("routes", "db"),
    "sqlx": ("prepare",),
    "changeset": ("status", "version", "add"),
    "husky": ("install",),
    "rustup": ("show", "which"),
    "nvm": ("current",),
    "pyenv": ("version", "versions", "which", "local"),
    "rbenv": ("version", "versions", "which", "local"),
    "mise": ("current", "ls"),
    "docker-compose": (),
    "semantic-release": (),
    "buildifier": ("",),
    "sam": ("validate", "build"),
    "cdk": ("synth", "ls"),
    "wrangler": (),
    "skaffold": ("diagnose",),
    "act": (),
}
"""Programs with some commands that read only the project's own files."""


def judge_few_commands(
    shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool
) -> Outcome:
    """Judge a program of which some commands only read the project's own files."""
    command = next((word for word in plain_words(arguments, frozenset(("-c", "--config", "-n", "-f"))) if word), "")
    if command not in CLUSTER[name]:
        return FOREIGN
    if name == "helm" and command == "template":
        charts = [
            word
            for word in plain_words(arguments, frozenset(("-f", "--values", "--set", "-n", "--namespace")))[1:]
            if "/" in word
        ]
        if not charts or not all(
            word.startswith(("./", "../", "charts/", "deploy/", "helm/", "chart/")) for word in charts
        ):
            return FOREIGN
        if any(word in ("--repo", "--dependency-update") for word in arguments):
            return FOREIGN
    return judge_tool_run(shell, arguments)


def kubectl_command(shell: Shell, name: str, arguments: list[str], has_input: bool, input_lists_files: bool) -> Outcome:
    """Judge kubectl: local if it renders the project's own files."""
    if arguments[:1] == ["kustomize"]:
        return (
            judge_tool_run(shell, arguments)
            if not any("//" in word or "?ref" in word for word in arguments)
            else FOREIGN
        )
    if "--dry-run=client" in arguments and arguments[:1] in (["apply"], ["create"]):
        return judge_tool_run(shell, arguments)
    return PURE_OUTCOME if arguments[:2] == ["version", "--client"] else FOREIGN
