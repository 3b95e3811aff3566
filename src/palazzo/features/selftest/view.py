"""Terminal output of a selftest: a table that can be pasted into an issue."""

from __future__ import annotations

from palazzo.features.screen import Screen
from palazzo.features.selftest.contract import SelftestResult

_COLUMNS = ("suite", "runs", "acknowledged", "present", "lost", "doubled", "detected", "repaired", "seconds")


def selftest(screen: Screen, result: SelftestResult) -> None:
    """Show the figures, the machine, and what failed."""
    rows = [
        (
            row.suite,
            *(
                f"{number:,}"
                for number in (
                    row.runs,
                    row.acknowledged,
                    row.present,
                    row.lost,
                    row.doubled,
                    row.detected,
                    row.repaired,
                )
            ),
            f"{row.seconds:,.0f}",
        )
        for row in result.rows
    ]
    screen.table(_COLUMNS, rows, right=range(1, len(_COLUMNS)))
    for row in result.rows:
        if row.details:
            details = ", ".join(f"{name} {number:,}" for name, number in row.details.items())
            screen.say((f"{row.suite}: ", "dim"), details)
    screen.gap()
    facts = [*result.versions.items(), ("file system", f"{result.file_system} ({result.mount_options})")]
    facts += [("directory", result.directory), ("seed", str(result.seed))]
    facts += [("plot", result.plot)] if result.plot else []
    screen.table(("", ""), [((name, "dim"), value) for name, value in facts])
    for row in result.rows:
        for sentence in row.failures:
            screen.say((f"{row.suite}: ", "bold red"), sentence)
    screen.gap()
    screen.say(*_verdict(result))


def _verdict(result: SelftestResult) -> tuple[tuple[str, str] | str, ...]:
    sentences: list[tuple[str, str] | str] = []
    if result.is_lossless:
        sentences.append(("Nothing acknowledged was lost or stored twice.", "green"))
    else:
        sentences.append((f"Something was lost or stored twice. The palaces are kept in {result.kept}.", "bold red"))
    if result.interrupted:
        sentences.append(" The run was interrupted; the figures are those up to then, and nothing of it is left.")
    if result.slept_s:
        sentences.append(f" The machine slept for {result.slept_s:,.0f} s meanwhile, which the seconds leave out.")
    return tuple(sentences)
