"""Build the viewer's scripts: TypeScript in `faces/web/scripts/` becomes the files in `faces/web/static/`.

    python tools/make_viewer.py              check types, and build
    python tools/make_viewer.py --check      fail if a built file is not the one that its sources give
    python tools/make_viewer.py --rebuild    the same, and build again to compare every byte

npm installs TypeScript and esbuild once, in the versions of `scripts/package.json`, into ~/.cache/palazzo-tests or
PALAZZO_NPM_CACHE. `--check` needs neither: each built file names the digest of the sources that it was built from.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WEB = Path(__file__).resolve().parents[1] / "src" / "palazzo" / "faces" / "web"
SCRIPTS, STATIC = WEB / "scripts", WEB / "static"
ENTRIES = ("viewer", "layout", "exported")
"""The modules that pages, workers and exported files load; what they import is built into them."""


def main(arguments: list[str] | None = None) -> int:
    """Build or check; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rebuild", action="store_true")
    options = parser.parse_args(arguments)
    stale = stale_files()
    if options.check or options.rebuild:
        if not stale and options.rebuild:
            with tempfile.TemporaryDirectory() as place:
                build(Path(place))
                stale = [
                    name for name in built_names() if (Path(place) / name).read_bytes() != (STATIC / name).read_bytes()
                ]
        for name in stale:
            print(f"{name} is not what its sources give: run 'python tools/make_viewer.py'.", file=sys.stderr)
        return 1 if stale else 0
    build(STATIC)
    return 0


def built_names() -> list[str]:
    """Return the names of the built files."""
    return [f"{entry}.js" for entry in ENTRIES]


def stale_files() -> list[str]:
    """Return the built files that are missing, or that were built from other sources."""
    line = first_line().encode()
    return [
        name
        for name in built_names()
        if not (STATIC / name).is_file() or not (STATIC / name).read_bytes().startswith(line)
    ]


def first_line() -> str:
    """Return the first line of every built file: the digest of all sources, and what built it."""
    digest = hashlib.sha256()
    for path in sorted([*SCRIPTS.glob("*.ts"), *SCRIPTS.glob("*.json")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return f"/* built by tools/make_viewer.py from sources {digest.hexdigest()[:32]} */\n"


def build(out: Path) -> None:
    """Check the types, and write the built files to `out`."""
    programs = installed_programs()
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for path in SCRIPTS.iterdir():
            shutil.copy(path, work / path.name)
        (work / "node_modules").symlink_to(programs)
        subprocess.run([programs / ".bin" / "tsc", "--project", "tsconfig.json"], cwd=work, check=True)
        for entry in ENTRIES:
            subprocess.run(
                [
                    programs / ".bin" / "esbuild",
                    *(f"{entry}.ts", "--bundle", "--minify", "--format=esm", "--target=es2022", "--charset=utf8"),
                    *("--legal-comments=none", "--log-level=warning", f"--outfile=out/{entry}.js"),
                ],
                cwd=work,
                check=True,
            )
            (out / f"{entry}.js").write_bytes(first_line().encode() + (work / "out" / f"{entry}.js").read_bytes())


def installed_programs() -> Path:
    """Return the `node_modules` with the versions of package.json; npm installs them if they are not there yet."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed; it brings TypeScript and esbuild.")
    package = (SCRIPTS / "package.json").read_bytes()
    cache = Path(os.environ.get("PALAZZO_NPM_CACHE") or Path.home() / ".cache" / "palazzo-tests")
    place = cache / f"viewer-{hashlib.sha256(package).hexdigest()[:12]}"
    if not (place / "node_modules" / ".bin" / "tsc").exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_bytes(package)
        subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent"], cwd=place, check=True)
    return place / "node_modules"


if __name__ == "__main__":
    sys.exit(main())
