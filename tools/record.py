#!/usr/bin/env python3
"""Record the real program for the documentation: what is printed as text, an SVG that moves, and a still picture.

    python tools/record.py NAME… [--columns N]… [--out DIRECTORY]
    python tools/record.py --list
    python tools/record.py --draw FILE.cast…        only draw the pictures of recordings anew

Each recording is a script in `tools/recording/scripts.yaml`, run in a throw-away home with an invented project and
hand-written sessions (`sessions.yaml`). Nothing of this machine is read, and no network is used. Written are, for each
name and width, `NAME-COLUMNS.cast` (asciinema's format), `.svg`, and `-still.svg`; with resvg also `-still.png`. Times
in a recording are set, so that waiting is short. Needs what `requirements-docs.lock` lists; Linux and macOS.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import yaml  # noqa: E402
from tools.recording.cast import Cast, read_cast  # noqa: E402
from tools.recording.machine import make_machine  # noqa: E402
from tools.recording.picture import draw_animation, draw_still  # noqa: E402
from tools.recording.terminal import record_script, script_path  # noqa: E402

RECORDINGS = ROOT / "docs" / "recordings"
PYTHON = ROOT / ".venv" / "bin" / "python"
WIDTHS = (80, 120)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or draw what the arguments name."""
    scripts = yaml.safe_load(script_path().read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Record the real program for the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(scripts)}")
    parser.add_argument("--columns", type=int, action="append", help="the terminal's width; may be repeated [80, 120]")
    parser.add_argument("--out", type=Path, default=RECORDINGS, help="where the files go [docs/recordings]")
    parser.add_argument("--list", action="store_true", help="list the recordings")
    parser.add_argument("--draw", nargs="+", type=Path, default=[], metavar="FILE", help="draw existing recordings")
    parser.add_argument("--python", default=str(PYTHON), help="an interpreter with Palazzo's dependencies [.venv's]")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the program's source [this checkout's]")
    options = parser.parse_args(arguments)
    if options.list:
        print(*(f"{name:<14} {script['title']}" for name, script in scripts.items()), sep="\n")
    for path in options.draw:
        draw(read_cast(path), path.with_suffix(""))
    unknown = [name for name in options.names if name not in scripts]
    if unknown:
        parser.error(f"there is no recording {unknown[0]!r}; there are {', '.join(scripts)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        for columns in options.columns or scripts[name].get("columns", WIDTHS):
            with make_machine(options.python, options.source.resolve()) as machine:
                cast = record_script(scripts[name], scripts[name]["title"], machine, columns)
            path = options.out / f"{name}-{columns}"
            cast.write(path.with_suffix(".cast"))
            draw(cast, path)
            print(f"{path}: {cast.events[-1].at:.1f} s")
    return 0


def draw(cast: Cast, path: Path) -> None:
    """Write the pictures of a recording."""
    path.with_suffix(".svg").write_text(draw_animation(cast), encoding="utf-8")
    still = draw_still(cast)
    path.with_name(f"{path.name}-still.svg").write_text(still, encoding="utf-8")
    try:
        import resvg_py
    except ModuleNotFoundError:
        return
    picture = resvg_py.svg_to_bytes(svg_string=still, font_size=14, monospace_family="DejaVu Sans Mono")
    path.with_name(f"{path.name}-still.png").write_bytes(bytes(picture))


if __name__ == "__main__":
    sys.exit(main())
