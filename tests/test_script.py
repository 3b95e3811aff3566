"""The shell script that a wheel installs as `palazzo`: which Python it finds, and how it runs it.

The tests lay the script and the package out as installers do; `dev.py wheel` tests it as pip installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "packaging" / "palazzo"
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
SHELLS = [shell for shell in ("sh", "dash", "bash", "busybox") if shutil.which(shell)]
WITHOUT_SITE_PACKAGES = b"-I -S -E"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a wheel for Windows has an entry point in its place")


def lay_out(prefix: Path, python: bool = True, version: str = VERSION, packages: str = "site-packages") -> Path:
    """Install under `prefix`; return the script."""
    script = prefix / "bin" / "palazzo"
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SCRIPT, script)
    package = prefix / "lib" / version / packages / "palazzo"
    package.parent.mkdir(parents=True)
    package.symlink_to(ROOT / "src" / "palazzo")
    if python:
        told_by(prefix / "bin" / version)
    return script


def told_by(path: Path) -> None:
    """Put a Python at `path` that first says, on standard error, how it was started."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "{path.name}: $*" >&2\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)


def run(script: Path | str, *arguments: str, shell: str | None = None, **variables: str) -> tuple[int, str, str]:
    """Run the script; return its exit code, output and complaints. `python3` on the path has no Palazzo."""
    before = {"busybox": ["busybox", "sh"], None: []}.get(shell, [str(shell)])
    done = subprocess.run(
        [*before, str(script), *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PALAZZO_SERVICE": "off", **variables},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_is_run_by_the_python_beside_the_script(tmp_path: Path, shell: str) -> None:
    script = lay_out(tmp_path / "an env $(false) *")
    code, out, error = run(script, "--version", shell=shell)
    assert (code, out.split()[0]) == (0, "palazzo"), error
    assert error.startswith(f"{VERSION}: -P ")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("command", ["mcp", "hook"])
def test_what_hosts_run_gets_the_bare_standard_library(tmp_path: Path, shell: str, command: str) -> None:
    script = lay_out(tmp_path / "an env")
    _, _, error = run(script, command, "--palace", "", "two words", shell=shell)
    assert error.startswith(f"{VERSION}: -I -S -E ")
    assert f" {command} --palace  two words\n" in error


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_from_elsewhere_and_a_link_to_that_are_followed(tmp_path: Path, absolute: bool) -> None:
    script = lay_out(tmp_path / "pipx" / "venvs" / "palazzo")
    decoy = lay_out(tmp_path / "home", version="python3.99")  # an older installation, where the link lies
    decoy.unlink()
    decoy.symlink_to(script if absolute else os.path.relpath(script, decoy.parent))
    again = tmp_path / "again" / "palazzo"
    again.parent.mkdir()
    again.symlink_to(decoy if absolute else os.path.relpath(decoy, again.parent))
    for link in (decoy, again):
        code, out, error = run(link, "--version")
        assert (code, out.split()[0]) == (0, "palazzo"), error
        assert error.startswith(f"{VERSION}: ")


def test_a_linked_directory_of_programs_leads_to_the_real_one(tmp_path: Path) -> None:
    script = lay_out(tmp_path / "env")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "tools").symlink_to(script.parent)
    assert run(tmp_path / "elsewhere" / "tools" / "palazzo", "--version")[0] == 0


def test_it_is_found_on_the_path_and_beside_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = lay_out(tmp_path / "env")
    assert run("palazzo", "--version", PATH=f"{script.parent}:/usr/bin:/bin")[0] == 0
    monkeypatch.chdir(script.parent)
    assert run("./palazzo", "--version")[0] == 0
    assert run("palazzo", "--version", shell="sh")[0] == 0


@pytest.mark.parametrize("packages", ["site-packages", "dist-packages"])
def test_installed_for_one_user_it_is_run_by_the_python_of_that_version_on_the_path(
    tmp_path: Path, packages: str
) -> None:
    script = lay_out(tmp_path / ".local", python=False, packages=packages)
    told_by(script.with_name("python3"))  # another program's, of whatever version
    told_by(tmp_path / "python" / VERSION)
    code, out, error = run(script, "--version", PATH=f"{tmp_path / 'python'}:/usr/bin:/bin")
    assert (code, out.split()[0]) == (0, "palazzo"), error
    assert error.startswith(f"{VERSION}: -P ")


def test_of_several_pythons_the_newest_that_is_there_is_taken(tmp_path: Path) -> None:
    script = lay_out(tmp_path / ".local", python=False)
    lay_out(tmp_path / ".local", python=False, version="python3.10")
    lay_out(tmp_path / ".local", python=False, version="python3.99")
    told_by(tmp_path / "python" / "python3.10")
    told_by(tmp_path / "python" / VERSION)
    _, _, error = run(script, "--version", PATH=f"{tmp_path / 'python'}:/usr/bin:/bin")
    assert error.startswith(f"{VERSION}: -P ")


def test_for_one_user_of_macos_the_version_is_in_the_name_of_the_directory_above(tmp_path: Path) -> None:
    script = lay_out(tmp_path / "Library" / "Python" / VERSION.removeprefix("python"), python=False, version="python")
    told_by(tmp_path / "python" / VERSION)
    _, _, error = run(script, "--version", PATH=f"{tmp_path / 'python'}:/usr/bin:/bin")
    assert error.startswith(f"{VERSION}: -P ")


def test_where_the_package_is_not_beside_it_whichever_python_has_it_runs_it(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "palazzo"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    told_by(script.with_name("python3"))
    code, out, error = run(script, "--version", PYTHONPATH=str(ROOT / "src"))
    assert (code, out.split()[0]) == (0, "palazzo"), error


def test_where_no_python_has_it_that_is_said_and_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "palazzo"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    code, out, error = run(script, "--version")
    assert (code, out) == (1, "")
    assert error == (
        "palazzo: no Python was found that has the package 'palazzo'; install it again, with pip or pipx.\n"
    )


def test_nothing_where_one_stands_is_taken_for_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host starts it in a project, whose files are not to be run."""
    script = lay_out(tmp_path / "env")
    project = tmp_path / "project"
    project.mkdir()
    for name in ("json.py", "rich.py", "palazzo.py", "signal.py", "site.py"):
        (project / name).write_text("raise SystemExit('the project was run')\n")
    monkeypatch.chdir(project)
    for arguments in (["--version"], ["mcp", "--print-config", "zed"]):
        code, _, error = run(script, *arguments)
        assert code == 0, error


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_can_read_it(shell: str) -> None:
    before = ["busybox", "sh"] if shell == "busybox" else [shell]
    assert subprocess.run([*before, "-n", str(SCRIPT)], check=False).returncode == 0
    assert os.access(SCRIPT, os.X_OK)
