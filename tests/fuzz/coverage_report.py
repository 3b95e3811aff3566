"""How much of its parser each fuzz target reaches: `python -m tests.fuzz.coverage_report [SECONDS] [TARGET…]`.

It needs coverage.py (`pip install coverage`), which the tests do not need. A row has the inputs that were tried, how
many were read and refused, and the share of the parser's lines that were executed, with those that its import executes.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_IMPORT = "import"
"""The context of lines that an import executes: they count for each target."""


def package() -> Path:
    """Return the package's directory without importing it: its import is measured."""
    spec = importlib.util.find_spec("palazzo")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def share(measurement: Any, name: str, modules: Sequence[str]) -> float:
    """Return the share of the lines of these modules that a target executed."""
    data = measurement.get_data()
    data.set_query_contexts([f"^{_IMPORT}$", f"^{name}$"])
    statements = executed = 0
    for pattern in modules:
        for file in sorted(package().glob(pattern)):
            lines = set(measurement.analysis2(str(file))[1])
            statements += len(lines)
            executed += len(lines & set(data.lines(str(file)) or ()))
    return executed / statements


def main(arguments: list[str]) -> int:
    """Print a row for each target, or for the named ones."""
    seconds = float(arguments[0]) if arguments else 5.0
    measurement = importlib.import_module("coverage").Coverage(data_file=None, source=[str(package())])
    measurement.start()
    measurement.switch_context(_IMPORT)
    targets = importlib.import_module("tests.fuzz.targets").TARGETS
    fuzz = importlib.import_module("tests.fuzz.test_parsers").fuzz
    ends: dict[str, Counter[str]] = {}
    for name in arguments[1:] or targets:
        measurement.switch_context(name)
        ends[name] = fuzz(name, seconds)
    measurement.stop()
    print(f"{'target':<12}{'inputs':>8}{'read':>8}{'refused':>8}{'lines':>8}")
    for name, counts in ends.items():
        total, read, modules = sum(counts.values()), counts["read"], targets[name].modules
        row = f"{name:<12}{total:>8,}{read:>8,}{total - read:>8,}{share(measurement, name, modules):>8.0%}"
        print(f"{row}  {', '.join(modules)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
