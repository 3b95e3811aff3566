"""Desktop notices: the system's own program gets the words as they are, and is not waited for."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from palazzo.features.hooks import toast

HOSTILE = 'Saved "$(touch /tmp/x)" & <b>`id`</b> \\ --help; rm -rf ~\nand more'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake program is a script")


def notices(directory: Path, does: str = "") -> dict[str, str]:
    """Put a notify-send on the path that writes down its arguments; return the environment to call it in."""
    program = directory / "notify-send"
    writes = f"open({str(directory / 'told')!r}, 'w').write(repr(sys.argv[1:]))"
    program.write_text(f"#!{sys.executable}\nimport sys, time\n{does}\n{writes}\n")
    program.chmod(0o755)
    return {"PATH": str(directory)}


def told(directory: Path) -> str:
    deadline = time.monotonic() + 20
    while not (directory / "told").exists() or not (directory / "told").read_text():
        assert time.monotonic() < deadline, "nothing was shown"
        time.sleep(0.01)
    return (directory / "told").read_text()


def test_the_words_are_an_argument_and_no_markup(tmp_path: Path) -> None:
    assert toast.show(HOSTILE, notices(tmp_path), "linux")
    escaped = HOSTILE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert told(tmp_path) == repr(["--app-name=Palazzo", "--", "Palazzo", escaped])


def test_nobody_waits_for_it(tmp_path: Path) -> None:
    variables = notices(tmp_path, f"while not __import__('os').path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)")
    assert toast.show("words", variables, "linux")
    assert not (tmp_path / "told").exists()
    (tmp_path / "go").touch()
    assert "words" in told(tmp_path)


@pytest.mark.parametrize("there", [True, False])
def test_without_the_program_nothing_is_shown(tmp_path: Path, there: bool) -> None:
    if there:  # it is no program that this system can run
        (tmp_path / "notify-send").write_bytes(b"\x00\x01")
        (tmp_path / "notify-send").chmod(0o755)
    assert not toast.show("words", {"PATH": str(tmp_path)}, "linux")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_the_words_are_never_a_part_of_a_script(platform: str) -> None:
    program, *arguments = toast.command(HOSTILE, platform)
    assert program in ("osascript", "powershell.exe")
    assert [one for one in arguments if "rm -rf" in one] == ([HOSTILE] if platform == "darwin" else [])
