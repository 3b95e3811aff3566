#!/usr/bin/env python3
"""The developer's commands, on any machine with Python and nothing else.

    python3 dev.py demo     install, make a palace from real transcripts and documents, print real hits
    python3 dev.py test     install, run the everyday tests
    python3 dev.py lint     formatting, lint rules and types
    python3 dev.py slow     the reliability suites, in the size that PALAZZO_RELIABILITY names
    python3 dev.py newest   the tests that depend on other packages, with the newest versions that are allowed
    python3 dev.py oldest   the same, with the oldest versions that are allowed
    python3 dev.py wheel    build the wheel, install it into a clean environment, run the main job and the MCP server
    python3 dev.py docs     build the site of docs/ into .scratch/site; a broken link or a load from elsewhere fails it

Standard library only: it makes `.venv` with the locked development dependencies, then runs things in it. `newest` and
`oldest` make environments of their own, on the newest and on the oldest Python of this machine; so does `docs`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
LOCK = ROOT / "requirements-dev.lock"
SCRATCH = ROOT / ".scratch"
OLDEST = (3, 11)
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The supported versions, oldest first."""


def main() -> int:
    """Run the command that is named on the line; return its exit code."""
    commands: dict[str, Callable[[], int]] = {
        "demo": demo, "test": test, "lint": lint, "slow": slow, "newest": newest, "oldest": oldest, "wheel": wheel,
        "docs": docs,
    }  # fmt: skip
    if sys.version_info < OLDEST:
        needed, found = ".".join(map(str, OLDEST)), sys.version.split()[0]
        print(f"Palazzo needs Python {needed} or later; this is {found}.", file=sys.stderr)
        return 2
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[sys.argv[1]]()


def demo() -> int:
    """Feed this repository's documents and captured Claude Code sessions to a palace, and search it."""
    install()
    palace = SCRATCH / "demo" / "palace.db"
    shutil.rmtree(palace.parent, ignore_errors=True)
    return main_job(tool(ENVIRONMENT, "palazzo"), palace)


def main_job(palazzo: Path, palace: Path) -> int:
    """Take in real input and print real hits."""
    inputs = [str(ROOT / "README.md"), str(ROOT / "docs"), str(ROOT / "tests" / "fixtures" / "claude-code")]
    steps = [
        ["mine", *inputs, "--wait"],
        ["search", "Which port does the deploy service use?", "--limit", "3"],
        ["search", "How do I check that nothing is missing from the archive?", "--limit", "2"],
        ["status"],
    ]
    steps.append(["service", "stop"])  # which a search has started, for the next one
    for step in steps:
        print(f"\n$ palazzo {' '.join(_quoted(word) for word in step)}", flush=True)
        code = run([str(palazzo), *step, "--palace", str(palace)], **apart_from_the_user(palace))
        if code:
            return code
    return 0


def apart_from_the_user(palace: Path) -> dict[str, str]:
    """Return variables by which all that Palazzo keeps is beside a palace that is made for a try.

    So the user's settings do not change what it shows, and the user's own Palazzo does not learn of the palace.
    """
    home = palace.parent / "home"
    homes = {
        "HOME": home, "APPDATA": home / "roaming", "LOCALAPPDATA": home / "local", "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state", "XDG_CACHE_HOME": home / "cache",
    }  # fmt: skip
    return {name: str(directory) for name, directory in homes.items()}


def test() -> int:
    """Run the everyday tests."""
    install()
    return run_everyday_tests(ENVIRONMENT, *sys.argv[2:])


def run_everyday_tests(environment: Path, *arguments: str) -> int:
    """Run the tests that are not slow in an environment, on several processes."""
    return run([python(environment), "-m", "pytest", "-m", "not slow", *side_by_side(), *arguments])


def side_by_side() -> list[str]:
    """Return the options by which several processes run tests; a process that is done takes over tests of another.

    Two for each core: half of the time a test waits for the disk or for another process.
    """
    return ["-n", str(min(MOST_WORKERS, 2 * (os.cpu_count() or 1))), "--dist", "worksteal"]


MOST_WORKERS = 8
"""Each takes some 400 MB."""
PROGRAMS = (
    *("tests/clients", "tests/end_to_end", "tests/faces/cli/test_mempalace_programs.py"),
    *("tests/sync/test_real_mempalace.py", "tests/sync/test_real_mempalace_tools.py"),
    *("tests/sync/stores/test_real_stores.py", "tests/faces/web/test_browser.py"),
)
"""Slow tests of agents, clients and browsers. They are large, and their hooks must be answered in time."""

ALONE = ("tests/network",)
"""Slow tests that watch the whole machine."""

PROPERTIES = (
    *(
        f"tests/derived/test_{name}.py"
        for name in ("acts", "anchoring", "cut_conversations", "documents", "rebuild", "tainting")
    ),
    *(
        "tests/sources/test_conformance.py",
        "tests/knowledge/test_arranging.py",
        "tests/index/test_search.py",
        "tests/test_undo.py",
    ),
)
"""Where properties are tried with a quarter of their examples every day (`tests/examples.py`)."""


def slow() -> int:
    """Run the suites that kill, fill, flip and race, those that take long, and properties with all their examples."""
    install()
    command = [python(ENVIRONMENT), "-m", "pytest", "-m", "slow", "-rs"]
    if sys.argv[2:]:
        return run([*command, *sys.argv[2:]])
    others = (f"--ignore={path}" for path in (*PROGRAMS, *ALONE))
    suites = run([*command, *side_by_side(), *others])
    examples = os.environ.get("PALAZZO_EXAMPLES", "1")
    properties = run([*command[:3], "-m", "not slow", *side_by_side(), *PROPERTIES], PALAZZO_EXAMPLES=examples)
    programs = run([*command, "-n", "auto", "--dist", "loadscope", *PROGRAMS])
    network = run([*command, *ALONE])
    return suites or properties or programs or network


DEPENDENT = (
    *("tests/index", "tests/store", "tests/archive/test_packing.py", "tests/mining/test_leaving_out.py"),
    *(f"tests/faces/mcp/test_{name}.py" for name in ("server", "http", "http_process", "stdio", "profiles_over_stdio")),
    *("tests/clients/test_sdk_client.py", "tests/clients/test_other_clients.py", "tests/faces/web/test_pages.py"),
    *("tests/faces/cli/test_help.py", "tests/faces/cli/test_search.py", "tests/faces/cli/test_exit_codes.py"),
    *("tests/sync/test_sealing.py", "tests/sources/test_converted.py", "tests/features/mining/test_watching.py"),
    *("tests/daemon/test_service.py", "tests/test_palace.py", "tests/test_settings.py"),
)
"""Everyday tests that depend on other packages: SQLite, vectors, compression, ignore rules, MCP, pages, command line,
conversion, sealing, watching."""
TEST_TOOLS = ("pytest", "hypothesis")
"""Prefixes of the development dependencies that tests import."""


def newest() -> int:
    """Run these tests with the newest allowed versions on the newest Python; then check that nothing is sent."""
    environment = ROOT / ".venv-newest"
    install_other(environment, pythons()[-1], ["--upgrade", "--upgrade-strategy", "eager"])
    if sys.argv[2:]:
        return run_everyday_tests(environment, *sys.argv[2:])
    code = run_everyday_tests(environment, *DEPENDENT)
    return run([python(environment), "-m", "pytest", "-m", "slow", "-rs", "tests/network"]) or code


def oldest() -> int:
    """Run these tests with the lower bounds of pyproject.toml on the oldest Python."""
    environment, constraints = ROOT / ".venv-oldest", SCRATCH / "oldest.txt"
    SCRATCH.mkdir(exist_ok=True)
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in lower_bounds().items()))
    install_other(environment, pythons()[0], ["--constraint", str(constraints)])
    return run_everyday_tests(environment, *(sys.argv[2:] or DEPENDENT))


def lower_bounds() -> dict[str, str]:
    """Return the oldest allowed version of each package that Palazzo and its extras for users need."""
    extras = project()["optional-dependencies"]
    requirements = [*project()["dependencies"], *extras["documents"], *extras["sync"]]
    bounds = [re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in requirements]
    if None in bounds:
        raise SystemExit("pyproject.toml: each dependency must have a lower bound, 'name>=version', and nothing else.")
    return {bound[1]: bound[2] for bound in bounds if bound is not None}


def project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    import tomllib  # not at the top: an older Python lacks it, and must still say which version is needed

    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def pythons() -> list[str]:
    """Return this machine's interpreters of supported versions, on PATH or from pyenv, oldest first."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    interpreters = {".".join(map(str, sys.version_info[:2])): sys.executable}
    for version in PYTHONS:
        on_path = shutil.which(f"python{version}")
        for interpreter in [on_path, *sorted(map(str, pyenv.glob(f"{version}*/bin/python{version}")))]:
            if interpreter and subprocess.run([interpreter, "-c", "import venv"], capture_output=True).returncode == 0:
                interpreters.setdefault(version, interpreter)
    return [interpreters[version] for version in PYTHONS if version in interpreters]


def install_other(environment: Path, interpreter: str, options: list[str]) -> None:
    """Create an environment anew with an interpreter and options of pip; print the versions that it holds."""
    print(f"Installing into {environment.name}, with {interpreter} …", flush=True)
    code = run([interpreter, "-m", "venv", "--clear", str(environment)])
    pip = [python(environment), "-m", "pip", "--disable-pip-version-check"]
    tools = [name for name in project()["optional-dependencies"]["dev"] if name.startswith(TEST_TOOLS)]
    code = code or run([*pip, "install", "--quiet", *options, "--editable", f"{ROOT}[documents,sync]", *tools])
    code = code or run([*pip, "list", "--format", "freeze"])
    if code:
        raise SystemExit(f"The installation failed (pip ended with {code}); its message stands above.")


def lint() -> int:
    """Check formatting, lint rules and types; run all three even if one fails."""
    install()
    interpreter = python(ENVIRONMENT)
    checks = [["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"]]
    return max(run([interpreter, "-m", *check]) for check in checks)


def wheel() -> int:
    """Build the wheel and run the main job and the MCP server from a clean environment that holds nothing else."""
    install()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        code = run([python(ENVIRONMENT), "-m", "build", "--wheel", "--outdir", str(scratch), str(ROOT)])
        if code:
            return code
        (built,) = scratch.glob("*.whl")
        clean = scratch / "a clean environment"
        venv.create(clean, with_pip=True)
        pip = [python(clean), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        palazzo, palace = tool(clean, "palazzo"), scratch / "palace" / "palace.db"
        code = run([*pip, str(built)]) or main_job(palazzo, palace)
        if code or sys.platform == "win32":
            return code
        apart = scratch / "a prefix"
        code = run([*pip, "--no-deps", "--ignore-installed", "--prefix", str(apart), str(built)])
        return code or starts(palazzo, apart / "bin" / "palazzo", palace)


def starts(palazzo: Path, apart: Path, palace: Path) -> int:
    """Start the installed script as pipx and hosts do: through a link, from a prefix of its own, as an MCP server."""
    link = palace.parent / "linked"
    link.symlink_to(palazzo)
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = apart_from_the_user(palace)
    code = run([str(apart), "--version"], PATH=beside, **own) or run([str(link), "--version"], **own)
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "dev.py", "version": "1"}}
    asked: list[dict[str, object]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": "search", "method": "tools/call", "params": {"name": "search", "arguments": {"query": "deploy port"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
    for service in ("on", "off"):
        print(f"\n$ palazzo mcp, service {service}", flush=True)
        server = subprocess.Popen(
            [str(link), "mcp", "--palace", str(palace)], env={**os.environ, **own, "PALAZZO_SERVICE": service},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(lines)
        server.stdin.flush()
        told = [json.loads(server.stdout.readline()) for _ in range(2)]
        rest, _ = server.communicate()
        ended_well = server.returncode == 0 and not rest and [one["id"] for one in told] == [0, "search"]
        print("it found what it was asked for" if ended_well and "8443" in str(told[1]) else f"FAILED: {told} {rest}")
        code = code or int(not ended_well)
    return run([str(palazzo), "service", "stop", "--palace", str(palace)], **own) or code


def docs() -> int:
    """Build the site strictly, in an environment of its own; then no network is needed."""
    environment = ROOT / ".venv-docs"
    install_locked(environment, DOCS_LOCK)
    site = SCRATCH / "site"
    command = [python(environment), "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)]
    code = run(command, NO_MKDOCS_2_WARNING="1")
    foreign = [] if code else list(foreign_loads(site))
    print(
        *foreign, f"The site is in {site}." if not (code or foreign) else "The site is not as it should be.", sep="\n"
    )
    return code or int(bool(foreign))


DOCS_LOCK = ROOT / "requirements-docs.lock"
FOREIGN = re.compile(
    r"<(?:script|img|iframe|source|video)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s>]+"
    r"|<link\b(?![^>]*\brel=[\"']?(?:canonical|next|prev))[^>]*\bhref=[\"']?(?:https?:)?//[^\s>]+"
    r"|@import\s+url\([\"']?(?:https?:)?//[^)]+"
)
"""What makes a browser load something from another host."""


def foreign_loads(site: Path) -> Iterator[str]:
    """Yield the places of the site by which a browser would load something from another host."""
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for load in FOREIGN.findall(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(site)}: {load}"


def install_locked(environment: Path, lock: Path) -> None:
    """Make an environment with the packages that a lock lists, unless it is up to date."""
    stamp, wanted = environment / "installed", hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print(f"Installing into {environment.name} …", flush=True)
    venv.create(environment, with_pip=True, clear=True)
    pip = [python(environment), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if code := run([*pip, "--requirement", str(lock)]):
        raise SystemExit(f"The installation failed (pip ended with {code}); its message stands above.")
    stamp.write_text(wanted)


def install() -> None:
    """Make `.venv` with the locked dependencies and this checkout, unless it is up to date."""
    stamp = ENVIRONMENT / "installed"
    wanted = hashlib.sha256(LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print("Installing into .venv …", flush=True)
    if not Path(python(ENVIRONMENT)).exists():
        venv.create(ENVIRONMENT, with_pip=True)
    elif not tool(ENVIRONMENT, "pip").exists():  # `uv sync` makes an environment without pip
        run([python(ENVIRONMENT), "-m", "ensurepip", "--default-pip"])
    command = [python(ENVIRONMENT), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    code = run([*command, "--constraint", str(LOCK), "--editable", f"{ROOT}[dev,documents,sync,team]"])
    if code:
        raise SystemExit(f"The installation failed (pip ended with {code}); its message stands above.")
    stamp.write_text(wanted)


def run(command: list[str], **variables: str) -> int:
    """Run a command in the checkout with this terminal; return its exit code."""
    environment = {**os.environ, "PIP_NO_INPUT": "1", **variables}
    return subprocess.run(command, cwd=ROOT, check=False, env=environment).returncode


def python(environment: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return str(tool(environment, "python"))


def tool(environment: Path, name: str) -> Path:
    """Return a program of a virtual environment."""
    if sys.platform == "win32":
        return environment / "Scripts" / f"{name}.exe"
    return environment / "bin" / name


def _quoted(word: str) -> str:
    shown = word.replace(f"{ROOT}{os.sep}", "")
    return f'"{shown}"' if " " in shown else shown


if __name__ == "__main__":
    sys.exit(main())
